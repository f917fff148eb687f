# SPDX-License-Identifier: Apache-2.0
"""Tables of pandas, polars, Arrow, DuckDB and numpy: names, types of columns, and cells.

Columns go to the program as they are in memory, which says what a cell means and which dtypes cannot be
what the schema declares (internal/table/read/dataset/cells.go). Nothing depends on a cell here: whatever it
is, it becomes a cell, and no code of its own (``__str__``, ``__eq__``, ``__array__``) is run.
"""

from __future__ import annotations

import datetime
import decimal
import importlib.util
import struct
import sys
import zoneinfo
from typing import Any, Callable, Iterator, NamedTuple, Sequence

import numpy as np

#: Rows of a block, the most that the program takes.
BLOCK = 1 << 16

Buffer = Any  # bytes, or an array


class Column(NamedTuple):
    """A column: what its dtype alone says, and its cells."""

    form: str  # a letter of cells.go
    dtype: Any
    size: int
    block: Callable[[int, int], list[Buffer]]  # the cells of some rows
    bounds: tuple[int, int] = (0, 0)  # of whole numbers and digits before the point; both 0 for those of 64 bits
    scale: int = 0  # of decimals

    def head(self, name: str) -> bytes:
        """How the stream announces the column."""
        return (_text(name.encode("utf-8", "replace")) + self.form.encode() + _text(str(self.dtype).encode("utf-8", "replace"))
                + struct.pack("<qqI", *self.bounds, self.scale))


def stream(names: Sequence[str], columns: Sequence[Column], start: int = 0, stop: int | None = None) -> Iterator[bytes]:
    """Rows as the program reads them, see cells.go."""
    yield b"\2" + struct.pack("<I", len(names)) + b"".join(map(Column.head, columns, names))
    stop = max((c.size for c in columns), default=0) if stop is None else stop
    for at in range(start, stop, BLOCK):
        end = min(at + BLOCK, stop)
        block: list[Buffer] = [struct.pack("<I", end - at)]
        for column in columns:
            block += column.block(at, end)
        yield b"".join(block)
    yield b"\0\0\0\0"


def _text(text: bytes) -> bytes:
    text = text[:1 << 20]  # more does not count
    return len(text).to_bytes(4, "little") + text


# Cells of one type.

def _numbers(form: str, values: Any, missing: Any = None) -> list[Buffer]:
    """Numbers, of which some are missing."""
    if missing is None or not missing.any():
        return [b"\1" + form.encode(), np.ascontiguousarray(values)]
    return [b"\2" + form.encode() + b"-", missing.astype("u1"), values[~missing]]


def _coded(form: str, codes: Any, texts: Sequence[bytes]) -> list[Buffer]:
    """Texts by their codes, of which -1 is a missing cell."""
    missing = codes < 0
    if missing.any():
        head, present = [b"\2" + form.encode() + b"-", missing.astype("u1")], codes[~missing]
    else:
        head, present = [b"\1" + form.encode()], codes
    if len(texts) > 256 and len(texts) > len(present):  # most have no cell
        used, present = np.unique(present, return_inverse=True)
        texts = [texts[i] for i in used.tolist()]
    return [*head, struct.pack("<I", len(texts)), present.astype("<u2"), *map(_text, texts)]


def _named(form: str, values: Sequence[Any], encode: Callable[[Any], bytes]) -> list[Buffer]:
    """Texts, all of one type that has no code of its own."""
    codes = {value: i for i, value in enumerate(dict.fromkeys(values))}
    return [b"\1" + form.encode(), struct.pack("<I", len(codes)),
            np.fromiter(map(codes.__getitem__, values), "<u2", len(values)), *(_text(encode(v)) for v in codes)]


def _unicode(text: str) -> bytes:
    return text[:1 << 20].encode("utf-8", "surrogatepass")


# Cells of any type.

_EPOCH = datetime.date(1970, 1, 1).toordinal()
_START = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_ZONES = (datetime.timezone, zoneinfo.ZoneInfo)

Cell = tuple[str, Any]  # a form, and a value of an exact type
_MISSING: Cell = ("-", None)


