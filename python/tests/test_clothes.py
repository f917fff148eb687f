# SPDX-License-Identifier: Apache-2.0
"""Equal frames in different clothes: whatever its dtypes, a frame has the same scores to the bit, or is refused."""

import datetime
import decimal

import numpy as np
import onnxruntime
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet import DiscreetClassifier

ROWS = 60
DATES = {"lower": "2000-01-01", "upper": "2030-12-31", "default": "2010-01-01"}
SCHEMA = {
    "name": "clothes", "unit": "one row", "relation": "replace-one",
    "file": {"delimiter": ",", "quote": '"', "header": True, "missing": [""]},
    "columns": [
        {"name": "grade", "role": "private", "category": {"levels": ["1", "2", "3"], "missing": True}},
        {"name": "flag", "role": "private", "category": {"levels": ["false", "true"]}},
        {"name": "smoker", "role": "public", "category": {"levels": ["0", "1"]}},
        {"name": "price", "role": "private", "number": {"lower": 0, "upper": 100, "default": 0, "special": [99.5]}},
        {"name": "seen", "role": "private", "date": {"format": "YYYYMMDD", **DATES}},
        {"name": "admitted", "role": "private", "date": {"format": "DD.MM.YYYY", **DATES}},
        {"name": "code", "role": "private", "category": {"levels": ["250.10", "7.00"]}},
        {"name": "city", "role": "private", "category": {"levels": ["Zürich", "Rome"]}},
        {"name": "ill", "role": "private", "label": {"levels": ["0", "1"], "positive": "1", "default": "0"}},
    ],
}
r = np.random.default_rng(4)
GRADES = [None if r.random() < .1 else int(g) for g in r.integers(1, 5, ROWS)]
FLAGS = [bool(b) for b in r.integers(0, 2, ROWS)]
PRICES = [float(p) for p in r.choice([0.25, 12.5, 99.5, 101.75], ROWS)]
DAYS = [datetime.date(2019, 12, 28) + datetime.timedelta(int(d)) for d in r.integers(0, 9, ROWS)]
CODES = [str(c) for c in r.choice(["250.10", "7.00", "8.00"], ROWS)]
CITIES = [str(c) for c in r.choice(["Zürich", "Zu\u0308rich", "Rome", "Oslo"], ROWS)]
TEXT = {
    "grade": ["" if g is None else str(g) for g in GRADES], "flag": [str(f) for f in FLAGS], "smoker": [str(int(f)) for f in FLAGS],
    "price": [str(p) for p in PRICES], "seen": [f"{d:%Y%m%d}" for d in DAYS], "admitted": [f"{d:%d.%m.%Y}" for d in DAYS],
    "code": CODES, "city": CITIES,
}
NUMBERS = [int(f"{d:%Y%m%d}") for d in DAYS]
NIGHTS = [datetime.datetime(d.year, d.month, d.day, 23, 30) for d in DAYS]
EARLY = pd.to_datetime(DAYS) + pd.Timedelta(minutes=30)
EXACT = [decimal.Decimal(c) for c in CODES]

#: Columns of each name in other dtypes.
CLOTHES = {
    "grade": [pd.array(GRADES, "Int64"), pd.array(GRADES, "Float32"), [np.nan if g is None else float(g) for g in GRADES], pd.Categorical(GRADES),
              pl.Series(GRADES, dtype=pl.UInt8), pl.Series(GRADES, dtype=pl.Float64), pa.array(GRADES, pa.int16()), pa.array(GRADES, pa.uint64()),
              pa.array([None if g is None else decimal.Decimal(g) for g in GRADES], pa.decimal128(9, 2)), pa.array(GRADES).dictionary_encode(),
              pd.array([None if g is None else float(g) for g in GRADES], "float16"), pd.Series([None if g is None else f"{g}.0" for g in GRADES])],
    "flag": [FLAGS, pd.array(FLAGS, "boolean"), [int(f) for f in FLAGS], [float(f) for f in FLAGS], pl.Series(FLAGS), pa.array(FLAGS), pd.Categorical(FLAGS),
             pd.array([float(f) for f in FLAGS], "float16"), [np.bool_(f) for f in FLAGS]],
    "smoker": [FLAGS, pd.array(FLAGS, "boolean"), [float(f) for f in FLAGS], pl.Series([str(f) for f in FLAGS], dtype=pl.Categorical), pa.array(FLAGS)],
    "price": [PRICES, pd.array(PRICES, "float32"), pl.Series(PRICES, dtype=pl.Decimal(9, 2)), pa.array([decimal.Decimal(p) for p in PRICES], pa.decimal128(38, 2)),
              [decimal.Decimal(p) for p in PRICES]],
    "seen": [NUMBERS, pd.array(NUMBERS, "Int32"), [float(n) for n in NUMBERS], DAYS, NIGHTS, pd.to_datetime(NIGHTS), pl.Series(DAYS), pl.Series(NIGHTS),
             pa.array(DAYS), pa.array(NIGHTS, pa.timestamp("s")), pa.array(NUMBERS, pa.uint32()), pd.array(NIGHTS, pd.ArrowDtype(pa.timestamp("ns")))],
    "admitted": [DAYS, NIGHTS, pd.to_datetime(NIGHTS).tz_localize("UTC"), np.array(DAYS, "datetime64[D]"), pl.Series(DAYS), pa.array(NIGHTS, pa.timestamp("us", "UTC")),
                 EARLY.tz_localize("Asia/Tokyo"), pl.Series(EARLY.tz_localize("Asia/Tokyo")), pa.array(EARLY.tz_localize("Asia/Tokyo")),
                 EARLY.tz_localize("Asia/Tokyo").astype(object)],  # whose days in UTC are those before
    "code": [EXACT, pl.Series(EXACT, dtype=pl.Decimal(9, 2)), pa.array(EXACT, pa.decimal128(18, 2)), pd.Categorical(CODES)],
    "city": [pd.array(CITIES, "string"), pd.Categorical(CITIES), np.array(CITIES), pl.Series(CITIES, dtype=pl.Categorical), pa.array(CITIES).dictionary_encode(),
             pa.array(CITIES, pa.large_string()), [c.encode() for c in CITIES]],
}

