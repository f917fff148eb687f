# SPDX-License-Identifier: Apache-2.0
"""SAMME over decision stumps by scikit-learn, for learn/adaboost.

usage: samme.py OUT.json

Writes the committed fixture learn/adaboost/testdata/samme.json: rows of three
numbers in [0, 1], labels of four levels, the votes of scikit-learn's
AdaBoostClassifier and what it predicts. Numbers are multiples of 2^-20, which
its trees and ours tell apart alike.
"""

import json
import sys

import numpy as np
import sklearn
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

if __name__ == "__main__":
    rng = np.random.default_rng(4)
    n, rounds = 400, 40
    x = rng.integers(0, 2**20 + 1, (n, 3)) / 2**20
    y = (2 * (x[:, 0] + 0.3 * rng.random(n) > 0.6) + (x[:, 1] * x[:, 2] + 0.1 * rng.random(n) > 0.3)).astype(int)
    fit = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=rounds, random_state=0).fit(x, y)
    with open(sys.argv[1], "w") as out:
        json.dump(dict(made_by=f"peers/sklearn/samme.py, scikit-learn {sklearn.__version__}, numpy {np.__version__}",
                       columns=x.T.tolist(), labels=y.tolist(), votes=fit.estimator_weights_.tolist(), predicted=fit.predict(x).tolist()), out, separators=(",", ":"))
        out.write("\n")
