// SPDX-License-Identifier: Apache-2.0

// Step 6: what the ledger of discreet ui says, or what this page did.
import { $, el, numbers, number, complain } from "./dom.js";
import { drawShare } from "./charts.js";
import { app, budget, locked, token } from "./app.js";

const heads = { name: "Name", at: "When", what: "What", epsilon: "ε", delta: "δ", spent: "Spent", left: "Left", job: "Job" };

const when = at => at.slice(0, 16).replace("T", " ");

function cells(caption, rows) {
  const keys = Object.keys(heads).filter(k => rows?.[0]?.[k] !== undefined);
  return keys.length > 0 && numbers(caption, keys.map(k => heads[k]), rows.map(r => keys.map(k => k === "at" ? when(r[k]) : k === "job" ? r[k].slice(0, 8) : r[k])));
}

function dataset(d) {
  const total = Number(d.total), spent = Number(d.spent);
  return el("section", {}, el("h3", {}, d.name),
    el("p", { class: "price" }, `ε = ${number(spent)} of ${number(total)} is spent, ${d.left ?? number(total - spent)} is left.`),
    drawShare(spent / total),
    cells("Cohorts", d.cohorts), cells("Requests", d.requests), cells("History", d.history));
}

export async function enter() {
  complain($("budget-error"));
  $("budget-lead").textContent = token ? "The ledger adds up every training and refuses what would exceed the total." : locked ||
    "You are in the playground: no ledger counts here. This is the list of what this page did; it is gone when you close it.";
  const mine = app.state.spent, own = mine.length ? [numbers("In this page", ["When", "For", "ε", "δ", "Counted"], mine.map(s => [when(s.at), s.for, s.epsilon, s.delta, s.counted ? "yes" : "no"]))] :
    [el("p", {}, "This page has charged nothing yet.")];
  if (!token) return $("datasets").replaceChildren(...own);
  try {
    const { datasets } = await budget();
    $("datasets").replaceChildren(...datasets.map(dataset), ...own);
  } catch (problem) { complain($("budget-error"), problem); $("datasets").replaceChildren(...own); }
}

export const start = () => {};
export const same = () => ["discreet budget init --ledger l.db --dataset NAME --epsilon 1\ndiscreet ui --ledger l.db --dataset NAME --held-out NAME\ndiscreet budget show --ledger l.db\ndiscreet budget history --ledger l.db --dataset NAME", 'model.spent()  # what the ledger says'];
