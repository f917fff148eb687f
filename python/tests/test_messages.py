# SPDX-License-Identifier: Apache-2.0
"""What the package says: refusals, warnings, progress and interrupts, in words that a Python program can act on."""

import json
import logging
import os
import re
import signal
import sqlite3
import subprocess
import threading
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from test_discreet import SCHEMA, model, wards

from discreet import (ArraySchema, BudgetError, DiscreetClassifier, DiscreetError, DiscreetWarning, PrivacyWarning, UsageError,
                      draft_schema, find_binary)
from discreet._words import in_python


def declare(ledger, dataset="d", epsilon="1"):
    subprocess.run([find_binary(), "budget", "init", "--ledger", ledger, "--dataset", dataset, "--epsilon", epsilon],
                   check=True, capture_output=True)
    return {"ledger": str(ledger), "dataset": dataset}


def edited(**changes):
    """The schema with changes at paths such as columns__0__number__upper."""
    schema = json.loads(json.dumps(SCHEMA))
    for path, value in changes.items():
        at, *rest = [int(key) if key.isdigit() else key for key in path.split("__")]
        node = schema
        for key in rest:
            node, at = node[at], key
        node[at] = value
    return schema


#: What no message may have: flags, files that the package makes, lines and headers of files, prefixes of the terminal.
FOREIGN = re.compile(r"--[a-z]|discreet-\w|cells:|rows in memory|\bline \d|\bheader\b|\b(the|of) files?\b|\bfile: |\bnew\.json|schema\.yaml|\bm\.json|"
                     r"\.part\d|entry \d|see discreet|^error: |^hint: |^spent: |standard input|delimiter|\btrain refuses", re.MULTILINE)


