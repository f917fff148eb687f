# SPDX-License-Identifier: Apache-2.0
"""Draws the README's picture: AUC on Adult against epsilon, ours beside other libraries.

usage: picture.py RECORDS.jsonl OUT.svg   (standard library only)
"""

import json
import math
import statistics
import sys

TABLE = "Adult"
LINES = [  # learners of the records, of which the better is taken at each epsilon; name, colour
    (["ours, add-remove, δ"], "discreet, (ε, 1e-6)", "#0b6e99"),
    (["ours, replace-one"], "discreet, pure ε", "#5aa9c9"),
    (["BRC, ordinal", "BRC, one-hot"], "BRC (Shen et al.), pure ε", "#2e8b57"),
    (["DP-EBM"], "DP-EBM (InterpretML), (ε, 1e-6)", "#b5651d"),
    (["logistic, ordinal", "logistic, one-hot"], "diffprivlib logistic regression, pure ε", "#7a5195"),
    (["forest, ordinal", "forest, one-hot"], "diffprivlib random forest, pure ε", "#8a8a8a"),
]
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 340, 56, 266, 34, 48
LOW, HIGH = 0.5, 0.95


def place(epsilon, auc):
    x = LEFT + (math.log10(epsilon) + 2) / (math.log10(4) + 2) * (WIDTH - LEFT - RIGHT)
    y = TOP + (HIGH - auc) / (HIGH - LOW) * (HEIGHT - TOP - BOTTOM)
    return x, y


def main(records, out):
    fits = {}
    with open(records) as lines:
        for line in lines:
            r = json.loads(line)
            if r["table"] == TABLE:
                fits.setdefault((r["learner"], r["epsilon"]), []).append(r["auc"])
    epsilons = sorted({e for _, e in fits})
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="Helvetica, Arial, sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
           f'<text x="{LEFT}" y="18" font-size="14" font-weight="bold">AUC on Adult, every column and the label private (mean of {len(next(iter(fits.values())))} splits ± sd)</text>']
    for auc in (0.5, 0.6, 0.7, 0.8, 0.9):
        _, y = place(1, auc)
        svg.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e3e3e3"/><text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end" fill="#555">{auc}</text>')
    for e in epsilons:
        x, _ = place(e, LOW)
        svg.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle" fill="#555">{e:g}</text>')
    svg.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle" fill="#555">ε (smaller is more private)</text>')
    ends = []
    for learners, name, colour in LINES:
        points = []
        for e in epsilons:
            best = max((fits[learner, e] for learner in learners), key=statistics.mean)
            points.append((e, statistics.mean(best), statistics.stdev(best)))
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(e, m) for e, m, _ in points))
        svg.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for e, m, s in points:
            x, y = place(e, m)
            _, top = place(e, min(m + s, HIGH))
            _, low = place(e, max(m - s, LOW))
            svg.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top:.1f}" y2="{low:.1f}" stroke="{colour}" opacity=".5"/><circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>')
        ends.append([place(*points[-1][:2])[1], name, colour])
    ends.sort()
    for i in range(1, len(ends)):  # names must not overlap
        ends[i][0] = max(ends[i][0], ends[i - 1][0] + 15)
    for y, name, colour in ends:
        svg.append(f'<text x="{WIDTH - RIGHT + 10}" y="{y + 4:.1f}" fill="{colour}">{name}</text>')
    with open(out, "w") as f:
        f.write("\n".join(svg) + "\n</svg>\n")


main(*sys.argv[1:])
