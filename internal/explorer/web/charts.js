// SPDX-License-Identifier: Apache-2.0

// Charts as SVG. Each has a name for readers of screens and, beside it, its numbers as a table.
import { el, svg, number, numbers } from "./dom.js";

const width = 420, left = 46, right = 18, top = 10;

function steps(min, max) {
  const raw = (max - min) / 5, power = 10 ** Math.floor(Math.log10(raw || 1));
  const step = [1, 2, 5, 10].find(m => m * power >= raw) * power, out = [];
  for (let v = Math.ceil(min / step - 1e-9) * step; v <= max + step * 1e-9; v += step) out.push(Math.abs(v) < step / 1e6 ? 0 : v);
  return out;
}

function decades(min, max) {
  const out = [];
  for (let d = Math.ceil(Math.log10(min) - 1e-9); d <= Math.log10(max) + 1e-9; d++) out.push(10 ** d);
  return out;
}

const short = v => Math.abs(v) < 10000 ? number(v) : new Intl.NumberFormat("en", { notation: "compact" }).format(v);

// A frame with axes; paint draws inside it with at(x, y).
export function plot({ name, x, y, height = 250, wide = width, paint, ...more }) {
  const bottom = x.label ? 40 : 24;
  const scale = ({ min, max, log }, from, to) => v => {
    const t = log ? Math.log(v / min) / Math.log(max / min) : (v - min) / (max - min || 1);
    return Number((from + Math.max(0, Math.min(1, t)) * (to - from)).toFixed(1));
  };
  const X = scale(x, left, wide - right), Y = scale(y, height - bottom, top);
  const ticks = a => a.ticks ?? (a.log ? decades : steps)(a.min, a.max);
  return svg("svg", { viewBox: `0 0 ${wide} ${height}`, role: "img", "aria-label": name, ...more },
    ticks(y).map(v => [svg("line", { class: "grid", x1: left, x2: wide - right, y1: Y(v), y2: Y(v) }),
      svg("text", { x: left - 6, y: Y(v) + 4, "text-anchor": "end" }, short(v))]),
    ticks(x).map(v => svg("text", { x: X(v), y: height - bottom + 16, "text-anchor": "middle" }, short(v))),
    svg("line", { class: "axis", x1: left, x2: wide - right, y1: Y(y.min), y2: Y(y.min) }),
    svg("text", { class: "title", x: (left + wide - right) / 2, y: height - 5, "text-anchor": "middle" }, x.label),
    svg("text", { class: "title", x: 0, y: 0, transform: `translate(11 ${(top + height - bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, y.label),
    paint(X, Y));
}

const path = points => "M" + points.map(p => p.join(" ")).join("L");

// AUC against ε, with the spread of invented tables. It is drawn while points come.
export function drawForecast(points, epsilon, range) {
  const sorted = [...points].sort((a, b) => a.epsilon - b.epsilon);
  const most = sorted.reduce((m, p) => Math.max(m, p.high), 0.9);
  return plot({
    name: sorted.length ? `Forecast: AUC from ${number(sorted[0].auc)} at ε ${number(sorted[0].epsilon)} to ${number(sorted.at(-1).auc)} at ε ${number(sorted.at(-1).epsilon)}` : "Forecast: not drawn yet",
    x: { min: range[0], max: range[1], log: true, label: "ε (a smaller ε protects more)" },
    y: { min: Math.min(0.5, ...sorted.map(p => p.low)), max: Math.min(1, Math.ceil(most * 20) / 20), label: "AUC" },
    paint: (X, Y) => [
      sorted.length > 1 && svg("path", { class: "band", d: path([...sorted.map(p => [X(p.epsilon), Y(p.high)]), ...[...sorted].reverse().map(p => [X(p.epsilon), Y(p.low)])]) + "Z" }),
      sorted.length > 1 && svg("path", { class: "line dashed", d: path(sorted.map(p => [X(p.epsilon), Y(p.auc)])) }),
      sorted.map(p => svg("circle", { class: "dot", cx: X(p.epsilon), cy: Y(p.auc), r: 3.5 })),
      epsilon > 0 && svg("line", { class: "mark", x1: X(epsilon), x2: X(epsilon), y1: top, y2: Y(0) }),
      epsilon > 0 && svg("text", { class: "marked", x: X(epsilon) + (X(epsilon) > 300 ? -5 : 5), y: top + 12, "text-anchor": X(epsilon) > 300 ? "end" : "start" }, "your ε"),
      !sorted.length && svg("text", { class: "title", x: width / 2, y: 120, "text-anchor": "middle" }, "not drawn yet"),
    ],
  });
}

// What a column adds to the log-odds: a line of steps for numbers, bars of uncertainty for categories.
export function drawShape(f, range) {
  const s = f.steps, name = `${f.name}: what it adds to the log-odds`;
  if (f.kind === "number" || f.kind === "date") {
    const runs = s.filter(b => b.from != null && b.to != null);
    const line = key => (X, Y) => runs.flatMap(b => [[X(b.from), Y(b[key])], [X(b.to), Y(b[key])]]);
    return plot({ name, x: { min: runs[0].from, max: runs.at(-1).to, label: "" }, y: { ...range, label: "log-odds" }, height: 200,
      paint: (X, Y) => [
        svg("path", { class: "band", d: path([...line("high")(X, Y), ...line("low")(X, Y).reverse()]) + "Z" }),
        svg("line", { class: "zero", x1: left, x2: width - right, y1: Y(0), y2: Y(0) }),
        svg("path", { class: "line", d: path(line("value")(X, Y)) })] });
  }
  const gap = 22, height = s.length * gap + 34, from = 150;
  const X = v => Number((from + (v - range.min) / (range.max - range.min || 1) * (width - right - from)).toFixed(1));
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": name },
    steps(range.min, range.max).map(v => svg("text", { x: X(v), y: height - 14, "text-anchor": "middle" }, number(v))),
    svg("line", { class: "zero", x1: X(0), x2: X(0), y1: 4, y2: height - 28 }),
    s.map((b, i) => [
      label(b.label ?? "", from - 8, i * gap + 19),
      svg("line", { class: "whisker", x1: X(b.low), x2: X(b.high), y1: i * gap + 15, y2: i * gap + 15 }),
      svg("circle", { class: "dot", cx: X(b.value), cy: i * gap + 15, r: 4 })]));
}

// A name that is too long for its room loses its end. Room is measured in the larger of the two sizes of letters.
const pen = document.createElement("canvas").getContext("2d");
function shorten(t, room) {
  pen.font = "13px " + getComputedStyle(document.documentElement).fontFamily;
  if (pen.measureText(t).width <= room) return t;
  let n = t.length;
  while (n > 1 && pen.measureText(t.slice(0, n) + "…").width > room) n--;
  return t.slice(0, n).trimEnd() + "…";
}

// A name that ends at x; all of it is in its title.
const label = (t, x, y) => svg("text", { x, y, "text-anchor": "end" }, shorten(t, x - 2), svg("title", {}, t));

// Bars to both sides of zero: [name, value, text] each.
export function drawBars(name, rows) {
  const gap = 26, from = 170, most = Math.max(0.01, ...rows.map(r => Math.abs(r[1]))), half = (width - from - 100) / 2, zero = from + 50 + half;
  return svg("svg", { viewBox: `0 0 ${width} ${rows.length * gap + 8}`, role: "img", "aria-label": name },
    svg("line", { class: "zero", x1: zero, x2: zero, y1: 0, y2: rows.length * gap + 4 }),
    rows.map(([name, v, text], i) => {
      const w = Math.abs(v) / most * half;
      return [label(name, from - 8, i * gap + 19),
        svg("rect", { class: v < 0 ? "less" : "more", x: v < 0 ? zero - w : zero, y: i * gap + 7, width: w, height: 16 }),
        svg("text", { x: v < 0 ? zero - w - 5 : zero + w + 5, y: i * gap + 19, "text-anchor": v < 0 ? "end" : "start" }, text)];
    }));
}

// A curve of shares in the unit square, over the diagonal. Points with a range have a bar instead.
export function drawSquare(name, x, y, points, dots, mark) {
  const one = { min: 0, max: 1, ticks: [0, 0.25, 0.5, 0.75, 1] };
  return plot({ name, class: "square", wide: 360, height: 340, x: { ...one, label: x }, y: { ...one, label: y }, paint: (X, Y) => [
    svg("line", { class: "mark", x1: X(0), y1: Y(0), x2: X(1), y2: Y(1) }),
    points.some(p => p[2]) ? points.map(p => svg("line", { class: "whisker", x1: X(p[0]), x2: X(p[0]), y1: Y(p[2][0]), y2: Y(p[2][1]) })) :
      svg("path", { class: "line", d: path(points.map(p => [X(p[0]), Y(p[1])])) }),
    dots && points.map(p => svg("circle", { class: "dot", cx: X(p[0]), cy: Y(p[1]), r: 3.5 })),
    mark && svg("circle", { class: "chosen", cx: X(mark[0]), cy: Y(mark[1]), r: 6 })] });
}

// A part of a whole as a bar; the words beside it say the same.
export const drawShare = part => svg("svg", { class: "share", viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" },
  svg("rect", { class: "all", width: 100, height: 4 }), svg("rect", { class: "part", width: 100 * Math.max(0, Math.min(1, part)), height: 4 }));

export function figure(title, note, chart, head, rows) {
  return el("figure", {}, el("figcaption", {}, title && el("b", {}, title), note && el("span", {}, note)), chart,
    rows?.length > 0 && el("details", {}, el("summary", {}, "Numbers"), numbers(title || note, head, rows)));
}
