# SPDX-License-Identifier: Apache-2.0
"""SAMME over decision stumps by scikit-learn, for internal/learn/adaboost.

usage: samme.py OUT.json
       samme.py WISDM_ar_v1.1_transformed.arff.gz ROUNDS...

The first writes the committed fixture internal/learn/adaboost/testdata/samme.json: rows
of three numbers in [0, 1], labels of four levels, the votes of scikit-learn's
AdaBoostClassifier and what it predicts. Numbers are multiples of 2^-20, which
its trees and ours tell apart alike. The second prints accuracy and log loss on
the rows it is trained on, which discreet evaluate prints of examples/wisdm.yaml.
"""

import gzip
import json
import sys

import numpy as np
import sklearn
from sklearn.ensemble import AdaBoostClassifier
from sklearn.metrics import log_loss
from sklearn.tree import DecisionTreeClassifier


def boosted(x, y, rounds):
    return AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=rounds, random_state=0).fit(x, y)


def fixture(path):
    rng = np.random.default_rng(4)
    n = 400
    x = rng.integers(0, 2**20 + 1, (n, 3)) / 2**20
    y = (2 * (x[:, 0] + 0.3 * rng.random(n) > 0.6) + (x[:, 1] * x[:, 2] + 0.1 * rng.random(n) > 0.3)).astype(int)
    fit = boosted(x, y, 40)
    with open(path, "w") as out:
        json.dump(dict(made_by=f"lab/peers/sklearn/samme.py, scikit-learn {sklearn.__version__}, numpy {np.__version__}",
                       columns=x.T.tolist(), labels=y.tolist(), votes=fit.estimator_weights_.tolist(), predicted=fit.predict(x).tolist()), out, separators=(",", ":"))
        out.write("\n")


def wisdm(path, rounds):
    with gzip.open(path, "rt") as f:
        lines = [line.strip() for line in f]
    rows = [[c.strip() for c in line.split(",")] for line in lines[lines.index("@data") + 1:] if line and not line.startswith("%")]
    x = np.array([[1000.0 if c == "?" else float(c) for c in r[2:-1]] for r in rows])  # the schema's default of a peak
    y = np.array([r[-1] for r in rows])
    fit = boosted(x, y, rounds)
    print(f"{rounds} rounds: accuracy {fit.score(x, y):.4f}, log loss {log_loss(y, fit.predict_proba(x)):.4f}")


if __name__ == "__main__":
    if sys.argv[1].endswith(".json"):
        fixture(sys.argv[1])
    else:
        for rounds in sys.argv[2:]:
            wisdm(sys.argv[1], int(rounds))
