# SPDX-License-Identifier: Apache-2.0
"""Synthetic data and gradient boosting beside discreet on a table that is not additive.

usage: characters.py DATASETS DISCREET RECORDS.jsonl OUT.md REPEATS SECONDS

The table is Artificial Characters in the split of Tab-PE: seven numbers, ten
classes. One line of RECORDS is one fit; a fit that is there is not made again.
"""

import itertools
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import time

import numpy as np
import pandas as pd
from measure import SYNTHESIZERS, bounded

EPSILON = 1
BOUNDS = [(0, 8), (0, 50), (0, 64), (0, 50), (-2, 64), (0, 64), (0, 80)]
CLASSES = 10
BINS = [16, 32]  # of every number, of equal width between its bounds
OURS = ["auto", "additive", "grids"]
OUR_REPEATS = 25  # ours take seconds, theirs minutes


def schema():
    """The table as discreet is told of it; everything is private."""
    lines = ["name: characters", "unit: one stroke", "relation: add-remove", 'file: {delimiter: ",", quote: "\\"", header: true}', "columns:"]
    for i, (lower, upper) in enumerate(BOUNDS):
        lines.append(f"  - {{name: V{i + 1}, role: private, number: {{lower: {lower}, upper: {upper}, default: {lower}}}}}")
    levels = ", ".join(str(c + 1) for c in range(CLASSES))
    return "\n".join([*lines, f"  - {{name: Class, role: private, label: {{levels: [{levels}], default: 1}}}}", ""])


def codes(table, bins):
    """The bin of every number, and the class from 0."""
    x = table.iloc[:, : len(BOUNDS)].to_numpy(float)
    lower, upper = np.array(BOUNDS, float).T
    cut = np.clip((x - lower) / (upper - lower) * bins, 0, bins - 1).astype(int)
    frame = pd.DataFrame(cut, columns=[f"c{i}" for i in range(len(BOUNDS))])
    return frame.assign(label=table["Class"].to_numpy() - 1)


def accuracy_of_synthesizer(name, bins, repeat, delta, train, test, seconds):
    train, test = codes(train, bins), codes(test, bins)
    sizes, categories = [bins] * len(BOUNDS) + [CLASSES], [False] * len(BOUNDS)
    p = bounded(seconds, name, EPSILON, delta, 1000 + repeat, train, sizes, categories, test.drop(columns="label"))
    return None if p is None else float((p.argmax(1) == test["label"].to_numpy()).mean())


def accuracy_of_discreet(learner, delta, files, rows, discreet):
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, "schema.yaml")
        path.write_text(schema())
        model = str(pathlib.Path(directory, "model.json"))
        train = [discreet, "train", "--data", files[0], "--schema", str(path), "--learner", learner, "--epsilon", str(EPSILON)]
        train += ["--delta", f"{delta:.3g}", "--declared-rows", str(rows), "--model", model]
        subprocess.run(train, check=True, capture_output=True)
        evaluate = [discreet, "evaluate", "--model", model, "--data", files[1], "--json"]
        return json.loads(subprocess.run(evaluate, check=True, capture_output=True).stdout)["accuracy"]


def page(records, rows, delta):
    text = (
        f"Artificial Characters, {rows:,} strokes to train and 1,533 to test (the split of Tab-PE), seven numbers, ten classes, "
        f"everything private, ε = {EPSILON}, δ = 1/(n ln n) = {delta:.2g}, for adding or removing a row. smartnoise-synth's synthesizers make as "
        "many rows as there are, from numbers cut into bins of equal width; scikit-learn's HistGradientBoosting learns "
        "from those. Written by `make -C lab/peers/synth characters`; every fit is a line of "
        "[characters-synth.jsonl](characters-synth.jsonl); *sampled* is explained in [rivals-synth.md](rivals-synth.md)."
    )
    lines = [
        "# Characters, beside gradient boosting on synthetic data",
        "",
        *textwrap.wrap(text, 100, break_on_hyphens=False),
        "",
        "| | bins | fits | accuracy, mean | least | most | seconds |",
        "|---|---|---|---|---|---|---|",
    ]
    for (learner, bins), group in itertools.groupby(sorted(records, key=lambda r: (r["bins"] > 0, r["learner"], r["bins"])), key=lambda r: (r["learner"], r["bins"])):
        group = list(group)
        took = sorted(r["seconds"] for r in group)
        found = [r["accuracy"] for r in group if r["accuracy"] is not None]
        name = f"`{learner}`" if bins == 0 else learner
        numbers = f"{np.mean(found):.3f} | {min(found):.3f} | {max(found):.3f}" if found else "given up | – | –"
        lines.append(f"| {name} | {bins or '–'} | {len(found)} | {numbers} | {took[0]:.0f} to {took[-1]:.0f} |".replace("0.", "."))
    return "\n".join([*lines, ""])


def main():
    datasets, discreet, records, out = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4])
    repeats, seconds = int(sys.argv[5]), float(sys.argv[6])
    files = [str(datasets / "characters" / f"characters_{part}.csv.gz") for part in ("train", "test")]
    train, test = map(pd.read_csv, files)
    delta = 1 / (len(train) * math.log(len(train)))
    done = [json.loads(line) for line in records.open()] if records.exists() else []
    todo = [(n, 0) for n in OURS] + list(itertools.product(SYNTHESIZERS, BINS))
    for repeat, (learner, bins) in itertools.product(range(max(repeats, OUR_REPEATS)), todo):
        if repeat >= (repeats if bins else OUR_REPEATS) or any((r["learner"], r["bins"], r["repeat"]) == (learner, bins, repeat) for r in done):
            continue
        start = time.perf_counter()
        if bins:
            accuracy = accuracy_of_synthesizer(learner, bins, repeat, delta, train, test, seconds)
        else:
            accuracy = accuracy_of_discreet(learner, delta, files, len(train), discreet)
        line = {"learner": learner, "bins": bins, "repeat": repeat, "accuracy": accuracy, "seconds": round(time.perf_counter() - start, 2)}
        done.append(line)
        with records.open("a") as f:
            f.write(json.dumps(line) + "\n")
        print(line, file=sys.stderr)
    out.write_text(page(done, len(train), delta))


if __name__ == "__main__":
    main()
