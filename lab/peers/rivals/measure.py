# SPDX-License-Identifier: Apache-2.0
"""Private classifiers of other libraries and ours on the same splits.

usage: measure.py FOLDER DATASETS RECORDS.jsonl REPEATS [TABLE ...]

FOLDER holds the built commands, discreet and discreet-lab, and takes what is written for them.
One line of RECORDS is one fit; a fit that is there is not made again. Without TABLE, all are measured.
"""

import csv
import json
import pathlib
import subprocess
import sys
import time
import warnings

import numpy as np
from diffprivlib.models import GaussianNB, LogisticRegression, RandomForestClassifier
from interpret.privacy import DPExplainableBoostingClassifier
from sklearn.metrics import roc_auc_score

from tables import TABLES, Table

warnings.filterwarnings("ignore")
EPSILONS = [0.01, 0.1, 1, 4]
DELTA = 1e-6
LEARNERS = ["ours, add-remove", "ours, add-remove, δ", "ours, replace-one", "DP-EBM",
            *(f"{rival}, {name}" for rival in ("forest", "Bayes", "logistic", "erm") for name in ("ordinal", "one-hot"))]
# Besides, for the README's picture and so on its table alone: Shen et al.'s learner, as ours has it.
PICTURED, BRC = "Adult", ["BRC, ordinal", "BRC, one-hot"]


def ours(folder, relation, epsilon, delta, rows, *options):
    """Trains and predicts with the built command; returns the predicted classes and the scores."""
    model, out = folder / "model.json", folder / "predicted.csv"
    command = [folder / "discreet", "train", "--data", folder / "train.csv", "--schema", folder / f"{relation}.yaml",
               "--epsilon", repr(epsilon), "--model", model, *options]
    if relation == "add-remove":
        command += ["--declared-rows", str(rows)]
    if delta:
        command += ["--delta", f"{delta:.15f}"]
    subprocess.run(command, check=True, capture_output=True)
    subprocess.run([folder / "discreet", "predict", "--model", model, "--data", folder / "test.csv", "--out", out], check=True, capture_output=True)
    with open(out, newline="") as f:
        reader = csv.reader(f)
        names = next(reader)
        # The last two columns are the new ones, whatever they had to be called.
        assert names[-1].startswith("score"), names
        rows = [(row[-2], float(row[-1])) for row in reader]
    return np.array([label for label, _ in rows]), np.array([score for _, score in rows])


def fits(rows, folder, train, test, seed):
    """Yields (learner, epsilon, function that fits and returns 0/1 labels and scores)."""
    y = rows.y[train]
    x = {name: (f[train], f[test]) for name, f in (("ordinal", rows.ordinal()), ("one-hot", rows.one_hot()))}
    frame, types, bounds = rows.frame()
    width = np.sqrt(len(rows.table.features))  # no row of features in [0, 1] is longer

    def library(model, name):
        def run():
            model.fit(x[name][0], y)
            p = model.predict_proba(x[name][1])
            return model.predict(x[name][1]), p[:, list(model.classes_).index(1)]

        return run

    def ebm(epsilon):
        def run():
            model = DPExplainableBoostingClassifier(epsilon=epsilon, delta=DELTA, feature_types=types, privacy_bounds=bounds, n_jobs=1, random_state=seed)
            model.fit(frame.iloc[train], y)
            return model.predict(frame.iloc[test]), model.predict_proba(frame.iloc[test])[:, 1]

        return run

    def own(relation, epsilon, delta, *options):
        def run():
            labels, scores = ours(folder, relation, epsilon, delta, len(train), *options)
            return (labels == rows.positive).astype(int), scores

        return run

    for e in EPSILONS:
        yield "ours, add-remove", e, own("add-remove", e, 0)
        yield "ours, add-remove, δ", e, own("add-remove", e, DELTA)
        yield "ours, replace-one", e, own("replace-one", e, 0)
        yield "DP-EBM", e, ebm(e)
        for name in "ordinal", "one-hot":
            d = x[name][0].shape[1]
            zero_one = (np.zeros(d), np.ones(d))
            yield f"forest, {name}", e, library(RandomForestClassifier(epsilon=e, bounds=zero_one, classes=[0, 1], n_jobs=1, random_state=seed), name)
            yield f"Bayes, {name}", e, library(GaussianNB(epsilon=e, bounds=zero_one, random_state=seed), name)
            yield f"logistic, {name}", e, library(LogisticRegression(epsilon=e, data_norm=width, random_state=seed), name)
            for learner, *options in ("erm", "erm"), ("BRC", "brc", "--class-weights", "balanced", "--output", "linear"):
                yield f"{learner}, {name}", e, own("replace-one", e, 0, "--encoding", name.replace("-", ""), "--learner", *options)


def check_files(folder, datasets, chosen):
    """Ends the program if discreet-lab finds a table missing or other than the one of the published figures."""
    said = subprocess.run([folder / "discreet-lab", "data", "--folder", datasets, "--json"], check=True, capture_output=True).stdout
    states = json.loads(said)["files"]
    bad = [f"{file} ({states[file]})" for _, files, _ in chosen.values() for file in files if states[file] != "right"]
    if bad:
        sys.exit(f"{datasets}: {', '.join(bad)}; discreet-lab data lists sources and checksums")


def main():
    folder, datasets, records, repeats = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3]), int(sys.argv[4])
    chosen = {name: TABLES[name] for name in sys.argv[5:] or TABLES}
    check_files(folder, datasets, chosen)
    done = set()
    if records.exists():
        done = {(r["table"], r["repeat"], r["learner"], r["epsilon"]) for r in map(json.loads, records.open())}
    tables = {name: (Table(schema, datasets, files), most) for name, (schema, files, most) in chosen.items()}
    for repeat in range(repeats):
        for name, (table, most) in tables.items():
            wanted = LEARNERS + BRC if name == PICTURED else LEARNERS
            if all((name, repeat, learner, epsilon) in done for learner in wanted for epsilon in EPSILONS):
                continue
            rows = table.draw(np.random.default_rng([repeat, list(TABLES).index(name)]), most)
            test, train = np.split(np.arange(len(rows.rows)), [int(0.3 * len(rows.rows))])
            rows.write(folder / "train.csv", train)
            rows.write(folder / "test.csv", test)
            for relation in "add-remove", "replace-one":
                (folder / f"{relation}.yaml").write_text(table.closed(relation))
            for learner, epsilon, run in fits(rows, folder, train, test, 1000 + repeat):
                if learner not in wanted or (name, repeat, learner, epsilon) in done:
                    continue
                start = time.perf_counter()
                labels, scores = run()
                line = {"table": name, "repeat": repeat, "learner": learner, "epsilon": epsilon, "rows": len(train),
                        "accuracy": float((labels == rows.y[test]).mean()), "auc": float(roc_auc_score(rows.y[test], scores)),
                        "seconds": round(time.perf_counter() - start, 3)}
                with records.open("a") as f:
                    f.write(json.dumps(line, ensure_ascii=False) + "\n")
            print(f"{name}, repeat {repeat + 1} of {repeats}", file=sys.stderr)


if __name__ == "__main__":
    main()
