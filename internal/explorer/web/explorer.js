// SPDX-License-Identifier: Apache-2.0

// The explorer: six steps over one state. See app.js for what is kept, and where not.
import { $, el, download } from "./dom.js";
import { app, empty, engine, finished, locked, token } from "./app.js";
import { files } from "./counted.js";
import * as table from "./table.js";
import * as check from "./check.js";
import * as plan from "./plan.js";
import * as train from "./train.js";
import * as read from "./read.js";
import * as budget from "./budget.js";

const steps = { table: ["Table", table], check: ["Check", check], plan: ["Plan", plan], train: ["Train", train], read: ["Read", read], budget: ["Budget", budget] };
const order = Object.keys(steps);
const open = { table: () => true, check: finished, plan: finished, train: () => finished() && Boolean(app.plan), read: () => true, budget: () => true };
let now = "table";

function go(step, focus = true) {
  now = step;
  for (const s of order) $(s).hidden = s !== step;
  steps[step][1].enter?.();
  app.changed();
  if (!focus) return;
  $(step + "-h").focus({ preventScroll: true });
  scrollTo(0, 0);
}

app.changed = () => {
  for (const s of order) {
    const button = $("to-" + s);
    if (s === now) button.setAttribute("aria-current", "step"); else button.removeAttribute("aria-current");
    button.disabled = s !== now && !open[s]();
  }
  const at = order.indexOf(now);
  $("back").disabled = at === 0;
  $("next").disabled = at === order.length - 1 || !open[order[at + 1]]();
  if (at > 0) $("back").textContent = `Back to ${steps[order[at - 1]][0]}`;
  $("next").hidden = at === order.length - 1;
  if (at < order.length - 1) $("next").textContent = `Next: ${steps[order[at + 1]][0]}`;
  const [shell, python] = steps[now][1].same();
  const text = shell + "\0" + python;
  if ($("same").dataset.text === text) return;
  $("same").dataset.text = text;
  $("same").replaceChildren(el("h3", {}, "The same elsewhere"), ...[["On the command line", shell], ["In Python", python]].filter(x => x[1]).map(([name, code]) => el("div", { class: "code" }, el("div", { class: "bar" }, el("span", { class: "note" }, name),
    el("button", { type: "button", "aria-label": `Copy: ${name}`, on: { click: async e => { await navigator.clipboard.writeText(code); e.target.textContent = "Copied"; } } }, "Copy")),
    el("pre", { tabindex: 0, role: "region", "aria-label": name }, el("code", {}, code)))));
};

// One file with everything so far: no row, no name of a file.
const save = () => download("explorer.json", JSON.stringify({ explorer: 1, ...app.state, step: now }, null, 1), "application/json");

async function load(file) {
  try {
    const { explorer, step, ...saved } = JSON.parse(await file.text());
    if (explorer !== 1) throw new Error();
    app.state = Object.fromEntries(Object.entries(empty()).map(([k, v]) => [k, typeof saved[k] === typeof v && Array.isArray(saved[k]) === Array.isArray(v) ? saved[k] : v]));
    app.plan = undefined;
    app.chosen = app.state.models.length - 1;
    await table.adopt(app.state.yaml);
    const to = step === "train" ? "plan" : step; // a training needs its plan first
    go(order.includes(to) && open[to]() ? to : "table");
  } catch { $("mode").textContent = "This file is not a download of the explorer."; }
}

$("steps").append(...order.map((s, i) => el("li", {}, el("button", { type: "button", id: "to-" + s, on: { click: () => go(s) } }, `${i + 1} ${steps[s][0]}`))));
$("mode").classList.toggle("alarm", Boolean(locked));
$("mode").textContent = locked ? locked : !files ? "Playground on an invented census. Your own table belongs on your own machine: there the program opens this page for it." : token ? "Your table stays in this page. Trainings are charged to a budget." : "Playground: your table stays in this page, and nothing is counted.";
for (const [, step] of Object.values(steps)) step.start();
$("save").addEventListener("click", save);
$("open").addEventListener("change", e => { const file = e.target.files[0]; e.target.value = ""; if (file) load(file); });
$("back").addEventListener("click", () => go(order[order.indexOf(now) - 1]));
$("next").addEventListener("click", () => go(order[order.indexOf(now) + 1]));
// A page that takes no files has no input for one.
if (!files) for (const input of document.querySelectorAll("input[type=file]")) { input.closest("label").hidden = true; input.remove(); }
// A file that misses the place for it must not replace the page.
for (const event of ["dragover", "drop"]) addEventListener(event, e => e.preventDefault());
addEventListener("beforeunload", e => { if (app.state.yaml) e.preventDefault(); });
go("table", false);
$("wait").textContent = "The engine starts…";
engine.call("version").then(v => { $("wait").textContent = ""; document.documentElement.dataset.engine = v.version; },
  problem => { $("wait").textContent = problem.message; });
