// SPDX-License-Identifier: Apache-2.0

// Asks the search of the built site, by the script that readers' browsers run, and fails if a question does not
// find its page among the first three: node search.mjs SITE
import fs from "node:fs";
import path from "node:path";
import vm from "node:vm";

const questions = {
  "how to choose epsilon": "docs/faq.html",
  "declare a schema": "docs/schema.html",
  "how the ledger works": "docs/tutorial.html",
  ledger: "docs/cohorts.html",
  "verify a release": "docs/verifying.html",
  sites: "docs/sites.html",
  federated: "docs/operators-guide.html",
  "serve a model": "docs/serving.html",
  "export onnx": "docs/export.html",
  python: "docs/python.html",
  "large table": "docs/scale.html",
  "impact assessment": "docs/impact-assessment.html",
};

const site = process.argv[2], scripts = path.join(site, "assets/javascripts/workers");
const index = JSON.parse(fs.readFileSync(path.join(site, "search/search_index.json"), "utf8"));
let hear, heard;
Object.assign(globalThis, { self: globalThis, addEventListener: (_, f) => { hear = f; }, postMessage: m => heard(m) });
vm.runInThisContext(fs.readFileSync(path.join(scripts, fs.readdirSync(scripts).find(n => /^search\..*\.js$/.test(n))), "utf8"));
const send = (type, data) => new Promise(done => { heard = m => done(m.data); hear({ data: { type, data } }); });

await send(0, { ...index, options: {} });
let lost = 0;
for (const [question, page] of Object.entries(questions)) {
  const found = (await send(2, question)).items.map(group => group[0].location.split("#")[0]), at = found.indexOf(page);
  if (at >= 0 && at < 3) continue;
  lost++;
  console.log(`site: "${question}" finds ${page} ${at < 0 ? "nowhere" : `at place ${at + 1}`}, behind ${found.slice(0, 3).join(", ")}`);
}
console.log(`site: ${Object.keys(questions).length - lost} of ${Object.keys(questions).length} questions find their page among the first three`);
process.exit(lost ? 1 : 0);
