// SPDX-License-Identifier: Apache-2.0

// The explorer in real browsers, from a file to a budget.
//
//	node run.js PROGRAM FILES [SHOTS]
//
// PROGRAM is discreet, FILES the folder that make explorer writes, SHOTS a folder for screenshots.
//
// It fails at an error of the console, a request to another place, a cell of the table in the page, a
// request, a response or the browser's storage, a serious finding of axe, and what Tab cannot reach.
import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { Keyboard, Mouse, until } from "./hands.js";
import { answers, folder, open, saved, serve, shots, watch } from "./stage.js";

const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

// An invented ward: older patients with a high lactate are referred.
function invent(rows, seed) {
  let s = seed;
  const random = () => (s = (s * 48271) % 2147483647) / 2147483647;
  const lines = ["age,ward,lactate,note,referred"];
  for (let i = 0; i < rows; i++) {
    const age = Math.floor(20 + 70 * random()), lactate = 10 * random();
    const referred = random() < 1 / (1 + Math.exp(4 - 0.03 * age - 0.4 * lactate));
    lines.push([i % 50 === 7 ? "271828" : age, i % 50 === 8 ? "kanarienvogel" : "ABC"[Math.floor(3 * random())], lactate.toFixed(2), "kanarienvogel", referred ? "yes" : "no"].join(","));
  }
  return lines.join("\n") + "\n";
}

const patients = path.join(folder, "kanarienvogel.csv"), heldOut = path.join(folder, "held-out.csv");
fs.writeFileSync(patients, invent(6000, 1));
fs.writeFileSync(heldOut, invent(2000, 2));

// What the page and the browser hold, at any moment.
async function inspect({ page, seen, check }, step) {
  check(`the page at ${step}`, (await page.evaluate(() => document.title + location.href + [...document.querySelectorAll("body *:not(#train-name)")].map(e => [...e.childNodes].filter(n => n.nodeType === 3).map(n => n.data).join("") + (e.value ?? "")).join("\n"))));
  assert.equal(await page.evaluate(async () => localStorage.length + sessionStorage.length + document.cookie.length + (await indexedDB.databases()).length + ((await caches?.keys?.()) ?? []).length), 0, `storage at ${step}`);
  assert.ok(!await page.evaluate(() => document.body.innerText.includes("undefined")), `"undefined" at ${step}`);
  assert.deepEqual(seen.wrong, [], `at ${step}`);
}

// What is red, as somebody sees it.
const red = page => page.evaluate(() => {
  const probe = document.body.appendChild(document.createElement("p")), reds = ["--alarm", "--warn"].map(name => { probe.style.color = `var(${name})`; return getComputedStyle(probe).color; });
  probe.remove();
  return [...document.querySelectorAll("main *")].filter(e => e.getClientRects().length && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) && reds.includes(getComputedStyle(e).color)).map(e => e.textContent);
});

async function judge(page, name, schemes) {
  for (const scheme of schemes) {
    if (schemes.length > 1) await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
    const serious = violations.filter(v => ["serious", "critical"].includes(v.impact));
    assert.deepEqual(serious.map(v => [v.id, v.nodes.map(n => n.target.join(" ") + ": " + n.failureSummary).slice(0, 3)]), [], `axe at ${name}, ${scheme}`);
    for (const width of shots && schemes.length > 1 ? [390, 1280, 1920] : []) {
      await page.setViewport({ width, height: 900 });
      await page.screenshot({ path: path.join(shots, `${name}-${width}-${scheme}.png`), fullPage: !name.includes("charge") });
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(over <= 0, `${name} is ${over} pixels wider than ${width}`);
    }
  }
  if (shots && schemes.length > 1) await page.setViewport({ width: 1280, height: 900 });
}

const gone = page => until(page, "the question is answered", () => !document.querySelector("dialog[open]"));

