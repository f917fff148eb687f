// SPDX-License-Identifier: Apache-2.0

// Step 1: names of columns become a schema. The form and the text are two views of one file: the form
// asks the engine to edit the text, so that comments and order stay.
import { $, el, field, select, complain, debounce } from "./dom.js";
import { app, engine, bytesOf, finished, locked } from "./app.js";
import { files } from "./counted.js";
import { fetchCensus, invented } from "./invented.js";

const head = 64 << 10; // bytes of a file that may be looked at before a charge: its line of names
const most = 60;       // columns on one screen
let shown = most, turn = 0;
const drawn = new Map(); // rows of the form, with what they show
const left = new Set();  // columns that somebody was at and left, and "" for the text: only there a fault is red

// Edits wait for each other: each starts from the text that the one before left.
let edits = Promise.resolve();
const editAll = changes => edits = edits.then(async () => {
  try {
    if (changes.length > 1) $("count").textContent = `Changing ${changes.length} columns…`;
    const { yaml } = await engine.call("edit", { yaml: app.state.yaml, changes: changes.map(([column, set]) => ({ column, set })) });
    complain($("table-error"));
    await adopt(yaml);
  } catch (problem) { complain($("table-error"), problem); drawn.clear(); show(); }
});
const edit = (column, set) => editAll([[column, set]]);

// adopt makes a text the schema, wherever it comes from.
export async function adopt(yaml) {
  app.state.yaml = yaml;
  if ($("yaml").value !== yaml) $("yaml").value = yaml;
  const mine = ++turn;
  try {
    const checked = await engine.call("inspect", { yaml });
    if (mine !== turn) return;
    app.checked = checked;
  } catch (problem) {
    if (mine !== turn) return;
    app.checked = { ...app.checked, problems: [{ message: problem.message }] };
  }
  show();
  app.changed();
}

function show() {
  const c = app.checked ?? {}, columns = c.columns ?? [];
  const todo = (c.missing ?? []).length + (c.problems ?? []).length;
  const proposals = columns.filter(x => x.proposal).length;
  $("declare").hidden = !app.state.yaml;
  $("propose").hidden = !proposals;
  $("propose").textContent = `Use ${proposals} ${proposals === 1 ? "proposal" : "proposals"} for well-known names`;
  $("count").textContent = !app.state.yaml ? "" : finished() ? "Complete: nothing is missing." : `${todo} ${todo === 1 ? "thing is" : "things are"} missing.`;
  const said = [...(c.problems ?? []), ...(c.missing ?? [])];
  $("problems").replaceChildren(...said.slice(0, 8).map(p => el("li", {},
    el("button", { type: "button", class: left.has(p.column ?? "") || left.has("") ? "fault" : undefined, on: { click: () => goTo(p.line) } }, (p.line ? `Line ${p.line}: ` : "") + (p.column ? p.column + ": " : "") + (p.message ?? p.what)))), said.length > 8 ? el("li", { class: "note" }, `and ${said.length - 8} more`) : "");
  showAbout(c);
  const find = $("find").value.toLowerCase(), faults = [...(c.missing ?? []), ...(c.problems ?? [])], unfinished = new Set(faults.map(f => f.column));
  const some = columns.filter(x => x.name.toLowerCase().includes(find) && (!$("unfinished").checked || unfinished.has(x.name)));
  const rows = some.slice(0, shown).map(x => {
    const own = faults.filter(f => f.column === x.name), facts = JSON.stringify([x, own, c.person, left.has(x.name)]);
    const was = drawn.get(x.name), active = was?.row.contains(document.activeElement) && document.activeElement;
    // A row in which somebody types stays until they leave it. A choice that has the focus stays, too, while
    // the rest of its row follows: letters that are typed into it must not meet another one.
    if (was?.facts !== facts && active?.type !== "text") {
      const row = rowOf(x, own), kept = active?.localName === "select";
      if (kept) {
        for (const s of was.row.querySelectorAll("select")) if (s !== active) s.value = row.querySelector(`[name="${s.name}"]`).value;
        was.row.lastChild.replaceWith(row.lastChild);
      } else {
        was?.row.replaceWith(row);
        if (active) row.querySelector(`[name="${active.name}"]`)?.focus();
      }
      drawn.set(x.name, { facts, row: kept ? was.row : row });
    }
    return drawn.get(x.name).row;
  });
  const body = $("columns");
  if (rows.length !== body.children.length || rows.some((r, i) => r !== body.children[i])) body.replaceChildren(...rows);
  app.shownColumns = some.map(x => x.name);
  $("pages").replaceChildren(...(some.length > shown ? [el("button", { type: "button", on: { click: () => { shown += most; show(); } } },
    `Show ${Math.min(most, some.length - shown)} more of ${some.length} columns`)] : some.length ? [] : [el("p", { class: "note" }, "No column matches.")]));
}

