# SPDX-License-Identifier: Apache-2.0
"""Fits a classifier of another library, or predicts with it, as a process of its own.

usage: peer.py fit LEARNER SCHEMA TABLE MODEL SEED
       peer.py predict LEARNER SCHEMA TABLE MODEL OUT
       peer.py read SCHEMA TABLE
       peer.py judge SCHEMA OUT

predict writes the table with the columns label and score added, as discreet does,
and judge prints the AUC of those scores. A process imports what it needs.
"""

import sys
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

warnings.filterwarnings("ignore")
EPSILON = 1
DELTA = 1e-6  # of DP-EBM


def read(schema, path):
    """A table as a data frame, its columns that are features, and whether the label is positive."""
    with open(schema) as f:
        columns = yaml.load(f, yaml.CSafeLoader)["columns"]
    table = pq.read_table(path, read_dictionary=[c["name"] for c in columns if "number" not in c])
    label = next(c for c in columns if "label" in c)
    frame = table.to_pandas()
    return frame, [c for c in columns if "label" not in c], (frame[label["name"]] == label["label"]["positive"]).to_numpy().astype(int)


def coded(frame, column):
    """Values in [0, 1] of a number; codes of a category, the last one for what is not declared."""
    x = frame[column["name"]]
    if "category" in column:
        levels = column["category"]["levels"]
        codes = x.cat.set_categories(levels).cat.codes.to_numpy().astype(int)
        return np.where(codes < 0, len(levels), codes), len(levels) + 1
    n = column["number"]
    low, high = float(n["lower"]), float(n["upper"])
    x = np.clip(x.to_numpy(dtype=float), low, high)
    if n.get("transform") == "log1p":
        x, low, high = np.log1p(x), np.log1p(low), np.log1p(high)
    return (x - low) / (high - low), None


def ordinal(frame, features):
    """One number in [0, 1] a column."""
    return np.column_stack([x if k is None else x / (k - 1) for x, k in (coded(frame, c) for c in features)])


def one_hot(frame, features):
    """Numbers in [0, 1], categories as indicators."""
    return np.column_stack([x if k is None else np.eye(k)[x] for x, k in (coded(frame, c) for c in features)])


def codes(frame, features):
    """Numbers in [0, 1], categories as codes."""
    return np.column_stack([coded(frame, c)[0] for c in features])


def unit(frame, features):
    """Ordinal, and no row longer than 1."""
    return ordinal(frame, features) / np.sqrt(len(features))


def strings(frame, features):
    """Numbers as floats, categories as strings, and the types and bounds that DP-EBM takes."""
    data, types, bounds = {}, [], {}
    for c in features:
        x, k = coded(frame, c)
        if k is None:
            bounds[c["name"]] = (0.0, 1.0)
        else:
            x = np.array([f"level {v}" for v in range(k)], dtype=object)[x]
        data[c["name"]] = pd.Series(x, dtype=float if k is None else object)
        types.append("continuous" if k is None else "nominal")
    return pd.DataFrame(data), types, bounds


def private(name):
    def make(x, features, seed):
        import diffprivlib.models

        zero_one = (np.zeros(x.shape[1]), np.ones(x.shape[1]))
        options = {"LogisticRegression": {"data_norm": 1.0}, "GaussianNB": {"bounds": zero_one},
                   "RandomForestClassifier": {"bounds": zero_one, "classes": [0, 1]}}[name]
        return getattr(diffprivlib.models, name)(epsilon=EPSILON, random_state=seed, **options)

    return make


def logistic(x, features, seed):
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression()


def boosting(x, features, seed):
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(categorical_features=["category" in c for c in features], random_state=seed)


# How each takes the table, and what makes it.
LEARNERS = {
    "logistic": (one_hot, logistic),
    "histogram boosting": (codes, boosting),
    "private logistic": (unit, private("LogisticRegression")),
    "private Bayes": (ordinal, private("GaussianNB")),
    "private forest": (ordinal, private("RandomForestClassifier")),
    "DP-EBM": (strings, None),
}


def fit(learner, schema, path, model, seed):
    import joblib

    encode, make = LEARNERS[learner]
    frame, features, y = read(schema, path)
    x = encode(frame, features)
    if learner == "DP-EBM":
        from interpret.privacy import DPExplainableBoostingClassifier

        x, types, bounds = x
        m = DPExplainableBoostingClassifier(epsilon=EPSILON, delta=DELTA, feature_types=types, privacy_bounds=bounds, random_state=int(seed))
    else:
        m = make(x, features, int(seed))
    joblib.dump(m.fit(x, y), model)


def predict(learner, schema, path, model, out):
    import joblib

    frame, features, _ = read(schema, path)
    x = LEARNERS[learner][0](frame, features)
    m = joblib.load(model)
    score = m.predict_proba(x[0] if learner == "DP-EBM" else x)[:, list(m.classes_).index(1)]
    frame["label"], frame["score"] = pd.Categorical.from_codes((score > 0.5).astype(int), ["no", "yes"]), score
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), out)


def judge(schema, out):
    frame, _, y = read(schema, out)
    positive = y.sum()
    above = frame["score"].rank()[y == 1].sum() - positive * (positive + 1) / 2  # pairs in order, ties half
    print(len(frame), above / positive / (len(y) - positive))


if __name__ == "__main__":
    {"fit": fit, "predict": predict, "read": read, "judge": judge}[sys.argv[1]](*sys.argv[2:])
