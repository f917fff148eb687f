// SPDX-License-Identifier: Apache-2.0

// The engine behind promises. cancel ends its thread at once, whatever it does, and starts another.
export class Engine {
  #calls = new Map();
  #worker;
  #last = 0;

  // An engine starts at its first call.
  #start() {
    this.#worker = new Worker(new URL("worker.js", import.meta.url));
    this.#worker.onerror = () => this.#fail("the engine stopped; what it did is lost, what was charged stays charged");
    this.#worker.onmessage = ({ data }) => {
      if (data.broken) return this.#fail(data.broken);
      const call = this.#calls.get(data.id);
      if (!call) return;
      if (data.progress) return call.progress?.(data.progress);
      this.#calls.delete(data.id);
      if (data.error) call.reject(data.error);
      else call.resolve(data.result);
    };
  }

  #fail(message) {
    this.cancel({ message });
  }

  call(name, args = {}, progress) {
    if (!this.#worker) this.#start();
    return new Promise((resolve, reject) => {
      const id = ++this.#last;
      this.#calls.set(id, { resolve, reject, progress });
      this.#worker.postMessage({ id, call: name, args }, args.bytes ? [args.bytes.buffer] : []);
    });
  }

  cancel(reason = { cancelled: true, message: "cancelled" }) {
    this.#worker?.terminate();
    this.#worker = undefined;
    for (const c of this.#calls.values()) c.reject(reason);
    this.#calls.clear();
  }
}