async function walk(watched, Hand, schemes, counted) {
  const { page, check, address } = watched, hand = new Hand(page), began = Date.now();
  const stop = async name => { await inspect(watched, name); await judge(page, name, schemes); };
  const text = (id, want) => until(page, `${id} says ${want}`, (id, want) => document.getElementById(id).textContent.includes(want), id, want);
  const cancelled = async () => {
    await page.evaluate(() => { window.held = true; });
    await hand.press("dialog [value=yes]");
    await hand.press("#cancel");
    await text("training", "Cancelled");
    await page.evaluate(() => { window.held = false; });
  };
  const column = (name, what) => `[aria-label="${what} of ${name}"]`;

  await page.goto(address);
  await answers(page);
  const instantiated = Date.now() - began;
  const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
  await stop("0-empty");

  await hand.press("#headless");
  await hand.upload("#file", patients);
  await text("table-said", "Nothing of this file is read");
  await hand.press("#headless");
  await text("count", "missing");
  assert.deepEqual(await red(page), [], "nobody was at a field yet");
  await stop("1-draft");
  await hand.choose(column("age", "Role"), "private");
  await hand.choose(column("age", "Kind"), "number");
  await hand.type(column("age", "From"), "0");
  await hand.choose("#about [name=trim]", "false");
  await until(page, "what the row lacks is red once it was left", () => document.querySelector("#columns p.fault"));
  await hand.type("#about [name=name]", "ward");
  await hand.type("#about [name=unit]", "one visit");
  await hand.choose("#about [name=relation]", "replace-one");
  await hand.type("#about [name=missing]", "NA");
  const set = async (name, role, kind, facts) => {
    await hand.choose(column(name, "Role"), role);
    if (kind) await hand.choose(column(name, "Kind"), kind);
    for (const [key, value] of Object.entries(facts ?? {})) await hand.type(column(name, key), value);
  };
  await set("age", "private", "number", { From: "0", to: "120", "if missing": "50" });
  await set("ward", "public", "category", { Levels: "A, B, C" });
  await set("lactate", "private", "number", { From: "0", to: "20", "if missing": "1" });
  await set("note", "ignored");
  await set("referred", "public", "label", { Classes: "no, yes", Positive: "yes", "if missing": "no" });
  await text("count", "Complete");
  await stop("2-complete");

  await hand.press("#next");
  await hand.press("#count-cells");
  await until(page, "cells are counted", () => document.getElementById("cells-found").textContent.includes("NOT PRIVATE"));
  await stop("2-check");
  await hand.press("#next");
  await until(page, "there is a price", () => document.querySelector("#price .price"));
  const typed = async value => { await page.evaluate(v => { const e = document.getElementById("epsilon-text"); e.focus(); e.value = v; e.dispatchEvent(new Event("input", { bubbles: true })); }, value); };
  await typed("0");
  await until(page, "there is no price", () => !document.querySelector("#price .price"));
  assert.equal(await page.$eval("#plan-error", e => e.textContent), "", "a number that somebody types is not finished");
  await page.evaluate(() => document.activeElement.blur());
  await text("plan-error", "ε must be finite");
  await hand.slide("#epsilon", 0);
  await until(page, "the price follows the slider", () => document.querySelector("#price .price")?.textContent.includes("= 1"));
  await hand.type("#rows", "6000");
  await hand.press("#draw");
  await text("drawn", "Done");
  await stop("3-plan");

  await hand.press("#next");
  await stop("4-train");
  await hand.press("#begin");
  await until(page, "the page asks", () => document.querySelector("dialog[open]"));
  await text("charge-text", counted ? "Left afterwardsε = 3" : "Spent in this page beforeε = 0");
  await stop("5-charge");
  await hand.press("dialog [value=no]");
  await gone(page);
  await hand.press("#begin");
  await cancelled();
  await hand.press("#begin");
  await text("charge-text", "again is free");
  await hand.press("dialog [value=yes]");
  await text("training", "Trained in");
  await stop("6-trained");

  await hand.press("#next");
  await until(page, "shapes are drawn", () => document.querySelectorAll("#view figure svg").length >= 2);
  await stop("7-shapes");
  const [from, name] = await page.evaluate(async () => {
    const { drawBars } = await import(new URL("charts.js", location.href)), chart = document.body.appendChild(drawBars("", [["W".repeat(60), 1, "1"]])), t = chart.querySelector("text"), at = t.getBBox().x;
    chart.remove();
    return [at, t.firstChild.data];
  });
  assert.ok(from >= 0 && /^W+…$/.test(name), `a long name is cut at its end: ${name} begins at ${from}`);
  await hand.press("#tab-try");
  await until(page, "the model answers", () => /%/.test(document.querySelector("#view .answer")?.textContent));
  assert.match(await page.$eval("#view .pair", e => e.textContent), /probability of referred = yes/);
  assert.equal(await page.$eval("#view input[type=text]", e => e.value), "50", "the schema's default");
  await hand.type("#view input[type=text]", "forty");
  await until(page, "a cell that is no number is remarked", () => /unreadable as a number/.test(document.querySelector("#view form").textContent));
  await stop("8-what-if");
  await hand.press("#tab-judge");
  await hand.upload("#view input[type=file]", heldOut);
  await hand.press("#view .bar button:not(.primary)");
  await until(page, "the model is judged", () => /NOT PRIVATE/.test(document.querySelector("#view .alarm")?.textContent));
  await stop("9-evaluation");
  await hand.press("#view .bar .primary");
  await hand.press("dialog [value=yes]");
  await until(page, "the model is judged privately", () => [...document.querySelectorAll("#view .note")].some(n => /^Private/.test(n.textContent)));
  await until(page, "the evaluation is kept", () => [...document.querySelectorAll("#view .bar button")].some(b => /^Show private/.test(b.textContent)));
  await stop("10-private");
  await hand.press("#tab-files");
  await hand.press("#view .primary");
  const model = path.join(folder, "model.json");
  fs.writeFileSync(model, await saved(page, "model.json"));
  await hand.press("#view .primary ~ button");
  await saved(page, "model.onnx");
  await hand.press("#write-card");
  await until(page, "the card is written", () => document.querySelector("#view .card dl"));
  await stop("11-card");
  await hand.upload("#model-file", model);
  await hand.press("#tab-compare");
  await hand.press("#view .bar button");
  await until(page, "the models are compared", () => document.querySelector("#view table"));
  await stop("12-comparison");

  await hand.press("#next");
  await until(page, "the budget is shown", () => document.querySelector("#datasets table"));
  await stop("13-budget");
  await hand.press("#save");
  const everything = await saved(page, "explorer.json");
  check("the download", everything);
  const copy = path.join(folder, "explorer.json");
  fs.writeFileSync(copy, everything);
  // The address no longer has the token, so a reload would not do.
  const reopen = async () => { await page.goto("about:blank"); await page.goto(address); await answers(page); };
  await reopen();
  await hand.upload("#open", copy);
  await until(page, "the download is opened", () => !document.getElementById("budget").hidden);
  await hand.press("#back");
  await until(page, "the model is back", () => document.querySelectorAll("#model option").length === 2);
  // A page that is closed after a charge goes on with the same job for free.
  const begin = async () => {
    await hand.press("#to-plan");
    await until(page, "there is a price", () => document.querySelector("#price .price"));
    await hand.press("#next");
    await hand.upload("#train-file", patients);
    await hand.press("#begin");
  };
  if (counted) {
    await begin();
    await hand.press("dialog [value=no]");
    await gone(page);
    await hand.press("#to-plan");
    await hand.type("#epsilon-text", "9");
    await until(page, "the price is higher", () => document.querySelector("#price .price")?.textContent === "Price: ε = 9");
    await hand.press("#next");
    await hand.press("#begin");
    await text("charge-h", "cannot be spent");
    assert.ok(await page.$eval("#agree", e => e.getClientRects().length === 0), "what must be refused is not offered");
    await hand.press("dialog [value=no]");
    await gone(page);
    await hand.press("#to-plan");
    await hand.type("#epsilon-text", "1");
    await until(page, "the price is as before", () => document.querySelector("#price .price")?.textContent === "Price: ε = 1");
    await begin();
    await cancelled();
    await reopen();
    await hand.upload("#open", copy);
    await until(page, "the download is opened", () => !document.getElementById("budget").hidden);
    await begin();
    await text("charge-text", "again is free");
    await hand.press("dialog [value=no]");
    await gone(page);
    const spent = await page.evaluate(async token => (await (await fetch("api/budget", { headers: { Authorization: "Bearer " + token } })).json()).datasets.map(d => `${d.name} ${d.spent}`), address.split("#token=")[1]);
    assert.deepEqual(spent, ["ward 2", "later 0.5"]);
    await page.goto("about:blank"); // the same page without the token is no playground
    await page.goto(address.split("#")[0]);
    await answers(page);
    assert.match(await page.$eval("#mode", e => e.textContent), /without its token/);
  }
  await inspect(watched, "reopened");
  await Promise.all(watched.seen.bodies);
  assert.deepEqual(watched.seen.wrong, []);
  return { paint, instantiated, seconds: (Date.now() - began) / 1000, keys: hand.keys };
}