def _of_int(value: Any) -> Cell:
    number = int.__add__(value, 0)
    if -(2**63) <= number < 2**63:
        return "i", number
    return ("x", str(number)) if number.bit_length() < 1100 else ("f", float("inf"))  # beyond any number that is read


def _of_decimal(value: Any) -> Cell:
    number = decimal.Decimal.__float__(value) if not decimal.Decimal.is_nan(value) else float("nan")
    if not 1e-300 < abs(number) < 1e300:  # such digits would take any amount of memory
        return "f", number
    return "x", decimal.Decimal.__format__(value, "f")


def _of_datetime(value: Any) -> Cell:
    zone = datetime.datetime.tzinfo.__get__(value)
    if type(zone) not in _ZONES:  # any other may be code that came with a cell
        return "d", datetime.datetime.toordinal(value) - _EPOCH
    there = datetime.datetime.combine(datetime.datetime.date(value), datetime.datetime.time(value), zone)
    return "z", (_seconds(there - _START), _seconds(there.utcoffset() or datetime.timedelta()))


def _seconds(span: datetime.timedelta) -> int:
    return span.days * 86400 + span.seconds


_FIRST, _LAST = (_seconds(datetime.datetime(year, 1, 1, tzinfo=datetime.timezone.utc) - _START) for year in (2, 9999))


def _zone(name: str) -> datetime.tzinfo:
    """The zone that a dtype names, such as Europe/Berlin or +02:00."""
    if name[:1] in "+-" and name[1:].replace(":", "").isdigit():
        hours, minutes = int(name[1:3]), int(name[-2:])
        return datetime.timezone((1 if name[0] == "+" else -1) * datetime.timedelta(hours=hours, minutes=minutes))
    try:
        return zoneinfo.ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ValueError(f"a column's dtype must have a zone of the IANA time zone database (got {name!r}); pip install tzdata "
                         "brings the database") from None


def _instants(seconds: Any, zone: datetime.tzinfo) -> Any:
    """Seconds since 1970 in UTC, each with those by which the zone is then east of UTC."""
    found, places = np.unique(np.clip(seconds, _FIRST, _LAST), return_inverse=True)
    east = [_seconds((_START + datetime.timedelta(seconds=at)).astimezone(zone).utcoffset() or datetime.timedelta()) for at in found.tolist()]
    return np.stack([seconds, np.array(east, "<i8")[places]], axis=1)


def _of_datetime64(value: Any) -> Cell:
    day = int(np.datetime64.astype(value, "datetime64[D]").astype(np.int64))
    return _MISSING if day == _NOT else ("d", day)


_KINDS: dict[Any, Callable[[Any], Cell]] = {
    bool: lambda v: ("b", v),
    int: _of_int,
    float: lambda v: ("f", float.__add__(v, 0.0)),
    str: lambda v: ("t", str.__getitem__(v, slice(0, 1 << 20))),
    bytes: lambda v: ("bytes", bytes.__getitem__(v, slice(0, 1 << 20))),
    np.bool_: lambda v: ("b", bool(np.bool_.__bool__(v))),
    np.timedelta64: lambda _: _MISSING,  # which numpy counts among whole numbers
    np.integer: lambda v: _of_int(np.integer.__int__(v)),
    np.float32: lambda v: ("s", float(np.floating.__float__(v))),
    np.float16: lambda v: ("s", float(np.floating.__float__(v))),
    np.floating: lambda v: ("f", float(np.floating.__float__(v))),
    np.datetime64: _of_datetime64,
    decimal.Decimal: _of_decimal,
    datetime.datetime: _of_datetime,
    datetime.date: lambda v: ("d", datetime.date.toordinal(v) - _EPOCH),
}
_CONVERT = {id(kind): convert for kind, convert in _KINDS.items()}

#: Types of the usual cells of a column of texts.
_PLAIN = {id(str), id(float), id(type(None))}

#: Types whose values are sent as they are.
_EXACT = {id(str): "t", id(float): "f", id(bool): "b", id(bytes): "bytes", id(type(None)): "-"}


