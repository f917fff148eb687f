# SPDX-License-Identifier: Apache-2.0
"""Labels of more than two levels: ours and other libraries' on the same splits.

usage: levels.py FOLDER DATASETS RECORDS.jsonl REPEATS

FOLDER holds the built command, discreet, and takes what is written for it.
One line of RECORDS is one fit; a fit that is there is not made again.
"""

import csv
import gzip
import json
import pathlib
import subprocess
import sys
import time
import warnings

import numpy as np
import pandas as pd
import yaml
from diffprivlib.models import GaussianNB, LogisticRegression, RandomForestClassifier
from sklearn.metrics import log_loss, roc_auc_score

from tables import Table, value

warnings.filterwarnings("ignore")
EPSILONS = [0.1, 1, 4]
DELTA = 1e-6
NAMES = ["KDD Cup 99, 5 kinds", "WISDM, 6 activities", "HAPT windows, 12 activities", "MNIST 7 × 7, 10 digits", "Adult, marital status", "Adult, occupation"]
LEARNERS = ["ours, add-remove", "ours, add-remove, δ", "ours, replace-one", "erm, replace-one", "forest", *(f"{r}, {n}" for r in ("Bayes", "logistic") for n in ("ordinal", "one-hot"))]


class Levels:
    """A table as columns: numbers in [0, 1] with None, or codes with their number; and codes of a label."""

    def __init__(self, names, columns, y):
        self.names, self.columns, self.y, self.levels = names, columns, y, int(y.max()) + 1

    def draw(self, rng, most):
        chosen = rng.permutation(len(self.y))[:most]
        return Levels(self.names, [(x[chosen], k) for x, k in self.columns], self.y[chosen])

    def features(self, name):
        if name == "ordinal":
            return np.column_stack([x if k is None else x / (k - 1) for x, k in self.columns])
        return np.column_stack([x if k is None else np.eye(k)[x] for x, k in self.columns])

    def schema(self, relation):
        """Everything private."""
        columns = [{"name": n, "role": "private", **({"number": {"lower": 0, "upper": 1, "default": 0}} if k is None else {"category": {"levels": [f"v{i}" for i in range(k)]}})}
                   for n, (_, k) in zip(self.names, self.columns)]
        columns.append({"name": "the label", "role": "private", "label": {"levels": [f"k{i}" for i in range(self.levels)], "default": "k0"}})
        return yaml.safe_dump({"name": "table", "unit": "one row", "relation": relation, "file": {"delimiter": ",", "quote": '"', "header": True}, "columns": columns}, sort_keys=False)

    def write(self, path, rows):
        with open(path, "w", newline="") as f:
            w = csv.writer(f)
            w.writerow([*self.names, "the label"])
            cells = [[f"{v:.9g}" for v in x[rows]] if k is None else [f"v{v}" for v in x[rows]] for x, k in self.columns]
            w.writerows(zip(*cells, (f"k{v}" for v in self.y[rows])))


def by_schema(schema, datasets, file, label=None):
    """A table of a shipped schema; label, where given, is a category that is predicted in place of the label.

    Columns alone are taken from it: a row is a unit of its own here, for everybody alike, whatever it says of persons.
    """
    table = Table(schema, datasets, [file])
    table.lines = [line for line in table.lines if not line.startswith("@")]
    rows = [[row[i] for i in table.order] for row in table.cells(table.lines)]
    names, columns, y = [], [], None
    for i, c in enumerate(table.columns):
        cells = [row[i] for row in rows]
        if "number" in c and c["role"] != "ignored":
            n = c["number"]
            low, high = float(n["lower"]), float(n["upper"])
            x = pd.to_numeric(pd.Series(cells), errors="coerce").fillna(float(n.get("default", low))).clip(low, high).to_numpy()
            if n.get("transform") == "log1p":
                x, low, high = np.log1p(x), np.log1p(low), np.log1p(high)
            names.append(c["name"])
            columns.append(((x - low) / (high - low), None))
        elif "number" not in c and c["role"] != "ignored":
            levels = (c.get("category") or c["label"])["levels"]
            codes = {str(n): k for k, v in enumerate(levels) for n in [value(v), *(v.get("aliases", []) if isinstance(v, dict) else [])]}
            x = np.array([codes.get(cell, len(codes)) for cell in cells])
            if c["name"] == label or label is None and "label" in c:
                y = np.unique(x, return_inverse=True)[1]
            else:
                names.append(c["name"])
                columns.append((x, len(levels) + (x.max() >= len(levels))))
    return Levels(names, columns, y)


def hapt(datasets):
    """Windows of 128 samples, 64 apart, of one activity: means, deviations, steps and two bands of each signal."""
    h = pd.read_csv(pathlib.Path(datasets) / "hapt/hapt_labelled_samples.csv.gz")
    features, labels = [], []
    for _, g in h.groupby(["exp", "user", "segment"]):
        a = g[["ax", "ay", "az", "gx", "gy", "gz"]].to_numpy() / ([720] * 3 + [10000] * 3)
        for at in range(0, len(a) - 127, 64):
            w = a[at:at + 128]
            f = np.abs(np.fft.rfft(w - w.mean(0), axis=0))
            features.append(np.r_[w.mean(0) / 4 + 0.5, np.sqrt(w.std(0)) / 1.5, np.sqrt(np.abs(np.diff(w, axis=0)).mean(0)), f[1:4].sum(0) / f.sum(0), f[4:12].sum(0) / f.sum(0)])
            labels.append(g.activity.iloc[0])
    x = np.clip(features, 0, 1)
    return Levels([f"f{j}" for j in range(x.shape[1])], [(x[:, j], None) for j in range(x.shape[1])], np.unique(labels, return_inverse=True)[1])