function goTo(line) {
  if (!line) return;
  const area = $("yaml"), lines = area.value.split("\n");
  const from = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  area.focus();
  area.setSelectionRange(from, from + lines[line - 1].length);
  area.scrollTop = (line - 4) * area.scrollHeight / lines.length;
}

function showAbout(c) {
  const facts = JSON.stringify([c.name, c.unit, c.relation, c.trim, c.missing_cells, c.person]);
  $("headless").checked = c.header === undefined ? $("headless").checked : !c.header;
  if (drawn.get("")?.facts === facts || $("about").contains(document.activeElement) && drawn.has("")) return;
  drawn.set("", { facts });
  const text = (name, label, value, hint) => field(label, el("input", { type: "text", name, value: value ?? "", placeholder: hint, autocomplete: "off", on: { change: e => edit("", { [name]: e.target.value }) } }));
  $("about").replaceChildren(
    text("name", "Name of the table", c.name, "admissions"),
    text("unit", "One row is", c.unit, "one visit"),
    field("Neighbouring tables differ in", select([["", "choose…"], ["replace-one", "the content of one row (replace-one)"], ["add-remove", "one whole row (add-remove)"]], c.relation, { name: "relation", on: { change: e => edit("", { relation: e.target.value }) } })),
    text("missing", "Cells that mean “missing”, with commas", (c.missing_cells ?? []).map(m => m || '""').join(", "), 'NA, ?, ""'),
    field("White space around a cell", select([["", "choose…"], ["true", "does not count"], ["false", "counts"]], c.trim === undefined ? "" : String(c.trim), { name: "trim", on: { change: e => edit("", { trim: e.target.value === "true" }) } })),
    field("All rows of one person are found by", select([["", "no column"], ...(c.columns ?? []).filter(x => x.role === "ignored").map(x => [x.name, x.name])], c.person, { name: "person", on: { change: e => edit("", { person: e.target.value }) } })));
}

// A proposal as its button says it.
const inWords = ({ kind, role, levels, lower, upper }) => [role, kind, levels?.join(", "), lower !== undefined && `${lower} to ${upper}`].filter(Boolean).join(", ");

function rowOf(x, faults) {
  const set = (key, value) => edit(x.name, { [key]: value });
  const text = (key, label, value, long) => el("label", { class: long ? "long" : undefined }, label + " ", el("input", { type: "text", name: key, value: value ?? "", autocomplete: "off", spellcheck: "false",
    "aria-label": `${label} of ${x.name}`, on: { change: e => set(key, long ? e.target.value.split(",").map(t => t.trim()).filter(Boolean) : e.target.value) } }));
  const box = (key, label) => el("label", {}, el("input", { type: "checkbox", name: key, checked: x[key] === true, "aria-label": `${x.name}: ${label}`, on: { change: e => set(key, e.target.checked) } }), " " + label);
  const choice = (key, options, chosen, label) => select([["", "choose…"], ...options.map(o => [o, o])], chosen, { name: key, "aria-label": `${label} of ${x.name}`, on: { change: e => e.target.value && set(key, e.target.value) } });
  const levels = () => text("levels", x.kind === "label" ? "Classes" : "Levels", (x.levels ?? []).join(", "), true);
  const cells = x.role === "ignored" && x.kind !== "label" ? [] :
    x.kind === "number" ? [text("lower", "From", x.lower), text("upper", "to", x.upper), text("default", "if missing", x.default), box("integer", "whole numbers")] :
    x.kind === "date" ? [text("format", "Written", x.format), text("lower", "From", x.lower), text("upper", "to", x.upper)] :
    x.kind === "category" ? [levels(), box("missing", "missing is a level")] :
    x.kind === "label" ? [levels(), text("positive", "Positive", x.positive), text("default", "if missing", x.default)] : [];
  return el("tr", {}, el("th", { scope: "row" }, x.name),
    el("td", {}, choice("role", ["private", "public", "ignored"], x.role, "Role")),
    el("td", {}, choice("kind", ["number", "category", "date", "label"], x.kind, "Kind")),
    el("td", {}, el("div", { class: "cells" }, cells, x.proposal && el("button", { type: "button", on: { click: () => edit(x.name, x.proposal.set) } }, "Use " + inWords(x.proposal.set)),
      faults.map(f => el("p", { class: left.has(x.name) ? "fault" : undefined }, (f.what ?? f.message).split(";")[0])))));
}

