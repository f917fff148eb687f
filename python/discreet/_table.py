# SPDX-License-Identifier: Apache-2.0
"""Tables of pandas, polars, Arrow and numpy: names, kinds of columns, and cells.

What a cell holds decides nothing here: whatever it is, it becomes a cell, and no code of its own
(``__str__``, ``__eq__``, ``__array__``) is run. Only shapes, names and dtypes can be refused.
"""

from __future__ import annotations

import datetime
import decimal
import math
import struct
import sys
from typing import Any, Callable, Iterable, NamedTuple, Sequence

import numpy as np

Cell = None | bool | float | str

#: Days of dates are counted from here.
_EPOCH = datetime.date(1970, 1, 1).toordinal()
_DAY = {"D": 1, "h": 24, "m": 1440, "s": 86400, "ms": 86400 * 10**3, "us": 86400 * 10**6, "ns": 86400 * 10**9}


class Column(NamedTuple):
    """A column's values, and what its dtype alone says of them."""

    kind: str  # int, float, bool, text, days (since 1970-01-01), or any
    dtype: Any
    values: list[Any]  # each of any type whatever the kind

    def cells(self, truths: tuple[str, str] | None = None, days: bool = False) -> list[Cell]:
        """The column's cells: truths are how a category spells False and True, days whether dates count
        days and are else text."""
        memo: dict[int, Callable[[Any], Any]] = {}
        out: list[Cell] = []
        for value in self.values:
            kind = type(value)
            convert = memo.get(id(kind))
            if convert is None:
                convert = memo[id(kind)] = _converter(kind)
            try:
                cell = convert(value)
            except Exception:  # whatever it is, it is no cell
                cell = None
            if type(cell) is int:
                cell = float(cell - _EPOCH) if days else datetime.date.fromordinal(cell).isoformat()
            out.append(truths[cell] if truths and type(cell) is bool else cell)
        return out


def _converter(kind: type) -> Callable[[Any], Any]:
    # By the type itself, and types by what they are: all else may be code that came with a cell.
    pandas = sys.modules.get("pandas")
    if pandas is None or kind is not type(pandas.NaT):  # which calls itself a date
        for base in type.__dict__["__mro__"].__get__(kind):
            if id(base) in _CONVERT:
                return _CONVERT[id(base)]
    return lambda _: None


def _of_float(value: Any) -> Cell:
    number = float.__add__(value, 0.0)
    return number if math.isfinite(number) else None if number != number else f"{number}"


def _of_int(value: Any) -> Cell:
    number = int.__add__(value, 0)
    if -(2**53) < number < 2**53:
        return float(number)
    return str(number) if number.bit_length() < 1100 else "inf"  # beyond any number that is read


def _of_decimal(value: Any) -> Cell:
    return None if decimal.Decimal.is_nan(value) else _of_float(decimal.Decimal.__float__(value))


_KINDS: dict[Any, Callable[[Any], Any]] = {
    bool: lambda v: v,
    int: _of_int,
    float: _of_float,
    str: lambda v: str.__getitem__(v, slice(0, 1 << 20)),  # more does not count
    bytes: lambda v: bytes.decode(bytes.__getitem__(v, slice(0, 1 << 20)), "utf-8", "replace"),
    np.bool_: lambda v: bool(np.bool_.__bool__(v)),
    np.timedelta64: lambda _: None,  # which numpy counts among whole numbers
    np.integer: lambda v: _of_int(np.integer.__int__(v)),
    np.floating: lambda v: _of_float(float(np.floating.__float__(v))),
    decimal.Decimal: _of_decimal,
    datetime.date: datetime.date.toordinal,
}
_CONVERT = {id(kind): convert for kind, convert in _KINDS.items()}


def _refuse(name: str, dtype: Any) -> ValueError:
    return ValueError(f"column {name!r} must have a dtype of numbers, truth values, texts or dates without a time "
                      f"zone (got {dtype})")