def mnist(datasets):
    """Means of 4 × 4 pixels."""
    read = lambda name, skip: np.frombuffer(gzip.open(pathlib.Path(datasets) / "mnist" / name).read(), np.uint8)[skip:]
    x = read("train-images-idx3-ubyte.gz", 16).reshape(-1, 7, 4, 7, 4).mean((2, 4)).reshape(-1, 49) / 255
    return Levels([f"p{j}" for j in range(49)], [(x[:, j], None) for j in range(49)], read("train-labels-idx1-ubyte.gz", 8).astype(int))


def tables(datasets):
    yield by_schema("kdd99-kinds.yaml", datasets, "kdd99/kddcup.data_10_percent.gz")
    yield by_schema("wisdm.yaml", datasets, "wisdm/WISDM_ar_v1.1_transformed.arff.gz")
    yield hapt(datasets)
    yield mnist(datasets)
    yield by_schema("adult.yaml", datasets, "adult/adult.data.gz", "marital-status")
    yield by_schema("adult.yaml", datasets, "adult/adult.data.gz", "occupation")


def ours(folder, relation, learner, epsilon, delta, rows, levels):
    model, out = folder / "model.json", folder / "predicted.csv"
    command = [folder / "discreet", "train", "--data", folder / "train.csv", "--schema", folder / f"{relation}.yaml", "--epsilon", repr(epsilon), "--model", model]
    if learner:
        command += ["--learner", learner]
    if relation == "add-remove":
        command += ["--declared-rows", str(rows)]
    if delta:
        command += ["--delta", f"{delta:.15f}"]
    subprocess.run(command, check=True, capture_output=True)
    subprocess.run([folder / "discreet", "predict", "--model", model, "--data", folder / "test.csv", "--out", out], check=True, capture_output=True)
    return pd.read_csv(out)[[f"score_k{k}" for k in range(levels)]].to_numpy()


def fits(rows, folder, train, test, seed):
    """Yields (learner, epsilon, function that fits and returns probabilities of the levels)."""
    x = {name: rows.features(name) for name in ("ordinal", "one-hot")}
    width = np.sqrt(len(rows.columns))  # no row of features in [0, 1] is longer

    def library(model, name):
        def run():
            model.fit(x[name][train], rows.y[train])
            p = np.zeros((len(test), rows.levels))
            p[:, np.asarray(model.classes_, dtype=int)] = model.predict_proba(x[name][test])
            return p

        return run

    def own(relation, learner, epsilon, delta):
        return lambda: ours(folder, relation, learner, epsilon, delta, len(train), rows.levels)

    for e in EPSILONS:
        yield "ours, add-remove", e, own("add-remove", "", e, 0)
        yield "ours, add-remove, δ", e, own("add-remove", "", e, DELTA)
        yield "ours, replace-one", e, own("replace-one", "", e, 0)
        yield "erm, replace-one", e, own("replace-one", "erm", e, 0)
        d = x["ordinal"].shape[1]
        yield "forest", e, library(RandomForestClassifier(epsilon=e, bounds=(np.zeros(d), np.ones(d)), classes=list(range(rows.levels)), n_jobs=1, random_state=seed), "ordinal")
        for name in "ordinal", "one-hot":
            d = x[name].shape[1]
            yield f"Bayes, {name}", e, library(GaussianNB(epsilon=e, bounds=(np.zeros(d), np.ones(d)), random_state=seed), name)
            yield f"logistic, {name}", e, library(LogisticRegression(epsilon=e, data_norm=width, random_state=seed), name)


def scores(y, p):
    """Accuracy, mean recall and mean one-against-rest AUC over the levels that the rows have, and log loss."""
    p = np.nan_to_num(p)
    p = np.where(p.sum(1, keepdims=True) > 0, p, 1.0)
    p /= p.sum(1, keepdims=True)
    own = np.unique(y)
    answer = p.argmax(1)
    return {"accuracy": float((answer == y).mean()), "balanced": float(np.mean([(answer[y == k] == k).mean() for k in own])),
            "auc": float(np.mean([roc_auc_score(y == k, p[:, k]) for k in own])),
            "log_loss": float(log_loss(y, np.clip(p, 1e-12, 1), labels=list(range(p.shape[1]))))}


def main():
    folder, datasets, records, repeats = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3]), int(sys.argv[4])
    done = set()
    if records.exists():
        done = {(r["table"], r["repeat"], r["learner"], r["epsilon"]) for r in map(json.loads, records.open())}
    all_tables = dict(zip(NAMES, tables(datasets)))
    for repeat in range(repeats):
        for name, table in all_tables.items():
            if all((name, repeat, learner, epsilon) in done for learner in LEARNERS for epsilon in EPSILONS):
                continue
            rows = table.draw(np.random.default_rng([repeat, NAMES.index(name)]), 70_000)
            test, train = np.split(np.arange(len(rows.y)), [int(0.3 * len(rows.y))])
            rows.write(folder / "train.csv", train)
            rows.write(folder / "test.csv", test)
            for relation in "add-remove", "replace-one":
                (folder / f"{relation}.yaml").write_text(rows.schema(relation))
            for learner, epsilon, run in fits(rows, folder, train, test, 1000 + repeat):
                if (name, repeat, learner, epsilon) in done:
                    continue
                start = time.perf_counter()
                p = run()
                line = {"table": name, "repeat": repeat, "learner": learner, "epsilon": epsilon, "rows": len(train), **scores(rows.y[test], p), "seconds": round(time.perf_counter() - start, 3)}
                with records.open("a") as f:
                    f.write(json.dumps(line, ensure_ascii=False) + "\n")
            print(f"{name}, repeat {repeat + 1} of {repeats}", file=sys.stderr)


if __name__ == "__main__":
    main()
