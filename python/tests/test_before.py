# SPDX-License-Identifier: Apache-2.0
"""What is decided before and beside a fit: ledgers, the price of a search, thresholds, drafts, tables of reports, examples."""

import doctest
import json
import re
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, LeaveOneOut, RandomizedSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.linear_model import LogisticRegression
from test_discreet import SCHEMA, model, wards

import discreet
from discreet import ArraySchema, BudgetError, DiscreetClassifier, DiscreetError, DiscreetWarning, Ledger, UsageError, draft_schema, plan_search


def test_a_ledger_is_declared_and_opened(tmp_path):
    ledger = Ledger(tmp_path / "l.db")
    ledger.declare("d", 5.0, 1e-6, note="the board", unit="one admission")
    ledger.declare("e", np.float64(0.5))
    with pytest.raises(DiscreetError, match="already has a budget"):
        ledger.declare("d", 6.0)
    for wrong in (0, True, "1", float("nan")):
        with pytest.raises(ValueError, match="epsilon"):
            ledger.declare("f", wrong)
    X, y = wards()
    m = model(epsilon=1.5, ledger=ledger, dataset="d").fit(X, y)
    assert clone(m).fit(X, y).privacy_["ledger"] == str(tmp_path / "l.db")
    found = Ledger(str(tmp_path / "l.db")).show()
    assert found["datasets"][0]["note"] == "the board" and m.spent() == ledger.show("d") == found["datasets"][0]
    assert found.frame.loc["d", "epsilon_left"] == 2.0 and found.frame.loc["d", "delta_total"] == 1e-6
    assert list(found.frame.epsilon_spent) == [3.0, 0.0]
    with pytest.raises(BudgetError):
        model(epsilon=2.5, ledger=ledger, dataset="d").fit(X, y)


def test_a_search_says_what_it_will_charge(tmp_path):
    X, y = wards()
    ledger = Ledger(tmp_path / "l.db")
    ledger.declare("d", 20.0)
    paid = model(ledger=ledger, dataset="d")
    grid = {"epsilon": [0.5, 1.0], "learner": ["additive", "auto"]}
    for cv, search in ((2, GridSearchCV(paid, grid, cv=2)), (3, GridSearchCV(paid, grid, cv=StratifiedKFold(3), refit=False)),
                       (2, GridSearchCV(make_pipeline(FunctionTransformer(), paid),
                                        {f"discreetclassifier__{name}": values for name, values in grid.items()}, cv=2))):
        before = ledger.show("d")["epsilon_nano"]
        said = plan_search(search)
        assert ledger.show("d")["epsilon_nano"] == before and said["left"]["epsilon_nano"]["left"] == before["left"]
        assert said["fits"] == cv * 4 + (search.refit is True) and said["enough"] is (said["epsilon_nano"] <= before["left"])
        if said["enough"]:
            chosen = search.set_params(error_score="raise").fit(X, y)
            spent = ledger.show("d")["epsilon_nano"]["spent"] - before["spent"]
            price = getattr(chosen, "best_params_", {}).get("epsilon", 1.0) if search.refit is True else 1.0
            assert said["epsilon_nano"] - spent in (0, round((1 - price) * 1e9)), "the best one may cost less than the dearest"
        refit = [1] if search.refit else []
        assert list(said.frame.epsilon_of_fits) == [cv * 0.5] * 2 + [cv * 1.0] * 2 + refit and list(said.frame.fits) == [cv] * 4 + refit
        assert round(said.frame.epsilon_of_fits.sum() * 1e9) == said["epsilon_nano"] and said.frame.fits.sum() == said["fits"]
        assert said["left"]["asked"] == said["epsilon_nano"] / 1e9
        assert round(said["left"]["remains"] * 1e9) == before["left"] - said["epsilon_nano"] and said["enough"] is (said["left"]["remains"] >= 0)
    assert not said["enough"], "the last one is more than is left"
    free = plan_search(GridSearchCV(model(delta=0.0), {"epsilon": [float("inf"), 2.0]}, cv=5))
    assert free["epsilon_nano"] == 12 * 10**9 and "enough" not in free
    for wrong, what in ((RandomizedSearchCV(paid, grid), "GridSearchCV"), (GridSearchCV(LogisticRegression(), {"C": [1]}), "DiscreetC"),
                        (GridSearchCV(paid, grid, cv=LeaveOneOut()), "cv must")):
        with pytest.raises(UsageError, match=what):
            plan_search(wrong)


