# SPDX-License-Identifier: Apache-2.0
"""Tables that differ in one protected cell, whatever it is: the package does and says the same.

DISCREET_SEARCH_SECONDS is how long the search goes on, DISCREET_SEARCH_SEED where it begins.
"""

import copy
import datetime
import decimal
import json
import logging
import os
import pickle
import random
import re
import subprocess
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet import ArraySchema, BudgetError, DiscreetClassifier, UsageError, find_binary
from discreet._table import BLOCK, column_of, stream

SCHEMA = {
    "name": "clinic", "unit": "one visit", "relation": "add-remove",
    "file": {"delimiter": ",", "quote": '"', "header": True, "missing": ["", "?"], "comment": "#"},
    "columns": [
        {"name": "age", "role": "private", "number": {"lower": 0, "upper": 100, "default": 50}},
        {"name": "seen", "role": "private",
         "date": {"format": "DD.MM.YYYY", "lower": "2015-01-01", "upper": "2024-12-31", "default": "2016-01-01"}},
        {"name": "ward", "role": "private", "category": {"levels": ["A", "B", "3"], "missing": True}},
        {"name": "night", "role": "private", "category": {"levels": ["False", "True"]}},
        {"name": "ill", "role": "private", "label": {"levels": ["0", "1"], "positive": "1", "default": "0"}},
    ],
}
NAMES = ["age", "seen", "ward", "night"]
CANARY = "secret-cell"


class Hostile:
    """An object that gives itself away to whatever code looks at it."""

    def _tell(self, *_):
        print(CANARY)
        warnings.warn(CANARY)
        raise RuntimeError(CANARY)

    __str__ = __repr__ = __eq__ = __hash__ = __len__ = __iter__ = __float__ = __int__ = __index__ = _tell
    __bool__ = __lt__ = __array__ = __getitem__ = __format__ = _tell
    __class__ = property(_tell)


class HostileText(str):
    encode = __str__ = __repr__ = __eq__ = __hash__ = __getitem__ = __len__ = Hostile._tell


class HostileNumber(float):
    __str__ = __repr__ = __float__ = __eq__ = __hash__ = __add__ = Hostile._tell


#: Values that an object may hold, of the kinds of which each has broken a reader somewhere.
ANY = [None, float("nan"), float("inf"), -float("inf"), 0, 1, 1.0, 0.5, -1, 2**53, 2**63, 10**400, 10**5000, -0.0,
       1e-320, True, False, np.bool_(True), np.int8(1), np.uint64(2**64 - 1), np.float16(0.5), np.float32("inf"),
       np.longdouble("1e4000"), np.datetime64("NaT"), np.timedelta64(1, "s"), pd.NA, pd.NaT, pd.Timestamp("2020-01-01"),
       pd.Timestamp("2020-01-01", tz="UTC"), pd.Interval(0, 1), datetime.date(1, 1, 1), datetime.datetime(9999, 12, 31),
       datetime.time(1), decimal.Decimal("1.5"), decimal.Decimal("NaN"), decimal.Decimal("sNaN"),
       decimal.Decimal("1e999999"), 1 + 2j, b"A", b"\xff\x00", bytearray(b"A"), "", "A", "no", "yes", "0", "1", "True",
       "#", "#" + CANARY, "\0", "\r", "\n", "\r\n", '"', ",", "\ud800", "\udcff", "\ufeff", "PAR1", "?", "nan", "1e999",
       "x" * (3 << 20), CANARY, CANARY + "\n", [CANARY], (), {"a": CANARY}, {CANARY}, [[1, 2], [3]], np.array([1, 2]),
       np.array(CANARY), np.str_(CANARY), type, len, ..., Hostile(), Hostile, HostileText(CANARY), HostileNumber(3.0)]

#: Values that a column of a dtype may hold.
TYPED = {
    "float64": [float("nan"), float("inf"), -float("inf"), 1e300, -1e300, 0.5, 5e-324, 7.0],
    "float32": [float("nan"), float("inf"), 1e30, 7.0], "int64": [-2**63, 2**63 - 1, 2**53 + 1, 7],
    "uint8": [0, 255], "bool": [True, False],
    "text": ["", CANARY, "#", "\0x", "\r", "\n", '"', "?", "1e9", "31.12.2020", "A", "x" * (2 << 20), "\ufeff"],
    "dates": [None, "0001-01-01", "2020-01-01", "9999-12-31", "1969-12-31"],
}


