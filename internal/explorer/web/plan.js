// SPDX-License-Identifier: Apache-2.0

// Step 3: price, noise, odds and a forecast, from the schema alone.
import { $, el, list, numbers, number, complain, debounce } from "./dom.js";
import { app, engine, finished } from "./app.js";
import { Engine } from "./engine.js";
import { drawForecast, drawShare, figure } from "./charts.js";

// Invented tables take seconds each: two threads beside the one that answers, or more where there are processors.
const crew = Array.from({ length: Math.max(2, Math.min(4, (navigator.hardwareConcurrency ?? 2) - 1)) }, () => new Engine());
const range = [0.01, 10];
let turn = 0;

// The slider is logarithmic, with two significant digits.
const fromSlider = v => String(Number((10 ** v).toPrecision(2)));
export const args = () => ({ yaml: app.state.yaml, learner: app.state.learner, epsilon: app.state.epsilon, delta: app.state.delta, rows: Number(app.state.rows) || undefined });

// What is wrong is said once the field is left: a number that somebody types is not finished.
let wrong;
const say = () => { if (!wrong || !$("dials").contains(document.activeElement) || document.activeElement.type !== "text") complain($("plan-error"), wrong); };

const ask = debounce(60, async () => {
  const mine = ++turn;
  try {
    const plan = await engine.call("plan", args());
    if (mine !== turn) return;
    app.plan = plan;
    wrong = undefined;
  } catch (problem) {
    if (mine !== turn) return;
    app.plan = undefined;
    wrong = problem;
  }
  say();
  show();
  app.changed();
});

function show() {
  const { plan, state } = app;
  showForecast();
  $("odds").replaceChildren(...(plan ? oddsOf(plan.odds) : []));
  $("noise").replaceChildren(...(plan ? [el("h3", {}, "What the noise does"), list(plan.noise) ?? el("p", {}, "This learner has no one noise for all cells. The bill lists what it adds noise to."),
    el("h3", {}, "What others used"), el("div", { class: "words" }, numbers("Deployments, as they state them", ["Who", "ε", "For"], (plan.others ?? []).map(o => [o.who, o.epsilon, o.unit])))] : []));
  $("price").replaceChildren(...(!plan ? [] : [
    el("p", { class: "price" }, `Price: ε = ${plan.epsilon}` + (Number(plan.delta) ? `, δ = ${plan.delta}` : "")),
    plan.refused && el("p", { class: "alarm" }, `No training at this price: ${plan.refused}.`),
    ...(plan.advice ?? []).map(a => el("p", { class: "advice" }, a))].filter(Boolean)));
  $("bill").replaceChildren(...(!plan ? [] : [
    el("details", {}, el("summary", {}, "The bill, line by line"), numbers("Bill", ["Release", "ε", "ρ"], (plan.bill ?? []).map(b => [b.name, b.epsilon ?? "", b.rho ?? ""]))),
    el("details", {}, el("summary", {}, "The plan in the program's words"), list(plan.lines))]));
}

const oddsOf = odds => [
  odds?.words && el("p", {}, odds.words),
  el("div", { class: "odds" }, (odds?.odds ?? []).map(o => [el("p", {}, o.words), o.to && drawShare(o.to)])),
  odds?.scale && el("p", {}, odds.scale)].filter(Boolean);

function showForecast() {
  const points = app.state.forecast, sorted = [...points].sort((a, b) => a.epsilon - b.epsilon);
  $("forecast").replaceChildren(figure("", "A forecast, made from invented tables of this schema with the real learner. It is not your table. At least four of five trainings on tables tried were in the band, given the right AUC without privacy. 0.5 is guessing.",
    drawForecast(points, Number(app.state.epsilon), range), ["ε", "AUC", "from", "to"], sorted.map(p => [p.epsilon, p.auc, p.low, p.high].map(v => number(v)))));
}

async function draw() {
  const around = Number(app.state.epsilon), all = [10, 3, around, 1, 0.3, 0.1, 0.03, 0.01].filter((e, i, a) => e > 0 && a.indexOf(e) === i);
  const common = { ...args(), positives: Number(app.state.positives) / 100, strength: Number(app.state.strength) };
  app.state.forecast = [];
  $("draw").disabled = true;
  $("stop").hidden = false;
  $("drawn").textContent = "Inventing tables…";
  complain($("plan-error"));
  const add = p => {
    if (app.state.forecast.some(q => q.epsilon === p.epsilon)) return;
    app.state.forecast.push(p);
    $("drawn").textContent = `${app.state.forecast.length} of ${all.length} points`;
    showForecast();
  };
  // The dearest first, one for each thread: with less noise the learner has more to do.
  const shares = crew.map((e, h) => [e, all.filter((_, i) => i % crew.length === h)]).filter(([, epsilons]) => epsilons.length);
  const done = await Promise.allSettled(shares.map(([e, epsilons]) => e.call("forecast", { ...common, epsilons }, add).then(r => r.points.forEach(add)))), bad = done.find(d => d.reason && !d.reason.cancelled);
  if (bad) complain($("plan-error"), bad.reason);
  $("drawn").textContent = done.some(d => d.reason) ? "Stopped." : `Done: ${app.state.forecast.length} points.`;
  $("draw").disabled = false;
  $("stop").hidden = true;
}

// A forecast belongs to a schema, a learner and a size.
function forget() {
  for (const e of crew) e.cancel();
  app.state.forecast = [];
}

export function start() {
  const put = (key, value, stale) => { app.state[key] = value.trim(); if (stale) forget(); ask(); };
  $("dials").addEventListener("submit", e => e.preventDefault());
  $("epsilon").addEventListener("input", e => { const v = fromSlider(e.target.value); $("epsilon-text").value = v; e.target.setAttribute("aria-valuetext", "ε = " + v); put("epsilon", v); });
  $("epsilon-text").addEventListener("input", e => { if (Number(e.target.value) > 0) $("epsilon").value = Math.log10(Number(e.target.value)); put("epsilon", e.target.value); });
  $("delta").addEventListener("input", e => { const v = e.target.value === "-13" ? "0" : "1e" + e.target.value; $("delta-text").value = v; e.target.setAttribute("aria-valuetext", "δ = " + v); put("delta", v, true); });
  $("delta-text").addEventListener("input", e => { const d = Number(e.target.value); $("delta").value = d > 0 ? Math.round(Math.log10(d)) : -13; put("delta", e.target.value, true); });
  for (const id of ["learner", "rows", "positives", "strength"]) $(id).addEventListener("input", e => put(id, e.target.value, true));
  $("dials").addEventListener("focusout", () => setTimeout(say));
  $("draw").addEventListener("click", draw);
  $("stop").addEventListener("click", () => crew.forEach(e => e.cancel()));
}

let planned;

export function enter() {
  const s = app.state;
  if (planned !== undefined && planned !== s.yaml) forget();
  planned = s.yaml;
  for (const id of ["learner", "rows", "positives", "strength"]) $(id).value = s[id];
  $("epsilon-text").value = s.epsilon;
  $("epsilon").value = Math.log10(Number(s.epsilon) || 0.5);
  $("delta-text").value = s.delta;
  $("delta").value = Number(s.delta) > 0 ? Math.round(Math.log10(Number(s.delta))) : -13;
  complain($("plan-error"), finished() ? undefined : "The schema is not complete. Go back to the table first.");
  if (finished()) ask(); else { app.plan = undefined; show(); }
}

export const same = () => [app.plan?.command, app.plan?.python];
