# SPDX-License-Identifier: Apache-2.0
"""Tables of pandas, polars, Arrow and numpy: names, dtypes, rows and CSV."""

from __future__ import annotations

import csv
import io
import math
from typing import Any, Iterable, Sequence

import numpy as np


def column_names(table: Any) -> list[str]:
    """Names of the columns; x0, x1, ... of an array. A pandas index is no column."""
    for attribute in ("column_names", "columns"):  # Arrow; pandas and polars
        names = getattr(table, attribute, None)
        if names is not None and not callable(names):
            return [str(n) for n in names if n != "__index_level_0__"]
    return [f"x{i}" for i in range(np.shape(table)[1])]


def dtype_kinds(table: Any) -> dict[str, str]:
    """"number" or "category" of each column, by its dtype alone."""
    if hasattr(table, "schema") and hasattr(table, "column_names"):  # Arrow
        types = {f.name: str(f.type) for f in table.schema}
    elif hasattr(table, "dtypes"):
        dtypes = table.dtypes
        types = dict(zip((str(c) for c in table.columns), (str(t) for t in dtypes)))
    else:
        types = {n: str(np.asarray(table).dtype) for n in column_names(table)}
    numbers = ("int", "uint", "float", "double", "decimal", "halffloat")
    return {n: "number" if types[n].lower().startswith(numbers) else "category" for n in column_names(table)}


def is_frame(table: Any) -> bool:
    """Whether columns have names."""
    return hasattr(table, "column_names") or hasattr(table, "columns")


def cell_of(value: Any) -> Any:
    """A cell as JSON has it: text, number, truth value, or None where it is missing."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value) if abs(int(value)) < 2**53 else str(int(value))
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else (None if math.isnan(value) else str(float(value)))
    if hasattr(value, "as_py"):  # an Arrow scalar
        return cell_of(value.as_py())
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    return str(value)


def column_cells(table: Any, name: str) -> list[Any]:
    """The cells of a column."""
    if hasattr(table, "column_names"):  # Arrow
        values = table.column(name).to_pylist()
    elif hasattr(table, "columns"):
        found = [c for c in table.columns if str(c) == name]
        column = table[found[0]]
        values = column.to_list() if hasattr(column, "to_list") else column.tolist()
    else:
        values = np.asarray(table)[:, int(name[1:])].tolist()
    return [cell_of(v) for v in values]


def rows_of(table: Any, names: Sequence[str]) -> list[list[Any]]:
    """Rows of cells, in the order of names."""
    return [list(row) for row in zip(*(column_cells(table, n) for n in names))]


def _spell(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return str(int(cell)) if cell == int(cell) and abs(cell) < 2**53 else repr(cell)
    return str(cell)


def write_csv(names: Sequence[str], columns: Iterable[Iterable[Any]]) -> bytes:
    """CSV in one dialect: the way rows go to the program's standard input, never to a disk."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    for row in zip(*columns):
        cells = [_spell(c) for c in row]
        if len(cells) == 1 and cells[0] == "":
            out.write('""\n')  # csv would write a line that looks blank in other ways
            continue
        writer.writerow(cells)
    return out.getvalue().encode("utf-8", "surrogateescape")
