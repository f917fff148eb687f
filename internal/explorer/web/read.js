// SPDX-License-Identifier: Apache-2.0

// Step 5: everything that can be read off a model, and what held-out rows say about it.
import { $, el, field, list, select, numbers, number, percent, complain, download, debounce } from "./dom.js";
import { app, engine, budget, charge, finish, keep, bytesOf, token } from "./app.js";
import { Engine } from "./engine.js";
import { files as takesFiles } from "./counted.js";
import { invented, isInvented } from "./invented.js";
import { drawShape, drawBars, drawSquare, figure } from "./charts.js";

const judge = new Engine(); // reads held-out rows, so that the page still answers
const views = { shapes: ["Shapes", shapes], try: ["What if", whatIf], judge: ["Evaluate", evaluate], compare: ["Compare", compare], files: ["Card and files", files] };
const explained = new WeakMap();
let view = "shapes", heldOut;

const model = () => app.state.models[app.chosen];
const trying = async (f, where = $("read-error")) => {
  complain(where);
  try { return await f(); } catch (problem) { complain(where, problem); }
};

async function explain() {
  const m = model();
  if (!explained.has(m)) explained.set(m, await engine.call("explain", { model: m.text }));
  return explained.get(m);
}

async function show() {
  const { models } = app.state;
  $("model").replaceChildren(...models.map((m, i) => el("option", { value: i, selected: i === app.chosen }, m.name)));
  $("model").disabled = !models.length;
  const held = $("views").contains(document.activeElement); // a file that was read in the background redraws the tabs
  $("views").replaceChildren(...Object.entries(views).map(([id, [name]]) => el("button", { type: "button", role: "tab", id: "tab-" + id, "aria-controls": "view",
    "aria-selected": String(id === view), tabindex: id === view ? 0 : -1, on: { click: () => turnTo(id), keydown: arrows } }, name)));
  if (held) $("tab-" + view).focus();
  $("view").setAttribute("aria-labelledby", "tab-" + view);
  const mine = view, m = model();
  if (!m) return $("view").replaceChildren(el("p", {}, "There is no model yet. Train one, or open the file of one."));
  const parts = await trying(views[view][1]);
  if (mine === view && m === model()) $("view").replaceChildren(...[parts ?? []].flat().filter(Boolean));
}

function turnTo(id) { view = id; show(); $("tab-" + id).focus(); }

function arrows(e) {
  const ids = Object.keys(views), by = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
  if (by) { e.preventDefault(); turnTo(ids[(ids.indexOf(view) + by + ids.length) % ids.length]); }
}

// The class whose probability a model states.
const positiveOf = x => x.positive ? `${x.label} = ${x.positive}` : "a class";

async function shapes() {
  const x = await explain(), features = [...x.features].sort((a, b) => b.importance - a.importance);
  const all = features.flatMap(f => f.steps), range = { min: Math.min(0, ...all.map(s => s.low)), max: Math.max(0, ...all.map(s => s.high)) };
  const drawn = features.map(f => () => figure(f.name, `${f.public ? "public" : "private"}, importance ${number(f.importance)}` + (f.noise95 ? `; without an effect it reaches ${number(f.noise)} in one of 2 trainings, ${number(f.noise95)} in one of 20` : ""),
    drawShape(f, range), ["Cells", "adds", "from", "to"], f.steps.map(s => [s.label ?? `${number(s.from)} to ${number(s.to)}`, ...[s.value, s.low, s.high].map(v => number(v))])));
  const charts = el("div", { class: "charts" }, drawn.slice(0, 12).map(f => f()));
  const more = drawn.length > 12 && el("button", { type: "button", on: { click: e => { charts.append(...drawn.slice(12).map(f => f())); e.target.remove(); } } }, `Show ${drawn.length - 12} more columns`);
  return [x.banner && el("p", { class: "alarm" }, x.banner),
    el("p", { class: "lead" }, `Each chart shows what a column adds to the log-odds of ${positiveOf(x)}. The band is the model's own uncertainty, noise included. Columns that matter most come first; all charts share one scale.`),
    charts, more];
}

