# SPDX-License-Identifier: Apache-2.0
"""The default learner without privacy beside scikit-learn's histogram boosting, on the same splits.

usage: ceiling.py FOLDER DATASETS RECORDS.jsonl REPEATS

FOLDER holds the built command, discreet, and takes what is written for it.
Two protocols: classes balanced by a random subset, 10 % held out; and 70 % train,
30 % test, classes as they are. Tables beyond the first four have the latter alone, of
at most 40,000 rows, and half the repeats. Without privacy roles make no difference.
One line of RECORDS is one split; one that is there is not drawn again.
"""

import collections
import csv
import json
import pathlib
import subprocess
import sys

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score

import levels
from tables import TABLES, Table

NAMES = ["Adult", "Credit", "Sepsis", "Bank"]
PROTOCOLS = ["balanced", "70/30"]
MOST = 40_000


def split(y, protocol, rng):
    """Rows that train and rows that test."""
    rows, out = rng.permutation(len(y)), 0.3
    if protocol == "balanced":
        least = min(y.sum(), len(y) - y.sum())
        rows, out = rng.permutation(np.concatenate([rows[y[rows] == k][:least] for k in (0, 1)])), 0.1
    cut = int(out * len(rows))
    return rows[cut:], rows[:cut]


def train_ours(folder, model):
    subprocess.run([folder / "discreet", "train", "--data", folder / "train.csv", "--schema", folder / "schema.yaml", "--epsilon", "inf", "--not-private", "--model", model],
                   check=True, capture_output=True)


def ours(folder, rows, train, test):
    """Trains and predicts with the built command; returns labels and scores."""
    model, out = folder / "model.json", folder / "predicted.csv"
    rows.write(folder / "train.csv", train)
    rows.write(folder / "test.csv", test)
    train_ours(folder, model)
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
    further(folder, datasets, records, repeats // 2, done)
    print_table(records)


def characters(datasets):
    """Strokes of ten letters, both parts of Tab-PE's split together."""
    low, high = np.array([0, 0, 0, 0, -2, 0, 0]), np.array([8, 50, 64, 50, 64, 64, 80])
    both = pd.concat(pd.read_csv(pathlib.Path(datasets) / f"characters/characters_{part}.csv.gz") for part in ("train", "test"))
    x = np.clip((both.to_numpy()[:, :7] - low) / (high - low), 0, 1)
    return levels.Levels([f"V{j + 1}" for j in range(7)], [(x[:, j], None) for j in range(7)], both.Class.to_numpy() - 1)


def more(datasets):
    """Tables beyond the first four, with their names."""
    yield "Bank, 20 columns", levels.by_schema("bank-additional.yaml", datasets, "bank/bank-additional-full.csv.gz")
    yield "KDD Cup 99", levels.by_schema("kdd99.yaml", datasets, "kdd99/kddcup.data_10_percent.gz")
    yield "Phishing", levels.by_schema("phishing.yaml", datasets, "phishing/phishing_websites.csv.gz")
    yield "ACSEmployment", levels.by_schema("acs-employment.yaml", datasets, "acs/ACSemployment_train.csv.gz")
    yield "Characters, 10 letters", characters(datasets)
    yield from zip(levels.NAMES, levels.tables(datasets))


def further(folder, datasets, records, repeats, done):
    """Fits both on every further table and writes accuracy, AUC (of several classes the mean against the rest) and log loss."""
    for name, table in more(datasets):
        for repeat in range(repeats):
            if (name, PROTOCOLS[1], repeat) in done:
                continue
            rows = table.draw(np.random.default_rng([repeat, 7]), MOST)
            test, train = np.split(np.arange(len(rows.y)), [int(0.3 * len(rows.y))])
            rows.write(folder / "train.csv", train)
            rows.write(folder / "test.csv", test)
            schema = rows.schema("replace-one")
            if rows.levels == 2:
                schema = schema.replace("default: k0", "default: k0\n    positive: k1")
            (folder / "schema.yaml").write_text(schema)
            line = {"table": name, "protocol": PROTOCOLS[1], "repeat": repeat, "rows": len(train)}
            line["learner"], own = ours_of_levels(folder, rows.levels)
            x = np.column_stack([v for v, _ in rows.columns]).astype(float)
            # Stopping early needs two rows of each class.
            stop = "auto" if np.bincount(rows.y[train]).min() > 1 else False
            model = HistGradientBoostingClassifier(categorical_features=[k is not None for _, k in rows.columns], early_stopping=stop, random_state=repeat).fit(x[train], rows.y[train])
            other = np.zeros((len(test), rows.levels))
            other[:, model.classes_] = model.predict_proba(x[test])
            for who, p in (("ours", own), ("theirs", other)):
                line[who] = levels.scores(rows.y[test], p)
            with records.open("a") as f:
                f.write(json.dumps(line) + "\n")
            print(name, repeat + 1, line["learner"], file=sys.stderr)


def ours_of_levels(folder, classes):
    """The learner that was taken, and probabilities of all classes."""
    model, out = folder / "model.json", folder / "predicted.csv"
    train_ours(folder, model)
    subprocess.run([folder / "discreet", "predict", "--model", model, "--data", folder / "test.csv", "--out", out], check=True, capture_output=True)
    learner, predicted = json.loads(model.read_text())["body"]["learner"], pd.read_csv(out)
    if classes == 2:
        p = predicted.iloc[:, -1].to_numpy()
        return learner, np.column_stack([1 - p, p])
    return learner, predicted[[f"score_k{k}" for k in range(classes)]].to_numpy()


def print_table(records):
    """Prints the lines of evidence/benchmarks/frontier.md: means ± standard deviations, differences ± standard errors."""
    values = collections.defaultdict(list)
    for r in map(json.loads, records.open()):
        values[r["table"], r["protocol"]].append([r[who][metric] for metric in ("auc", "accuracy") for who in ("ours", "theirs")])
    for (name, protocol), v in values.items():
        v, cells = np.array(v), []
        for k in 0, 2:
            d = v[:, k] - v[:, k + 1]
            cells += [f"{v[:, i].mean():.3f} ± {v[:, i].std(ddof=1):.3f}" for i in (k, k + 1)]
            cells.append(f"{d.mean():+.4f} ± {d.std(ddof=1) / np.sqrt(len(d)):.4f}".replace("-", "−"))
        print(f"| {name} | {protocol} | " + " | ".join(cells).replace("0.", ".") + " |")


if __name__ == "__main__":
    main()
