# SPDX-License-Identifier: Apache-2.0
"""Processor time and memory of scores for a pandas data frame that is there.

usage: frames.py TABLE.parquet SCHEMA.yaml MODEL.json discreet|EBM|boosting DTYPE

DTYPE is that of columns of texts: str, object or category.

discreet predicts with the model; the others fit 20,000 rows first. It needs the wheel, and in place of
requirements.txt the newest of pandas, pyarrow, scikit-learn and interpret-core.
"""

import resource
import sys
import time

import pandas as pd
import yaml


def used():
    own = resource.getrusage(resource.RUSAGE_SELF)
    return own.ru_utime + own.ru_stime, own.ru_maxrss / 1024


def child(pid):
    """Processor seconds and the largest memory of the process that predicts."""
    with open(f"/proc/{pid}/stat") as f:
        ticks = f.read().rsplit(")", 1)[1].split()
    with open(f"/proc/{pid}/status") as f:
        most = next(int(line.split()[1]) for line in f if line.startswith("VmHWM"))
    return (int(ticks[11]) + int(ticks[12])) / 100, most / 1024


def main():
    table, schema, model, kind, dtype = sys.argv[1:]
    with open(schema) as f:
        columns = yaml.safe_load(f)["columns"]
    label = next(c["name"] for c in columns if "label" in c)
    frame = pd.read_parquet(table)
    X, y = frame.drop(columns=label), frame[label]
    del frame
    categories = [c["name"] for c in columns if "category" in c]
    X = X.astype({name: dtype for name in categories})
    if kind == "discreet":
        from discreet import DiscreetClassifier
        from discreet._classifier import _children

        m = DiscreetClassifier.load(model)
    elif kind == "EBM":
        from interpret.privacy import DPExplainableBoostingClassifier

        X = X.dropna(axis="columns")  # it takes no missing values
        m = DPExplainableBoostingClassifier(n_jobs=1).fit(X[:20_000], y[:20_000])
    else:
        from sklearn.ensemble import HistGradientBoostingClassifier

        m = HistGradientBoostingClassifier(categorical_features="from_dtype").fit(X[:20_000], y[:20_000])
    m.predict_proba(X[:100])
    theirs = (lambda: child(_children[m]._process.pid)) if kind == "discreet" else lambda: (0, 0)
    before, memory, began = *used(), time.monotonic()
    child_before, _ = theirs()
    m.predict_proba(X)
    seconds = time.monotonic() - began
    processor, most = used()
    other, size = theirs()
    print(f"{kind}, {dtype}: {processor - before + other - child_before:.2f} s of processor time, {most - memory + size:.0f} MB more memory, {seconds:.2f} s "
          f"for {len(X):,} rows of {X.shape[1]} columns")


if __name__ == "__main__":
    main()