def objects(kind, values):
    out = np.fromiter(values, dtype=object, count=len(values))
    return pd.Series(out, dtype=object) if kind == "pandas" else out


#: Ways to make a column or labels: the values in it may be those of ANY or of one of TYPED.
COLUMNS = {
    "list": ("any", lambda v: list(v)),
    "object array": ("any", lambda v: objects("numpy", v)),
    "object series": ("any", lambda v: objects("pandas", v)),
    "category": ("text", lambda v: pd.Series(v, dtype=object).astype("category")),
    "str series": ("text", lambda v: pd.Series(v, dtype="str")),
    "string series": ("text", lambda v: pd.Series(v, dtype=pd.StringDtype("python"))),
    "U array": ("text", lambda v: np.array([s[:2000] for s in v])),
    "S array": ("text", lambda v: np.array([s[:2000].encode() for s in v])),
    "polars text": ("text", lambda v: pl.Series(v, dtype=pl.String)),
    "polars categorical": ("text", lambda v: pl.Series(v, dtype=pl.Categorical)),
    "arrow text": ("text", lambda v: pa.chunked_array([pa.array(v, pa.string())])),
    "arrow bytes": ("text", lambda v: pa.chunked_array([
        pa.array([s.encode() + b"\xff" for s in v], pa.binary()).view(pa.string())])),
    "arrow dictionary": ("text", lambda v: pa.chunked_array([pa.array(v, pa.string()).dictionary_encode()])),
    "int series": ("int64", lambda v: pd.Series(v, dtype="int64")),
    "Int64 series": ("int64", lambda v: pd.Series(v, dtype="Int64")),
    "arrow ints": ("int64", lambda v: pa.chunked_array([pa.array(v, pa.int64())])),
    "polars ints": ("int64", lambda v: pl.Series(v, dtype=pl.Int64)),
    "uint8 array": ("uint8", lambda v: np.array(v, dtype="uint8")),
    "float array": ("float64", lambda v: np.array(v, dtype="float64")),
    "longdouble array": ("float64", lambda v: np.array(v, dtype="longdouble") * np.longdouble(10) ** 50),
    "float32 series": ("float32", lambda v: pd.Series(v, dtype="float32")),
    "Float64 series": ("float64", lambda v: pd.Series(v, dtype="Float64")),
    "polars floats": ("float64", lambda v: pl.Series(v, dtype=pl.Float64)),
    "arrow floats": ("float64", lambda v: pa.chunked_array([pa.array(v, pa.float64())])),
    "bool series": ("bool", lambda v: pd.Series(v, dtype="bool")),
    "polars bools": ("bool", lambda v: pl.Series(v, dtype=pl.Boolean)),
    "datetime array": ("dates", lambda v: np.array(v, dtype="datetime64[s]")),
    "datetime series": ("dates", lambda v: pd.Series(np.array(v, dtype="datetime64[s]"))),
    "polars dates": ("dates", lambda v: pl.Series([_date(x) for x in v], dtype=pl.Date)),
    "arrow timestamps": ("dates", lambda v: pa.chunked_array([
        pa.array(np.array(v, dtype="datetime64[s]")).cast(pa.timestamp("s"))])),
    "arrow dates": ("dates", lambda v: pa.chunked_array([pa.array([_date(x) for x in v], pa.date32())])),
}


def _date(text):
    return None if text is None else datetime.date.fromisoformat(text)


def frame(library, columns):
    """A frame of columns of any kind, in a library that holds them as they are."""
    if library == "pandas":
        return pd.DataFrame({n: c for n, c in columns.items()})
    if library == "polars":
        return pl.DataFrame(columns)
    return pa.table({n: c.combine_chunks() for n, c in columns.items()})


def library_of(values):
    name = type(values).__module__.partition(".")[0]
    return name if name in ("polars", "pyarrow") else "pandas"