def _of_numpy(values: Any, name: str) -> Column:
    dtype = values.dtype
    if dtype.kind == "f":
        with np.errstate(all="ignore"):
            return Column("float", dtype, values.astype(np.float64).tolist())
    if dtype.kind == "M" and np.datetime_data(dtype)[0] in _DAY:
        days = values.astype("datetime64[D]")
        return Column("days", dtype, [None if day == _NOT else day for day in days.astype(np.int64).tolist()])
    if dtype.kind == "U":  # item by item numpy refuses what is no character
        raw, width = np.ascontiguousarray(values.astype(dtype.newbyteorder("<"))).tobytes(), dtype.itemsize
        return Column("text", dtype, [raw[i:i + width].decode("utf-32-le", "replace").rstrip("\0")
                                      for i in range(0, len(raw), width)] if width else [""] * len(values))
    kinds = {"b": "bool", "i": "int", "u": "int", "S": "text", "O": "any"}
    if dtype.kind not in kinds:
        raise _refuse(name, dtype)
    return Column(kinds[dtype.kind], dtype, values.tolist())


_NOT = np.iinfo(np.int64).min  # what stands for no date


def _of_arrow(values: Any, name: str) -> Column:
    import pyarrow as pa
    from pyarrow import types as t

    dtype = values.type
    if t.is_dictionary(dtype):
        return _of_arrow(values.cast(dtype.value_type), name)._replace(kind="any")
    if t.is_string(dtype) or t.is_large_string(dtype) or t.is_string_view(dtype):
        return Column("text", dtype, values.cast(pa.large_binary()).to_pylist())  # which may be no UTF-8
    if t.is_binary(dtype) or t.is_large_binary(dtype) or t.is_fixed_size_binary(dtype):
        return Column("text", dtype, values.to_pylist())
    if t.is_date32(dtype):
        return Column("days", dtype, values.cast(pa.int32()).to_pylist())
    if t.is_date64(dtype) or t.is_timestamp(dtype) and dtype.tz is None:
        parts = _DAY["ms" if t.is_date64(dtype) else dtype.unit]
        return Column("days", dtype, [v if v is None else v // parts for v in values.cast(pa.int64()).to_pylist()])
    for kind, holds in [("bool", t.is_boolean), ("int", t.is_integer), ("float", t.is_floating),
                        ("float", t.is_decimal), ("any", t.is_null)]:
        if holds(dtype):
            return Column(kind, np.dtype(dtype.to_pandas_dtype()), values.to_pylist())
    raise _refuse(name, dtype)


def _of_polars(values: Any, name: str) -> Column:
    dtype = values.dtype
    kind = str(dtype.base_type())
    if kind == "Date":
        return Column("days", dtype, values.to_physical().to_list())
    if kind == "Datetime" and dtype.time_zone is None:
        parts = _DAY[dtype.time_unit]
        return Column("days", dtype, [v if v is None else v // parts for v in values.to_physical().to_list()])
    if dtype.is_numeric():
        return Column("int" if dtype.is_integer() else "float", values[:0].to_numpy().dtype, values.to_list())
    kinds = {"Boolean": "bool", "String": "text", "Binary": "text", "Categorical": "any", "Enum": "any",
             "Object": "any", "Null": "any"}
    if kind not in kinds:
        raise _refuse(name, dtype)
    return Column(kinds[kind], dtype, values.to_list())


def _of_pandas(values: Any, name: str) -> Column:
    dtype = values.dtype
    if isinstance(dtype, np.dtype):
        return _of_numpy(values.to_numpy(), name)
    if dtype.name == "category":  # its categories may be what private cells hold
        levels = _of_pandas(values.cat.categories, name)
        if levels.kind == "days":
            raise _refuse(name, dtype.name)
        codes = values.cat.codes.to_list()
        return Column("any", "category", [None if c < 0 else levels.values[c] for c in codes])
    array = values.array
    if "pyarrow" in str(getattr(dtype, "storage", "")) or hasattr(dtype, "pyarrow_dtype"):
        return _of_arrow(array.__arrow_array__(), name)
    kinds = {"i": "int", "u": "int", "f": "float", "b": "bool"}
    if hasattr(array, "_mask") and dtype.kind in kinds:
        return Column(kinds[dtype.kind], dtype.numpy_dtype, values.to_list())
    if dtype.name in ("string", "str"):
        return Column("text", dtype, values.to_list())
    raise _refuse(name, dtype)


def column_of(values: Any, name: str) -> Column:
    """One column or the labels: a numpy array, a pandas or polars series, an Arrow array, or a list."""
    library = type(values).__module__.partition(".")[0]
    if library == "pandas":
        return _of_pandas(values, name)
    if library == "polars":
        return _of_polars(values, name)
    if library == "pyarrow":
        return _of_arrow(values, name)
    if type(values) in (list, tuple):
        return Column("any", None, list(values))
    return _of_numpy(np.asarray(values), name)


def is_frame(table: Any) -> bool:
    """Whether columns have names."""
    return hasattr(table, "column_names") or hasattr(table, "columns")


def column_names(table: Any) -> list[str]:
    """Names of the columns; x0, x1, ... of an array. A pandas index is no column."""
    if is_frame(table):
        names = table.column_names if hasattr(table, "column_names") else table.columns  # Arrow; pandas and polars
        return [str(n) for n in names if n != "__index_level_0__"]
    return [f"x{i}" for i in range(table.shape[1])]


def column_at(table: Any, name: str) -> Column:
    """The column of a frame with this name."""
    names = [str(n) for n in (table.column_names if hasattr(table, "column_names") else table.columns)]
    if names.count(name) != 1:
        raise ValueError(f"X has {names.count(name)} columns named {name!r}")
    at = names.index(name)
    if hasattr(table, "column_names"):
        return column_of(table.column(at), name)
    return column_of(table.iloc[:, at] if hasattr(table, "iloc") else table.to_series(at), name)


class Lists:
    """A table given as a list of rows: a shape, and columns of no dtype."""

    dtype = None

    def __init__(self, rows: Sequence[Any]) -> None:
        wide = [len(row) for row in rows if type(row) in (list, tuple, np.ndarray)]
        if len(wide) != len(rows) or len(set(wide)) > 1:
            raise ValueError("Expected 2D array: X must be rows of as many cells each. Reshape your data")
        self.rows = rows
        self.shape = (len(rows), wide[0] if wide else 0)

    def __getitem__(self, key: Any) -> list[Any]:
        return [row[key[1]] for row in self.rows]


def array_of(X: Any) -> Any:
    """A table without names as something with a shape and columns; no cell is looked at."""
    if hasattr(X, "tocsr"):
        raise TypeError("sparse data is not supported: X must be dense, since every cell counts (X.toarray())")
    array = Lists(X) if type(X) in (list, tuple) else np.asarray(X)
    if len(array.shape) != 2:
        raise ValueError(f"Expected 2D array, got an array of {len(array.shape)} dimensions. Reshape your data")
    if isinstance(array, np.ndarray) and array.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    return array


def encode(names: Sequence[str], columns: Iterable[Sequence[Cell]]) -> bytes:
    """Rows as the program reads them from standard input, see internal/table/read/dataset/cells.go."""
    out = bytearray(struct.pack("<I", len(names)))
    for name in names:
        text = name.encode("utf-8", "replace")
        out += struct.pack("<I", len(text)) + text
    number, known = struct.Struct("<cd").pack, {None: b"-", False: b"0", True: b"1"}
    for row in zip(*columns):
        out += b"+"
        for cell in row:
            if type(cell) is float:
                out += number(b"n", cell)
            elif type(cell) is str:
                text = cell.encode("utf-8", "surrogatepass")
                out += b"t" + len(text).to_bytes(4, "little") + text
            else:
                out += known[cell]
    return bytes(out + b".")
