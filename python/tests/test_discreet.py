# SPDX-License-Identifier: Apache-2.0
"""Tests of the package as it is installed. They need the binary and nothing of the source."""

import json
import os
import pickle
import re
import subprocess
import warnings
import time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import discreet
from discreet import (ArraySchema, BudgetError, DiscreetClassifier, DiscreetError, DiscreetWarning, PrivacyWarning, UsageError,
                      _schema, draft_schema, find_binary, version)

SCHEMA = {
    "name": "wards", "unit": "one admission", "relation": "replace-one",
    "file": {"delimiter": ",", "quote": '"', "header": True, "missing": ["", "?"]},
    "columns": [
        {"name": "age", "role": "private", "number": {"lower": 0, "upper": 100, "default": 50}},
        {"name": "ward, old", "role": "private", "category": {"levels": ["A", "B \"1\"", "3"]}},
        {"name": "night", "role": "public", "category": {"levels": ["false", "true"]}},
        {"name": "ill", "role": "public", "label": {"levels": ["no", "yes"], "positive": "yes"}},
    ],
}


def wards(n=400, seed=1):
    r = np.random.default_rng(seed)
    age = r.integers(0, 100, n)
    X = pd.DataFrame({
        "age": age.astype(float), "ward, old": r.choice(["A", "B \"1\"", "3", "?", "new\nward"], n),
        "night": r.random(n) < 0.5,
    }, index=r.permutation(n) + 7)
    X.loc[X.index[::9], "age"] = np.nan
    y = pd.Series(np.where(age + 10 * r.standard_normal(n) > 50, "yes", "no"), index=X.index)
    return X, y


def model(**kw):
    return DiscreetClassifier(**{"schema": SCHEMA, "epsilon": 5.0, **kw})


def test_fit_and_predict():
    X, y = wards()
    m = model(epsilon=50.0).fit(X, y)  # so little noise that the score is no matter of chance
    p = m.predict_proba(X)
    assert p.shape == (400, 2) and list(m.classes_) == ["no", "yes"]
    assert np.allclose(p.sum(axis=1), 1) and m.score(X, y) > 0.7
    assert (m.predict(X) == np.where(p[:, 1] >= 0.5, "yes", "no")).all()
    assert str(m.privacy_["epsilon"]) == "50"
    assert m.explain_["label"] == "ill" and m.to_onnx()[:1] == b"\x08"
    assert np.allclose(np.exp(m.predict_log_proba(X)), p)
    shares = m.feature_importances_  # of age, which alone says anything
    assert list(m.feature_names_in_) == ["age", "ward, old", "night"] and shares.argmax() == 0 and (shares >= 0).all()
    assert discreet.__version__


def test_groups_of_a_private_evaluation():
    X, y = wards(n=2000)
    m = model(epsilon=50.0).fit(X, y)
    report = m.evaluate_privately(X, y, uncounted=True, epsilon=20.0, by="night", threshold="rate=0.3")
    assert report["model_sha256"] == m.privacy_["model_sha256"]  # so a release takes it
    told = {g["group"]: g for g in report["groups"] if g["told"]}
    assert set(told) == {"false", "true"} and report["threshold_chosen"]
    for group in told.values():
        low, high = group["accuracy_interval"]
        assert low <= group["accuracy"] <= high


def test_tables_of_every_kind_predict_alike():
    X, y = wards()
    m = model().fit(X, y)
    want = m.predict_proba(X)
    assert np.array_equal(want, m.predict_proba(pl.from_pandas(X)))
    arrow = pa.Table.from_pandas(X)  # carries __index_level_0__
    assert "__index_level_0__" in arrow.column_names
    assert np.array_equal(want, m.predict_proba(arrow))
    assert np.array_equal(want[5:9], m.predict_proba(X.iloc[5:9][["night", "ward, old", "age"]].assign(extra=1)))
    row = {"age": None, "ward, old": "new\nward", "night": True}
    assert m.predict_row(row) == m.predict_proba(pd.DataFrame([row]))[0, 1]
    for table in (pl.from_pandas(X), arrow.drop_columns("__index_level_0__"), arrow):
        assert model().fit(table, y.to_numpy()).predict_proba(X).shape == (400, 2)


def test_the_command_line_agrees(tmp_path):
    X, y = wards()
    m = model().fit(X, y)
    m.save(tmp_path / "m.json")
    (tmp_path / "x.csv").write_text(X.assign(night=X.night.map({True: "true", False: "false"})).to_csv())
    subprocess.run([find_binary(), "predict", "--model", tmp_path / "m.json", "--data", tmp_path / "x.csv",
                    "--extra", "drop", "--out", tmp_path / "p.csv"], check=True, stderr=subprocess.PIPE)
    assert np.array_equal(pd.read_csv(tmp_path / "p.csv").score, m.predict_proba(X)[:, 1])