@pytest.fixture
def watch(tmp_path, capfd, caplog):
    """Fits a table and returns all that others could see of it."""
    caplog.set_level(logging.DEBUG)
    runs = iter(range(1 << 30))

    def fit(X, y, schema=SCHEMA, **kw):
        folder = tmp_path / str(next(runs))
        (folder / "tmp").mkdir(parents=True)
        ledger = str(folder / "l.db")
        budget("init", "--ledger", ledger, "--dataset", "d", "--epsilon", "3")
        m = DiscreetClassifier(schema, epsilon=1.0, learner="additive", ledger=ledger, dataset="d", **kw)
        capfd.readouterr()
        caplog.clear()
        before, os.environ["TMPDIR"] = os.environ.get("TMPDIR"), str(folder / "tmp")
        said, state, shown = "", [], []
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                m.fit(X, y)
            except BaseException as e:  # a cell may raise whatever it likes
                while e is not None:
                    said += f"{type(e).__module__}.{type(e).__name__}: {e}\n"
                    e = e.__cause__ or e.__context__
            else:
                m.save(folder / "m.json")
                state = {k: str(v) for k, v in vars(m).items() if k not in ("model_", "privacy_", "ledger")}
                shown = sorted(m.privacy_)
        os.environ.pop("TMPDIR")
        if before is not None:
            os.environ["TMPDIR"] = before
        out = {  # but for questions, which follow from the released model and its noise
            "said": said.replace(str(folder), ""), "warned": [str(w.message) for w in warned if not str(w.message).startswith("question: ")],
            "logged": [re.sub("as job [A-Z2-7]{26}$", "as a job", r.getMessage()).replace(str(folder), "")
                       for r in caplog.records], "streams": capfd.readouterr(), "state": state,
            "shown": shown, "spent": json.loads(budget("show", "--ledger", ledger, "--json"))["datasets"][0]["spent"],
            "files": sorted((str(f.relative_to(folder)), oct(f.stat().st_mode)) for f in folder.rglob("*")),
            "keys": sorted(keys_of(json.loads((folder / "m.json").read_text()))) if state else [],
        }
        everything = repr(out).encode() + pickle.dumps(m) + repr(m).encode()
        assert CANARY.encode() not in everything, out
        return out

    return fit


def budget(*args):
    return subprocess.run([find_binary(), "budget", *args], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE).stdout


def keys_of(value, path=""):
    """The names in a model, without what learning puts there."""
    if isinstance(value, dict):
        for k, v in value.items():
            yield f"{path}.{k}"
            yield from keys_of(v, f"{path}.{k}")


def base(n=60):
    r = np.random.default_rng(1)
    return {"age": r.integers(0, 100, n).tolist(), "seen": ["01.02.2020"] * n, "ward": r.choice(["A", "B"], n).tolist(),
            "night": (r.random(n) < 0.5).tolist()}, r.integers(0, 2, n).tolist()


def object_frame(columns):
    return pd.DataFrame({n: objects("pandas", v) for n, v in columns.items()})


def test_labels_stop_nothing_and_stay_nowhere(watch):
    columns, y = base()
    want = watch(object_frame(columns), objects("pandas", y))
    assert want["said"] == "" and want["spent"] and want["state"]
    for cell in [None, "text", 0.5, CANARY, Hostile()]:
        got = watch(object_frame(columns), objects("pandas", [cell, *y[1:]]))
        assert got == want, type(cell)
    assert watch(object_frame(columns), objects("pandas", [0] * len(y))) == want  # the labels that occur are nobody's


def test_cells_stop_nothing_and_stay_nowhere(watch):
    columns, y = base()
    want = watch(object_frame(columns), y)
    assert want["said"] == ""
    for name in NAMES:
        for cell in [Hostile(), "#" + CANARY, "\0", "\r", "\ud800", CANARY * (1 << 18), [CANARY]]:
            other = {**columns, name: [cell, *columns[name][1:]]}
            assert watch(object_frame(other), y) == want, (name, type(cell))


