# SPDX-License-Identifier: Apache-2.0
"""One figure of each of three papers, written a second time in numpy, scipy and
scikit-learn from the papers' texts, for TestNumpyFiguresAgree.

    python figures.py DATASETS OUT.json REPEATS RUNS

chaudhuri/adult       objective and output perturbation of logistic regression (CMS11)
hamm/urls-epsilon     Algorithm 2: soft votes, the minimum with noise
wangchang/fig9        Algorithm 4 (PM) on cross tables of make_classification's rows

The file has, for each figure and line@epsilon, a list of independent numbers: REPEATS of
them, of wangchang/fig9 ten (a table each, attacked RUNS times).
"""

import json
import sys

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

import adult


def logistic_minimum(x, ridge, linear, toward):
    """Minimises mean log(1 + e^-z) + ridge/2 |w|^2 + linear.w, each row z = x.w with the
    weight toward, and z = -x.w with what is left to 1."""
    n = len(x)

    def value(w):
        z = x @ w
        p = 1 / (1 + np.exp(-z))
        loss = (np.logaddexp(0, -z) * toward + np.logaddexp(0, z) * (1 - toward)).mean()
        return loss + ridge / 2 * w @ w + linear @ w, x.T @ (p - toward) / n + ridge * w + linear

    return minimize(value, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B",
                    options={"maxiter": 2000, "gtol": 1e-9, "ftol": 1e-14}).x


def spherical(rng, d, scale):
    """Density proportional to exp(-|b|/scale)."""
    direction = rng.normal(size=d)
    return direction / np.linalg.norm(direction) * rng.gamma(d, scale)


def chaudhuri(datasets, repeats, rng):
    rows = adult.table(f"{datasets}/adult").dropna()
    y = adult.label(rows)
    columns = []
    for c in adult.COLUMNS[:-1]:
        if c in adult.BOUNDS:
            low, high = adult.BOUNDS[c]
            columns.append(2 * (rows[c].clip(low, high).to_numpy(float) - low) / (high - low) - 1)
        else:
            columns += list(pd.get_dummies(rows[c]).to_numpy(float).T)
    features = 113  # with those of levels that no row has: noise falls on them too
    assert len(columns) <= features
    columns += [np.zeros(len(rows))] * (features - len(columns)) + [np.ones(len(rows))]
    x = np.column_stack(columns) / np.sqrt(len(adult.COLUMNS))  # 14 columns and the intercept
    ridge, found = 0.003, {}
    for _ in range(repeats):
        order = rng.permutation(len(x))
        test, train = order[:len(x) // 10], order[len(x) // 10:]
        n, d = len(train), x.shape[1]
        exact = logistic_minimum(x[train], ridge, np.zeros(d), y[train] * 1.0)
        for eps in (0.1, 0.4, 1.6):
            left = eps - 2 * np.log(1 + 0.25 / (n * ridge))
            b = spherical(rng, d, 2 / left)
            for line, w in (("logistic-objective", logistic_minimum(x[train], ridge, b / n, y[train] * 1.0)),
                            ("logistic-output", exact + spherical(rng, d, 2 / (n * ridge * eps)))):
                found.setdefault(f"{line}@{eps:g}", []).append(float(((x[test] @ w >= 0) != y[test]).mean()))
    return found


def hamm(datasets, repeats, rng):
    rows = pd.read_csv(f"{datasets}/phishing/phishing_websites.csv.gz")
    label = rows.columns[-1]
    y, x = (rows[label] == 1).to_numpy(), rows.drop(columns=[label])
    x = x.drop(columns=[c for c in x.columns if c.lower() in ("index", "id")]).to_numpy(float)  # in -1, 0, 1
    ridge, parties, held, found = 0.003, 1000, 6, {}
    for _ in range(repeats):
        order = rng.permutation(len(x))
        test, aux, rest = order[:2500], order[2500:5000], order[5000:]
        parties = min(1000, len(rest) // held)
        coefs, intercepts = np.zeros((x.shape[1], parties)), np.zeros(parties)
        for k in range(parties):
            own = rest[k * held:(k + 1) * held]
            if len(set(y[own])) == 1:
                intercepts[k] = 1 if y[own[0]] else -1
            else:
                h = LogisticRegression().fit(x[own], y[own])
                coefs[:, k], intercepts[k] = h.coef_[0], h.intercept_[0]
        share = (x[aux] @ coefs + intercepts > 0).sum(1).astype(float)
        ones = np.column_stack([x, np.ones(len(x))]) / np.sqrt(x.shape[1] + 1)
        exact = logistic_minimum(ones[aux], ridge, np.zeros(ones.shape[1]), share / parties)
        for eps in (0.5, 1, 5):
            w = exact + spherical(rng, len(exact), 2 / (parties * ridge * eps))
            found.setdefault(f"soft, printed@{eps:g}", []).append(float(((ones[test] @ w >= 0) == y[test]).mean()))
    return found


def piecewise_sum(rng, rows, eps):
    """Algorithm 4 on each row, added up."""
    n, d = rows.shape
    k = max(1, min(d, int(eps / 2.5)))
    e = np.exp(eps / k / 2)
    bound = (e + 1) / (e - 1)
    total = np.zeros(d)
    at = np.argsort(rng.random((n, d)), axis=1)[:, :k]
    t = np.take_along_axis(rows, at, 1)
    left = (bound + 1) / 2 * t - (bound - 1) / 2
    inside = left + (bound - 1) * rng.random(t.shape)
    outside = -bound + (bound + 1) * rng.random(t.shape)
    outside = np.where(outside >= left, outside + bound - 1, outside)
    np.add.at(total, at, np.where(rng.random(t.shape) < e / (e + 1), inside, outside) * d / k)
    return total


def gains(differences):
    d = len(differences) // 2
    return np.abs(differences[:d]) + np.abs(differences[d:])


def wangchang(draws, runs, rng):
    owners, held, found = 10_000, 100, {}
    for _ in range(draws):
        x, y = make_classification(1_000_000, n_features=20, n_informative=10, n_redundant=10, shuffle=False,
                                   random_state=int(rng.integers(1 << 31)))
        signs, bits = np.where(y == 1, -1.0, 1.0), x > 0
        del x
        cells = np.hstack([np.where(bits, 0, signs[:, None]), np.where(bits, signs[:, None], 0)]).astype(np.float32)
        best = np.argsort(-gains(cells.sum(0)), kind="stable")[:3]
        hits = {1: 0, 3: 0}
        for _ in range(runs):
            sent = cells[rng.permutation(len(cells))].reshape(owners, held, -1).mean(1).astype(float)
            for eps in hits:
                hits[eps] += np.argmax(gains(piecewise_sum(rng, sent, eps))) in best
        for eps, n in hits.items():
            found.setdefault(f"pm@{eps:g}", []).append(n / runs)
    return found


def main():
    datasets, out, repeats, runs = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    seeded = np.random.default_rng
    found = {"chaudhuri/adult": chaudhuri(datasets, repeats, seeded(7)),
             "hamm/urls-epsilon": hamm(datasets, repeats, seeded(2)), "wangchang/fig9": wangchang(10, runs, seeded(3))}
    with open(out, "w") as f:
        json.dump(found, f)
    for figure, lines in found.items():
        for line, a in lines.items():
            print(f"{figure} {line}: {np.mean(a):.4f} ± {np.std(a, ddof=1) / len(a)**0.5:.4f}")


if __name__ == "__main__":
    main()