// renew makes the text of another table the schema.
async function renew(yaml) {
  shown = most;
  drawn.clear();
  left.clear();
  complain($("table-error"));
  $("table-said").textContent = "";
  await adopt(yaml);
}

async function draftFrom(args) {
  try {
    const { yaml } = await engine.call("draft", { ...args, headless: $("headless").checked });
    await renew(yaml);
    $("about").querySelector("input")?.focus();
  } catch (problem) { complain($("table-error"), problem); }
}

let codebook, names, offered;

// Of the file, the line of names alone reaches the schema. A Parquet file has its names at its end. Of a file
// without that line nothing is read.
async function open(file) {
  offered = file;
  if ($("headless").checked && !/\.parquet$/i.test(file.name)) {
    app.file = file;
    complain($("table-error"));
    $("typed").open = true;
    $("names").focus();
    $("table-said").textContent = "Nothing of this file is read. Type the names of its columns, or how many there are.";
    return;
  }
  try {
    const part = /\.parquet$/i.test(file.name) ? file.slice(-head) : file.slice(0, head);
    const read = async delimiter => engine.call("header", { name: file.name, size: file.size, delimiter, bytes: await bytesOf(part) });
    let header = await read();
    const other = header.names.length === 1 && [";", "\t", "|"].find(d => header.names[0].includes(d));
    if (other) header = await read(other);
    app.file = file;
    names = header.names;
    await draftFrom({ ...header, codebook });
  } catch (problem) { complain($("table-error"), problem); }
}

// typed are the names that somebody typed, or their number.
function typed() {
  const text = $("names").value.trim();
  names = /^\d+$/.test(text) ? undefined : text.split(",").map(t => t.trim()).filter(Boolean);
  draftFrom(names ? { names, codebook } : { names: [], count: Number(text) });
}

async function tryCensus() {
  try {
    const { yaml, ...known } = await fetchCensus();
    Object.assign(app.state, known, { learner: "auto", epsilon: "1", delta: "0" });
    app.file = offered = invented.table;
    await renew(yaml);
    $("table-said").textContent = `Here are ${Number(known.rows).toLocaleString("en")} invented people and their complete schema. Go on to the plan, and train.`;
    $("to-plan").focus();
  } catch (problem) { complain($("table-error"), problem); }
}

export function start() {
  const on = (id, event, f) => $(id).addEventListener(event, f);
  const chosen = (id, f) => on(id, "change", e => { const file = e.target.files[0]; e.target.value = ""; if (file) f(file); });
  chosen("file", open);
  chosen("schema", async file => renew(await file.text()));
  chosen("codebook", async file => { codebook = await file.text(); if (names) draftFrom({ names, codebook }); });
  on("draft", "click", typed);
  on("try", "click", tryCensus);
  $("try").hidden = Boolean(locked);
  if (!files) {
    for (const id of ["or-drop", "headless-label", "typed"]) $(id).hidden = true;
    $("try").classList.add("primary");
  }
  on("headless", "change", () => { $("typed").open = $("headless").checked; if (app.state.yaml) edit("", { header: !$("headless").checked }); else if (offered) open(offered); });
  const drop = $("drop");
  const over = e => { e.preventDefault(); drop.classList.toggle("over", e.type === "dragover"); };
  for (const event of ["dragover", "dragleave", "drop"]) drop.addEventListener(event, over);
  drop.addEventListener("drop", e => files && e.dataTransfer.files[0] && open(e.dataTransfer.files[0]));
  on("yaml", "input", debounce(300, () => adopt($("yaml").value)));
  on("yaml", "focusout", () => { left.add(""); show(); });
  on("about", "submit", e => e.preventDefault());
  for (const [id, event] of [["find", "input"], ["unfinished", "change"]]) on(id, event, () => { shown = most; show(); });
  on("all", "change", e => {
    const role = e.target.value, columns = app.shownColumns.filter(n => app.checked.columns.find(x => x.name === n)?.kind !== "label");
    e.target.value = "";
    if (role) editAll(columns.map(n => [n, { role }]));
  });
  on("propose", "click", () => editAll(app.checked.columns.filter(x => x.proposal).map(x => [x.name, x.proposal.set])));
  on("columns", "focusout", e => {
    const row = e.target.closest("tr");
    if (row === e.relatedTarget?.closest("tr")) return;
    left.add(row.firstChild.textContent);
    show();
  });
}

export const same = () => [
  "discreet schema init table.csv > table.yaml\ndiscreet schema check table.yaml --explain",
  'import pandas as pd\nfrom discreet import draft_schema\n\nrows = pd.read_csv("table.csv", nrows=0)\nopen("table.yaml", "w").write(draft_schema(rows, "LABEL"))'];