def test_arrays_of_any_cell_are_fitted(watch):
    schema = ArraySchema(0, 1, [0, 1])
    X, y = np.random.default_rng(1).random((50, 2)), [0, 1] * 25
    for want, other in [(X, [np.nan, np.inf, -np.inf, 1e308]), (X.astype(object), ANY), (X.tolist(), ANY)]:
        same = watch(want, y, schema)
        assert same["said"] == ""
        Z = copy.copy(want) if isinstance(want, np.ndarray) else [list(row) for row in want]
        for k, cell in enumerate(other):  # all at once: the search has them one by one
            Z[k // 2][k % 2] = cell
        assert watch(Z, y, schema) == same


def read_stream(stream):
    """A naive reader of a stream: its columns' names and forms, and their cells, each a form and its bytes."""
    at = 0

    def take(n):
        nonlocal at
        at += n
        assert at <= len(stream)
        return stream[at - n:at]

    def number():
        return int.from_bytes(take(4), "little")

    assert take(1) == b"\2"
    columns = []
    for _ in range(number()):
        name, form = take(number()).decode(), take(1).decode()
        take(number() + 20)
        columns.append((name, form, []))
    while rows := number():
        assert rows <= BLOCK
        for _, _, cells in columns:
            parts = take(take(1)[0]).decode()
            of = take(rows) if len(parts) > 1 else bytes(rows)
            values = []
            for i, form in enumerate(parts):
                if form in "tx":
                    texts = number()
                    codes = [int.from_bytes(take(2), "little") for _ in range(of.count(i))]
                    found = [take(number()) for _ in range(texts)]
                    values.append(iter([found[code] for code in codes]))
                else:
                    size = {"-": 0, "b": 1, "s": 4, "z": 16}.get(form, 8)
                    values.append(iter([take(size) for _ in range(of.count(i))]))
            cells += [(parts[part], next(values[part])) for part in of]
    assert at == len(stream)
    return columns


def test_each_row_is_sent():
    """A naive reader of the stream finds one cell for each, in its place, whatever the cells are."""
    for values in [ANY, *TYPED.values(), ["x", None] * (BLOCK - 7)]:
        n = len(values)
        ((name, form, cells), (_, _, others)) = read_stream(b"".join(stream(
            ["a", "b"], [column_of(list(values)), column_of(objects("numpy", values[::-1]))])))
        assert (name, form) == ("a", "a") and len(cells) == n and others == cells[::-1]
        for value, (form, sent) in zip(values, cells):
            if type(value) is str:
                assert form == "t" and sent.decode("utf-8", "surrogatepass") == value[:1 << 20]
            if type(value) in (int, bool, float, type(None)) and abs(value or 0) < 2**63:
                assert form == {int: "i", bool: "b", float: "f", type(None): "-"}[type(value)]


def test_every_kind_of_column_sends_the_same_cells():
    """Columns of every library and dtype are the cells of a list of the same values, some of them missing."""
    texts = ["A", None, "B", "", "0", "x" * 70, "A"] * 3
    for want, makes in {
        ("t", "a"): [lambda v: pd.Series(v, dtype="str"), lambda v: pd.Series(v, dtype=pd.StringDtype("python")),
                     lambda v: pl.Series(v, dtype=pl.String), lambda v: pa.array(v), lambda v: pa.array(v, pa.large_string()),
                     lambda v: pa.chunked_array([v[:4], v[4:]]), lambda v: pa.array(v, pa.string_view()),
                     lambda v: pa.array([None if x is None else x.encode() for x in v]),
                     lambda v: pd.Series(v, dtype=pd.ArrowDtype(pa.string())), lambda v: pd.Series(v).astype("category"),
                     lambda v: pl.Series(v, dtype=pl.Categorical), lambda v: pa.array(v).dictionary_encode()],
    }.items():
        cells = read_stream(b"".join(stream(["c"], [column_of(texts)])))[0][2]
        for make in makes:
            (_, form, got), = read_stream(b"".join(stream(["c"], [column_of(make(texts))])))
            assert form in want and got == cells, make(texts)
    numbers = [1, None, -3, 100, 0, None]
    cells = read_stream(b"".join(stream(["c"], [column_of(numbers)])))[0][2]
    for make in [lambda v: pd.Series(v, dtype="Int8"), lambda v: pd.Series(v, dtype="Int64"), lambda v: pl.Series(v, dtype=pl.Int16),
                 lambda v: pa.array(v, pa.int32()), lambda v: pd.Series(v, dtype=pd.ArrowDtype(pa.int64())), lambda v: pa.chunked_array([v[:1], v[1:]]),
                 lambda v: np.ma.MaskedArray([x or 0 for x in v], [x is None for x in v])]:
        (_, form, got), = read_stream(b"".join(stream(["c"], [column_of(make(numbers))])))
        assert form == "i" and got == cells, make(numbers)
    day = datetime.date(2020, 3, 29)
    cells = [("d", (18350).to_bytes(8, "little")), ("-", b"")]
    for column in [np.array(["2020-03-29", "NaT"], "M8[D]"), np.array(["2020-03-29T23:59", "NaT"], "M8[ns]"), pl.Series([day, None]),
                   pd.Series(["2020-03-29 23:59", None], dtype="datetime64[us]"), pa.array([day, None]), pa.array([day, None], pa.date64()),
                   pl.Series([datetime.datetime(2020, 3, 29, 23), None]), pa.array([datetime.datetime(2020, 3, 29, 23), None], pa.timestamp("s")),
                   objects("pandas", [day, None]), [datetime.datetime(2020, 3, 29, 23), pd.NaT]]:
        (_, form, got), = read_stream(b"".join(stream(["c"], [column_of(column)])))
        assert form in "da" and got == cells, column
    midnight = pd.Series(pd.to_datetime(["2020-03-29", None]))  # in Berlin, whose day before it is in UTC
    there, fixed = (midnight.dt.tz_localize(zone) for zone in ("Europe/Berlin", datetime.timezone(datetime.timedelta(hours=1))))
    cells = [("z", (1585436400).to_bytes(8, "little") + (3600).to_bytes(8, "little")), ("-", b"")]
    for column in [there, pl.from_pandas(there), pa.array(there), there.astype(object), there.astype("category"), fixed, pa.array(fixed),
                   fixed.astype(object), there.astype("datetime64[s, Europe/Berlin]"), pa.array(there, pa.timestamp("ns", "+01:00"))]:
        (_, form, got), = read_stream(b"".join(stream(["c"], [column_of(column)])))
        assert form in "za" and got == cells, column


def test_nothing_but_the_learners_options_pass(tmp_path):
    columns, y = base()
    for name in ["epsilon", "not-private", "ledger", "data", "model", "memory-limit", "delta", "option"]:
        with pytest.raises(UsageError, match=name):
            DiscreetClassifier(SCHEMA, epsilon=0.1, options={name: 100}).fit(object_frame(columns), y)
    DiscreetClassifier(SCHEMA, epsilon=1.0, learner="additive", options={"declared-rows": 50}).fit(object_frame(columns), y)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_of_every_kind_are_refused(copied):
    columns, y = base()
    with pytest.raises(BudgetError, match="copy"):
        copied(DiscreetClassifier(SCHEMA, epsilon=1.0)).fit(object_frame(columns), y)


def test_saved_models_are_their_owners(tmp_path):
    columns, y = base()
    m = DiscreetClassifier(SCHEMA, epsilon=1.0).fit(object_frame(columns), y)
    old = os.umask(0)
    try:
        m.save(tmp_path / "m.json")
    finally:
        os.umask(old)
    assert (tmp_path / "m.json").stat().st_mode & 0o777 == 0o600
    with pytest.raises(FileExistsError):
        m.save(tmp_path / "m.json")


def with_levels(levels):
    return {**SCHEMA, "columns": [*SCHEMA["columns"][:4], {"name": "ill", "role": "private", "label": {
        "levels": levels, **({"positive": "yes" if "yes" in levels else str(levels[-1])} if len(levels) == 2 else {}),
        "default": str(levels[0])}}]}


@pytest.mark.parametrize("levels, dtype", [
    (["no", "yes"], "int64"), (["no", "yes"], "bool"), (["no", "yes"], "float64"), (["0", "1", "2.5"], "int64"),
    (["0", "300"], "uint8"), (["0", "0.1"], "int32"), (["false", "true", "2"], "bool"), (["00", "01"], "int64")])
def test_levels_that_a_dtype_cannot_hold_are_refused_unpaid(watch, levels, dtype):
    columns, y = base()
    for values in (pd.Series(y).astype(dtype), np.array(y).astype(dtype), pa.array(np.array(y).astype(dtype))):
        got = watch(object_frame(columns), values, with_levels(levels))
        assert "UsageError" in got["said"] and 'column "ill" must be of a type' in got["said"] and dtype in got["said"] and not json.dumps(
            got["spent"]).strip('0"[]{} ').replace("epsilon", "").strip(': ",'), got
        # The same of other rows, since dtype and schema decide.
        other = watch(object_frame(columns), values[:1].take([0] * len(y)) if not isinstance(values, np.ndarray)
                      else np.repeat(values[:1], len(y)), with_levels(levels))
        assert other == got


@pytest.mark.parametrize("levels, y, want", [
    (["false", "true"], [True, False], [False, True]), (["False", "True"], [True, False], [False, True]),
    (["TRUE", "FALSE"], [True, False], [False, True]), (["0", "1"], [True, False], [False, True]),
    (["1", "0"], [0, 1], [0, 1]), (["0", "1"], [0.0, 1.0], [0.0, 1.0]), (["-1", "7", "12"], [7, 7], [-1, 7, 12]),
    (["0.5", "1"], [0.5, 1.0], [0.5, 1.0]), (["no", "yes"], ["no", "no"], ["no", "yes"])])
def test_classes_have_the_labels_dtype(levels, y, want):
    columns, _ = base(40)
    for make in (np.array, pd.Series, pl.Series, pa.array, lambda v: pd.Series(v, dtype=object if type(v[0]) is str else f"{np.array(v).dtype}".capitalize().replace("Bool", "boolean"))):
        m = DiscreetClassifier(with_levels(levels), epsilon=1.0).fit(object_frame(columns), make(y * 20))
        assert m.classes_.tolist() == want and [type(c) for c in m.classes_.tolist()] == [type(c) for c in want]
        p = m.predict_proba(object_frame(columns))
        assert np.allclose(p.sum(axis=1), 1) and set(m.predict(object_frame(columns)).tolist()) <= set(want)


def test_truth_values_are_spelt_as_the_levels():
    # The column decides the label; were its cells of no level, all rows would score alike.
    for levels in (["false", "true"], ["False", "True"], ["0", "1"]):
        schema = {**SCHEMA, "columns": [*SCHEMA["columns"][:3], {
            "name": "night", "role": "private", "category": {"levels": levels}}, SCHEMA["columns"][4]]}
        columns, _ = base(400)
        for X in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns), object_frame(columns)):
            m = DiscreetClassifier(schema, epsilon=50.0).fit(X, np.array(columns["night"]).astype(int))
            assert m.score(X, np.array(columns["night"]).astype(int)) > 0.95
            row = {n: columns[n][0] for n in NAMES}
            assert m.predict_row(row) == m.predict_proba(X)[0, 1]
    with pytest.raises(UsageError, match='column "night" .*bool'):
        DiscreetClassifier({**SCHEMA, "columns": [*SCHEMA["columns"][:3], {
            "name": "night", "role": "private", "category": {"levels": ["day", "night"]}}, SCHEMA["columns"][4]]},
            epsilon=1.0).fit(pd.DataFrame(columns), [0, 1] * 200)