// One picture of a step: three widths, light above dark.
async function sheet(browser, name, step) {
  const page = await browser.newPage(), all = ["light", "dark"].map(scheme => [[1920, 45], [1280, 36], [390, 16]].map(([width, share]) =>
    `<img style="width:${share}%" src="data:image/png;base64,${fs.readFileSync(path.join(shots, `${step}-${width}-${scheme}.png`)).toString("base64")}">`).join(" "));
  await page.setViewport({ width: 1600, height: 900 });
  await page.setContent(`<style>body{margin:8px;background:#8a929b}div{display:flex;gap:1.4%;align-items:start;margin-bottom:8px}img{object-fit:cover;object-position:top;max-height:880px}</style>` + all.map(a => `<div>${a}</div>`).join(""));
  await page.screenshot({ path: path.join(shots, name + ".webp"), type: "webp", quality: 55, fullPage: true });
  await page.close();
}

for (const [name, Hand, schemes, counted] of [["chromium", Mouse, ["light", "dark"], true], ["chromium", Keyboard, ["light"], false], ["firefox", Mouse, ["light"], true], ["firefox", Keyboard, ["light"], false]]) {
  if (process.env.ONLY && process.env.ONLY !== name + Hand.name) continue;
  const browser = await open(name);
  if (!browser) { console.log(`${name}: skipped, it is not installed`); continue; }
  const server = await serve(counted);
  try {
    const watched = await watch(browser, name, server.address);
    await watched.page.setViewport({ width: 1280, height: 900 });
    const r = await walk(watched, Hand, schemes, counted).catch(async e => { if (shots) await watched.page.screenshot({ path: path.join(shots, "failed.png") }).catch(() => {}); throw e; });
    watched.check("the log", server.log());
    assert.deepEqual(watched.seen.wrong, []);
    console.log(`${name} by ${Hand.name.toLowerCase()}: fine, ${r.seconds.toFixed(1)} s; first paint ${Math.round(r.paint)} ms, engine after ${r.instantiated} ms` + (r.keys ? `; ${r.keys.length} keys` : ""));
    if (shots && schemes.length > 1) for (const [to, step] of Object.entries({ table: "2-complete", plan: "3-plan", train: "5-charge", read: "7-shapes", budget: "13-budget" })) await sheet(browser, to, step);
    if (r.keys && shots) fs.writeFileSync(path.join(shots, `keys-${name}.txt`), r.keys.join(" ") + "\n");
  } finally { await browser.close(); await server.stop(); }
}