def test_every_refusal_speaks_python(tmp_path):
    X, y = wards(60)
    Xy, person = X.assign(ill=y), {"person": {"column": "pid", "rows": 2}, "columns": [{"name": "pid", "role": "ignored"},
                                                                                      *SCHEMA["columns"]]}
    paid = declare(tmp_path / "l.db")
    (tmp_path / "text").write_text("x")
    fitted = model(epsilon=1.0).fit(X, y)
    model(epsilon=0.1, job="a", **paid).fit(X, y)
    public = {"name": "age", "role": "public", "number": {"lower": 0, "upper": 100}}

    def fits(X=X, y=y, **kw):
        return lambda: model(**kw).fit(X, y)

    def drafts(**kw):
        return lambda: draft_schema(kw.pop("table", Xy), kw.pop("label", "ill"), **kw)

    def evaluates(**kw):
        return lambda: fitted.evaluate_privately(kw.pop("X", X), kw.pop("y", y), **{"epsilon": 1.0, "uncounted": True, **kw})

    wrong = {  # a wrong argument or table is a ValueError
        "options": [fits(options={"nope": 1}), fits(options={"bins": "x"}), fits(learner="additive", options={"rounds": -1}),
                    fits(options={"not-private": True}), fits(learner="brc", options={"bins": 3}), fits(options=[1])],
        "learner": [fits(learner="none"), fits(learner="erm"), fits(learner="labeldp"), fits(learner="logistic"),
                    fits(learner="brc", delta=1e-6)],
        "epsilon": [fits(epsilon=e) for e in (None, 0, -1, 1e6, 1e-12, float("nan"), True, np.True_, "1", 1j, [1])],
        "delta": [fits(delta=d) for d in (-1, 2, True, "0", None, float("nan"))],
        "account": [fits(ledger="l.db"), fits(dataset="d"), fits(job="x"), fits(cohorts=["a"]), fits(ledger=5, dataset="d"),
                    fits(ledger="l.db", dataset=5), fits(**paid, job=5), fits(**paid, cohorts="true"),
                    fits(epsilon=0.1, **paid, cohorts=["true"]), fits(epsilon=0.1, **{**paid, "dataset": "no"}),
                    fits(epsilon=0.1, ledger=str(tmp_path / "no.db"), dataset="d"), fits(epsilon=float("inf"), **paid),
                    fits(epsilon=0.1, ledger=tmp_path, dataset="d"), fits(epsilon=0.1, **paid, job="a b"),
                    fits(epsilon=0.2, **paid, job="a"), fits(epsilon=0.1, schema=edited(name="b"), **paid, job="a"),
                    fits(epsilon=0.1, schema=edited(unit="b"), **paid)],
        "columns": [fits(X.drop(columns="age")), fits(X.rename(columns={"age": "Age"})), fits(X.assign(extra=1)),
                    fits(pd.concat([X, X[["age"]]], axis=1)), fits(Xy), fits(X.to_numpy()), fits(y=y[:-1]), fits(X[[]]),
                    fits(X.iloc[:0], y.iloc[:0]), fits(X.assign(night=1j)), fits(y=(y == "yes").astype(int)), fits(y=None),
                    fits(y=y.where(y != "yes", "maybe")), fits(schema=edited(columns__0=public)),
                    fits(X.assign(**{"ward, old": 7}), schema=edited(columns__1__category__levels=["A", "B"])),
                    fits(schema={**SCHEMA, **person}), fits(X.assign(pid=1), schema={**edited(relation="add-remove"), **person}),
                    fits(schema={**SCHEMA, "derived": [{"name": "night", "largest": ["age"]}]})],
        "schema": [fits(schema=s) for s in (None, 3, {}, [], str(tmp_path / "no.yaml"), str(tmp_path), edited(colour="red"),
                   edited(relation="x"), edited(columns__0__number__upper=-1), edited(columns__0__number={}),
                   edited(columns__1__category__levels=[]), edited(columns=SCHEMA["columns"][:3]), edited(columns=5))],
        "plan": [lambda: model().plan(0), lambda: model().plan(True), lambda: model().plan("5"), lambda: model().plan(persons=5),
                 lambda: model().plan(simulate=True), lambda: model().plan(10**7, simulate=True),
                 lambda: DiscreetClassifier(ArraySchema(0, 1, [0, 1]), 1.0).plan(5), lambda: model().spent(),
                 lambda: model(schema={**SCHEMA, **person}).plan(10), lambda: model(ledger=paid["ledger"], dataset="no").plan(5),
                 lambda: model(ledger=paid["ledger"], dataset="no").spent()],
        "evaluate": [*(evaluates(epsilon=e) for e in (0, 1e6, True, "1", float("inf"), float("nan"))), evaluates(delta=3),
                     evaluates(delta="x"), evaluates(costs=(0, 1)), evaluates(costs=5), evaluates(costs=(1, "x")), evaluates(job="x"), evaluates(by=["night"]),
                     evaluates(costs=(1, 2), threshold=0.3), evaluates(y=None),
                     evaluates(ledger="l.db"), evaluates(cohorts=["true"], **paid), evaluates(X=X.drop(columns="age")),
                     lambda: fitted.score(X, y.where(y != "yes", "maybe")), lambda: fitted.predict_row({}),
                     lambda: fitted.check(X.drop(columns="age"), y), lambda: fitted.card(tmp_path / "c.txt"),
                     lambda: model(learner="brc", options={"output": "votes"}).fit(X, y).explain_],
        "draft": [drafts(label="nope"), drafts(codebook={"nope": (0, 1)}), drafts(role="public"), drafts(table=Xy[["ill"]]),
                  *(drafts(codebook={"age": e}) for e in ("nmber", (0, 1, 2), {"colour": 1}, ("a", "b"), ["", "a"], ["b\nc", "a"],
                    {"buckets": "x"}, {"role": "x"}, 5, {"levels": "A"}, {"positive": "x"}, {"special": ["x"]})),
                  drafts(table=Xy.assign(**{"a\nb": 1})), drafts(table=Xy.assign(**{" a": 1})), drafts(table=Xy.assign(**{"": 1})),
                  drafts(table=pd.concat([Xy, X[["age"]]], axis=1))],
        "load": [lambda: DiscreetClassifier.load(tmp_path / "text")],
    }
    with pytest.raises(UsageError, match="column 4, counted from 1, must have a name.*rename it$"):
        draft_schema(X.assign(a=1).rename(columns={"a": 7}), "night")
    for unknown in ({**paid, "dataset": "no"}, {**paid, "ledger": str(tmp_path / "no.db")}):
        with pytest.raises(UsageError, match="Ledger.declare (creates|declares) it"):
            model(epsilon=0.1, **unknown).fit(X, y)
    for none in (evaluates(y=None), lambda: fitted.score(X, None), lambda: fitted.check(X, None)):
        with pytest.raises(ValueError, match="^this requires y to be passed"):
            none()
    for other in ((y == "yes").astype(int), y == "yes"):
        with pytest.raises(UsageError, match="map its values to the levels, or declare .*yes_no"):
            fits(y=other)()
    with pytest.raises(ValueError, match="^by must be the name of one column"):
        evaluates(by=["night"])()
    with pytest.raises(ValueError, match="^costs and threshold must not"):
        evaluates(costs=(1, 2), threshold=0.3)()
    others = [fits(schema=edited(max_epsilon=1)), fits(schema=edited(max_epsilon=10), delta=1e-6), fits(epsilon=2.0, **paid),
              evaluates(epsilon=5, **paid), evaluates(uncounted=False), lambda: fitted.card(tmp_path / "text"), lambda: fitted.card(tmp_path / "no" / "c.html"),
              fits(epsilon=0.1, ledger=str(tmp_path / "text"), dataset="d"), lambda: draft_schema(Xy, "ill", codebook=tmp_path / "no")]
    said = []
    for kind, calls in {**wrong, "others": others}.items():
        for at, call in enumerate(calls):
            with pytest.raises(Exception) as refused, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                call()
            e = refused.value
            text = "\n".join([str(e), *getattr(e, "__notes__", [])])
            assert kind == "others" or isinstance(e, ValueError), (kind, at, type(e), text)
            assert not (found := FOREIGN.search(text.replace(str(tmp_path), "FOLDER"))), (kind, at, found[0], text)
            assert text and "Traceback" not in text
            said.append(text)
    assert len(said) > 110