async function whatIf() {
  const x = await explain(), row = {}, notes = {};
  const answer = el("div", { "aria-live": "polite" });
  const ask = debounce(80, () => trying(async () => {
    const r = await engine.call("score", { model: model().text, row });
    for (const name in notes) notes[name].textContent = r.remarks[name] ?? "";
    const parts = [...r.contributions].sort((a, b) => Math.abs(b.points) - Math.abs(a.points)).slice(0, 15);
    answer.replaceChildren(
      r.probability === undefined ? numbers("Probabilities", ["Class", "Probability"], Object.entries(r.probabilities).map(([c, p]) => [c, percent(p)])) : el("p", { class: "answer" }, percent(r.probability)),
      el("p", { class: "note" }, r.probability === undefined ? "are the model's probabilities for this invented row." : `is the model's probability of ${positiveOf(x)} for this invented row.`),
      figure("Why", "Points of log-odds that each column adds.", drawBars("Points of each column", parts.map(p => [`${p.feature}: ${p.value ?? ""}`, p.points, number(p.points)])), ["Column", "points"], parts.map(p => [p.feature, number(p.points)])));
  }));
  const control = (f, i) => {
    row[f.name] = f.start;
    const change = { input: e => { row[f.name] = e.target.value; ask(); } }, id = `note-${i}`;
    notes[f.name] = el("span", { class: "note", id, role: "status" });
    const input = f.levels ? select(f.levels.map(l => [l, l]), row[f.name], { on: change }) :
      el("input", { type: "text", inputmode: "decimal", value: row[f.name], autocomplete: "off", "aria-describedby": id, on: change });
    return el("div", {}, field(f.name, input), notes[f.name]);
  };
  const inputs = x.inputs.map(control);
  ask();
  return [el("p", { class: "lead" }, "Invent a row. The model answers as it would for a real one. Numbers begin with what the schema gives for a missing cell."), el("div", { class: "pair" }, el("form", { class: "fields", on: { submit: e => e.preventDefault() } }, inputs), answer)];
}

// A button that holds a file of rows for this view.
function rowsOf(text, then) {
  return el("p", {}, takesFiles && el("label", { class: "button" }, text, el("input", { type: "file", on: { change: e => { heldOut = e.target.files[0] ?? heldOut; then(); } } })), " ",
    invented.heldOut && heldOut !== invented.heldOut && el("button", { type: "button", id: "held-out", on: { click: () => { heldOut = invented.heldOut; then(); } } }, "Take held-out rows of the invented census"), " ",
    el("span", {}, heldOut?.name ?? "No file is chosen."));
}

async function evaluate() {
  const m = model(), out = el("div", { "aria-live": "polite" }), problem = el("p", { role: "alert" });
  const ledger = token ? await budget() : {};
  const input = (label, name, value) => field(label, el("input", { type: "text", name, value, inputmode: "decimal", autocomplete: "off" }));
  const form = el("form", { class: "fields", on: { submit: e => e.preventDefault() } },
    field("Threshold", select([["model", "the model's own"], ["costs", "by what mistakes cost"]], "model", { name: "by" })),
    input("A false positive costs", "fp", "1"), input("A false negative costs", "fn", "5"), input("ε of a private evaluation", "epsilon", "0.5"));
  const draw = async r => out.replaceChildren(...judged(r, (await explain()).positive).filter(Boolean));
  const failing = f => trying(f, problem).then(() => { if (problem.textContent) out.replaceChildren(); });
  const run = epsilon => failing(async () => {
    const value = name => form.elements[name].value.trim();
    const costs = value("by") === "costs" ? `${value("fp")}:${value("fn")}` : undefined;
    const common = { model: m.text, yaml: m.yaml, name: heldOut.name, costs };
    const yaml = m.yaml ?? app.state.yaml;
    const counted = epsilon && await judge.call("count", { yaml, name: heldOut.name, bytes: await bytesOf(heldOut) });
    const plan = epsilon && { yaml, epsilon, delta: "0", rows: counted.units, use: "evaluate", model: m.text };
    const paid = plan && await charge("a private evaluation on held-out rows", plan, { dataset: ledger.held_out, free: isInvented(heldOut) });
    if (plan && !paid) return;
    out.replaceChildren(el("p", {}, "Reading the rows…"));
    const r = paid?.result ? await engine.call("released", { released: paid.result, costs }) :
      await judge.call("evaluate", { ...common, bytes: await bytesOf(heldOut), ...(plan && { epsilon, delta: "0", job: paid.job }) });
    if (plan) {
      if (!paid.result) await keep(paid.job, r.released);
      finish(plan);
      (m.evaluations ??= []).push({ released: r.released, costs, name: `${m.evaluations.length + 1}: ε = ${epsilon}` });
      list();
    }
    await draw(r);
    app.changed();
  });
  // What was paid for stays with its model, and can be looked at again for free.
  const earlier = el("div", { class: "bar" }), list = () => earlier.replaceChildren(...(m.evaluations ?? []).map(e =>
    el("button", { type: "button", on: { click: () => failing(async () => draw(await engine.call("released", { released: e.released, costs: e.costs }))) } }, `Show private evaluation ${e.name}`)));
  list();
  const unnamed = Boolean(token && !ledger.held_out && !isInvented(heldOut));
  const bar = el("div", { class: "bar" }, el("button", { type: "button", disabled: !heldOut, on: { click: () => run() } }, "Evaluate, not private"),
    el("button", { type: "button", class: "primary", disabled: !heldOut || unnamed, on: { click: () => run(form.elements.epsilon.value.trim()) } }, "Evaluate privately…"));
  return [el("p", { class: "lead" }, "Rows that were not trained on say how well the model predicts. Without a price the numbers are exact and so not private: show them only to people who may see these rows."),
    token && el("p", {}, unnamed ? "Held-out rows are a data set of their own in the ledger. This page was started without one, so that no private evaluation can be charged." :
      isInvented(heldOut) ? "Nobody in these rows is real, so that nothing is charged." :
      `A private evaluation is charged to data set ${ledger.held_out}.`),
    rowsOf("Choose held-out rows", () => show()), form, bar, earlier, problem, out];
}

