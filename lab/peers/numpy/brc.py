# SPDX-License-Identifier: Apache-2.0
"""Boosting with random classifiers in numpy and scikit-learn.

A second, independent writing of Algorithm 2 of Shen et al. ("Classification
with Partially Private Features", arXiv 2312.07583), as a scientist would write
it: arrays of floats, one matrix product for all random classifiers, vectorised
weight updates, scikit-learn's LogisticRegression for the public classifier. It
confirms our accuracies and is the rival of our speed.
"""

import numpy as np
from sklearn.linear_model import LogisticRegression


def fit(public, private, y, epsilon, rng, rounds=25, c1=2**0.5, c2=2**0.5, refit="always"):
    """Train on rows in [-1, 1]; y is boolean.

    refit says when line 4 is computed: "always", as printed, or "changed",
    only when the public weights have changed since the last time (the result
    is the same). Returns a list of (vote, is_public, coefficients, intercept).
    """
    n = len(y)
    # Line 5 for all rounds at once: the classifiers do not depend on data.
    coef = rng.uniform(-1, 1, (private.shape[1], rounds))
    intercept = rng.uniform(-1, 1, rounds)
    wrong = np.ascontiguousarray((((private @ coef + intercept) >= 0) != y[:, None]).T)
    noise = rng.laplace(0, c1 * c2 * rounds / (epsilon * n), rounds)
    w_public, w_private = np.ones(n), np.ones(n)  # line 2
    stale, members = True, []
    for t in range(rounds):
        if stale or refit == "always":  # line 4
            h = LogisticRegression().fit(public, y, sample_weight=w_public)
            wrong_public = h.predict(public) != y
            err_public = w_public[wrong_public].sum() / w_public.sum()
            stale = False
        err_private = w_private[wrong[t]].sum() / w_private.sum() + noise[t]  # line 6
        if abs(0.5 - err_public) > abs(0.5 - err_private):  # lines 7 to 10
            vote = 0.5 - err_public
            w_public[wrong_public] *= np.exp(vote)
            stale = True
            members.append((vote, True, h.coef_[0], h.intercept_[0]))
        else:  # lines 12 to 20
            vote = 0.5 - err_private
            moved = w_private * np.exp(vote)
            np.copyto(w_private, moved, where=wrong[t] & (moved <= c2) & (moved >= 1 / c1))
            members.append((vote, False, coef[:, t], intercept[t]))
    return members


def predict(members, public, private):
    """Line 23."""
    total = np.zeros(len(public))
    for vote, is_public, coef, intercept in members:
        x = public if is_public else private
        total += np.where(x @ coef + intercept >= 0, vote, -vote)
    return total >= 0
