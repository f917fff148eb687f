# SPDX-License-Identifier: Apache-2.0
"""Synthetic data from smartnoise-synth, then gradient boosting, on the splits of lab/peers/rivals.

usage: measure.py DATASETS RECORDS.jsonl REPEATS SECONDS ['MST, sampled' ...]

One line of RECORDS is one fit; a fit that is there is not made again. A fit
that takes longer than SECONDS is given up, and its line says so.
"""

import contextlib
import io
import itertools
import json
import multiprocessing
import pathlib
import queue
import sys
import time

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score

sys.path.append(str(pathlib.Path(__file__).parent.parent / "rivals"))
from tables import TABLES, Table

EPSILONS = [0.01, 0.1, 1, 4]
DELTA = 1e-6
BINS = 32  # of a number, of equal width between its declared bounds
# Names in the library, and how rows are made of the fitted model; None: as it comes.
SYNTHESIZERS = {"MST": ("mst", None), "MST, sampled": ("mst", "sample"), "AIM": ("aim", None), "AIM, sampled": ("aim", "sample")}


def codes(rows):
    """Every column as codes, the label last, with how many there are of each and which are categories."""
    out, sizes, categories = [], [], []
    for x, k in rows._columns:
        out.append(x if k is not None else np.minimum((x * BINS).astype(int), BINS - 1))
        sizes.append(k or BINS)
        categories.append(k is not None)
    return pd.DataFrame({f"c{i}": x for i, x in enumerate(out)} | {"label": rows.y}), [*sizes, 2], categories


def fit(name, epsilon, delta, seed, frame, sizes, categories, test, answer):
    """Synthesizes as many rows as there are, learns from them, and sends the shares of each class for test."""
    from mbi import MarkovRandomField
    from snsynth import Synthesizer
    from snsynth.transform.table import TableTransformer

    library, method = SYNTHESIZERS[name]
    if method:
        MarkovRandomField.synthetic_data.__defaults__ = (None, method)
    np.random.seed(seed)
    # The codes are told by a table of all of them, so that none is read off the rows.
    whole = pd.DataFrame({c: np.arange(max(sizes)) % n for c, n in zip(frame.columns, sizes)})
    transformer = TableTransformer.create(whole, style="cube", categorical_columns=list(frame.columns))
    transformer.fit(whole)
    with contextlib.redirect_stdout(io.StringIO()):
        synthesizer = Synthesizer.create(library, epsilon=float(epsilon), delta=delta)
        synthesizer.fit(frame, transformer=transformer)
        made = pd.DataFrame(synthesizer.sample(len(frame)), columns=frame.columns).astype(int)
    p = np.zeros((len(test), sizes[-1]))
    if made["label"].nunique() < 2:
        p[:, made["label"].iloc[0]] = 1
    else:
        model = HistGradientBoostingClassifier(categorical_features=categories, random_state=seed)
        model.fit(made.drop(columns="label"), made["label"])
        p[:, model.classes_] = model.predict_proba(test)
    answer.put(p)


def bounded(seconds, *arguments):
    """fit in a process of its own; None where it takes too long."""
    context = multiprocessing.get_context("spawn")
    answer = context.Queue()
    process = context.Process(target=fit, args=(*arguments, answer))
    process.start()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            got = answer.get(timeout=1)
            process.join()
            return got
        except queue.Empty:
            if not process.is_alive():
                raise RuntimeError(f"{arguments[0]} ended with {process.exitcode}") from None
    process.kill()
    process.join()
    return None


def main():
    datasets, records, repeats, seconds = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    names = sys.argv[5:] or list(SYNTHESIZERS)
    done = set()
    if records.exists():
        done = {(r["table"], r["repeat"], r["learner"], r["epsilon"]) for r in map(json.loads, records.open())}
    tables = {name: (Table(schema, datasets, files), most) for name, (schema, files, most) in TABLES.items()}
    for repeat, epsilon, name in itertools.product(range(repeats), EPSILONS, TABLES):
        table, most = tables[name]
        todo = [n for n in names if (name, repeat, n, epsilon) not in done]
        if not todo:
            continue
        rows = table.draw(np.random.default_rng([repeat, list(TABLES).index(name)]), most)
        test, train = np.split(np.arange(len(rows.rows)), [int(0.3 * len(rows.rows))])
        frame, sizes, categories = codes(rows)
        for synthesizer in todo:
            start = time.perf_counter()
            got = bounded(seconds, synthesizer, epsilon, DELTA, 1000 + repeat, frame.iloc[train], sizes, categories, frame.iloc[test].drop(columns="label"))
            line = {"table": name, "repeat": repeat, "learner": synthesizer, "epsilon": epsilon, "rows": len(train)}
            if got is not None:
                line |= {"accuracy": float((got.argmax(1) == rows.y[test]).mean()), "auc": float(roc_auc_score(rows.y[test], got[:, 1]))}
            line["seconds"] = round(time.perf_counter() - start, 3)
            with records.open("a") as f:
                f.write(json.dumps(line) + "\n")
            print(line, file=sys.stderr)


if __name__ == "__main__":
    main()
