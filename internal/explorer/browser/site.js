// SPDX-License-Identifier: Apache-2.0

// The documentation as a site, in a browser: what axe finds, what a block's button copies, and the explorer as a
// playground that takes no file.
//
//	node site.js SITE [SHOTS]
import assert from "node:assert/strict";
import fs from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import path from "node:path";
import { Mouse, until } from "./hands.js";
import { answers, open } from "./stage.js";

const [site, shots] = process.argv.slice(2);
const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".json": "application/json", ".wasm": "application/wasm", ".csv": "text/csv" };

const server = http.createServer((q, r) => {
  const file = path.join(site, decodeURIComponent(new URL(q.url, "http://x").pathname));
  if (!file.startsWith(path.resolve(site)) || !fs.existsSync(file) || !fs.statSync(file).isFile()) return r.writeHead(404).end();
  r.writeHead(200, { "Content-Type": types[path.extname(file)] ?? "application/octet-stream" });
  fs.createReadStream(file).pipe(r);
}).listen(0, "127.0.0.1");
await new Promise(done => server.on("listening", done));
const address = `http://127.0.0.1:${server.address().port}/`;

const browser = await open("chromium");
if (!browser) { console.log("site: walk skipped, there is no chromium here"); process.exit(0); }
try {
  const page = await browser.newPage(), hand = new Mouse(page), wrong = [];
  page.on("pageerror", e => wrong.push(e.message));
  page.on("request", r => { if (!/^(blob|data):/.test(r.url()) && !r.url().startsWith(address)) wrong.push("request to " + r.url()); });
  const picture = async name => shots && page.screenshot({ path: path.join(shots, name + ".png") });
  const judge = async name => {
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
    const serious = violations.filter(v => ["serious", "critical"].includes(v.impact));
    assert.deepEqual(serious.map(v => [v.id, v.nodes.map(n => n.target.join(" ") + ": " + n.failureSummary).slice(0, 3)]), [], "axe at " + name);
  };
  for (const [name, width, scheme] of [["index", 1280, "light"], ["docs/commands", 1280, "dark"], ["docs/verifying", 390, "light"], ["docs/schema", 390, "dark"], ["evidence/guarantees/index", 1280, "light"], ["404", 1280, "dark"]]) {
    await page.setViewport({ width, height: 900 });
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    await page.goto(address + name + ".html", { waitUntil: "load" });
    await picture(`${path.basename(name)}-${width}-${scheme}`);
    await judge(`${name}, ${width}, ${scheme}`);
  }

  // A session of several commands, with what the last prints.
  await page.setViewport({ width: 1280, height: 900 });
  await browser.defaultBrowserContext().overridePermissions(address, ["clipboard-read", "clipboard-write", "clipboard-sanitized-write"]);
  await page.goto(address + "docs/verifying.html", { waitUntil: "load" });
  const block = await page.evaluate(() => { const all = [...document.querySelectorAll(".highlight pre")]; return all.findIndex(b => b.textContent.startsWith("$ discreet keygen")); });
  await until(page, "blocks have buttons", n => document.querySelectorAll(".highlight")[n].querySelector("[data-clipboard-target]"), block);
  await page.evaluate(n => document.querySelectorAll(".highlight")[n].querySelector("[data-clipboard-target]").click(), block);
  await until(page, "something is copied", async () => (await navigator.clipboard.readText()) !== "");
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "discreet keygen --out publisher\nls publisher publisher.pub");

  // A private model of the invented census.
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);
  await page.goto(address + "explorer/index.html");
  await answers(page);
  assert.equal(await page.$$eval("input[type=file]", all => all.length), 0, "the playground takes no file");
  await judge("the playground");
  await picture("playground");
  const began = performance.now();
  await hand.press("#try");
  await until(page, "the census is here", () => document.getElementById("count").textContent.includes("Complete"));
  await picture("playground-census");
  await hand.press("#to-plan");
  await until(page, "there is a price", () => document.querySelector("#price .price"));
  await hand.press("#next");
  await hand.press("#begin");
  await hand.press("#agree");
  await until(page, "a model is trained", () => document.getElementById("training").textContent.includes("Trained in"));
  const seconds = (performance.now() - began) / 1000;
  await hand.press("#next");
  await hand.press("#tab-try");
  await until(page, "the positive class is named", () => /high_income = yes/.test(document.querySelector("#view .pair")?.textContent));
  assert.equal(await page.$eval("#view input[type=text]", e => e.value), "45", "an age begins with the schema's default");
  await hand.press("#tab-judge");
  await hand.press("#held-out");
  await hand.press("#view .bar button:not(.primary)");
  await until(page, "the model is judged", () => /NOT PRIVATE/.test(document.querySelector("#view .alarm")?.textContent));
  assert.equal(await page.$$eval("input[type=file]", all => all.length), 0, "no step of the playground takes a file");
  assert.ok(!await page.evaluate(() => document.body.innerText.includes("undefined")), "the page says undefined");
  await judge("the playground's evaluation");
  await picture("playground-evaluation");
  assert.deepEqual(wrong, []);
  console.log(`site: fine in chromium; a private model of the invented census ${seconds.toFixed(1)} s after one click`);
} finally { await browser.close(); server.close(); }
