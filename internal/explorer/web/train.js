// SPDX-License-Identifier: Apache-2.0

// Step 4: a charge, then a training in a thread of its own. Before the charge rows are counted, if their
// number is public: the bill depends on it.
import { $, el, facts, complain } from "./dom.js";
import { app, charge, finish, keep, bytesOf, finished, named, locked, token } from "./app.js";
import { Engine } from "./engine.js";
import { isChecked } from "./check.js";
import { isInvented } from "./invented.js";
import { args } from "./plan.js";

const trainer = new Engine();
let busy = false;

function show() {
  const s = app.state, c = app.checked ?? {};
  const counted = role => c.columns?.filter(x => x.role === role && x.kind !== "label").length ?? 0;
  $("about-training").replaceChildren(...facts([
    ["Table", named()], ["Protected", `${c.unit ?? "one row"}, ${c.relation ?? ""}`], ["Columns", `${counted("private")} private, ${counted("public")} public`],
    ["Learner", s.learner], ["Price", `ε = ${s.epsilon}` + (Number(s.delta) ? `, δ = ${s.delta}` : "")],
    ["Checked", isChecked() ? "yes: somebody looked whether the schema fits this table" : "no: nobody has checked here that the schema fits this table"],
    ["Counted", isInvented(app.file) ? "no: nobody in this table is real" : token ? "yes, by the program that serves this page" : locked || "no: this is the playground"]]));
  $("train-name").textContent = app.file ? app.file.name : "No table is chosen yet.";
  $("train-file-label").firstChild.textContent = app.file ? "Choose another file" : "Choose the table";
  $("begin").disabled = busy || locked || !app.file || !app.plan || app.plan.refused || !finished();
  complain($("train-error"), app.plan?.refused ?? (finished() && app.plan ? undefined : "A plan is needed first. Go back one step."));
}

async function begin() {
  const line = $("training");
  $("begin").disabled = true;
  try {
    line.textContent = "Counting rows whose number is public…";
    const { units } = await trainer.call("count", { yaml: app.state.yaml, name: app.file.name, bytes: await bytesOf(app.file) });
    const plan = { yaml: app.state.yaml, learner: app.state.learner, epsilon: app.state.epsilon, delta: app.state.delta, rows: units, use: "train" };
    line.textContent = "";
    const paid = await charge(`a training of learner ${plan.learner}`, plan, { free: isInvented(app.file) });
    if (!paid) return show();
    busy = true;
    show();
    $("cancel").hidden = $("running").hidden = false;
    $("progress").removeAttribute("value");
    $("cancel").focus();
    line.textContent = "Reading the file…";
    $("statement").replaceChildren();
    let said = 0;
    const { job } = paid, run = async () => trainer.call("train", { ...args(), rows: units, job, name: app.file.name, bytes: await bytesOf(app.file) }, p => {
      $("progress").max = p.of || 1;
      $("progress").value = p.done;
      if (Date.now() - said < 1000 && p.done < p.of) return; // a reader of screens hears one line a second
      said = Date.now();
      line.textContent = `${p.what ?? "Training"}: ${p.done} of ${p.of}`;
    });
    const result = paid.result ? { model: paid.result, seconds: 0 } : await run();
    if (!paid.result) await keep(job, result.model);
    finish(plan);
    app.state.models.push({ name: `${app.state.models.length + 1}: ${plan.learner}, ε = ${plan.epsilon}`, text: result.model, statement: result.statement, yaml: plan.yaml });
    app.chosen = app.state.models.length - 1;
    line.textContent = `Trained in ${result.seconds.toFixed(1)} seconds. Go on to read the model.`;
    for (const q of result.questions ?? []) line.append(el("br"), "Question: " + q + "?");
    if (result.statement) $("statement").replaceChildren(el("h3", {}, "The statement of the model"), el("pre", { class: "words" }, result.statement.join("\n")));
  } catch (problem) {
    line.textContent = problem.cancelled ? "Cancelled. What was charged stays charged; the same training again is free." : "";
    if (!problem.cancelled) complain($("train-error"), problem);
  }
  const failed = $("train-error").textContent;
  busy = false;
  $("cancel").hidden = $("running").hidden = true;
  show();
  if (failed) $("train-error").textContent = failed;
  app.changed();
  app.trained();
  if (!$("train").hidden) ($("next").disabled ? $("begin") : $("next")).focus();
}

export function start() {
  $("train-file").addEventListener("change", e => { app.file = e.target.files[0] ?? app.file; e.target.value = ""; show(); });
  $("begin").addEventListener("click", begin);
  $("cancel").addEventListener("click", () => trainer.cancel());
}

export const enter = show;

export function same() {
  const s = app.state, delta = Number(s.delta) ? s.delta : "";
  return [`discreet train --data table.csv --schema table.yaml --learner ${s.learner} --epsilon ${s.epsilon}${delta && " --delta " + delta} \\\n  --ledger l.db --dataset NAME --model m.json`,
    `model = DiscreetClassifier(schema="table.yaml", learner="${s.learner}", epsilon=${s.epsilon}${delta && ", delta=" + delta},\n  ledger="l.db", dataset="NAME").fit(X, y)\nmodel.save("m.json")`];
}
