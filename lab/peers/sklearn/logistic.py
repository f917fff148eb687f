# SPDX-License-Identifier: Apache-2.0
"""Ridge logistic regression by scikit-learn, as cases for internal/learn/logistic.

usage: logistic.py OUT.json [ADULT.data.gz]

Without a data set it writes small generated cases: the committed fixture
internal/learn/logistic/testdata/sklearn.json. With Adult's training file it writes that
table as cases instead. A case holds coded cells, weights, the ridge, and the
penalised mean loss at scikit-learn's optimum, computed here from features that
this file encodes by itself from the documented formulas.
"""

import gzip
import json
import sys

import numpy as np
import sklearn
from sklearn.linear_model import LogisticRegression


def encode(column, encoding):
    """One column as features, rows x (1 or codes)."""
    cells = np.asarray(column["cells"])
    if column["kind"] == "number":
        scale = np.log1p if column["log1p"] else lambda x: x
        lo, hi = scale(column["lower"]), scale(column["upper"])
        return (2 * (scale(cells) - lo) / (hi - lo) - 1)[:, None]
    levels = column["levels"]
    codes = levels + 1 + int(column["missing"])
    if encoding == "onehot":
        return np.eye(codes)[cells]
    if levels < 2:
        return np.zeros((len(cells), 1))
    return np.where(cells < levels, 2 * cells / (levels - 1) - 1, 0.0)[:, None]


def objective(x, y, w, reg, coef, bias):
    z = x @ coef + bias
    loss = np.logaddexp(0, np.where(y == 1, -z, z))
    return float(w @ loss / w.sum() + reg / 2 * coef @ coef)


def case(name, encoding, reg, columns, labels, weights):
    x = np.hstack([encode(c, encoding) for c in columns])
    y, w = np.asarray(labels), np.asarray(weights, float)
    fit = LogisticRegression(C=1 / (reg * w.sum()), solver="newton-cholesky", tol=1e-12, max_iter=1000)
    fit.fit(x, y, sample_weight=w)
    coef, bias = fit.coef_[0], fit.intercept_[0]
    return dict(name=name, encoding=encoding, reg=reg, columns=columns, labels=[int(v) for v in y],
                weights=[float(v) for v in w], coef=[*map(float, coef), float(bias)],
                loss=objective(x, y, w, reg, coef, bias))


def generated():
    rng = np.random.default_rng(20)
    n = 240
    pay = np.round(np.exp(rng.normal(6, 1.5, n)).clip(0, 5000), 2)
    age = rng.integers(16, 91, n)
    colour = rng.integers(0, 5, n)  # three levels, other, missing
    size = rng.integers(0, 3, n)  # two levels, other
    z = 0.9 * np.log1p(pay) - 0.08 * age + np.array([0, 1, -1, 0.5, -2])[colour] - 2
    y = (rng.random(n) < 1 / (1 + np.exp(-z))).astype(int)
    columns = [
        dict(kind="number", lower=0.0, upper=5000.0, log1p=True, cells=pay.tolist()),
        dict(kind="category", levels=3, missing=True, cells=colour.tolist()),
        dict(kind="number", lower=16.0, upper=90.0, log1p=False, cells=age.tolist()),
        dict(kind="category", levels=2, missing=False, cells=size.tolist()),
    ]
    # Weights as late rounds of boosting make them: far apart, some zero.
    uneven = np.round(np.exp(rng.normal(0, 2, n)), 3) * (rng.random(n) < 0.9)
    separable = (age > 40).astype(int)
    for encoding in "ordinal", "onehot":
        yield case(f"generated {encoding}", encoding, 1 / n, columns, y, np.ones(n))
        yield case(f"weighted {encoding}", encoding, 0.003, columns, y, uneven)
        yield case(f"separable {encoding}", encoding, 1e-6, columns, separable, np.ones(n))


ADULT_BOUNDS = {0: (0, 100), 2: (0, 2e6), 4: (0, 20), 10: (0, 99999), 11: (0, 5000), 12: (0, 99)}
ADULT_PUBLIC = (0, 8, 9, 13)


def adult(path):
    with gzip.open(path, "rt") as f:
        rows = [line.strip().split(", ") for line in f if line.strip()]
    labels = [int(r[14] == ">50K") for r in rows]
    columns = []
    for j in range(14):
        cells = [r[j] for r in rows]
        if j in ADULT_BOUNDS:
            lo, hi = ADULT_BOUNDS[j]
            columns.append(dict(kind="number", lower=float(lo), upper=float(hi), log1p=j in (10, 11), cells=[float(c) for c in cells]))
        else:
            levels = sorted(set(cells) - {"?"})
            code = {v: i for i, v in enumerate(levels)} | {"?": len(levels) + 1}
            columns.append(dict(kind="category", levels=len(levels), missing=True, cells=[code[c] for c in cells]))
    ones, n = np.ones(len(rows)), len(rows)
    public = [columns[j] for j in ADULT_PUBLIC]
    for encoding in "ordinal", "onehot":
        yield case(f"adult {encoding}", encoding, 1 / n, columns, labels, ones)
        yield case(f"adult public {encoding}", encoding, 1 / n, public, labels, ones)


if __name__ == "__main__":
    cases = list(adult(sys.argv[2]) if len(sys.argv) > 2 else generated())
    with open(sys.argv[1], "w") as out:
        json.dump(dict(made_by=f"lab/peers/sklearn/logistic.py, scikit-learn {sklearn.__version__}, numpy {np.__version__}", cases=cases), out, separators=(",", ":"))
        out.write("\n")
