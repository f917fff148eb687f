# SPDX-License-Identifier: Apache-2.0
"""Private logistic regression: erm beside diffprivlib's, on the same splits.

usage: compare.py FOLDER OUT.md

FOLDER holds what TestDiffprivlibSplits of internal/learn/erm wrote: real tables as
features, their splits, and erm's results on them. diffprivlib trains on the
same features, divided by the square root of the number of columns so that its
data_norm = 1 holds by the schema, at its defaults. OUT.md gets a table, OUT.tsv all numbers.
Its results are kept in FOLDER/theirs.json and not computed again.
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
EPSILONS, SHOWN = (0.01, 0.16, 1, 4), (0, 1, 2, 3, 4, 5, 8, 11)  # of the page: rows, columns
FITS = 7  # where a split is timed, the fastest of so many counts


def theirs(folder, table):
    """For each split and epsilon: accuracy, AUC, seconds of processor, seconds by the clock."""
    x = np.fromfile(folder / table["File"], "<f4").reshape(-1, table["Width"] + 1).astype(float)
    x, y = x[:, :-1] / np.sqrt(table["Columns"]), x[:, -1]
    out = []
    for r, split in enumerate(table["Splits"]):
        rows = np.fromfile(folder / split["File"], "<i4")
        train, test = rows[: split["Train"]], rows[split["Train"] :]
        xs, ys, n = np.ascontiguousarray(x[train]), y[train], []
        for ours in split["Results"]:
            best = (np.inf, 0)
            for _ in range(FITS if ours["Seconds"] else 1):
                model = LogisticRegression(epsilon=ours["Epsilon"], data_norm=1.0, random_state=1000 * r)
                start, clock = time.process_time(), time.perf_counter()
                model.fit(xs, ys)
                best = min(best, (time.process_time() - start, time.perf_counter() - clock))
            scores = model.decision_function(x[test])
            n.append((((scores > 0) == (y[test] == 1)).mean(), roc_auc_score(y[test], scores), *best))
        out.append(n)
    print(table["File"], file=sys.stderr)
    return out


def plus_minus(values):
    v = np.asarray(values)
    return f"{v.mean():.4f} ± {v.std(ddof=1) / np.sqrt(len(v)):.4f}"


def main():
    folder, out = pathlib.Path(sys.argv[1]), sys.argv[2]
    tables = json.loads((folder / "tables.json").read_text())
    kept = folder / "theirs.json"
    if kept.exists():
        kept = json.loads(kept.read_text())
    else:
        results = [theirs(folder, t) for t in tables]
        text = json.dumps({"load": os.getloadavg()[1], "results": results})
        kept.write_text(text)
        kept = json.loads(text)
    columns = ["table", "encoding", "ε", "accuracy, ours", "accuracy, theirs", "accuracy, gain", "AUC, ours", "AUC, theirs", "AUC, gain", "ms, ours", "ms, theirs", "times as fast", "by the clock"]
    numbers, body = ["\t".join(columns)], ["", "| " + " | ".join(columns[i] for i in SHOWN) + " |", "|---" * len(SHOWN) + "|"]
    below, doubted, times, walls = [], [], [], []
    for table, rival in zip(tables, kept["results"]):
        timed = [k for k, s in enumerate(table["Splits"]) if s["Results"][0]["Seconds"]]
        keys = ("Accuracy", "AUC", "Seconds", "Wall")
        a = np.array([[[r[k] for k in keys] for r in s["Results"]] for s in table["Splits"]])  # splits x epsilons x keys
        b = np.array(rival)
        for e, result in enumerate(table["Splits"][0]["Results"]):
            name = f"{table['Table']} {table['Encoding']} {result['Epsilon']:g}"
            row = [table["Table"], table["Encoding"], f"{result['Epsilon']:g}"]
            for m in 0, 1:
                row += [plus_minus(a[:, e, m]), plus_minus(b[:, e, m]), plus_minus(a[:, e, m] - b[:, e, m])]
            d = a[:, e, 0] - b[:, e, 0]
            if d.mean() < 0:
                below.append(f"{name} ({plus_minus(d)})")
                if d.mean() < -2 * d.std(ddof=1) / np.sqrt(len(d)):
                    doubted.append(name)
            cpu, clock = (np.median(b[timed, e, k]) / np.median(a[timed, e, k]) for k in (2, 3))
            row += [f"{1000 * np.median(a[timed, e, 2]):.2f}", f"{1000 * np.median(b[timed, e, 2]):.1f}", f"{cpu:.1f}", f"{clock:.1f}"]
            times.append(cpu)
            walls.append(clock)
            numbers.append("\t".join(row))
            if result["Epsilon"] in EPSILONS:
                body.append("| " + " | ".join(row[i] for i in SHOWN) + " |")
    points = len(times)
    head = [
        "# erm beside diffprivlib",
        "",
        f"diffprivlib {diffprivlib.__version__} (scikit-learn {sklearn.__version__}, numpy {np.__version__}), `LogisticRegression` at its",
        "defaults with `data_norm=1`; ours at its defaults (`--learner erm`). Both see the same features and the same splits:",
        f"a balanced subset, 10 % held out. Mean of {len(tables[0]['Splits'])} splits ± its standard error; *gain* is of pairs, one a split.",
        "",
        "*ms* are milliseconds of processor, all threads and both of user and system (theirs with " + os.environ.get("OPENBLAS_NUM_THREADS", "all") + " BLAS thread, ours with GOMAXPROCS",
        f"{os.environ.get('GOMAXPROCS', 'as many as cores')}), of one fit: the median over {len(timed)} splits of the fastest of {FITS}. *by the clock* is the quotient of elapsed times of the",
        "same fits. Training means a fit of rows that are in memory in the form each library trains on: theirs a dense matrix that the",
        f"clock does not see made, ours the coded columns laid out once, which takes {1000 * max(t['First'] for t in tables):.1f} ms at most with the",
        f"first fit. Numbers at nine ε stand in [{pathlib.Path(out).stem}.tsv]({pathlib.Path(out).stem}.tsv). The load average after theirs was {kept['load']:.0f}, after ours {float((folder / 'load').read_text().split()[1]):.0f}, on {os.cpu_count()} cores; load",
        "lengthens the fits of both. Regenerate: `make -C lab/peers/diffprivlib check`.",
        "",
        f"Of {points} points, ours is faster by 10 times or more at {sum(t >= 10 for t in times)} (processor; least {min(times):.1f}, median {np.median(times):.1f}; by the clock {min(walls):.1f} and "
        f"{np.median(walls):.1f}).",
        f"Ours is at least as accurate by the mean at {points - len(below)}" + (": not at " + ", ".join(below) if below else "") + f". Below by more than two standard errors: {', '.join(doubted) or 'none'}.",
    ]
    pathlib.Path(out).with_suffix(".tsv").write_text("\n".join(numbers) + "\n")
    pathlib.Path(out).write_text("\n".join(head + body) + "\n")


if __name__ == "__main__":
    main()