def test_private_evaluation(tmp_path):
    X, y = wards()
    held, truth = wards(seed=2)
    m = model(epsilon=50.0).fit(X, y)
    r = m.evaluate_privately(held, truth, uncounted=True, epsilon=20.0, costs=(1, 2))
    assert r["private"] and r["rows"] == 400 and r["threshold_chosen"]
    for name in ("auc", "log_loss", "accuracy", "precision", "recall", "cost"):
        low, high = r[name + "_interval"]
        assert low <= r[name] <= high
    assert r["auc"] > 0.7
    ledger = str(tmp_path / "l.db")
    subprocess.run([find_binary(), "budget", "init", "--ledger", ledger, "--dataset", "held-out", "--epsilon", "1"],
                   check=True, stderr=subprocess.PIPE)
    m.save(tmp_path / "m.json")
    loaded = DiscreetClassifier.load(tmp_path / "m.json")
    paid = {"epsilon": 0.6, "ledger": ledger, "dataset": "held-out"}
    first = loaded.evaluate_privately(held, truth, job="one", **paid)
    with pytest.warns(DiscreetWarning, match='^from the ledger: job one of data set "held-out"'):
        again = loaded.evaluate_privately(held, truth, job="one", **paid)
    assert (first.pop("from_ledger"), again.pop("from_ledger")) == (False, True) and first == again
    with pytest.raises(BudgetError):
        loaded.evaluate_privately(held, truth, **paid)
    with pytest.raises(ValueError, match="together"):
        m.evaluate_privately(held, truth, epsilon=1.0, ledger=ledger)
    with pytest.raises(UsageError):
        m.evaluate_privately(held, truth, epsilon=0.0)
    for counted in (loaded, m, m.set_params(ledger=ledger, dataset="held-out", uncounted=True)):  # the fit's account is not this one's
        with pytest.raises(BudgetError, match="uncounted.*ledger=.*uncounted=True"):
            counted.evaluate_privately(held, truth, epsilon=0.1)
    assert m.evaluate_privately(held, truth, epsilon=0.1, uncounted=True)["counted"] is False
    assert m.spent()["spent"] == 0.6
    assert m.evaluate_privately(held, truth, epsilon=0.1, ledger=ledger, dataset="held-out")["counted"] and m.spent()["spent"] == 0.7


def test_pickles_and_copies():
    X, y = wards()
    m = model().fit(X, y)
    again = pickle.loads(pickle.dumps(m))
    assert np.array_equal(again.predict_proba(X), m.predict_proba(X))
    assert np.array_equal(m.predict_proba(X), m.predict_proba(X))


def test_no_defaults_and_refusals(tmp_path):
    X, y = wards()
    for kw, word in [({"epsilon": None}, "epsilon"), ({"schema": None}, "schema"), ({"epsilon": -1}, "above 0"),
                     ({"ledger": "l.db"}, "together")]:
        with pytest.raises(ValueError, match=word):
            model(**kw).fit(X, y)
    with pytest.raises(UsageError, match="learner"):
        model(learner="none").fit(X, y)
    with pytest.raises(ValueError, match="column"):
        model().fit(X, y).predict(X.drop(columns="age"))
    with pytest.raises(Exception) as e:
        model().fit(X.rename(columns={"age": "agee"}), y)
    assert "B \"1\"" not in str(e.value)


