# SPDX-License-Identifier: Apache-2.0
"""Private logistic regression: erm beside diffprivlib's, on the same splits.

usage: compare.py FOLDER OUT.md

FOLDER holds what TestDiffprivlibSplits of learn/erm wrote: splits of real
tables as features, and erm's results on them. diffprivlib trains on the same
features, divided by the square root of the number of columns so that its
data_norm = 1 holds by the schema, at its defaults. OUT.md gets the tables.
"""

import json
import os
import pathlib
import sys
import time
import warnings

import diffprivlib
import numpy as np
import sklearn
from diffprivlib.models import LogisticRegression
from sklearn.metrics import roc_auc_score

warnings.filterwarnings("ignore")


def theirs(folder, run):
    x = np.fromfile(folder / run["File"], "<f4").reshape(-1, run["Width"] + 1).astype(float)
    x, y = np.ascontiguousarray(x[:, :-1]) / np.sqrt(run["Columns"]), x[:, -1]
    n = run["Train"]
    for r in run["Results"]:
        best = np.inf
        for _ in range(7):
            model = LogisticRegression(epsilon=r["Epsilon"], data_norm=1.0, random_state=1000 * run["Repeat"])
            start = time.process_time()
            model.fit(x[:n], y[:n])
            best = min(best, time.process_time() - start)
        scores = model.decision_function(x[n:])
        yield r["Epsilon"], ((scores > 0) == (y[n:] == 1)).mean(), roc_auc_score(y[n:], scores), best


def stat(values):
    v = np.asarray(values)
    return v.mean(), v.std(ddof=1) / np.sqrt(len(v))


def main():
    folder, out = pathlib.Path(sys.argv[1]), sys.argv[2]
    runs = json.loads((folder / "runs.json").read_text())
    cells = {}
    for run in runs:
        own = [(r["Epsilon"], r["Accuracy"], r["AUC"], r["Seconds"]) for r in run["Results"]]
        for a, b in zip(own, theirs(folder, run)):
            cells.setdefault((run["Table"], run["Encoding"], a[0]), []).append((a[1:], b[1:]))
        print(run["File"], file=sys.stderr)
    lines = [
        "# erm beside diffprivlib",
        "",
        f"diffprivlib {diffprivlib.__version__} (scikit-learn {sklearn.__version__}, numpy {np.__version__}), `LogisticRegression` at its",
        "defaults with `data_norm=1`; ours at its defaults (`--learner erm`). Both see the same features and the same splits:",
        "a balanced subset, 10 % held out. Mean of " + str(len(next(iter(cells.values())))) + " splits ± its standard error; *difference* is of pairs, one a split.",
        "",
        "*ms* are milliseconds of processor, all threads and both of user and system (theirs with " + os.environ.get("OPENBLAS_NUM_THREADS", "all") + " BLAS thread), of one fit: the",
        "median over splits of the fastest of seven. Both start from features laid out in memory, theirs a dense matrix that the clock",
        "does not see made; what a table's first fit of ours takes, its laying out included, stands above each table. The load average",
        f"at the end was {os.getloadavg()[1]:.0f} on {os.cpu_count()} cores. Regenerate: `make -C peers/diffprivlib check`.",
    ]
    for table, encoding in dict.fromkeys(k[:2] for k in cells):
        first = 1000 * np.median([r["Results"][0]["First"] for r in runs if (r["Table"], r["Encoding"]) == (table, encoding)])
        lines += ["", f"## {table}, {encoding}", "", f"First fit (ε = {runs[0]['Results'][0]['Epsilon']:g}), laying out included: {first:.1f} ms.", "",
                  "| ε | accuracy, ours | theirs | difference | AUC, ours | theirs | difference | ms, ours | theirs | times |",
                  "|---|---|---|---|---|---|---|---|---|---|"]
        for key in [k for k in cells if k[:2] == (table, encoding)]:
            a = np.array(cells[key])  # splits x (ours, theirs) x (accuracy, auc, seconds)
            row = [f"{key[2]:g}"]
            for m in 0, 1:
                for v in a[:, 0, m], a[:, 1, m], a[:, 0, m] - a[:, 1, m]:
                    mean, err = stat(v)
                    row.append(f"{mean:.4f} ± {err:.4f}")
            ours, other = np.median(a[:, 0, 2]), np.median(a[:, 1, 2])
            row += [f"{1000 * ours:.2f}", f"{1000 * other:.1f}", f"{other / ours:.1f}"]
            lines.append("| " + " | ".join(row) + " |")
    pathlib.Path(out).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