def test_dtypes_that_no_cell_has_are_refused_by_name_where_they_are_read():
    columns, y = base()
    for values in (np.ones(60) * 1j, np.ones(60, "timedelta64[s]"), pd.Series(pd.period_range("2020", periods=60)),
                   pd.Series([pd.Interval(0, 1)] * 60), pd.Series([[1]] * 60, dtype=pd.ArrowDtype(pa.list_(pa.int64())))):
        X = object_frame(columns)
        X["age"] = values
        dtype = str(X["age"].dtype)
        with pytest.raises(UsageError, match='column "age" must be of a type') as refused:
            DiscreetClassifier(SCHEMA, epsilon=1.0).fit(X, y)
        assert dtype in str(refused.value) or "list" in dtype
        ignored = {**SCHEMA, "columns": [{"name": "age", "role": "ignored"}, *SCHEMA["columns"][1:]]}
        DiscreetClassifier(ignored, epsilon=1.0, learner="additive").fit(X, y)


def test_every_level_must_be_writable():
    columns, y = base()
    months = [f"{m:02}" for m in range(1, 13)]
    schema = {**SCHEMA, "columns": [*SCHEMA["columns"][:2], {"name": "ward", "role": "private", "category": {"levels": months}},
                                    *SCHEMA["columns"][3:]]}
    X = pd.DataFrame(columns).assign(seen=pd.Timestamp("2020-01-02"), ward=np.arange(60) % 12 + 1)
    with pytest.raises(UsageError, match='column "ward" must be of a type that can hold every level, such as "01": int64 .*dtype=str'):
        DiscreetClassifier(schema, epsilon=1.0).fit(X, y)
    for ward in (X["ward"].astype(object), X["ward"].map("{:02}".format)):  # a type per cell, and text
        DiscreetClassifier(schema, epsilon=1.0, learner="additive").fit(X.assign(ward=ward), y)


