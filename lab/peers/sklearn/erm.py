# SPDX-License-Identifier: Apache-2.0
"""Minima of internal/learn/erm's objective without noise, by other programs.

usage: erm.py OUT.json

Writes the committed fixture internal/learn/erm/testdata/peers.json: generated tables as
coded cells, and the least mean loss with its ridge over scaled rows, by
scikit-learn for the logistic loss and by scipy's BFGS, then Newton's method
from its end, for the Huber-hinge. Under levels it has labels of three levels
with weights, and the least loss of each level against the rest.
"""

import json
import sys

import numpy as np
import scipy
import sklearn
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from logistic import encode, generated


def rows(columns, encoding, norm):
    x = np.hstack([encode(c, encoding) for c in columns] + [np.ones((len(columns[0]["cells"]), 1))])
    return x * np.minimum(1 / np.sqrt(len(columns) + 1), norm / np.linalg.norm(x, axis=1))[:, None]


def huber(z, h):
    """Value, slope and curvature of the Huber-hinge."""
    middle = np.abs(1 - z) <= h
    value = np.where(z > 1 + h, 0, np.where(middle, (1 + h - z) ** 2 / (4 * h), 1 - z))
    slope = np.where(z > 1 + h, 0, np.where(middle, -(1 + h - z) / (2 * h), -1))
    return value, slope, np.where(middle, 1 / (2 * h), 0)


def least_huber(x, y, reg, h):
    n, d = x.shape

    def value(w):
        return huber(y * (x @ w), h)[0].mean() + reg / 2 * w @ w

    def slope(w):
        return x.T @ (y * huber(y * (x @ w), h)[1]) / n + reg * w

    w = minimize(value, np.zeros(d), jac=slope, method="BFGS", options=dict(gtol=1e-9, maxiter=10_000)).x
    for _ in range(20):
        curve = huber(y * (x @ w), h)[2]
        step = np.linalg.solve((x.T * curve) @ x / n + reg * np.eye(d), slope(w))
        if value(w - step) > value(w):
            break
        w = w - step
    return value(w), float(np.linalg.norm(slope(w)))


def least_logistic(x, y, reg, weights=1.0):
    weights = weights * np.ones(len(y))
    fit = LogisticRegression(C=1 / (reg * len(y)), fit_intercept=False, solver="newton-cholesky", tol=1e-13, max_iter=1000)
    w = fit.fit(x, y, sample_weight=weights).coef_[0]
    slope = x.T @ (-weights * y / (1 + np.exp(y * (x @ w)))) / len(y) + reg * w
    return weights @ np.logaddexp(0, -y * (x @ w)) / len(y) + reg / 2 * w @ w, float(np.linalg.norm(slope))


def cases():
    for case in generated():
        if not case["name"].startswith("generated"):
            continue
        y = 2 * np.asarray(case["labels"]) - 1
        for reg, norm in (1e-4, 1.0), (0.02, 1.0), (0.01, 0.7):
            x = rows(case["columns"], case["encoding"], norm)
            for h in 0, 0.1, 0.5:
                loss, left = least_huber(x, y, reg, h) if h else least_logistic(x, y, reg)
                yield dict(encoding=case["encoding"], reg=reg, norm=norm, huber=h, loss=float(loss), gradient=left)


WEIGHTS = [1.0, 4.0, 2.5]


def three_levels(labels, columns):
    """A label of three levels: the old one, and a third where one category has its second code."""
    return np.where(np.asarray(columns[1]["cells"]) == 1, 2, labels)


def level_cases():
    for case in generated():
        if not case["name"].startswith("generated"):
            continue
        labels = three_levels(case["labels"], case["columns"])
        weights = np.asarray(WEIGHTS)[labels] / max(WEIGHTS)
        for reg, norm in (1e-4, 1.0), (0.01, 0.7):
            x = rows(case["columns"], case["encoding"], norm)
            least = [least_logistic(x, np.where(labels == level, 1, -1), reg, weights) for level in range(3)]
            yield dict(encoding=case["encoding"], reg=reg, norm=norm, losses=[float(loss) for loss, _ in least], gradients=[left for _, left in least])


if __name__ == "__main__":
    first = next(generated())
    with open(sys.argv[1], "w") as out:
        json.dump(dict(made_by=f"lab/peers/sklearn/erm.py, scikit-learn {sklearn.__version__}, scipy {scipy.__version__}, numpy {np.__version__}",
                       columns=first["columns"], labels=first["labels"], cases=list(cases()),
                       levels=dict(labels=three_levels(first["labels"], first["columns"]).tolist(), weights=WEIGHTS, cases=list(level_cases()))), out, separators=(",", ":"))
        out.write("\n")
