# SPDX-License-Identifier: Apache-2.0
"""The price of a search by scikit-learn, before it begins."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, ParameterGrid, check_cv
from sklearn.pipeline import Pipeline

from ._binary import UsageError
from ._classifier import DiscreetClassifier
from ._report import Report


def plan_search(search: GridSearchCV, *, persons: int | None = None, rows: int | None = None) -> Report:
    """What the fits of a GridSearchCV will charge together. No table is read, and nothing is charged.

    Each candidate is fitted once for each fold, and the best is fitted again on all rows (``refit``): which one it
    is the scores say, so the most expensive one is counted. Folds share rows, so all prices add up. Ask before the
    search: it does not know its own price, and spends until the ledger refuses a fit.

    Returns
    -------
    Report
        ``fits``, ``epsilon_nano`` and ``delta_femto`` of all fits; with a ledger ``enough``, whether they are left, and
        ``left``, what is spent and left, and what ``remains`` after all fits: below 0 if it is not enough.
        ``frame`` has a row for each candidate and one of the refit, which add up to the price.

    Raises
    ------
    UsageError
        The search is no GridSearchCV of a DiscreetClassifier, or its number of folds depends on the rows.

    Examples
    --------
    >>> model = DiscreetClassifier("people.yaml", epsilon=1.0)
    >>> plan_search(GridSearchCV(model, {"epsilon": [0.5, 1.0]}, cv=3))["fits"]
    7
    """
    if not isinstance(search, GridSearchCV):
        raise UsageError(f"search must be a GridSearchCV, whose candidates are known beforehand (got {type(search).__name__})")
    try:
        folds = int(check_cv(search.cv, classifier=True).get_n_splits())
    except (TypeError, ValueError):
        raise UsageError("cv must be a number, or folds whose number does not depend on the rows") from None
    plans = []
    for params in ParameterGrid(search.param_grid):
        candidate = clone(search.estimator).set_params(**params)
        model = candidate.steps[-1][1] if isinstance(candidate, Pipeline) else candidate
        if not isinstance(model, DiscreetClassifier):
            raise UsageError("search must be of a DiscreetClassifier, alone or as a pipeline's last step "
                             f"(got {type(model).__name__})")
        model._copied = False  # a plan charges nothing
        plans.append((params, model.plan(rows, persons=persons)))
    epsilon, delta = (folds * sum(p[unit] for _, p in plans) + (max(p[unit] for _, p in plans) if search.refit else 0)
                      for unit in ("epsilon_nano", "delta_femto"))
    bill: list[dict[str, Any]] = [{"candidate": i, **params, "fits": folds, "epsilon_of_fits": folds * p["epsilon_nano"] / 1e9,
                                   "delta_of_fits": folds * p["delta_femto"] / 1e15} for i, (params, p) in enumerate(plans)]
    if search.refit:
        bill.append({"candidate": "refit", "fits": 1, "epsilon_of_fits": max(p["epsilon_nano"] for _, p in plans) / 1e9,
                     "delta_of_fits": max(p["delta_femto"] for _, p in plans) / 1e15})
    found: dict[str, Any] = {"fits": folds * len(plans) + bool(search.refit), "epsilon_nano": epsilon, "delta_femto": delta}
    if budgets := [p["budget"] for _, p in plans if "budget" in p]:
        left = budgets[0] | {"asked": epsilon / 1e9, "asked_delta_femto": delta}  # of the plans it is one fit alone
        left |= {"remains": (left["epsilon_nano"]["left"] - epsilon) / 1e9,
                 "remains_delta_femto": left["delta_femto"]["left"] - delta}
        found |= {"left": left, "enough": epsilon <= left["epsilon_nano"]["left"] and delta <= left["delta_femto"]["left"]}
    return Report(found, bill, ["candidate"])