const measures = { auc: "AUC", accuracy: "accuracy", balanced_accuracy: "balanced accuracy", log_loss: "log loss", threshold: "threshold", precision: "precision", recall: "recall" };

function judged(r, positive) {
  const between = i => i ? `${number(i[0])} to ${number(i[1])}` : "exact";
  // Where the threshold lies on the ROC curve.
  const { labels, counts } = r.confusion ?? {}, p = labels?.indexOf(positive), share = k => counts[k][p] / counts[k].reduce((a, b) => a + b);
  const mark = labels?.length === 2 && p >= 0 && [share(1 - p), share(p)];
  const groups = (r.calibration ?? []).map(g => [g.mean_score ?? (g.from + g.to) / 2, g.share, g.share_interval]);
  return [el("p", { class: r.private ? "note" : "alarm" }, r.private ? "Private: paid for, with noise. You may show this." : "NOT PRIVATE: exact numbers of these rows."),
    list(r.cells),
    numbers("Measures", ["Measure", "Value", r.private ? "In 95 of 100 cases" : "Kind"], Object.entries(measures).filter(([k]) => Number.isFinite(r[k])).map(([k, name]) => [name, number(r[k]), between(r[k + "_interval"])])),
    el("div", { class: "charts" },
      r.roc?.length > 0 && figure("ROC", "How many positive rows are found, and at how many false alarms." + (mark ? " The ring is the threshold." : ""),
        drawSquare(`ROC curve, AUC ${number(r.auc)}`, "false positives", "true positives", r.roc.map(q => [q.fpr, q.tpr]), false, mark)),
      groups.length > 0 && figure("Calibration", "Of the rows with about this score, so many are positive.", drawSquare("Calibration", "score", "share of positive rows", groups, true),
        ["Score", "share", "range"], groups.map(g => [number(g[0]), number(g[1]), between(g[2])])))];
}

async function compare() {
  const { models } = app.state, lead = el("p", { class: "lead" }, "Two models judge the same held-out rows.");
  if (models.length < 2) return [lead, el("p", {}, "There is one model only. Train or open another.")];
  const pick = (label, at) => field(label, select(models.map((m, i) => [String(i), m.name]), String(at)));
  const a = pick("First", app.chosen), b = pick("Second", app.chosen ? 0 : 1), out = el("div", { "aria-live": "polite" });
  const chosen = f => models[Number(f.querySelector("select").value)];
  const run = () => trying(async () => {
    out.replaceChildren(el("p", {}, "Reading the rows…"));
    const r = await judge.call("compare", { models: [chosen(a).text, chosen(b).text], name: heldOut.name, bytes: await bytesOf(heldOut) });
    out.replaceChildren(el("p", { class: "alarm" }, "NOT PRIVATE: exact numbers of these rows."),
      numbers("Comparison", ["Measure", "First", "Second", "Difference"], Object.entries(measures).filter(([k]) => Number.isFinite(r.a[k])).map(([k, name]) => [name, number(r.a[k]), number(r.b[k]), number(r.b[k] - r.a[k])])));
  }).then(() => { if ($("read-error").textContent) out.replaceChildren(); });
  return [lead, rowsOf("Choose held-out rows", () => show()), el("div", { class: "fields" }, a, b), el("div", { class: "bar" }, el("button", { type: "button", disabled: !heldOut, on: { click: run } }, "Compare, not private")), out];
}

