# SPDX-License-Identifier: Apache-2.0
"""Writes the page of what measure.py recorded, beside ours on the same splits.

usage: page.py RIVALS.jsonl RECORDS.jsonl OUT.md
"""

import importlib.metadata
import json
import pathlib
import sys

import numpy as np

from measure import BINS, DELTA, SYNTHESIZERS, TABLES

OURS = "ours, add-remove, δ"


def number(values):
    v = np.asarray(values)
    spread = f" ± {v.std(ddof=1):.3f}" if len(v) > 1 else ""
    return f"{v.mean():.3f}{spread}".replace("0.", ".")


def main():
    ours = {(r["table"], r["repeat"], r["epsilon"]): r for r in map(json.loads, open(sys.argv[1])) if r["learner"] == OURS}
    theirs = {(r["table"], r["repeat"], r["epsilon"], r["learner"]): r for r in map(json.loads, open(sys.argv[2]))}
    version = importlib.metadata.version
    finished = [r for r in theirs.values() if "auc" in r]
    given_up = [r for r in theirs.values() if "auc" not in r]
    ahead = sum(ours[r["table"], r["repeat"], r["epsilon"]][m] >= r[m] for r in finished for m in ("auc", "accuracy"))
    lines = [
        "# The default learner beside gradient boosting on synthetic data",
        "",
        f"smartnoise-synth {version('smartnoise-synth')} (with mbi {version('mbi')}) makes as many private rows as there are to train, scikit-learn {version('scikit-learn')}'s HistGradientBoosting with its",
        f"defaults learns from those. Splits, schemas and ours are those of [rivals.md](rivals.md): everything private, (ε, δ = 1e{np.log10(DELTA):.0f}) for adding or removing a row.",
        f"Numbers are cut into {BINS} bins of equal width between their declared bounds, levels are the declared ones: nothing is inferred from rows, no ε goes to it.",
        "Regenerate: `make -C lab/peers/synth check`; every fit is a line of [rivals-synth.jsonl](rivals-synth.jsonl). The number of splits is how often a fit is there; ± is the standard deviation",
        "between splits where there are several.",
        "",
        "mbi 1.1.0 makes rows by rounding in their order, so that columns which hang on one column of MST's tree depend on each other: of Credit at ε = 4, whose tree joins the label to the last",
        "repayment status alone, the mean label varied by up to .2 with columns where it varies by .02 or less. *As it comes* is that; *sampled* takes mbi's other method, row by row from the same",
        "fitted model, which has no such fault and costs no ε.",
        "",
        "AIM, which fits its model in 16 rounds per column (224 for Adult) where MST does so twice, was not waited for, nor was MST on",
        "Phishing. Seconds are elapsed, on one processor of a machine under other work.",
        "",
        f"Of {2 * len(finished)} numbers ours is ahead or level in {ahead}.",
    ]
    if given_up:
        took = sorted({(r["learner"], r["table"], r["epsilon"], round(r["seconds"])) for r in given_up})
        lines += ["", "Given up: " + "; ".join(f"{n} on {t} at ε = {e:g} after {s} s" for n, t, e, s in took) + "."]
    for metric, title in (("auc", "AUC"), ("accuracy", "Accuracy")):
        columns = [n for n in SYNTHESIZERS if any(r["learner"] == n for r in finished)]
        lines += ["", f"## {title}", "", "| | ε | splits | ours | " + " | ".join(n if "," in n else n + ", as it comes" for n in columns) + " | seconds |", "|---" * (5 + len(columns)) + "|"]
        for table in TABLES:
            for e in sorted({r["epsilon"] for r in finished if r["table"] == table}):
                rows = {n: [r for r in finished if (r["table"], r["epsilon"], r["learner"]) == (table, e, n)] for n in columns}
                splits = sorted({r["repeat"] for rs in rows.values() for r in rs})
                cells = [number([ours[table, k, e][metric] for k in splits])]
                cells += [number([r[metric] for r in rs]) if rs else "–" for rs in rows.values()]
                seconds = ", ".join(f"{np.median([r['seconds'] for r in rs]):.0f}" for rs in rows.values() if rs)
                lines.append(f"| {table} | {e:g} | {len(splits)} | " + " | ".join(cells) + f" | {seconds} |")
    pathlib.Path(sys.argv[3]).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
