// SPDX-License-Identifier: Apache-2.0

// A trial as an analyst would make it, by script: an invented table of 33 columns from the file to a model
// with its card, with the mistakes that a beginner makes on the way, and a table of 300 columns.
//
//	node trial.js PROGRAM FILES
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { Mouse, until } from "./hands.js";
import { documentation, schema, table } from "./patients.js";
import { answers, folder, open, saved, serve, watch } from "./stage.js";

const trained = path.join(folder, "patients.csv"), heldOut = path.join(folder, "later.csv"), wide = path.join(folder, "wide.csv"), wideSchema = path.join(folder, "wide.yaml");
fs.writeFileSync(trained, table(20000, 1));
fs.writeFileSync(heldOut, table(10000, 2));
fs.writeFileSync(wide, documentation(300).map(c => c.name).join(",") + "\n");
fs.writeFileSync(wideSchema, schema(300));

const browser = await open("chromium"), server = await serve(true, ["patients", "patients-later"]);
try {
  const watched = await watch(browser, "chromium", server.address), { page } = watched, hand = new Mouse(page);
  const text = (id, want) => until(page, `${id} says ${want}`, (id, want) => document.getElementById(id).textContent.includes(want), id, want);
  const column = (name, what) => `[aria-label="${what} of ${name}"]`;
  const began = performance.now();
  let last = began;
  const lap = (task, note = "") => { const now = performance.now(); console.log(`| ${task} | ${((now - last) / 1000).toFixed(1)} s | ${note} |`); last = now; };
  const refused = async (id, f, want) => { await f(); await until(page, `${id} complains`, (id, want) => document.getElementById(id).textContent.includes(want), id, want); return page.$eval("#" + id, e => e.textContent); };
  await page.setViewport({ width: 1280, height: 900 });
  await page.goto(server.address);
  await answers(page);
  lap("open the page");

  await hand.upload("#file", trained);
  await text("count", "missing");
  for (const [key, value] of [["name", "patients"], ["unit", "one stay"], ["missing", "NA"]]) await hand.type(`#about [name=${key}]`, value);
  await hand.choose("#about [name=relation]", "replace-one");
  await hand.choose("#about [name=trim]", "false");
  await hand.choose("#all", "private");
  for (const c of documentation()) {
    if (c.kind === "ignored") { await hand.choose(column(c.name, "Role"), "ignored"); continue; }
    await hand.choose(column(c.name, "Kind"), c.kind);
    const facts = c.kind === "number" ? { From: c.from, to: c.to, "if missing": c.missing } : { [c.kind === "label" ? "Classes" : "Levels"]: c.levels.join(", ") };
    for (const [what, v] of Object.entries(facts)) await hand.type(column(c.name, what), String(v));
  }
  await hand.choose(column("readmitted", "Role"), "private");
  await hand.type(column("readmitted", "Positive"), "yes");
  await hand.type(column("readmitted", "if missing"), "no");
  await text("count", "Complete");
  lap("declare unit, relation and 33 columns from their documentation");

  await hand.type(column("age", "From"), "200"); // a mistake: bounds the wrong way round
  await until(page, "it is said", () => document.querySelector("#problems button")?.textContent.includes("age"));
  assert.ok(await page.$eval("#next", e => e.disabled));
  const said = await page.$eval("#problems button", e => e.textContent);
  await hand.type(column("age", "From"), "0");
  await text("count", "Complete");
  lap("mistake: a lower bound above the upper one", "refused: " + said);

  await hand.press("#to-plan");
  await until(page, "there is a price", () => document.querySelector("#price .price"));
  const no = await refused("plan-error", () => hand.type("#epsilon-text", "0"), "ε must");
  assert.ok(await page.$eval("#next", e => e.disabled));
  lap("mistake: ε = 0", "refused: " + no);
  await hand.type("#epsilon-text", "1");
  await hand.type("#rows", "20000");
  await hand.type("#positives", "8");
  await hand.type("#strength", "0.8");
  await until(page, "there is a price", () => document.querySelector("#price .price")?.textContent === "Price: ε = 1");
  const moves = await page.evaluate(async () => {
    const e = document.getElementById("epsilon"), out = [];
    for (let i = 0; i < 20; i++) {
      const t = performance.now(), v = -1 + i / 20, want = "Price: ε = " + Number((10 ** v).toPrecision(2));
      e.value = v;
      e.dispatchEvent(new Event("input", { bubbles: true }));
      while (document.querySelector("#price .price")?.textContent !== want) await new Promise(done => setTimeout(done, 1));
      out.push(performance.now() - t);
    }
    return out.sort((a, b) => a - b);
  });
  lap("move the slider 20 times", `until the price has followed, ${Math.round(moves[10])} ms in the median, ${Math.round(moves[19])} at most`);
  await hand.type("#epsilon-text", "1");
  const drawing = performance.now();
  await hand.press("#draw");
  await text("drawn", "points");
  const first = performance.now() - drawing;
  await text("drawn", "Done");
  const forecast = await page.$$eval("#forecast tbody tr", rows => rows.map(r => [...r.children].map(c => c.textContent)).find(r => r[0] === "1"));
  lap("draw the forecast", `first points after ${(first / 1000).toFixed(1)} s; at ε = 1 AUC ${forecast[1]}, ${forecast[2]} to ${forecast[3]}`);

  await hand.press("#next");
  const over = async () => { await hand.press("#to-plan"); await hand.type("#epsilon-text", "9"); await until(page, "there is a price", () => document.querySelector("#price .price")?.textContent === "Price: ε = 9"); await hand.press("#next"); await hand.press("#begin"); };
  const limit = await refused("charge-text", over, "higher than what is left");
  await hand.press("dialog [value=no]");
  lap("mistake: a training that the budget does not allow", "not offered: " + limit);
  await hand.press("#to-plan");
  await hand.type("#epsilon-text", "1");
  await until(page, "there is a price", () => document.querySelector("#price .price")?.textContent === "Price: ε = 1");
  await hand.press("#next");
  await hand.press("#begin");
  await hand.press("dialog [value=yes]");
  await text("training", "Trained in");
  lap("train for ε = 1", await page.$eval("#training", e => e.textContent));

  await hand.press("#next");
  await until(page, "shapes are drawn", () => document.querySelectorAll("#view figure svg").length >= 12);
  lap("read the shapes", "first " + await page.$$eval("#view figcaption b", b => b.slice(0, 5).map(x => x.textContent).join(", ")));
  await hand.press("#tab-judge");
  await hand.upload("#view input[type=file]", heldOut);
  await hand.press("#view .bar .primary");
  await hand.press("dialog [value=yes]");
  await until(page, "the model is judged privately", () => [...document.querySelectorAll("#view .note")].some(n => /^Private/.test(n.textContent)));
  lap("evaluate privately for ε = 0.5 on 10,000 held-out rows", await page.$eval("#view tbody tr", r => [...r.children].map(c => c.textContent).join(" ")));
  await hand.press("#view .bar button:not(.primary)");
  await until(page, "the model is judged", () => /NOT PRIVATE/.test(document.querySelector("#view .alarm")?.textContent));
  lap("evaluate exactly", "marked NOT PRIVATE; " + await page.$eval("#view tbody tr", r => [...r.children].map(c => c.textContent).join(" ")));
  await hand.press("#tab-files");
  await hand.press("#view .primary");
  await saved(page, "model.json");
  await hand.press("#write-card");
  await until(page, "the card is written", () => document.querySelector("#view .card dl"));
  lap("save the model, write its card");
  await hand.press("#next");
  await until(page, "the budget is shown", () => document.querySelectorAll("#datasets table").length > 1);
  lap("find out what is spent", await page.$$eval("#datasets .price", p => p.map(x => x.textContent).join(" ")));
  console.log(`| from the file to a model with its card | ${((performance.now() - began) / 1000).toFixed(1)} s | |`);

  await hand.press("#to-table");
  last = performance.now();
  await hand.upload("#file", wide);
  await text("count", "missing");
  await until(page, "300 columns are here", () => document.getElementById("pages").textContent.includes("300"));
  lap("300 columns: from the file to the form");
  await hand.choose("#all", "private");
  await until(page, "all have a role", () => [...document.querySelectorAll('[name="role"]')].every(s => s.value === "private"));
  lap("300 columns: all are private");
  await hand.type("#find", "measurement_200");
  await hand.choose(column("measurement_200", "Kind"), "number");
  await until(page, "the kind is here", () => document.querySelector('[aria-label="From of measurement_200"]'));
  lap("300 columns: find one and choose its kind");
  await hand.upload("#schema", wideSchema);
  await text("count", "Complete");
  lap("300 columns: open a whole schema");
  await hand.press("#to-plan");
  await until(page, "there is a price", () => document.querySelector("#price .price"));
  lap("300 columns: the first plan");
  await hand.slide("#epsilon", 0.5);
  await until(page, "the price follows", () => document.querySelector("#price .price")?.textContent === "Price: ε = 3.2");
  lap("300 columns: move the slider");
  assert.deepEqual(watched.seen.wrong, []);
} finally { await browser.close(); await server.stop(); }