def test_copies_pay_or_are_refused(tmp_path):
    X, y = wards()
    with pytest.raises(BudgetError, match="ledger="):
        clone(model()).fit(X, y)
    with pytest.raises(BudgetError, match="ledger="):
        cross_val_score(model(), X, y, cv=2, error_score="raise")
    with pytest.raises(ValueError, match="ledger="):  # scikit-learn collects the refusals
        GridSearchCV(model(), {"epsilon": [1.0, 2.0]}, cv=2).fit(X, y)
    with pytest.raises(ValueError, match="ledger="):
        GridSearchCV(make_pipeline(FunctionTransformer(), model()), {"discreetclassifier__epsilon": [1.0]},
                     cv=2).fit(X, y)
    assert len(cross_val_score(model(uncounted=True), X, y, cv=2)) == 2
    ledger = str(tmp_path / "l.db")
    subprocess.run([find_binary(), "budget", "init", "--ledger", ledger, "--dataset", "d", "--epsilon", "10"],
                   check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    paying = model(ledger=ledger, dataset="d")
    assert len(cross_val_score(paying, X, y, cv=2, error_score="raise")) == 2
    shown = json.loads(subprocess.run([find_binary(), "budget", "show", "--ledger", ledger, "--json"], check=True,
                                      stdout=subprocess.PIPE).stdout)
    assert json.dumps(shown).count("10000000000") >= 1  # all of it is spent
    with pytest.raises(BudgetError):
        paying.fit(X, y)


def test_pipelines_fit():
    X, y = wards()
    p = make_pipeline(FunctionTransformer(lambda t: t.assign(age=t.age.clip(0, 99))), model(epsilon=50.0)).fit(X, y)
    assert p.score(X, y) > 0.6


def test_draft_reads_no_cell():
    X, _ = wards()
    X = X.assign(seen=np.datetime64("2024-01-01"), beds=3, ill="CANARY")
    text = draft_schema(X, label="ill")
    assert "CANARY" not in text and "{lower: ___, upper: ___, integer: true" in text and "levels: yes_no" in text
    assert "date: {format: YYYY-MM-DD" in text and "category: {levels: [___, ___]" in text
    assert draft_schema(pa.Table.from_pandas(X), label="ill") == draft_schema(pl.from_pandas(X), label="ill") == text
    named = pd.DataFrame({"month": ["jan"], "sex": [1], "year": [np.datetime64("2024-01-01")], "age": [3.5], "id": ["a"], "ill": [True]})
    kinds = re.findall(r"^  - name: (\S+)\n    role: (\S+)\n    (?:# .*\n    )*(\w+):", draft_schema(named, label="ill", role="private", accept_names=True), re.M)
    assert kinds[:4] == [("month", "private", "category"), ("sex", "private", "number"), ("year", "private", "date"), ("age", "private", "number")]
    for bad in ({"age": 5}, {"nobody": (0, 1)}, {"age": (0, 1, 2)}):
        with pytest.raises(ValueError):
            draft_schema(X, label="ill", codebook=bad)


def messy(n, seed=3):
    """A hospital's frame as it comes: 35 columns of all kinds, with holes, codes, odd spellings and outliers."""
    r = np.random.default_rng(seed)
    day = np.datetime64("2021-01-01")
    X = pd.DataFrame({
        "patient_id": r.integers(10**6, 10**7, n), "name": r.choice(["A. Novak", "B. Doe"], n), "age": r.integers(-1, 130, n),
        "sex": r.choice(["female", "male", "F", ""], n), "admitted": day + r.integers(0, 900, n).astype("timedelta64[D]"),
        "discharged": day + r.integers(0, 950, n).astype("timedelta64[D]"), "ward": r.choice(["A", "B", "b ", "?"], n),
        "icd_code": r.integers(0, 900, n).astype(str), "postcode": r.integers(100, 999, n).astype(str),
        "bmi": r.normal(27, 9, n), "temperature": r.normal(37, 1, n), "visits": r.poisson(1, n)})
    for k in range(8):
        X[f"has_condition_{k}"] = r.random(n) < 0.2
    for k in range(14):
        X[f"lab_{k}"] = np.where(r.random(n) < 0.5, np.nan, r.lognormal(1, 1, n))
    X["month"] = r.integers(1, 13, n)
    z = 0.03 * X.age + X.has_condition_0 + 0.2 * np.nan_to_num(X.lab_0) - 3
    return X, pd.Series(r.random(n) < 1 / (1 + np.exp(-z)), name="readmitted")


def test_messy_frame_needs_few_words():
    X, y = messy(30_000)
    began = time.perf_counter()
    assert X.shape[1] + 1 == 36
    known = {"admitted": ("2020-01-01", "2025-01-01"), "discharged": ("2020-01-01", "2025-01-01"), "ward": ["A", "B"],
             "icd_code": {"buckets": 32}, "postcode": "ignored", "visits": (0, 20), "readmitted": "public",
             **{f"lab_{k}": (0, 20) for k in range(14)}}
    text = draft_schema(X.assign(readmitted=y), "readmitted", name="admissions", unit="one admission",
                        relation="replace-one", role="private", codebook=known, accept_names=True)
    entries = len(known) + 6  # with label, name, unit, relation, role and accept_names
    assert entries <= 30
    m = model(schema=text, epsilon=1.0)
    found = m.check(X, y)
    counts = {c["column"]: c for c in found["columns"]}
    assert "ward" in found["misfits"] and counts["ward"]["cause"] and counts["age"]["clamped"] > 0 and counts["lab_0"]["missing"] > 10_000
    assert counts["patient_id" if "patient_id" in counts else "age"]["missing"] == 0
    m.fit(X, y)
    print(f"first private model of 30,000 rows of 36 columns: {entries} entries, {time.perf_counter() - began:.0f} s")
    assert set(m.classes_) == {False, True} and (m.predict_proba(X)[:, 1] * y).mean() > (m.predict_proba(X)[:, 1]).mean() * y.mean()


def test_plan_check_card_and_budget(tmp_path):
    X, y = wards()
    ledger = str(tmp_path / "l.db")
    subprocess.run([find_binary(), "budget", "init", "--ledger", ledger, "--dataset", "d", "--epsilon", "10"],
                   check=True, capture_output=True)
    m = model(ledger=ledger, dataset="d", job="one")
    assert m.plan(400)["epsilon_nano"] == 5 * 10**9 and m.plan(400, simulate=True)["forecast"]["signals"]
    counts = {c["column"]: c for c in m.check(X, y)["columns"]}
    assert counts["age"]["missing"] == sum(X.age.isna()) and counts["ward, old"]["other"] == sum(X["ward, old"] == "new\nward")
    assert not hasattr(m, "model_") and "5000000000" not in json.dumps(m.spent()), "nothing of it was charged"
    m.fit(X, y)
    assert m.privacy_["ledger"] == ledger and m.privacy_["job"] == "one" and "5000000000" in json.dumps(m.spent())
    m.card(tmp_path / "card.html")
    assert "wards" in (tmp_path / "card.html").read_text()
    with pytest.raises(FileExistsError):
        m.card(tmp_path / "card.html")
    odds, p = m.decision_function(X), m.predict_proba(X)[:, 1]
    assert np.allclose(1 / (1 + np.exp(-odds)), p)
    with pytest.raises(UsageError, match="sample_weight"):
        m.fit(X, y, sample_weight=np.ones(len(y)))
    row = X.iloc[0]
    assert m.predict_row(row) == m.predict_row(row.to_dict()) == p[0]
    assert m.predict_row({**row.to_dict(), "age": float("nan")}) == m.predict_row({**row.to_dict(), "age": None})
    with pytest.raises(ValueError, match="'Age' is given, not 'age'"):
        m.predict_row({"Age": 5, "ward, old": "A", "night": True})
    with pytest.raises(UsageError, match="ledger="):
        model().spent()


def test_errors_and_files_of_levels(tmp_path, monkeypatch):
    bad = json.loads(json.dumps(SCHEMA).replace('"upper": 100', '"upper": -1'))
    with pytest.raises(DiscreetError, match='column "age"') as error:
        model(schema=bad).fit(*wards())
    assert "discreet-" not in str(error.value) and "/" not in str(error.value) and "schema line" not in str(error.value)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wards.csv").write_text("code,level\nA,A\n3,A\nB*,B\n")
    filed = json.loads(json.dumps(SCHEMA))
    filed["columns"][1]["category"]["levels"] = {"file": "wards.csv"}
    filed["columns"][2]["category"]["levels"] = "yes_no"
    assert model(schema=filed).fit(*wards()).predict_proba(wards()[0]).shape == (400, 2)


def test_steps_that_learn_are_named():
    X, y = wards()
    numbers, declared = X[["age"]].fillna(0).to_numpy(), ArraySchema(-3, 3, ["no", "yes"])
    with pytest.warns(PrivacyWarning, match="standardscaler"):
        make_pipeline(StandardScaler(), DiscreetClassifier(declared, epsilon=5.0)).fit(numbers, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyWarning)
        make_pipeline(FunctionTransformer(), DiscreetClassifier(declared, epsilon=5.0)).fit(numbers, y)
        make_pipeline(StandardScaler(), DiscreetClassifier(declared, epsilon=float("inf"))).fit(numbers, y)


def test_labels_keep_their_type():
    r = np.random.default_rng(1)
    X = r.uniform(-1, 1, (300, 2))
    for y in (X[:, 0] > 0, (X[:, 0] > 0).astype(int) * 3, np.digitize(X[:, 0], [-0.3, 0.3])):
        m = DiscreetClassifier(ArraySchema(-1, 1, list(set(y.tolist()))), epsilon=50.0).fit(X, y)
        assert m.classes_.dtype == np.asarray(y).dtype and list(m.classes_) == list(np.unique(y))
        assert m.score(X, y) > 0.6


def test_version():
    assert version().startswith("discreet ")


#: Why a check of scikit-learn fails for the estimator, with classes -1 to 3: they are declared, not learnt.
DECLARED = {
    "check_classifiers_regression_target": "asks for a refusal of labels for what they hold",
    "check_classifiers_classes": "takes labels that the schema does not declare",
    "check_classifiers_train": "asks for scores of the labels that occur, not of those that are declared",
    "check_decision_proba_consistency": "the same",
}
FRESH = {
    "check_fit_idempotent": "the noise of a second fit is another",
    "check_classifier_data_not_an_array": "compares two fits, and their noise differs",
    "check_supervised_y_2d": "compares two fits, and their noise differs",
    "check_methods_sample_order_invariance": "twelve rows at epsilon = 1 are noise",
}


class OfEveryLabel(DiscreetClassifier):
    """Declares the labels of each table that scikit-learn's checks try: they share one estimator."""

    def fit(self, X, y):
        declared = self.schema
        try:
            self.schema = ArraySchema(-10, 10, [] if y is None else np.unique(np.asarray(y)).tolist())
            return super().fit(X, y)
        finally:
            self.schema = declared


def failed_checks(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(estimator, on_fail=None)
    assert len(found) > 40
    assert {c["check_name"] for c in found if c["status"] == "skipped"} <= {"check_array_api_input", "check_pipeline_consistency"}
    return {c["check_name"]: str(c["exception"])[:200] for c in found if c["status"] == "failed"}


def test_checks_of_scikit_learn():
    declared, exact = ArraySchema(-10, 10, [-1, 0, 1, 2, 3]), {"epsilon": float("inf"), "learner": "additive"}  # grids take coins
    failed = failed_checks(DiscreetClassifier(declared, **exact))
    assert set(failed) == set(DECLARED), failed
    failed = failed_checks(DiscreetClassifier(declared, epsilon=1.0, uncounted=True))
    assert set(DECLARED) <= set(failed) <= set(DECLARED) | set(FRESH), failed
    failed = failed_checks(OfEveryLabel(declared, **exact))  # so nothing else of the four is in the way
    assert set(failed) == {"check_classifiers_regression_target"}, failed


@pytest.mark.parametrize("epsilon", [np.int64(5), np.int8(5), np.float64(5), np.float32(5), 5, np.float32(0.1)])
def test_numbers_of_numpy_are_numbers(epsilon):
    m = model(epsilon=epsilon, delta=np.float64(0)).fit(*wards())
    assert str(m.privacy_["epsilon"]) == ("0.1" if epsilon < 1 else "5")
    assert m.plan(np.int32(400))["epsilon_nano"] == round(float(m.privacy_["epsilon"]) * 1e9)


@pytest.mark.parametrize("dtype", ["Int64", "Int8", "UInt16", "Float64", "boolean", "int64[pyarrow]", "bool[pyarrow]"])
def test_nullable_labels(dtype):
    X, y = wards()
    levels = ["false", "true"] if "bool" in dtype else ["0", "1"]
    schema = {**SCHEMA, "columns": [*SCHEMA["columns"][:3], {
        "name": "ill", "role": "public", "label": {"levels": levels, "positive": levels[1]}}]}
    y = (y == "yes").astype("bool" if "bool" in dtype else "int64").astype(dtype)
    m = model(schema=schema, epsilon=50.0, uncounted=True).fit(X, y)
    assert m.score(X, y) > 0.7 and list(m.classes_) == [0, 1]
    assert cross_val_score(m, X, y, cv=2, error_score="raise").mean() > 0.7


def aliased(levels, role="public", **more):
    return {**SCHEMA, "columns": [*SCHEMA["columns"][:3], {"name": "ill", "role": role, "label": {
        "levels": levels, **{"positive": "yes", **more}, **({"default": "no"} if role == "private" else {})}}]}


@pytest.mark.parametrize("spelt, role", [(("N", "Y"), "public"), (("N", "Y"), "private"), (("no", "yes"), "private"),
                                         (("0", "1"), "public"), ((0, 1), "private"), ((False, True), "public")])
def test_scores_read_labels_by_the_schema(spelt, role):
    X, y = wards()
    truth, y = (y == "yes").to_numpy(), y.map(dict(zip(("no", "yes"), spelt)))
    m = model(schema=aliased("yes_no", role), epsilon=50.0, learner="additive", uncounted=True)
    text = isinstance(spelt[0], str)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        m.fit(X, y)
    assert text == any("have aliases" in str(w.message) for w in warned)
    right = float(np.mean((m.predict_proba(X)[:, 1] >= 0.5) == truth))
    for same in (y, y.tolist(), y.to_numpy(), pl.Series(y.tolist()), y.astype("category"), y.to_frame()):
        assert m.score(X, same) == right > 0.7
    assert m.score(X, y, sample_weight=np.ones(len(y))) == right
    assert cross_val_score(m, X, y, cv=2, error_score="raise").mean() > 0.7
    assert GridSearchCV(m, {"epsilon": [20.0, 50.0]}, cv=2, error_score="raise").fit(X, y).best_score_ > 0.7
    for scoring in ("accuracy", "balanced_accuracy", "roc_auc", "neg_log_loss", "f1_macro"):
        if text:  # these compare texts: refused before anything is paid
            with pytest.raises(UsageError, match="have aliases.*Declare the levels as y spells them"):
                cross_val_score(m, X, y, cv=2, scoring=scoring, error_score="raise")
            continue
        assert cross_val_score(m, X, y, cv=2, scoring=scoring, error_score="raise").mean() > (-0.65 if "log" in scoring else 0.65)


def test_scorers_that_would_fail_are_refused_unpaid(tmp_path):
    X, y = wards()
    paid = model(epsilon=20.0, learner="additive", **declared(tmp_path, 1000))
    several = {"a": "accuracy", "b": "f1"}
    for scoring in ("f1", "precision", "average_precision", "neg_brier_score", several, make_scorer(f1_score)):
        for search in (lambda: cross_validate(paid, X, y, cv=2, scoring=scoring, error_score="raise"),
                       lambda: GridSearchCV(paid, {"epsilon": [20.0]}, cv=2, scoring=scoring, refit=False, error_score="raise").fit(X, y)):
            with pytest.raises(UsageError, match="scoring by .*'no', 'yes'.*make_scorer.*pos_label"):
                search()
    assert paid.spent()["spent"] == 0
    for scoring in ("f1_macro", "roc_auc", make_scorer(f1_score, pos_label="yes"), lambda m, X, y: float(m.epsilon)):
        assert cross_val_score(paid, X, y, cv=2, scoring=scoring, error_score="raise").mean() > 0.5
    codes = model(schema=aliased(["0", "1"], **{"positive": "1"}), epsilon=50.0, learner="additive", uncounted=True)
    for scoring in ("f1", "average_precision"):
        assert cross_val_score(codes, X, (y == "yes").astype(int), cv=2, scoring=scoring, error_score="raise").mean() > 0.5


def declared(tmp_path, epsilon):
    discreet.Ledger(tmp_path / "l.db").declare("d", epsilon)
    return {"ledger": str(tmp_path / "l.db"), "dataset": "d"}


def test_scorers_take_levels_as_y_spells_them():
    X, y = wards()
    m = model(schema=aliased(["yes", "no"]), epsilon=50.0, learner="additive", uncounted=True)
    for scoring in ("accuracy", "balanced_accuracy", "roc_auc", "neg_log_loss", "f1_macro"):
        assert cross_val_score(m, X, y, cv=2, scoring=scoring, error_score="raise").mean() > (-0.65 if "log" in scoring else 0.65)


def test_scores_of_loaded_models_and_long_tables(tmp_path):
    X, y = wards(70_000)  # which are two blocks
    m = model(schema=aliased([{"value": "no", "aliases": ["Z"]}, {"value": "yes", "aliases": ["A"]}]), epsilon=50.0).fit(X, y)
    m.save(tmp_path / "m.json")
    loaded = DiscreetClassifier.load(tmp_path / "m.json")
    assert loaded.score(X, y.map({"no": "Z", "yes": "A"})) == m.score(X, y) == np.mean(m.predict(X) == y)
    y.iloc[69_000] = "maybe"
    with pytest.raises(ValueError, match='row 69000, counted from 0: column "ill"'):
        m.score(X, y)


def test_a_job_is_one_fit(tmp_path):
    X, y = wards()
    ledger = str(tmp_path / "l.db")
    subprocess.run([find_binary(), "budget", "init", "--ledger", ledger, "--dataset", "d", "--epsilon", "20"],
                   check=True, capture_output=True)
    m = model(epsilon=1.0, ledger=ledger, dataset="d", job="one")
    with warnings.catch_warnings():
        warnings.simplefilter("error", DiscreetWarning)
        m.fit(X, y)
    assert m.privacy_["from_ledger"] is False
    with pytest.warns(DiscreetWarning, match="^from the ledger: job one .* not compared"):
        other = model(epsilon=1.0, ledger=ledger, dataset="d", job="one").fit(X[::-1], y)
    assert other.privacy_["from_ledger"] is True and other.model_ == m.model_ and other.privacy_["job"] == "one"
    for copied in (clone, pickle.loads):
        with pytest.raises(UsageError, match="job='one' is the ID of one fit"):
            copied(m if copied is clone else pickle.dumps(m)).fit(X, y)
    with pytest.raises(UsageError, match="job='one'"):
        cross_val_score(m, X, y, cv=3, error_score="raise")
    with pytest.raises(ValueError, match="job='one'"):
        GridSearchCV(make_pipeline(FunctionTransformer(), m), {"discreetclassifier__epsilon": [1.0]}, cv=2).fit(X, y)
    assert len(cross_val_score(m.set_params(job=None), X, y, cv=3, error_score="raise")) == 3
    assert '"4000000000"' in json.dumps(m.spent()) or "4000000000" in json.dumps(m.spent())
    first, second = (model(epsilon=1.0, ledger=ledger, dataset="d").fit(X, y) for _ in range(2))
    assert first.privacy_["job"] != second.privacy_["job"] and not second.privacy_["from_ledger"]


#: Levels with whatever separates, quotes or ends something somewhere.
ODD = ["<=50K", ">50K", "a;b", "=", ";", "a=b;c", "A", '"', "'", "a,b", " a", "b ", "\\n", "{x: y}", "[1, 2]", "#", "- 1", "~", "null",
       "yes_no", "___ ", ", positive: ___", "relation: ___", "é", "日本", "🙂", "\u0301x", "1.0", "01", "?", "NA", "%s", "\\", "x\u00a0y"]


def test_drafts_keep_levels_as_they_are():
    X = pd.DataFrame({"a": ODD, "b": range(len(ODD)), "ill": ["<=50K", ">50K"] * (len(ODD) // 2)})
    for form in (ODD, {"levels": ODD}, {"levels": tuple(ODD), "role": "private"}):
        text = draft_schema(X, "ill", name="a;b=c", unit='"u"', relation="replace-one", role="private",
                            codebook={"a": form, "b": (0, 99), "ill": ["<=50K", ">50K"]})
        columns = {c["name"]: c for c in _schema.load_schema(text)["columns"]}
        assert [f if isinstance(f, str) else f["value"] for f in columns["a"]["category"]["levels"]] == ODD
        assert columns["ill"]["label"] == {"levels": ["<=50K", ">50K"], "positive": ">50K", "default": "<=50K"}
    m = model(schema=text).fit(X.drop(columns="ill"), X.ill)
    assert list(m.classes_) == ["<=50K", ">50K"]
    assert all(c["other"] == 0 for c in m.check(X.drop(columns="ill"), X.ill)["columns"])
    for none in ([""], ["a", " "], ["a\nb"], ["a\0"]):  # no schema can have these
        with pytest.raises(UsageError, match="column 'a'"):
            draft_schema(X, "ill", codebook={"a": none})
    many = draft_schema(X, "ill", codebook={"ill": {"levels": ODD[:5], "role": "public"}})
    assert "positive" not in [line for line in many.splitlines() if "label: {" in line][-1]


def test_an_ensemble_of_scikit_learn():
    X, y = wards()
    with pytest.raises(ValueError, match="Ensembles of scikit-learn.*declare these as the levels"):
        VotingClassifier([("a", model(uncounted=True))]).fit(X, y)
    coded = {**SCHEMA, "columns": [*SCHEMA["columns"][:3], {
        "name": "ill", "role": "public", "label": {"levels": [0, 1], "positive": "1"}}]}
    member = model(schema=coded, epsilon=25.0, uncounted=True)
    codes = (y == "yes").astype(int)
    assert VotingClassifier([("a", member), ("b", member)], voting="soft").fit(X, codes).score(X, codes) > 0.65
    numbers = X[["age"]].fillna(50).to_numpy()  # this one makes arrays of all tables
    member = DiscreetClassifier(ArraySchema(0, 100, [0, 1]), epsilon=25.0, uncounted=True)
    bag = BaggingClassifier(member, n_estimators=2, bootstrap=False, max_samples=0.5)
    assert bag.fit(numbers, codes).score(numbers, codes) > 0.65


def test_single_rows_say_their_rate():
    X, y = wards()
    m = model().fit(X, y)
    row = {"age": 4.0, "ward, old": "A", "night": True}
    m.predict_row(row)
    began = time.perf_counter()
    for _ in range(5000):
        m.predict_row(row)
    print(f"{5000 / (time.perf_counter() - began):.0f} single rows a second")


def test_models_and_releases_are_loaded(tmp_path):
    X, y = wards()
    m = model().fit(X, y)
    m.save(tmp_path / "m.json")
    for key in ("ours", "theirs"):
        subprocess.run([find_binary(), "keygen", "--out", tmp_path / key], check=True)
    subprocess.run([find_binary(), "release", tmp_path / "m.json", "--key", tmp_path / "ours", "--out", tmp_path / "r.zip"],
                   check=True)
    signed = {"require_signed": tmp_path / "ours.pub"}
    for path, demand in (("m.json", {}), ("r.zip", {}), ("r.zip", signed)):
        loaded = DiscreetClassifier.load(tmp_path / path, **demand)
        assert np.array_equal(loaded.predict_proba(X), m.predict_proba(X))
        assert (loaded.predict(X) == m.predict(X)).all() and list(loaded.classes_) == ["no", "yes"]
        assert loaded.privacy_["model_sha256"] == m.privacy_["model_sha256"] and loaded.explain_["label"] == "ill"
        with pytest.raises(ValueError, match="epsilon is required"):
            loaded.fit(X, y)
    forged = bytearray((tmp_path / "r.zip").read_bytes())
    forged[len(forged) // 2] ^= 1
    (tmp_path / "forged.zip").write_bytes(bytes(forged))
    for path, demand in (("m.json", signed), ("forged.zip", {}), ("forged.zip", signed),
                         ("r.zip", {"require_signed": tmp_path / "theirs.pub"})):
        with pytest.raises(DiscreetError, match="must"):
            DiscreetClassifier.load(tmp_path / path, **demand)


def test_cohorts_are_charged_alone(tmp_path):
    X, y = wards()
    named = json.loads(json.dumps(SCHEMA))
    named["columns"][2]["category"]["levels"] = ["false", "true"]
    ledger = str(tmp_path / "l.db")
    subprocess.run([find_binary(), "budget", "init", "--ledger", ledger, "--dataset", "d", "--epsilon", "1",
                    "--cohort-by", "night"], check=True, capture_output=True)
    m = model(schema=named, ledger=ledger, dataset="d", epsilon=0.75, cohorts=["true"]).fit(X, y)
    assert m.plan()["epsilon_nano"] == 75 * 10**7
    with pytest.raises(BudgetError):
        clone(m).fit(X, y)
    with pytest.raises(BudgetError):
        m.evaluate_privately(X, y, epsilon=0.5, ledger=ledger, dataset="d", cohorts=["true"])
    report = m.evaluate_privately(X, y, epsilon=0.5, ledger=ledger, dataset="d", cohorts=["false"])
    assert report["auc_interval"][0] <= report["auc"] <= report["auc_interval"][1]
    with pytest.raises(ValueError, match="ledger"):
        model(cohorts=["true"]).fit(X, y)


def test_a_check_leaves_no_record(tmp_path):
    path = tmp_path / "t.yaml"
    path.write_text('name: t\nunit: one row\nrelation: replace-one\nfile: {delimiter: ",", quote: "", header: true, trim: false, '
                    'missing: []}\ncolumns:\n  - {name: x, role: private, number: {lower: 0, upper: 9, default: 3}}\n'
                    '  - {name: y, role: private, label: {levels: [alive, dead], positive: dead, default: alive}}\n')
    X = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0] * 50})
    y = np.array(["alive", "dead", "DEAD", "Alive"] * 50, dtype=object)
    m = DiscreetClassifier(path, epsilon=5.0)
    found = m.check(X, y)
    assert found["misfits"] == ["y"] and "letter case" in found["columns"][1]["cause"]
    assert os.listdir(tmp_path) == ["t.yaml"]  # nothing names a frame, so it would hold for any


def test_cells_that_are_not_as_declared_are_told(tmp_path):
    X, y = wards()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscreetWarning)
        m = model().fit(X, y)
    clean = pd.DataFrame({"age": [41.0, 70.0], "ward, old": ["A", "3"], "night": [True, False]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        m.predict_proba(clean)
        m.predict_row({"age": 41, "ward, old": "A", "night": True})
    odd = pd.DataFrame({"age": ["forty", "200", "41"], "ward, old": ["A", "MARTIAN", "B"], "night": [True, False, True]})
    for ask in (m.predict_proba, m.predict, m.decision_function):
        with pytest.warns(DiscreetWarning) as told:
            ask(odd)
        assert [str(w.message) for w in told] == ["cells are not as the model's schema declares, in column "
                                                  "'age': 1 of 3 clamped, 1 of 3 unreadable; 'ward, old': 2 of 3 other"]
        assert told[0].filename == __file__
    with pytest.warns(DiscreetWarning, match="'age': 1 of 1 unreadable$"):
        m.predict_row({"age": "forty", "ward, old": "A", "night": True})
    many = pd.concat([clean.assign(age=1e9)] * 40_000)  # several blocks are one call
    with pytest.warns(DiscreetWarning, match="'age': 80000 of 80000 clamped$") as told:
        m.predict_proba(many)
    assert len(told) == 1
