# SPDX-License-Identifier: Apache-2.0
"""Writes the page of what levels.py recorded.

usage: levels_page.py RECORDS.jsonl OUT.md
"""

import collections
import importlib.metadata
import json
import pathlib
import sys
import textwrap

import numpy as np

from levels import EPSILONS, LEARNERS, NAMES

# Who is compared with which of ours: the same relation, no δ.
RIVALS = {"erm": "ours, replace-one", "forest": "ours, add-remove", "Bayes": "ours, add-remove", "logistic": "ours, replace-one"}
OURS = ["ours, add-remove, δ", "ours, add-remove", "ours, replace-one"]
SHOWN = "accuracy", "log_loss"  # as tables; all are compared
METRICS = {"accuracy": "Accuracy", "balanced": "Balanced accuracy", "auc": "AUC, mean of levels against the rest", "log_loss": "Log loss"}


def number(values):
    v = np.asarray(values)
    return f"{v.mean():.3f} ± {v.std(ddof=1):.3f}" if len(v) > 1 else f"{v.mean():.3f}"


def main():
    records, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    values, rows = collections.defaultdict(dict), {}
    for r in map(json.loads, records.open()):
        values[r["table"], r["learner"], r["epsilon"]][r["repeat"]] = r
        rows[r["table"]] = r["rows"]
    tables = [t for t in NAMES if t in rows]
    whole = {t: [k for k in values[t, LEARNERS[0], EPSILONS[0]] if all(k in values[t, learner, e] for learner in LEARNERS for e in EPSILONS)] for t in tables}

    def column(table, learner, epsilon, metric):
        return np.array([values[table, learner, epsilon][k][metric] for k in whole[table]])

    def rival(table, name, epsilon, metric):
        """The rival's numbers: of two encodings the better mean, picked in hindsight."""
        forms = [learner for learner in LEARNERS if learner.split(",")[0] == name]
        best = min if metric == "log_loss" else max
        return best((column(table, f, epsilon, metric) for f in forms), key=np.mean)

    body, behind, points = [], [], 0
    for metric, title in METRICS.items():
        sign = -1 if metric == "log_loss" else 1
        lines = ["", f"## {title}", "", "| | ε | " + " | ".join(OURS + list(RIVALS)) + " |", "|---" * (2 + len(OURS) + len(RIVALS)) + "|"]
        for table in tables:
            for e in EPSILONS:
                cells = [number(column(table, o, e, metric)) for o in OURS]
                for name, against in RIVALS.items():
                    theirs = rival(table, name, e, metric)
                    d = sign * (column(table, against, e, metric) - theirs)
                    error = d.std(ddof=1) / np.sqrt(len(d)) if len(d) > 1 else 0
                    points += 1
                    mark = ""
                    if d.mean() < 0:
                        mark = " ≈" if d.mean() >= -error else " ▲"
                        behind.append(f"{title}, {table}, ε = {e:g}, {name} ({d.mean():+.3f} ± {error:.3f}){mark}")
                    cells.append(number(theirs) + mark)
                lines.append(f"| {table} | {e:g} | " + " | ".join(cells) + " |")
        body += lines if metric in SHOWN else []
    counts = ", ".join(f"{t}: {len(whole[t])} of {rows[t]:,}" for t in tables)
    head = [
        "# Labels of more than two levels",
        "",
        f"`additive`, by the built command, beside this project's `erm` (one fit per level) and diffprivlib {importlib.metadata.version('diffprivlib')} (random forest, Gaussian naive Bayes, logistic regression), "
        "each with its defaults, on the same splits: 70 % train, 30 % test. Everything is private, the label included. ± is the standard deviation between splits. Nothing is tuned on "
        "either side, but of two encodings, ordinal and one-hot, the better is taken for each number of diffprivlib's, in hindsight and unpaid. Terms are those of [rivals](rivals.md): "
        "forest and Bayes stand against ours under add-remove, pure; `erm` and logistic against replace-one. δ = 1e-6. The rules of `additive` were settled on these tables, on other splits (half a slope on these), "
        "so the figures are not those of unseen tables. Regenerate: `make -C lab/peers/rivals levels`; every fit is a line of [levels.jsonl](levels.jsonl), with "
        "balanced accuracy and AUC, which are compared and not shown.",
        "",
        f"Splits and rows that train: {counts}.",
        "",
        f"Of {points} comparisons ours is behind by the mean in {len(behind)} (≈ by at most a standard error of the paired difference, ▲ by more):",
        "",
        *(f"- {text}" for text in behind or ["none"]),
    ]
    lines = [wrapped for line in head for wrapped in textwrap.wrap(line, 100, break_on_hyphens=False) or [""]]
    out.write_text("\n".join(lines + body) + "\n")


if __name__ == "__main__":
    main()