#: Dtypes that cannot hold what the schema declares.
REFUSED = {
    "grade": [FLAGS, pd.to_datetime(NIGHTS)], "price": [pd.to_datetime(NIGHTS), pl.Series(DAYS), pd.array(PRICES, "float16")],
    "seen": [pd.array(NUMBERS, "float32"), np.zeros(ROWS, "int16"), FLAGS], "admitted": [NUMBERS, [float(n) for n in NUMBERS]],
    "code": [[float(c) for c in CODES], pa.array(EXACT, pa.decimal128(18, 3))], "city": [NUMBERS, FLAGS],
}


def frame(name, column):
    """The table with one column in other clothes, in the column's library."""
    columns = {**TEXT, name: column}
    if isinstance(column, pl.Series):
        return pl.DataFrame(columns)
    if isinstance(column, (pa.Array, pa.ChunkedArray)):
        return pa.table(columns)
    return pd.DataFrame(columns)


@pytest.fixture(scope="module")
def model():
    return DiscreetClassifier(schema=SCHEMA, epsilon=50.0).fit(pd.DataFrame(TEXT), [str(int(f)) for f in FLAGS])


@pytest.mark.parametrize("name", CLOTHES)
def test_equal_frames_score_the_same(model, name):
    want = model.predict_proba(pd.DataFrame(TEXT))
    for i, column in enumerate(CLOTHES[name]):
        assert np.array_equal(want, model.predict_proba(frame(name, column))), f"{name} {i}: {type(column)} {getattr(column, 'dtype', '')}"


@pytest.mark.parametrize("name", REFUSED)
def test_dtypes_that_cannot_hold_a_column_are_refused(model, name):
    for i, column in enumerate(REFUSED[name]):
        with pytest.raises(ValueError, match=name):
            model.predict_proba(frame(name, column))
            pytest.fail(f"{name} {i}")


def test_dates_in_onnx():
    parts = [{"name": f"part {part}", part: ["admitted"]} for part in ("year", "month", "weekday")]
    dated = DiscreetClassifier({**SCHEMA, "derived": parts}, 50.0, learner="additive").fit(pd.DataFrame(TEXT), [str(int(f)) for f in FLAGS])
    session = onnxruntime.InferenceSession(dated.to_onnx())
    rare = pd.to_datetime(["2000-01-01", "2000-02-28", "2000-02-29", "2000-03-01", "2024-02-29", "2030-12-31", "1999-12-31", "2031-01-01"])
    days = [*rare, *pd.date_range("2000-01-01", periods=40, freq="277D"), pd.NaT]
    cells = {"grade": "1", "flag": "true", "smoker": "0", "price": 1.0, "code": "7.00", "city": "Rome"}
    X = pd.DataFrame({name: [cells.get(name)] * len(days) for name in TEXT}).assign(seen=days, admitted=days[::-1])
    feed = {}
    for put in session.get_inputs():
        column = X[put.name]
        if column.dtype.kind == "M":
            column = (column - pd.Timestamp(0)) / pd.Timedelta(days=1)
        feed[put.name] = column.to_numpy(object if put.type == "tensor(string)" else float)[:, None]
    assert "admitted" in feed
    assert np.allclose(session.run(["score"], feed)[0][:, 0], dated.predict_proba(X)[:, 1], rtol=0, atol=1e-12)
