// SPDX-License-Identifier: Apache-2.0

// Step 2: whether the schema fits the table, for somebody who may see its rows. The counts stay in the page.
import { $, el, list, numbers, number, complain } from "./dom.js";
import { app, bytesOf, finished } from "./app.js";
import { Engine } from "./engine.js";

const reader = new Engine();
const looked = new Set();
const key = () => app.file && JSON.stringify([app.state.yaml, app.file.name, app.file.lastModified]);

// Whether somebody looked at this file with this schema, whatever there was to see.
export const isChecked = () => looked.has(key());

function show() {
  $("check-file-label").firstChild.textContent = app.file ? "Choose another file" : "Choose the table";
  $("count-cells").disabled = !app.file || !finished();
}

const share = (k, n) => k ? `${k} (${number(100 * k / n, 2)} %)` : "0";

async function count() {
  const out = $("cells-found"), mine = key();
  complain($("check-error"));
  $("count-cells").disabled = true;
  out.replaceChildren(el("p", {}, "Reading the rows…"));
  try {
    const r = await reader.call("check", { yaml: app.state.yaml, name: app.file.name, bytes: await bytesOf(app.file) });
    looked.add(mine);
    const some = r.columns.filter(c => c.missing + c.other + c.clamped + c.unreadable);
    out.replaceChildren(el("p", { class: "alarm" }, "NOT PRIVATE: exact counts of these rows."),
      el("p", {}, r.faults ? "The table cannot be read as the schema declares it:" : r.misfits.length ? `The schema does not fit: too many cells are not what it declares in ${r.misfits.join(", ")}.` :
        `The schema fits. In ${r.columns.length - some.length} of ${r.columns.length} columns every cell is taken as it stands.`),
      ...[list(r.faults), list(some.filter(c => c.cause).map(c => `${c.column}: ${c.cause}`))].filter(Boolean),
      ...(r.faults || !some.length ? [] : [numbers("Cells that a training repairs", ["Column", "Missing", "Other values", "Out of bounds", "Unreadable"],
        some.map(c => [c.column, ...[c.missing, c.other, c.clamped, c.unreadable].map(k => share(k, r.rows))]))]));
  } catch (problem) {
    out.replaceChildren();
    complain($("check-error"), problem);
  }
  show();
  app.changed();
}

export function start() {
  $("check-file").addEventListener("change", e => { app.file = e.target.files[0] ?? app.file; e.target.value = ""; show(); });
  $("count-cells").addEventListener("click", count);
}

let seen;

export function enter() {
  if (seen !== key()) $("cells-found").replaceChildren();
  seen = key();
  complain($("check-error"), finished() ? undefined : "The schema is not complete. Go back to the table first.");
  show();
}

export const same = () => ["discreet schema check table.yaml --data table.csv", 'model = DiscreetClassifier(schema="table.yaml", epsilon=1)\nmodel.check(X, y)'];
