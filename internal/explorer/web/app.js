// SPDX-License-Identifier: Apache-2.0

// What the steps share. It lives in memory alone: nothing is written to the browser's storage, and a
// file of rows is kept as a handle. Before a charge it is read only to count rows whose number is public.
import { $, el, facts } from "./dom.js";
import { Engine } from "./engine.js";
import { counted } from "./counted.js";

export const empty = () => ({ yaml: "", learner: "auto", epsilon: "0.5", delta: "0", rows: "10000", positives: "50", strength: "0.85", forecast: [], models: [], spent: [] });

export const app = { state: empty(), checked: undefined, plan: undefined, file: undefined, changed: () => {}, trained: () => {} };
export const engine = new Engine();
export const token = new URLSearchParams(location.hash.slice(1)).get("token");
if (token) history.replaceState(null, "", location.pathname + location.search); // neither the address nor the history keeps it
addEventListener("hashchange", () => location.hash.startsWith("#token=") && location.reload()); // the address was opened again

// A page that was opened by another address than the one that discreet ui printed charges nothing, and so
// trains nothing: the table has a budget.
export const locked = counted && !token && "This page has a budget, but was opened without its token: open the address that discreet ui printed.";

export const bytesOf = async blob => new Uint8Array(await blob.arrayBuffer());
export const named = () => app.checked?.name || "this table";
export const finished = () => Boolean(app.checked && !app.checked.problems?.length && !app.checked.missing?.length && app.state.yaml);

async function ask(path, body) {
  const answer = await fetch("api/" + path, { method: body ? "POST" : "GET", cache: "no-store", body: body && JSON.stringify(body),
    headers: { Authorization: "Bearer " + token, ...(body && { "Content-Type": "application/json" }) } });
  const data = await answer.json().catch(() => ({}));
  if (!answer.ok) throw data.error ?? { message: "the program that serves this page answered with " + answer.status };
  return data;
}

export const budget = () => ask("budget");
// The ledger keeps what a job released: whoever asks for the job again gets that.
export const keep = (job, result) => job && ask("result", { job, result });

// A charge has a job. What was paid and not finished, because the page was closed or the training was
// cancelled, runs again under the same job for free. What is finished is a release: the next one pays.
const begun = new Map();
export const finish = plan => begun.delete(JSON.stringify(plan));

// The answer is the button's. Escape has none, and its event may come after the question is asked again.
let answer;
$("charge").addEventListener("submit", e => answer(e.submitter.value));
$("charge").addEventListener("close", () => $("charge").open || answer("no"));

const priced = (epsilon, delta) => `ε = ${epsilon}` + (Number(delta) ? `, δ = ${delta}` : "");

const minus = (a, b) => Number((Number(a) - Number(b)).toPrecision(12)); // without the digits that binary numbers add

// What the dialog says of an account: [spent and left, whether the price is too high].
function weigh(account, plan) {
  const short = Number(plan.epsilon) > Number(account.left) || Number(plan.delta) > Number(account.left_delta);
  return [[["Spent before", priced(account.spent, account.spent_delta)], ["Left", priced(account.left, account.left_delta)],
    ["Left afterwards", !short && priced(minus(account.left, plan.epsilon), minus(account.left_delta, plan.delta))]], short];
}

// Asks, then charges. It resolves to false if the answer is no, or else to the job, which is absent where
// nothing is counted, and to the result of an earlier run. Only the plan, the job and the price leave the page.
// free is true for rows of nobody.
export async function charge(what, plan, { dataset, free } = {}) {
  if (locked) throw { message: locked };
  const counts = Boolean(token) && !free;
  const key = JSON.stringify(plan), found = begun.get(key) ?? (counts && (await ask("find", plan)).job);
  const job = found || crypto.randomUUID();
  const before = app.state.spent.filter(s => !s.counted).reduce((sum, s) => sum + Number(s.epsilon), 0);
  const [account, short] = counts && !found ? weigh((await budget()).datasets.find(d => !dataset || d.name === dataset), plan) :
    [[["Spent in this page before", !counts && priced(minus(before, 0))]], false];
  $("charge-h").textContent = short ? "This cannot be spent" : "Spend this?";
  $("charge-text").replaceChildren(
    el("p", {}, short ? `The price is higher than what is left of ${dataset ? `data set ${dataset}` : `the budget of ${named()}`}. Choose a smaller one in the plan.` :
      counts ? `This charges ${dataset ? `data set ${dataset}` : `the budget of ${named()}`}. A charge is never given back.` :
      free ? "Nobody in this table is real, so that no budget counts this. On a real table each training would be charged." :
      "You are in the playground: this is counted nowhere. If the table is real, trainings on it add up, and nobody keeps the sum. " +
      "A page that is started with a budget keeps it."),
    el("dl", {}, facts([["For", what], ["Price", priced(plan.epsilon, plan.delta)], ...account,
      ["Paid before", found && "Yes. The same job again is free."]])),
    el("p", {}, "Its rows stay in the page."));
  $("agree").hidden = short;
  $("agree").textContent = counts ? "Yes, charge and start" : "Yes, start";
  answer?.("no");
  if (await new Promise(done => { answer = done; $("charge").showModal(); }) !== "yes") return false;
  begun.delete(key); // a job that is refused now is refused for good
  const charged = counts ? await ask("charge", { ...plan, job }) : {};
  begun.set(key, job);
  if (!found) app.state.spent.push({ job, for: what, epsilon: plan.epsilon, delta: plan.delta, counted: counts, at: new Date().toISOString() });
  app.changed();
  return { job: counts ? job : undefined, result: charged.result };
}