def _converter(kind: type) -> Callable[[Any], Cell]:
    # By the type itself, and types by what they are: all else may be code that came with a cell.
    pandas = sys.modules.get("pandas")
    if pandas is None or kind is not type(pandas.NaT):  # which calls itself a date
        for base in type.__dict__["__mro__"].__get__(kind):
            if id(base) in _CONVERT:
                return _CONVERT[id(base)]
    return lambda _: _MISSING


def _convert(value: Any, convert: Callable[[Any], Cell]) -> Cell:
    try:
        return convert(value)
    except Exception:  # whatever it is, it is no cell
        return _MISSING


def _pack(form: str, values: Sequence[Any]) -> list[Buffer]:
    """Cells of one form as the only part of a column."""
    if form == "-":
        return [b"\1-"]
    if form == "bytes":
        return _named("t", values, lambda v: v)
    if form == "t":
        return _named("t", values, _unicode)
    if form == "x":
        return _named("x", values, str.encode)
    return [b"\1" + form.encode(), np.array(values, {"f": "<f8", "s": "<f4", "b": "u1"}.get(form, "<i8"))]


def _any(values: Sequence[Any]) -> list[Buffer]:
    """Cells of whatever type each has."""
    if len(values) == 1:  # a row alone
        known = _EXACT.get(id(type(values[0])))
        form, cell = (known, values[0]) if known else _convert(values[0], _converter(type(values[0])))
        return _pack(form, [cell])
    if set(map(id, map(type, values))) <= _PLAIN:
        codes = {value: i for i, value in enumerate(dict.fromkeys(values))}
        found = list(codes)
        if all(type(v) is str or v is None or v != v for v in found):  # texts, and what stands for no text
            is_text = np.fromiter((type(v) is str for v in found), bool, len(found))
            places = np.where(is_text, np.cumsum(is_text) - 1, -1)
            return _coded("t", places[np.fromiter(map(codes.__getitem__, values), np.intp, len(values))],
                          [_unicode(v) for v in found if type(v) is str])
    kinds = np.fromiter(map(id, map(type, values)), np.uintp, len(values))
    parts: dict[str, tuple[list[Any], list[Any]]] = {}  # of each form, its rows and its cells
    for kind in np.unique(kinds).tolist():
        rows = np.flatnonzero(kinds == kind).tolist()
        some = values if len(rows) == len(values) else [values[row] for row in rows]
        if kind in _EXACT:
            at, cells = parts.setdefault(_EXACT[kind], ([], []))
            at += rows
            cells += some
            continue
        convert = _converter(type(some[0]))
        for row, value in zip(rows, some):
            form, cell = _convert(value, convert)
            at, cells = parts.setdefault(form, ([], []))
            at.append(row)
            cells.append(cell)
    if len(parts) == 1:
        ((form, (rows, cells)),) = parts.items()
        return _pack(form, cells)
    part = np.empty(len(values), "u1")
    forms, body = b"", []
    for i, (form, (rows, cells)) in enumerate(parts.items()):
        order = np.argsort(rows, kind="stable")
        part[rows] = i
        head, *rest = _pack(form, [cells[k] for k in order.tolist()])
        forms += head[1:]
        body += rest
    return [bytes([len(parts)]) + forms, part, *body]


def _objects(values: Any, dtype: Any, form: str = "a") -> Column:
    return Column(form, dtype, len(values), lambda start, stop: _any(list(values[start:stop])))


def _unknown(dtype: Any, size: int) -> Column:
    return Column("?", dtype, size, lambda start, stop: [b"\1-"])


# Columns of each library.

