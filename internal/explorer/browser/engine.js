// SPDX-License-Identifier: Apache-2.0

// The engine under node, without a browser: await start(FOLDER) is a function that calls it.
import fs from "node:fs";
import path from "node:path";
import vm from "node:vm";

export async function start(folder) {
  const calls = new Map();
  let last = 0, answer;
  globalThis.postMessage = ({ id, progress, result, error }) => {
    const call = calls.get(id);
    if (progress) return call.progress?.(progress);
    calls.delete(id);
    if (error) call.reject(new Error(error.message)); else call.resolve(result);
  };
  const ready = new Promise(done => { globalThis.explorerReady = f => { answer = f; done(); }; });
  vm.runInThisContext(fs.readFileSync(path.join(folder, "wasm_exec.js"), "utf8"));
  const go = new globalThis.Go();
  const { instance } = await WebAssembly.instantiate(fs.readFileSync(path.join(folder, "explorer.wasm")), go.importObject);
  go.run(instance);
  await ready;
  return (name, args = {}, progress) => new Promise((resolve, reject) => {
    calls.set(++last, { resolve, reject, progress });
    answer({ id: last, call: name, args });
  });
}
