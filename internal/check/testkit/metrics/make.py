# SPDX-License-Identifier: Apache-2.0
"""Writes evaluate.json: predictions with the scores scikit-learn gives them.

Usage: python3 make.py   (numpy and scikit-learn; their versions are recorded)

Scores are multiples of 1/32 plus 1/64 or random, so that none lies on the edge
of a calibration bin, about which two right programs may differ.
"""

import json
import pathlib

import numpy as np
import sklearn
from sklearn.calibration import calibration_curve
from sklearn.metrics import (accuracy_score, balanced_accuracy_score, confusion_matrix, log_loss, roc_auc_score)

CLIP, BINS = 1e-15, 10


def calibration_error(right, score):
    share, mean = calibration_curve(right, score, n_bins=BINS, strategy="uniform")
    edges = np.linspace(0, 1, BINS + 1)
    rows = np.bincount(np.searchsorted(edges[1:-1], score), minlength=BINS)
    return float(np.sum(rows[rows > 0] * np.abs(share - mean)) / len(score))


def case(name, truth, scores, K, positive):
    if K == 2:
        predicted = np.where(scores >= 0.5, positive, 1 - positive)
        right, score = (truth == positive).astype(int), scores
        auc = roc_auc_score(right, scores)
        both = np.stack([1 - scores, scores], axis=1)
        loss = log_loss(right, np.clip(both, CLIP, 1 - CLIP), labels=[0, 1])
    else:
        predicted = scores.argmax(axis=1)
        right, score = (truth == predicted).astype(int), scores.max(axis=1)
        auc = roc_auc_score(truth, scores, multi_class="ovr", average="macro")
        loss = log_loss(truth, scores, labels=list(range(K)))
    return {
        "name": name, "levels": [f"level {k}" for k in range(K)], "positive": positive,
        "truth": truth.tolist(), "scores": scores.ravel().tolist(),
        "want": {
            "rows": len(truth),
            "accuracy": accuracy_score(truth, predicted),
            "balanced_accuracy": balanced_accuracy_score(truth, predicted),
            "auc": auc,
            "log_loss": loss,
            "calibration_error": calibration_error(right, score),
            "confusion": confusion_matrix(truth, predicted, labels=range(K)).tolist(),
        },
    }


def main():
    r = np.random.default_rng(20)
    cases = []
    for name, n, positive, ties in [("plain", 200, 1, False), ("ties", 200, 1, True), ("positive is 0", 150, 0, True), ("few", 5, 1, True)]:
        truth = r.integers(0, 2, n)
        truth[:2] = [0, 1]
        scores = 1 / (1 + np.exp(-(r.normal(size=n) + 1.5 * ((truth == positive) - 0.5))))
        if ties:
            scores = np.floor(scores * 32) / 32 + 1 / 64
        cases.append(case(name, truth, scores, 2, positive))
    truth = r.integers(0, 2, 40)
    sure = r.integers(0, 2, 40).astype(float)  # zeros and ones, many of them wrong
    cases.append(case("sure", truth, sure, 2, 1))
    truth = r.integers(0, 4, 300)
    scores = r.dirichlet(np.ones(4), 300) + np.eye(4)[truth] * 0.3
    scores /= scores.sum(axis=1, keepdims=True)
    cases.append(case("four levels", truth, scores, 4, 0))
    out = {"made_by": f"internal/check/testkit/metrics/make.py, scikit-learn {sklearn.__version__}, numpy {np.__version__}", "cases": cases}
    path = pathlib.Path(__file__).with_name("evaluate.json")
    path.write_text(json.dumps(out, indent=None, separators=(",", ":")).replace('{"name"', '\n{"name"') + "\n")


main()