def test_thresholds(tmp_path):
    X, y = wards()
    m = model(epsilon=50.0, learner="additive").fit(X, y)
    p = m.predict_proba(X)[:, 1]
    own = m.threshold_
    assert 0 < own < 1 and (m.predict(X) == np.where(p >= own, "yes", "no")).all()
    for given, at in ((0.2, 0.2), (np.float32(0.75), 0.75), ("costs=1:4", 0.2), (1, 1.0), (None, own)):
        m.set_params(threshold=given)
        assert m.threshold_ == at and (m.predict(X) == np.where(p >= at, "yes", "no")).all()
        assert m.score(X, y) == np.mean(m.predict(X) == y)
    at = float(np.median(p))
    report = m.set_params(threshold=at).evaluate_privately(X, y, uncounted=True, epsilon=20.0)
    assert report["threshold"] == at
    assert m.evaluate_privately(X, y, uncounted=True, epsilon=20.0, threshold=0.9)["threshold"] == 0.9
    assert clone(m).threshold == at
    with pytest.warns(DiscreetWarning, match="threshold.*not in the model file"):
        m.save(tmp_path / "m.json")
    assert DiscreetClassifier.load(tmp_path / "m.json").set_params(threshold=at).threshold_ == at
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        m.set_params(threshold=None).save(tmp_path / "own.json")
    for wrong in (-0.1, 2, "rate=0.1", "costs=1", "costs=0:1", "costs=1:x", "0.5", True, float("nan")):
        for ask in (lambda: m.predict(X), lambda: m.fit(X, y), lambda: m.threshold_):
            with pytest.raises(ValueError, match="threshold"):
                m.set_params(threshold=wrong)
                ask()
    numbers, three = np.linspace(0, 1, 90)[:, None], np.repeat([0, 1, 2], 30)
    many = DiscreetClassifier(ArraySchema(0, 1, [0, 1, 2]), 5.0, threshold=0.4)
    with pytest.raises(UsageError, match="threshold.*3 levels"):
        many.fit(numbers, three)
    many.set_params(threshold=None).fit(numbers, three)
    assert not hasattr(many, "threshold_")
    with pytest.raises(UsageError, match="threshold.*3 classes"):
        many.set_params(threshold=0.4).predict(numbers)


def roles_of(text):
    return dict(re.findall(r"^  - name: (\S+)\n    role: (\S+)", text, re.MULTILINE))


def test_a_draft_ignores_what_cannot_be_read():
    n = 4
    zoned = pd.date_range("2024-01-01", periods=n, tz="Europe/Berlin")
    X = pd.DataFrame({"age": range(n), "stay": pd.to_timedelta(range(n), "D"), "month": pd.period_range("2024-01", periods=n, freq="M"),
                      "seen": zoned, "band": pd.interval_range(0, n), "wave": np.ones(n) * 1j, "few": pd.arrays.SparseArray([0] * n),
                      "ill": [True, False] * 2})
    roles = roles_of(draft_schema(X, "ill", role="private"))
    unread = ["stay", "month", "band", "wave", "few"]
    assert [n for n, role in roles.items() if role == "ignored"] == unread and roles["seen"] == roles["age"] == "private"
    durations = pl.DataFrame({"stay": pl.Series([1, 2], dtype=pl.Duration("ms")), "list": [[1], [2]], "ill": [True, False]})
    for table in (durations, durations.to_arrow(), pa.table({"stay": pa.array([1, 2], pa.duration("s")), "list": [[1], [2]], "ill": [0, 1]})):
        drafted = roles_of(draft_schema(table, "ill", role="private", codebook={"ill": ["0", "1"], "stay": "ignored"}))
        assert drafted == {"stay": "ignored", "list": "ignored", "ill": "private"}
    for label, codebook in (("stay", {}), ("ill", {"stay": (0, 9)}), ("ill", {"stay": "private"})):
        with pytest.raises(ValueError, match="'stay' must have a dtype"):
            draft_schema(X, label, codebook=codebook)
    text = draft_schema(X, "ill", name="t", unit="one row", relation="replace-one", role="private", codebook={
        "age": (0, 9), "seen": ("2020-01-01", "2030-01-01")})
    assert DiscreetClassifier(text, 1.0).fit(X.drop(columns="ill"), X.ill).predict(X).shape == (n,)


def test_reports_are_tables():
    X, y = wards(n=2000)
    m = model(epsilon=50.0).fit(X, y)
    checked = m.check(X, y)
    assert checked.frame.loc["age", "missing"] == X.age.isna().sum() and list(checked.frame.index) == [*X, "ill"]
    planned = m.plan(2000)
    assert abs(planned.frame.epsilon.sum() - 50) < 1e-9 and "mechanism" in planned.frame and planned["learner"]
    held = m.evaluate_privately(X, y, uncounted=True, epsilon=20.0)
    assert tuple(held.frame.loc["auc"]) == (held["auc"], *held["auc_interval"])
    wide = X.assign(night=True)  # so the other group has no row
    groups = m.evaluate_privately(wide, y, uncounted=True, epsilon=20.0, by="night").frame
    assert groups.loc[("true", "accuracy")].notna().all() and groups.loc[("false", "accuracy")].isna().all()
    assert set(groups.loc["true"].index) == set(groups.loc["false"].index) and ("", "auc") in groups.index
    for report in (checked, planned, held):
        assert isinstance(report, dict) and "<table" in report._repr_html_()


def test_reports_need_no_pandas(monkeypatch):
    found = model().plan(400)
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert found["epsilon_nano"] == 5 * 10**9 and found._repr_html_() is None
    with pytest.raises(ImportError):
        found.frame


@pytest.mark.parametrize("module", ["_classifier", "_ledger", "_schema", "_search"])
def test_examples_of_the_docstrings(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.yaml").write_text(json.dumps(SCHEMA))
    done = doctest.testmod(getattr(discreet, module))
    assert done.attempted > 1 and not done.failed


def test_public_names_say_what_they_raise():
    for thing in (DiscreetClassifier, Ledger.declare, draft_schema, plan_search):
        assert "Raises\n" in thing.__doc__, thing
    assert "Attributes\n" in DiscreetClassifier.__doc__