_NOT = np.iinfo(np.int64).min  # what stands for no date
_HALF = (-2048, 2048)  # the whole numbers that a float of 16 bits has without gaps
_UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def _of_numpy(values: Any) -> Column:
    dtype, mask = values.dtype, np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
    values = np.ma.getdata(values) if mask is not None else values

    def cells(form: str, to: str) -> Column:
        bounds = (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)) if dtype.kind in "iu" and dtype.itemsize < 8 else (0, 0)
        if dtype.kind == "u" and dtype.itemsize == 8:
            bounds = (0, 2**63 - 1)
        if dtype.kind == "f" and dtype.itemsize == 2:
            bounds = _HALF

        def block(start: int, stop: int) -> list[Buffer]:
            with np.errstate(all="ignore"):
                some = values[start:stop].astype(to)
            none = None if mask is None else mask[start:stop]
            if form == "d":
                some = some.astype("<i8")
                none = (some == _NOT) if none is None else none | (some == _NOT)
            return _numbers(form, some, none)
        return Column(form, dtype, len(values), block, bounds)

    if dtype.kind == "f":
        return cells("s", "<f4") if dtype.itemsize <= 4 else cells("f", "<f8")
    if dtype.kind in "iu":
        return cells("u", "<u8") if dtype == np.uint64 else cells("i", "<i8")
    if dtype.kind == "b":
        return cells("b", "u1")
    if dtype.kind == "M" and np.datetime_data(dtype)[0] != "generic":
        return cells("d", "datetime64[D]")
    if dtype.kind == "U":  # item by item numpy refuses what is no character
        width = dtype.itemsize

        def block(start: int, stop: int) -> list[Buffer]:
            raw = np.ascontiguousarray(values[start:stop].astype(dtype.newbyteorder("<"))).tobytes()
            some = [raw[i:i + width] for i in range(0, len(raw), width)] if width else [b""] * (stop - start)
            return _named("t", some, lambda v: v.decode("utf-32-le", "replace").rstrip("\0").encode())
        return Column("t", dtype, len(values), block)
    if dtype.kind == "S":
        return Column("t", dtype, len(values), lambda start, stop: _named("t", values[start:stop].tolist(), lambda v: v))
    if dtype.kind == "O":
        return Column("a", dtype, len(values), lambda start, stop: _any(
            [None if gone else v for v, gone in zip(values[start:stop].tolist(), mask[start:stop].tolist())] if mask is not None
            else values[start:stop].tolist()))
    return _unknown(dtype, len(values))