def test_a_file_that_was_given_is_named(tmp_path):
    (tmp_path / "text").write_text("name,colour\n")
    for call in (lambda: model(schema=str(tmp_path / "text")).fit(*wards(20)),
                 lambda: draft_schema(wards(5)[0], "age", codebook=tmp_path / "text"),
                 lambda: DiscreetClassifier.load(tmp_path / "text", require_signed=tmp_path / "text")):
        with pytest.raises(UsageError, match="text|codebook line 1"):
            call()


def test_no_flag_passes_whatever_the_program_says():
    pages = [subprocess.run([find_binary(), *command, "--help"], check=True, capture_output=True).stdout.decode()
             for command in (["train"], ["plan"], ["evaluate"], ["schema", "init"], ["schema", "check"], ["card"], ["budget", "show"])]
    flags = set(re.findall(r"--[a-z][a-z-]*", " ".join(pages)))
    assert len(flags) > 60
    for flag in flags:
        for text in (f"error: train: must be given with {flag}", f"hint: give {flag} 5; or {flag}=X, or {flag}.", f"only {flag} replaces it"):
            assert "--" not in in_python(text), in_python(text)
    assert in_python('error: dataset: row 3: column "a --b": must') == 'row 2, counted from 0: column "a --b" must'


def test_warnings_of_the_program_are_warnings():
    X, y = wards(60)
    with pytest.warns(DiscreetWarning, match="^TOO FEW: ") as few:
        model(epsilon=0.05, learner="additive").fit(X, y)
    assert few[0].filename == __file__
    with pytest.warns(DiscreetWarning, match="^TOO FEW: "):
        model(epsilon=0.05, learner="additive").plan(60)
    with pytest.warns(PrivacyWarning, match="^WEAK: ") as weak:
        model(epsilon=30.0).fit(X, y)
    assert weak[0].filename == __file__
    with pytest.warns(PrivacyWarning, match="^WEAK: ") as weak:
        model(epsilon=30.0).plan(60)
    assert weak[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error", DiscreetWarning)
        model(epsilon=5.0, learner="additive").fit(*wards(400))


def test_progress_and_waits_are_logged(tmp_path, caplog):
    X, y = wards()
    paid = declare(tmp_path / "l.db")
    caplog.set_level(logging.INFO, logger="discreet")
    model(epsilon=0.1, **paid).fit(X, y)
    assert "training on 400 rows" in caplog.text and 'to be charged to data set "d" as job' in caplog.text
    caplog.clear()
    other = sqlite3.connect(tmp_path / "l.db", check_same_thread=False, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    timer = threading.Timer(2.5, lambda: other.execute("ROLLBACK"))
    timer.start()
    model(epsilon=0.1, **paid).fit(X, y)
    timer.join()
    waited = [r for r in caplog.records if r.levelno == logging.WARNING]
    assert len(waited) > 0 and all(r.getMessage().startswith("waiting for ledger ") for r in waited)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_interrupt_says_what_is_spent(tmp_path, caplog):
    paid = declare(tmp_path / "l.db")
    r = np.random.default_rng(1)
    X = pd.DataFrame(r.uniform(-1, 1, (300_000, 8)), columns=[*"abcdefgh"])
    y = (X.a > 0).astype(int)
    schema = {"name": "t", "unit": "one row", "relation": "replace-one", "columns": [
        *({"name": n, "role": "private", "number": {"lower": -1, "upper": 1, "default": 0}} for n in X),
        {"name": "label", "role": "private", "label": {"levels": ["0", "1"], "positive": "1", "default": "0"}}]}
    m = DiscreetClassifier(schema, 0.5, learner="grids", options={"rounds": 1000}, **paid)  # many seconds
    caplog.set_level(logging.INFO, logger="discreet")

    def interrupt(seconds):
        begun = logging.Handler()  # the charge follows this line
        begun.emit = lambda record: "training on" in record.getMessage() and threading.Timer(
            seconds, os.kill, (os.getpid(), signal.SIGINT)).start()
        logging.getLogger("discreet").addHandler(begun)
        try:
            with pytest.raises(KeyboardInterrupt) as ended:
                m.fit(X, y)
        finally:
            logging.getLogger("discreet").removeHandler(begun)
        return "\n".join([*map(str, ended.value.args), *getattr(ended.value, "__notes__", [])])

    for seconds in (0, 2, 5, 10, 20):  # a busy machine takes longer to the charge
        said = interrupt(seconds)
        if said != "nothing was charged":
            break
        assert "500000000" not in json.dumps(m.spent())
    assert 'data set "d" has spent epsilon = 0.5 for job ' in said and "job='" in said and not FOREIGN.search(said), said
    job = re.search(r"job='(\S+)'", said)[1]
    with pytest.raises(UsageError, match=job):
        m.set_params(job=job).fit(X, y)  # it has no result and is never drawn again
    assert "500000000" in json.dumps(m.spent())


def test_a_program_that_is_missing_is_installed_from_a_release(monkeypatch, tmp_path):
    monkeypatch.delenv("DISCREET_BIN", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("discreet._binary.sysconfig.get_path", lambda *_: str(tmp_path))
    with pytest.raises(FileNotFoundError, match="release.*SHA256SUMS") as missing:
        find_binary()
    assert "pip install" not in str(missing.value)
