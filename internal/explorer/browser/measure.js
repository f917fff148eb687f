// SPDX-License-Identifier: Apache-2.0

// What the engine takes, under node, and how near its forecasts come.
//
//	node measure.js FILES                        seconds of plans, edits and a forecast
//	node measure.js FILES train SCHEMA TABLE     seconds and memory of one training
//	node measure.js FILES forecast SCHEMA TRAIN HELD-OUT ROWS POSITIVES
//
// The last trains eight times at each price and writes the mean AUC on held-out rows beside two forecasts:
// by the page's own guess of the AUC without privacy, and by what the table gives at ε = 20. It is for tables
// that are public.
import fs from "node:fs";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { start } from "./engine.js";
import { documentation, schema } from "./patients.js";

const [files, what, ...rest] = process.argv.slice(2);
const began = performance.now(), call = await start(files);
// Seconds that the thread of the engine has had; beside it, node compiles.
const thread = () => { const t = fs.readFileSync(`/proc/self/task/${process.pid}/stat`, "utf8").split(") ")[1].split(" "); return (Number(t[11]) + Number(t[12])) / 100; };
const timed = async f => {
  const t = performance.now(), cpu = process.cpuUsage(), r = await f(), used = process.cpuUsage(cpu);
  return { r, s: (performance.now() - t) / 1000, cpu: (used.user + used.system) / 1e6 };
};
const mean = a => a.reduce((x, y) => x + y, 0) / a.length;
const read = file => new Uint8Array(file.endsWith(".gz") ? gunzipSync(fs.readFileSync(file)) : fs.readFileSync(file));

async function times() {
  console.log(`the engine answers after ${((performance.now() - began) / 1000).toFixed(2)} s`);
  for (const columns of [33, 300]) {
    const yaml = schema(columns), plan = e => call("plan", { yaml, learner: "auto", epsilon: String(e), delta: "0", rows: 20000 });
    const first = await timed(() => plan(1)), next = [];
    for (let i = 1; i <= 20; i++) next.push(1000 * (await timed(() => plan(1 + i / 100))).s);
    const names = documentation(columns).map(c => c.name), drafted = await timed(() => call("draft", { names }));
    const one = await timed(() => call("edit", { yaml: drafted.r.yaml, changes: [{ column: "age", set: { role: "private" } }] }));
    const all = await timed(() => call("edit", { yaml: drafted.r.yaml, changes: names.map(column => ({ column, set: { role: "private" } })) }));
    const looked = await timed(() => call("inspect", { yaml: all.r.yaml }));
    console.log(`${columns} columns: first plan ${first.s.toFixed(2)} s, the next ${mean(next).toFixed(0)} ms in the mean and ${Math.max(...next).toFixed(0)} at most; ` +
      `draft ${drafted.s.toFixed(2)} s, one role ${one.s.toFixed(2)}, all roles ${all.s.toFixed(2)}, inspection ${looked.s.toFixed(2)}`);
  }
  const points = [], t = performance.now();
  await call("forecast", { yaml: schema(), learner: "auto", delta: "0", rows: 20000, positives: 0.08, epsilons: [1, 0.5, 0.1, 0.3, 3, 0.03, 10, 0.01] }, () => points.push((performance.now() - t) / 1000));
  console.log(`a forecast of 33 columns, 20,000 rows: first point after ${points[0].toFixed(1)} s, eight after ${points.at(-1).toFixed(1)}, in one worker`);
}

async function training(schemaFile, table) {
  const yaml = fs.readFileSync(schemaFile, "utf8"), bytes = read(table);
  const before = thread(), t = await timed(() => call("train", { yaml, learner: "auto", epsilon: "1", delta: "0", name: path.basename(table).replace(/\.gz$/, ""), bytes }));
  console.log(`trained in ${t.s.toFixed(1)} s, ${t.cpu.toFixed(1)} s of processor time, of which ${(thread() - before).toFixed(1)} in its own thread, ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MiB at most, the file's ${(bytes.length / 2 ** 20).toFixed(0)} among them`);
}

async function near(schemaFile, trained, heldOut, rows, positives) {
  const yaml = fs.readFileSync(schemaFile, "utf8"), given = { yaml, learner: "auto", delta: "0" };
  const plain = f => path.basename(f).replace(/\.gz$/, "");
  const once = async epsilon => {
    const { model } = await call("train", { ...given, epsilon, name: plain(trained), bytes: read(trained) });
    return (await call("evaluate", { model, name: plain(heldOut), bytes: read(heldOut) })).auc;
  };
  const at = async (epsilon, times) => { const a = []; for (let i = 0; i < times; i++) a.push(await once(epsilon)); return a; };
  const most = mean(await at("20", 2)), forecast = async strength => (await call("forecast", { ...given, rows: Number(rows), positives: Number(positives), strength, epsilons: ["0.1", "1"] })).points;
  const guess = await forecast(0.85), told = await forecast(most);
  for (const [i, epsilon] of ["0.1", "1"].entries()) {
    const a = await at(epsilon, 8), m = mean(a), sd = Math.sqrt(mean(a.map(x => (x - m) ** 2)) * 8 / 7);
    console.log([path.basename(schemaFile, ".yaml"), "ε " + epsilon, "trained " + m.toFixed(3), "sd " + sd.toFixed(3), "at ε 20 " + most.toFixed(3),
      "forecast by .85 " + guess[i].auc.toFixed(3), "by the table's " + told[i].auc.toFixed(3), "off by " + (told[i].auc - m).toFixed(3)].join("; "));
  }
}

await ({ train: training, forecast: near }[what] ?? times)(...rest);
process.exit(0);
