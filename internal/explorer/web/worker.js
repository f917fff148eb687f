// SPDX-License-Identifier: Apache-2.0

// The engine in a thread of its own. What the page asks before the engine runs waits; then the engine
// answers messages itself.
"use strict";

importScripts("wasm_exec.js");

const early = [];
const keep = e => early.push(e.data);
addEventListener("message", keep);

// Called by the engine as soon as it can answer.
self.explorerReady = answer => {
  removeEventListener("message", keep);
  addEventListener("message", e => answer(e.data));
  for (const m of early) answer(m);
};

const go = new Go();
WebAssembly.instantiateStreaming(fetch("explorer.wasm"), go.importObject)
  .then(r => go.run(r.instance))
  .catch(() => postMessage({ broken: "the engine explorer.wasm could not be loaded; load the page again" }));