def _of_arrow(values: Any, form: str = "") -> Column:
    """An Arrow array; form is a if its type may depend on cells."""
    import pyarrow as pa
    from pyarrow import types as t

    dtype = values.type

    def plain(to: Any, what: str, divisor: int = 1, fill: Any = 0, zone: Any = None) -> Column:
        def block(start: int, stop: int) -> list[Buffer]:
            some = values.slice(start, stop - start)
            missing = some.is_null().to_numpy(zero_copy_only=False) if some.null_count else None
            if to is not None:
                some = some.cast(to)
            cells = some.fill_null(fill).to_numpy(zero_copy_only=False) if some.null_count else some.to_numpy(zero_copy_only=False)
            if zone is not None:
                return _numbers(what, _instants(cells // divisor, zone), missing)
            return _numbers(what, cells // divisor if divisor > 1 else cells.astype(_WIDTHS[what]), missing)
        whole = t.is_integer(dtype) and dtype.bit_width < 64
        bounds = (0, 0) if not whole else (0, 2**dtype.bit_width - 1) if t.is_unsigned_integer(dtype) else (
            -2**(dtype.bit_width - 1), 2**(dtype.bit_width - 1) - 1)
        if t.is_float16(dtype):
            bounds = _HALF
        named = np.dtype(dtype.to_pandas_dtype()) if t.is_primitive(dtype) and what in "iufsb" else dtype
        return Column(form or what, named, len(values), block, (0, 2**63 - 1) if what == "u" else bounds)

    def texts(to: Any, what: str) -> Column:
        def block(start: int, stop: int) -> list[Buffer]:
            some = values.slice(start, stop - start)
            some = (some.combine_chunks() if isinstance(some, pa.ChunkedArray) else some).cast(to)
            coded = some.cast(pa.large_binary()).dictionary_encode()  # which may be no UTF-8
            codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
            return _coded(what, codes, [_plain(text) if what == "x" else text for text in coded.dictionary.to_pylist()])
        return Column(form or what, dtype, len(values), block, *_digits(dtype))

    if t.is_dictionary(dtype):
        return _of_arrow(values.cast(dtype.value_type), "a")
    if t.is_string(dtype) or t.is_large_string(dtype) or t.is_string_view(dtype):
        return texts(pa.large_binary(), "t")
    if t.is_binary(dtype) or t.is_large_binary(dtype) or t.is_fixed_size_binary(dtype) or t.is_binary_view(dtype):
        return texts(pa.large_binary(), "t")
    if t.is_decimal(dtype):
        return texts(pa.large_string(), "x")
    if t.is_date32(dtype):
        return plain(pa.int32(), "d")
    if t.is_date64(dtype):
        return plain(pa.int64(), "d", 86400 * 10**3)
    if t.is_timestamp(dtype):
        return plain(pa.int64(), "z", _UNITS[dtype.unit], zone=_zone(dtype.tz)) if dtype.tz else plain(pa.int64(), "d", 86400 * _UNITS[dtype.unit])
    if t.is_boolean(dtype):
        return plain(None, "b", fill=False)
    if t.is_integer(dtype):
        return plain(None, "u" if t.is_uint64(dtype) else "i")
    if t.is_floating(dtype):
        return plain(None, "f" if dtype.bit_width == 64 else "s", fill=0.0)
    if t.is_null(dtype):
        return Column(form or "-", dtype, len(values), lambda start, stop: [b"\1-"])
    return _unknown(dtype, len(values))


def _digits(dtype: Any) -> tuple[tuple[int, int], int]:
    """The bounds of a decimal's digits before the point, and the number of those behind it."""
    scale = getattr(dtype, "scale", None) or 0
    whole = (getattr(dtype, "precision", None) or 38) - scale
    return ((1 - 10**whole, 10**whole - 1) if whole < 19 else (0, 0)), scale


def _plain(number: bytes) -> bytes:
    """A decimal without an exponent."""
    return format(decimal.Decimal(number.decode()), "f").encode() if b"E" in number else number


_WIDTHS = {"i": "<i8", "u": "<u8", "f": "<f8", "s": "<f4", "b": "u1", "d": "<i8"}


def _of_polars(values: Any) -> Column:
    import polars as pl

    dtype = values.dtype
    kind, size = str(dtype.base_type()), len(values)

    def plain(what: str, divisor: int = 1, zone: Any = None) -> Column:
        def block(start: int, stop: int) -> list[Buffer]:
            some = values.slice(start, stop - start)
            missing = some.is_null().to_numpy() if some.null_count() else None
            cells = (some.to_physical() if kind in ("Date", "Datetime") else some).fill_null(False if what == "b" else 0).to_numpy()
            if zone is not None:
                return _numbers(what, _instants(cells // divisor, zone), missing)
            return _numbers(what, cells // divisor if divisor > 1 else cells.astype(_WIDTHS[what]), missing)
        named = values[:0].to_numpy().dtype if what in "iufsb" else dtype
        whole = what == "i" and named.itemsize < 8
        bounds = (int(np.iinfo(named).min), int(np.iinfo(named).max)) if whole else (0, 2**63 - 1) if what == "u" else (0, 0)
        return Column(what, named, size, block, bounds)

    def texts(what: str, form: str) -> Column:
        def block(start: int, stop: int) -> list[Buffer]:
            some = values.slice(start, stop - start).cast(pl.String)
            known = some.unique().drop_nulls()
            codes = some.cast(pl.Enum(known)).to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
            return _coded(what, codes, [text.encode() for text in known.to_list()])
        return Column(form, dtype, size, block, *_digits(dtype))

    if kind == "Date":
        return plain("d")
    if kind == "Datetime":
        return plain("z", _UNITS[dtype.time_unit], _zone(dtype.time_zone)) if dtype.time_zone else plain("d", 86400 * _UNITS[dtype.time_unit])
    if kind == "Decimal":
        return texts("x", "x")
    if dtype.is_integer() and kind not in ("Int128", "UInt128"):
        return plain("u" if kind == "UInt64" else "i")
    if dtype.is_float():
        return plain("f" if kind == "Float64" else "s")
    if kind == "Boolean":
        return plain("b")
    if kind in ("String", "Categorical", "Enum"):
        return texts("t", "t" if kind == "String" else "a")
    if kind in ("Binary", "Object", "Int128", "UInt128"):
        return Column("t" if kind == "Binary" else "a", dtype, size, lambda start, stop: _any(values.slice(start, stop - start).to_list()))
    if kind == "Null":
        return Column("-", dtype, size, lambda start, stop: [b"\1-"])
    return _unknown(dtype, size)


def _of_pandas(values: Any) -> Column:
    dtype, size = values.dtype, len(values)
    if isinstance(dtype, np.dtype):
        return _of_numpy(values.to_numpy())
    if dtype.name == "category":  # its categories may be what private cells hold
        codes, levels = values.cat.codes.to_numpy(), _levels(values.cat.categories)
        return Column("a", "category", size, lambda start, stop: levels(codes[start:stop]))
    storage = str(getattr(dtype, "storage", ""))
    if "pyarrow" in storage or hasattr(dtype, "pyarrow_dtype"):
        return _of_arrow(values.array.__arrow_array__())
    if storage == "python" or dtype.name in ("string", "str"):
        return _objects(values.to_numpy(dtype=object), dtype, "t")
    if hasattr(values.array, "_mask"):
        to = dtype.numpy_dtype
        return _of_numpy(np.ma.MaskedArray(values.to_numpy(dtype=to, na_value=to.type(0)), values.isna().to_numpy()))
    if getattr(dtype, "tz", None) is not None:
        exact = values.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
        unit = _UNITS[np.datetime_data(exact.dtype)[0]]

        def block(start: int, stop: int) -> list[Buffer]:
            some = exact[start:stop].astype("<i8")
            return _numbers("z", _instants(some // unit, dtype.tz), some == _NOT)
        return Column("z", dtype, size, block)
    return _unknown(dtype, size)


def _levels(categories: Any) -> Callable[[Any], list[Buffer]]:
    """What makes cells of the codes of categories, of which -1 is a missing cell."""
    if hasattr(categories.dtype, "storage"):
        texts = [_unicode(str.__getitem__(v, slice(None))) for v in categories.tolist()]
        return lambda codes: _coded("t", codes, texts)
    values = np.empty(len(categories) + 1, object)
    values[:-1], values[-1] = categories.tolist(), None
    return lambda codes: _any(values[codes].tolist())


def column_of(values: Any) -> Column:
    """One column or the labels: a numpy array, a pandas or polars series, an Arrow array, or a list."""
    library = type(values).__module__.partition(".")[0]
    if library == "pandas":
        return _of_pandas(values)
    if library == "polars":
        return _of_polars(values)
    if library == "pyarrow":
        return _of_arrow(values)
    if type(values) in (list, tuple):
        return _objects(values, None)
    return _of_numpy(values if isinstance(values, np.ma.MaskedArray) else np.asarray(values))


class _Arrays:
    """A table of numpy arrays by name."""

    def __init__(self, columns: dict[str, Any]) -> None:
        self.column_names, self._columns = list(columns), list(columns.values())
        self.shape = (len(self._columns[0]) if columns else 0, len(columns))

    def column(self, at: int) -> Any:
        return self._columns[at]

    def __getitem__(self, rows: slice) -> _Arrays:
        return _Arrays({n: c[rows] for n, c in zip(self.column_names, self._columns)})


def table_of(X: Any) -> Any:
    """A table that is there: a lazy frame of polars is collected, and a relation of DuckDB fetched."""
    library = type(X).__module__.partition(".")[0]
    if library == "polars" and hasattr(X, "collect"):
        return X.collect()
    if library in ("pandas", "polars") or hasattr(X, "column_names"):
        return X
    arrow = importlib.util.find_spec("pyarrow") is not None
    if library in ("duckdb", "_duckdb") and hasattr(X, "fetchnumpy"):
        return X.to_arrow_table() if arrow else _Arrays(X.fetchnumpy())
    if not hasattr(X, "__arrow_c_stream__"):
        return X
    if arrow:
        import pyarrow as pa

        return pa.table(X)
    import polars as pl

    return pl.DataFrame(X)


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
        return column_of(table.column(at))
    return column_of(table.iloc[:, at] if hasattr(table, "iloc") else table.to_series(at))


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


def one_row(head: bytes, values: Sequence[Any]) -> bytes:
    """A stream of one row whose columns head has announced, as of any type."""
    return b"".join([head, b"\1\0\0\0", *(part for value in values for part in _any((value,))), b"\0\0\0\0"])