def test_tables_that_are_not_there_yet(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    columns, y = base(400)
    X = pd.DataFrame({**columns, "seen": pd.Timestamp("2020-01-02")})
    m = DiscreetClassifier(SCHEMA, epsilon=float("inf"), learner="additive").fit(X, y)
    want = m.predict_proba(X)
    X.to_parquet(tmp_path / "x.parquet")
    for make in (lambda: pl.from_pandas(X).lazy(), lambda: pl.scan_parquet(tmp_path / "x.parquet"), lambda: pa.Table.from_pandas(X).to_reader(),
                 lambda: duckdb.read_parquet(str(tmp_path / "x.parquet"))):
        assert np.array_equal(m.predict_proba(make()), want)
        again = DiscreetClassifier(SCHEMA, epsilon=float("inf"), learner="additive").fit(make(), y)
        assert np.array_equal(again.predict_proba(X), want)
    with pytest.MonkeyPatch.context() as without:
        without.setattr("importlib.util.find_spec", lambda name: None)  # no pyarrow
        assert np.array_equal(m.predict_proba(duckdb.read_parquet(str(tmp_path / "x.parquet"))), want)


def test_search_finds_no_neighbours_that_differ(watch):
    r = random.Random(int(os.environ.get("DISCREET_SEARCH_SEED", time.time_ns())))
    ends, tried, kinds = time.monotonic() + float(os.environ.get("DISCREET_SEARCH_SECONDS", 20)), 0, {}
    while time.monotonic() < ends:
        kind, make = r.choice(list(COLUMNS.items()))
        of, make = make
        values = ANY if of == "any" else TYPED[of]
        n = 12
        rest = {"any": ["A", 1, 0.5], "text": ["A", "0", "1"], "int64": [0, 1], "uint8": [0, 1], "bool": [True, False],
                "float64": [0.0, 1.0], "float32": [0.0, 1.0], "dates": ["2020-01-01"]}[of]
        cells = [r.choice(rest) for _ in range(n)]
        others, at = r.sample(values, min(3, len(values))), r.randrange(n)
        as_label = r.random() < 0.4
        name = r.choice(NAMES)
        columns, y = base(n)

        def outcome(cell):
            made = make([*cells[:at], cell, *cells[at + 1:]])
            if as_label:
                return watch(object_frame(columns), made)
            library = library_of(made)
            cast = {"pandas": lambda v: objects("pandas", v), "polars": lambda v: pl.Series([str(x) for x in v]),
                    "pyarrow": lambda v: pa.chunked_array([pa.array([str(x) for x in v])])}[library]
            if kind == "list" and r_list:
                return watch([list(row) for row in zip(*({**columns, name: made}[c] for c in NAMES))], y,
                             {**SCHEMA, "columns": [{**c, "name": f"x{i}"} if i < 4 else c
                                                    for i, c in enumerate(SCHEMA["columns"])]})
            if kind == "list":
                made = objects("pandas", made)
            return watch(frame(library, {n: made if n == name else cast(v) for n, v in columns.items()}), y)

        r_list = r.random() < 0.5
        want = outcome(cells[at])
        for cell in others:
            got = outcome(cell)
            assert got == want, (kind, name, as_label, type(cell))
            tried += 1
        kinds[bool(want["said"])] = kinds.get(bool(want["said"]), 0) + 1
    print(f"\n{tried} neighbours, {kinds.get(False, 0)} tables fitted and {kinds.get(True, 0)} refused by dtype")
    assert tried > 0