// The card is the program's own page. Its text is taken over without its style.
function adoptCard(html) {
  const page = new DOMParser().parseFromString(html.replace(/<style>[^]*?<\/style>/g, ""), "text/html");
  const copy = (node) => node.nodeType === Node.TEXT_NODE ? node.data :
    node.nodeType !== Node.ELEMENT_NODE ? "" : el({ H1: "h3", H2: "h4", H3: "h5", MAIN: "div", HEADER: "div", FOOTER: "div", BODY: "article" }[node.nodeName] ?? node.localName, {}, [...node.childNodes].map(copy));
  return copy(page.body);
}

async function files() {
  const m = model(), about = {}, out = el("div", { class: "card", "aria-live": "polite" });
  const asks = [["curator", "Who is responsible"], ["intended-use", "What the model is for"], ["recipients", "Who receives it"], ["retention", "How long it is kept"]];
  const make = () => trying(async () => {
    const card = await engine.call("card", { model: m.text, about });
    out.replaceChildren(el("div", { class: "bar" }, el("button", { type: "button", on: { click: () => download("card.html", card.html, "text/html") } }, "Download the card")), adoptCard(card.html));
  });
  const take = format => () => trying(async () => { const f = await engine.call("export", { model: m.text, format }); download(f.name, f.bytes); });
  return [el("h3", {}, "The model's file"), el("p", {}, "It holds what was released and its privacy statement, and no row."),
    el("div", { class: "bar" }, el("button", { type: "button", class: "primary", on: { click: () => download("model.json", m.text, "application/json") } }, "Download the model"),
      ["onnx", "sql", "pmml"].map(f => el("button", { type: "button", on: { click: take(f) } }, f.toUpperCase()))),
    m.statement && el("details", {}, el("summary", {}, "The statement of the model"), el("pre", { class: "words" }, m.statement.join("\n"))),
    el("h3", {}, "A card for the person who signs"),
    el("div", { class: "fields" }, asks.map(([key, label]) => field(label, el("input", { type: "text", autocomplete: "off", on: { change: e => { if (e.target.value) about[key] = e.target.value; else delete about[key]; } } })))),
    el("div", { class: "bar" }, el("button", { type: "button", id: "write-card", on: { click: make } }, "Write the card")), out];
}

// Whoever looks here before the training ends sees its model as soon as it is there.
app.trained = () => { if (!$("read").hidden) show(); };

export function start() {
  $("model").addEventListener("change", e => { app.chosen = Number(e.target.value); show(); });
  $("model-file").addEventListener("change", e => trying(async () => {
    const file = e.target.files[0], text = file && await file.text();
    e.target.value = "";
    if (!file) return;
    const m = { name: `${app.state.models.length + 1}: from a file`, text };
    explained.set(m, await engine.call("explain", { model: text }));
    app.chosen = app.state.models.push(m) - 1;
    app.changed();
    await show();
  }));
}

export const enter = show;

export const same = () => [
  "discreet explain --model m.json --out shapes.html\ndiscreet evaluate --model m.json --data held-out.csv --out evaluation.html\ndiscreet evaluate --model m.json --data held-out.csv --epsilon 0.5 --ledger l.db --dataset held-out\ndiscreet card --model m.json --out card.html\ndiscreet export --model m.json --format onnx --out m.onnx\ndiscreet release --help",
  'model = DiscreetClassifier.load("m.json")\nmodel.explain_\nmodel.predict_row({"COLUMN": 1})\nmodel.evaluate_privately(X, y, epsilon=0.5)\nmodel.card("card.html")\nopen("m.onnx", "wb").write(model.to_onnx())'];
