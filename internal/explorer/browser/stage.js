// SPDX-License-Identifier: Apache-2.0

// What walks need: a program that serves, a browser, and eyes on the page.
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import puppeteer from "puppeteer-core";
import { until } from "./hands.js";

export const [program, files, shots] = process.argv.slice(2);
export const folder = fs.mkdtempSync(path.join(os.tmpdir(), "explorer-"));
process.on("exit", () => fs.rmSync(folder, { recursive: true }));
const programs = {
  chromium: { browser: "chrome", executablePath: ["/usr/bin/chromium", "/usr/bin/google-chrome"].find(fs.existsSync), args: ["--no-sandbox", "--disable-dev-shm-usage"] },
  firefox: { browser: "firefox", executablePath: ["/usr/bin/firefox-esr", "/usr/bin/firefox"].find(fs.existsSync) },
};

// open starts a browser; undefined if it is not installed.
export const open = name => programs[name].executablePath &&
  puppeteer.launch({ headless: true, protocolTimeout: 600000, timeout: 120000, ...programs[name] });

// Cells that may show up nowhere. Digits within a longer number, as a model has thousands, are no cell.
export const canaries = [/kanarienvogel/, /(?<![\w.])271828(?!\w)/];

export const answers = page => until(page, "the engine answers", () => document.documentElement.dataset.engine);

// serve starts the program: with a ledger, or as the playground.
export async function serve(counted, names = ["ward", "later"]) {
  const state = fs.mkdtempSync(path.join(folder, "state-")), env = { ...process.env, XDG_STATE_HOME: state };
  const ledger = ["--ledger", path.join(state, "l.db")];
  for (const name of counted ? names : []) execFileSync(program, ["budget", "init", ...ledger, "--dataset", name, "--epsilon", "4"], { env, stdio: "ignore" });
  const logged = [], child = spawn(program, ["ui", "--files", files, ...(counted ? [...ledger, "--dataset", names[0], "--held-out", names[1]] : [])], { env });
  const address = await new Promise((found, lost) => {
    let said = "";
    for (const out of [child.stdout, child.stderr]) out.on("data", d => { said += d; const a = /http:\S+(?=\s)/.exec(said); if (a) found(a[0]); });
    child.stdout.on("data", d => logged.push(d));
    child.stderr.on("data", d => logged.push(d));
    child.on("exit", () => lost(new Error("discreet ui ended: " + said)));
  });
  return { address, log: () => Buffer.concat(logged).toString(), stop: () => new Promise(done => { child.removeAllListeners("exit").on("exit", done); child.kill(); }) };
}

export async function watch(browser, name, address) {
  const page = await browser.newPage(), seen = { wrong: [], bodies: [] };
  const check = (where, text) => { for (const c of canaries) if (c.test(text ?? "")) seen.wrong.push(`${where} holds the cell ${c.source}`); };
  page.on("console", m => { if (["error", "warn", "warning"].includes(m.type())) seen.wrong.push("console: " + m.text()); });
  page.on("pageerror", e => seen.wrong.push("error: " + e.message));
  page.on("dialog", d => d.accept());
  page.on("request", r => {
    const there = new URL(r.url());
    if (!["blob:", "data:"].includes(there.protocol) && there.origin !== new URL(address).origin) seen.wrong.push("request to " + r.url());
    check("a request", r.url());
    if (name === "chromium") check("a request", r.postData()); // Firefox does not tell
  });
  page.on("response", r => { if (!r.url().endsWith(".wasm")) seen.bodies.push(r.text().then(t => check("the response " + new URL(r.url()).pathname, t), () => {})); });
  // What would be saved is kept for the test.
  await page.evaluateOnNewDocument(() => {
    window.taken = {};
    const blobs = new Map(), make = URL.createObjectURL;
    URL.createObjectURL = b => { const u = make(b); blobs.set(u, b); return u; };
    HTMLAnchorElement.prototype.click = function () { window.taken[this.download] = blobs.get(this.href); };
    // While window.held is set, a training never starts, so that a walk can cancel it however fast it is.
    const post = Worker.prototype.postMessage;
    Worker.prototype.postMessage = function (m, ...rest) { if (!(window.held && m.call === "train")) post.call(this, m, ...rest); };
  });
  return { page, seen, check, address };
}

export const saved = async (page, name) => { await until(page, name + " is saved", n => window.taken[n], name); return page.evaluate(n => window.taken[n].text(), name); };
