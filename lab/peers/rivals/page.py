# SPDX-License-Identifier: Apache-2.0
"""Writes the page of what measure.py recorded.

usage: page.py RECORDS.jsonl OUT.md
"""

import collections
import importlib.metadata
import json
import pathlib
import sys
import textwrap

import numpy as np

from measure import DELTA, EPSILONS, LEARNERS
from tables import TABLES

# Who is compared with which of ours: the same relation, the same δ.
RIVALS = {"DP-EBM": "ours, add-remove, δ", "forest": "ours, add-remove", "Bayes": "ours, add-remove", "logistic": "ours, replace-one", "erm": "ours, replace-one"}
OURS = ["ours, add-remove, δ", "ours, add-remove", "ours, replace-one"]
PROTOCOLS = [  # name, how it runs here, where its authors say so
    ("DP-EBM", "defaults (300 rounds, at most 32 bins, a tenth of the budget for them, `gdp`), types of all columns and bounds of numbers given, δ = 1e-6",
     "[notebook](https://github.com/interpretml/interpret/blob/main/examples/python/Differentially_Private_EBMs.ipynb), [reference](https://interpret.ml/docs/python/api/DPExplainableBoostingClassifier.html)"),
    ("forest", "defaults (10 trees of depth 5), bounds and classes given", "[reference](https://diffprivlib.readthedocs.io/en/latest/modules/models.html)"),
    ("Bayes", "defaults, bounds given", "[notebook](https://github.com/IBM/differential-privacy-library/blob/main/notebooks/naive_bayes.ipynb)"),
    ("logistic", "defaults (C = 1), features in [0, 1], `data_norm` the root of the number of columns, which no row exceeds",
     "[notebook](https://github.com/IBM/differential-privacy-library/blob/main/notebooks/logistic_regression.ipynb)"),
    ("BRC (picture)", "25 rounds, c1 = c2 = √2, the linear classifier; in place of balanced rows, weights that balance the classes, whose shares are paid for",
     "[arXiv 2312.07583](https://arxiv.org/abs/2312.07583), sections 5.1, 6 and 8"),
]


def number(values):
    v = np.asarray(values)
    return f"{v.mean():.3f} ± {v.std(ddof=1):.3f}"


def main():
    records, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    values, rows = collections.defaultdict(dict), {}
    for r in map(json.loads, records.open()):
        values[r["table"], r["learner"], r["epsilon"]][r["repeat"]] = (r["auc"], r["accuracy"])
        rows[r["table"]] = r["rows"]
    whole = {t: [k for k in values[t, LEARNERS[0], EPSILONS[0]] if all(k in values[t, learner, e] for learner in LEARNERS for e in EPSILONS)] for t in TABLES if t in rows}

    def column(table, learner, epsilon, metric):
        return np.array([values[table, learner, epsilon][k][metric] for k in whole[table]])

    def rival(table, name, epsilon, metric):
        """The rival's numbers: of two encodings the better mean, picked in hindsight."""
        forms = [learner for learner in LEARNERS if learner.split(",")[0] == name]
        return max((column(table, f, epsilon, metric) for f in forms), key=np.mean)

    body, behind, near, ahead = [], [], [], {"theirs": 0, "erm": 0}
    for metric, title in enumerate(("AUC", "Accuracy")):
        body += ["", f"## {title}", "", "| | ε | " + " | ".join(OURS + list(RIVALS)) + " |", "|---" * (2 + len(OURS) + len(RIVALS)) + "|"]
        for table in whole:
            for e in EPSILONS:
                cells = [number(column(table, o, e, metric)) for o in OURS]
                for name, against in RIVALS.items():
                    theirs = rival(table, name, e, metric)
                    d = column(table, against, e, metric) - theirs
                    error = d.std(ddof=1) / np.sqrt(len(d))
                    text = f"{title}, {table}, ε = {e:g}, {name} ({d.mean():+.5f} ± {error:.5f})"
                    mark = ""
                    if d.mean() >= 0:
                        ahead["erm" if name == "erm" else "theirs"] += 1
                    elif d.mean() >= -error:
                        near.append((d.mean(), text))
                        mark = " ≈"
                    else:
                        behind.append((d.mean(), text))
                        mark = " ▲"
                    cells.append(number(theirs) + mark)
                body.append(f"| {table} | {e:g} | " + " | ".join(cells) + " |")
    version = importlib.metadata.version
    counts = ", ".join(f"{t} {len(whole[t])} of {rows[t]:,}" for t in whole)
    points = 2 * len(whole) * len(EPSILONS)  # of each rival: AUC and accuracy
    head = [
        "# The default learner beside other private classifiers",
        "",
        f"The default, `auto`, by the built command (`discreet train`, `discreet predict`), beside diffprivlib {version('diffprivlib')} (random forest, Gaussian naive Bayes, "
        f"logistic regression) and InterpretML's DP-EBM (interpret-core {version('interpret-core')}), each as its authors run it, on the same splits: 70 % train, 30 % test, "
        "classes as they are. Everything is private, the label included. ± is the standard deviation between splits. Nothing is tuned on either side, but of two "
        "encodings, ordinal and one-hot, the better is taken for each number of diffprivlib's and of `erm`'s, in hindsight and unpaid. `erm` is our own logistic "
        "regression by perturbing the objective (Chaudhuri et al.), which the default must not fall behind. Regenerate: `make comparison`; "
        "every fit is a line of [rivals.jsonl](rivals.jsonl), and so are those of `brc` on Adult, for replacing a row and in both encodings, which the README's "
        "picture shows and the tables do not.",
        "",
        f"Splits and rows that train: {counts} (KDD Cup 99: another random 70,000 rows in each split).",
        "",
        "*Terms.* Bounds and levels are those of the shipped schemas for all; undeclared and missing levels are one level more for the rivals. DP-EBM is (ε, δ)-DP, "
        f"δ = 1e{np.log10(DELTA):.0f}, for adding or removing a row, and is compared with ours for the same ε, δ and relation. diffprivlib's forest and Bayes are "
        "pure and state no relation; their sensitivities are those of adding or removing a row, so they stand against ours for that, pure. Its logistic regression is for "
        "replacing a row, and so is the column of ours it stands against. The rivals treat the number of "
        "rows, and DP-EBM the names of levels that are left after its binning, as public; ours under add-remove gets the number of rows as a declaration. "
        "smartnoise-synth has [a page of its own](rivals-synth.md).",
        "",
        f"Of {points * (len(RIVALS) - 1)} comparisons with other libraries ours is ahead or level by the mean in {ahead['theirs']}, of {points} with `erm` in {ahead['erm']}. "
        f"It is behind by more than a standard error of the paired difference (▲) in {len(behind)}, and by at most one (≈) in {len(near)}"
        f". The largest: {'; '.join(b for _, b in sorted(behind)[:3]) or 'none'}.",
        "",
        "Why `erm` ranks rows better where ε is smallest: [the choices](default-constants.md#where-erm-ranks-better).",
    ]
    head += ["", "## How each is run", ""]
    body = ["| | here | source |", "|---|---|---|"] + [f"| {' | '.join(p)} |" for p in PROTOCOLS] + body
    lines = [wrapped for line in head for wrapped in textwrap.wrap(line, 100, break_on_hyphens=False) or [""]]
    out.write_text("\n".join(lines + body) + "\n")


if __name__ == "__main__":
    main()
