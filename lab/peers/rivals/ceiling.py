# SPDX-License-Identifier: Apache-2.0
"""The default learner without privacy beside scikit-learn's histogram boosting, on the same splits.

usage: ceiling.py FOLDER DATASETS RECORDS.jsonl REPEATS

FOLDER holds the built command, discreet, and takes what is written for it.
Two protocols: classes balanced by a random subset, 10 % held out; and 70 % train,
30 % test, classes as they are. Without privacy roles make no difference. One
line of RECORDS is one split; one that is there is not drawn again.
"""

import collections
import csv
import json
import pathlib
import subprocess
import sys

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score

from tables import TABLES, Table

NAMES = ["Adult", "Credit", "Sepsis", "Bank"]
PROTOCOLS = ["balanced", "70/30"]


def split(y, protocol, rng):
    """Rows that train and rows that test."""
    rows, out = rng.permutation(len(y)), 0.3
    if protocol == "balanced":
        least = min(y.sum(), len(y) - y.sum())
        rows, out = rng.permutation(np.concatenate([rows[y[rows] == k][:least] for k in (0, 1)])), 0.1
    cut = int(out * len(rows))
    return rows[cut:], rows[:cut]


def ours(folder, rows, train, test):
    """Trains and predicts with the built command; returns labels and scores."""
    model, out = folder / "model.json", folder / "predicted.csv"
    rows.write(folder / "train.csv", train)
    rows.write(folder / "test.csv", test)
    subprocess.run([folder / "discreet", "train", "--data", folder / "train.csv", "--schema", folder / "schema.yaml", "--epsilon", "inf", "--not-private", "--model", model],
                   check=True, capture_output=True)
    subprocess.run([folder / "discreet", "predict", "--model", model, "--data", folder / "test.csv", "--out", out], check=True, capture_output=True)
    with open(out, newline="") as f:
        lines = list(csv.reader(f))[1:]
    return np.array([line[-2] == rows.positive for line in lines]).astype(int), np.array([float(line[-1]) for line in lines])


def theirs(rows, train, test, seed):
    """scikit-learn's defaults, categories declared as such."""
    x = np.column_stack([v for v, _ in rows._columns]).astype(float)
    model = HistGradientBoostingClassifier(categorical_features=[k is not None for _, k in rows._columns], random_state=seed)
    model.fit(x[train], rows.y[train])
    return model.predict(x[test]), model.predict_proba(x[test])[:, 1]


def main():
    folder, datasets, records, repeats = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3]), int(sys.argv[4])
    done = set()
    if records.exists():
        done = {(r["table"], r["protocol"], r["repeat"]) for r in map(json.loads, records.open())}
    tables = {name: Table(TABLES[name][0], datasets, TABLES[name][1]) for name in NAMES}
    for repeat in range(repeats):
        for name, table in tables.items():
            rows = None
            for protocol in PROTOCOLS:
                if (name, protocol, repeat) in done:
                    continue
                rows = rows or table.draw(np.random.default_rng([repeat, NAMES.index(name)]), None)
                train, test = split(rows.y, protocol, np.random.default_rng([repeat, NAMES.index(name), 1 + PROTOCOLS.index(protocol)]))
                (folder / "schema.yaml").write_text(table.closed("replace-one"))
                line = {"table": name, "protocol": protocol, "repeat": repeat, "rows": len(train)}
                for who, (labels, scores) in (("ours", ours(folder, rows, train, test)), ("theirs", theirs(rows, train, test, repeat))):
                    line[who] = {"accuracy": float((labels == rows.y[test]).mean()), "auc": float(roc_auc_score(rows.y[test], scores))}
                with records.open("a") as f:
                    f.write(json.dumps(line) + "\n")
                print(name, protocol, repeat + 1, file=sys.stderr)
    table(records)


def table(records):
    """Prints the lines of docs/benchmarks/frontier.md: means ± standard deviations, differences ± standard errors."""
    values = collections.defaultdict(list)
    for r in map(json.loads, records.open()):
        values[r["table"], r["protocol"]].append([r[who][metric] for metric in ("auc", "accuracy") for who in ("ours", "theirs")])
    for name in NAMES:
        for protocol in PROTOCOLS:
            v = np.array(values[name, protocol])
            cells = []
            for k in 0, 2:
                d = v[:, k] - v[:, k + 1]
                cells += [f"{v[:, i].mean():.3f} ± {v[:, i].std(ddof=1):.3f}" for i in (k, k + 1)]
                cells.append(f"{d.mean():+.4f} ± {d.std(ddof=1) / np.sqrt(len(d)):.4f}".replace("-", "−"))
            print(f"| {name} | {protocol} | " + " | ".join(cells).replace("0.", ".") + " |")


if __name__ == "__main__":
    main()
