// SPDX-License-Identifier: Apache-2.0

// Elements, numbers in words, and files. Text reaches the page as text only, never as markup.

const space = "http://www.w3.org/2000/svg";

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") for (const [event, f] of Object.entries(value)) node.addEventListener(event, f);
    else if (name === "value") node.value = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(2).filter(c => c !== undefined && c !== null && c !== false));
  return node;
}

export const $ = id => document.getElementById(id);
export const el = (name, props = {}, ...children) => fill(document.createElement(name), props, children);
export const svg = (name, props = {}, ...children) => fill(document.createElementNS(space, name), props, children);
export const list = texts => texts?.length ? el("ul", {}, texts.map(t => el("li", {}, t))) : undefined;
export const field = (text, control, props = {}) => el("label", { class: "field", ...props }, text, control);

export function select(options, chosen, props = {}) {
  return el("select", props, options.map(([value, text]) =>
    el("option", { value, selected: value === (chosen ?? "") }, text)));
}

export function facts(pairs) {
  return pairs.filter(([, v]) => v !== undefined && v !== null && v !== "" && v !== false).flatMap(([k, v]) => [el("dt", {}, k), el("dd", {}, v)]);
}

// A table of numbers. The first cell of a row names it.
export function numbers(caption, head, rows) {
  return el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": caption }, el("table", {},
    el("caption", {}, caption), el("thead", {}, el("tr", {}, head.map(h => el("th", { scope: "col" }, h)))),
    el("tbody", {}, rows.map(r => el("tr", {}, r.map((c, i) => i ? el("td", {}, c) : el("th", { scope: "row" }, c)))))));
}

// At most digits significant digits, without an exponent where people read none.
export function number(x, digits = 3) {
  if (!Number.isFinite(x)) return x === Infinity ? "∞" : "–";
  const a = Math.abs(x);
  if (a !== 0 && a < 1e-4) return x.toExponential().replace("e-", "e-");
  return a >= 1000 ? Math.round(x).toLocaleString("en") : String(Number(x.toPrecision(digits)));
}
export const percent = p => number(100 * p, p > 0.99 || p < 0.01 ? 2 : 3) + " %";

export function debounce(ms, f) {
  let timer;
  return (...args) => { clearTimeout(timer); timer = setTimeout(f, ms, ...args); };
}

export function download(name, data, type = "application/octet-stream") {
  const address = URL.createObjectURL(new Blob([data], { type }));
  const link = el("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

// The text of a problem, which names its place.
export function complain(where, problem) {
  where.textContent = problem ? problem.message ?? problem : "";
}
