# SPDX-License-Identifier: Apache-2.0
"""Schemas: what is known about a table before anybody looks at it."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any, Mapping, Sequence

import numpy as np

from ._binary import UsageError, run
from ._table import Column, column_at, column_names


class ArraySchema:
    """A schema for arrays of numbers: every column private and within the same bounds.

    lower and upper come from what you know, not from the data: numbers beyond them are clamped.
    classes are the values that the label can have, which are public: they are declared, too.
    """

    def __init__(self, lower: float, upper: float, classes: Sequence[Any]) -> None:
        self.lower = lower
        self.upper = upper
        self.classes = classes

    def __repr__(self) -> str:
        return f"ArraySchema(lower={self.lower!r}, upper={self.upper!r}, classes={self.classes!r})"

    def document(self, names: Sequence[str], label: str) -> dict[str, Any]:
        """The schema of a table with these columns."""
        middle = (self.lower + self.upper) / 2
        columns: list[dict[str, Any]] = [
            {"name": name, "role": "private",
             "number": {"lower": self.lower, "upper": self.upper, "default": middle}} for name in names
        ]
        levels = [spell(c, TRUTHS[0]) for c in self.classes]
        if len(levels) < 2:
            raise ValueError(f"classes must be at least two (got {len(levels)} class)")
        facts: dict[str, Any] = {"levels": levels}
        if len(levels) == 2:
            facts["positive"] = levels[1]
        columns.append({"name": label, "role": "public", "label": facts})
        return {"name": "array", "unit": "one row", "relation": "replace-one", "columns": columns,
                "file": {"delimiter": ",", "quote": '"', "header": True, "missing": [""]}}


#: How a bool may be spelt. A column takes the first of these pairs that its levels have.
TRUTHS = (("false", "true"), ("False", "True"), ("FALSE", "TRUE"), ("0", "1"))


def spell(value: Any, truths: tuple[str, str]) -> str:
    """A value as text: a whole number without a fraction, a fraction with the digits that it takes."""
    (cell,) = Column("any", None, [value]).cells(truths)
    if not isinstance(cell, float):
        return str(cell or "")
    if abs(cell) >= 1e21 or 0 < abs(cell) < 1e-6:
        return np.format_float_scientific(cell, trim="-", exp_digits=2)
    return np.format_float_positional(cell, trim="-")


class Levels:
    """The levels of a category or a label as the schema spells them, and how dtypes meet them.

    Nothing here knows a row: what is decided is decided by schema and dtype alone.
    """

    def __init__(self, column: Mapping[str, Any]) -> None:
        self.name = column["name"]
        facts = column.get("label") or column.get("category") or {}
        declared = [f if isinstance(f, Mapping) else {"value": f} for f in facts.get("levels") or []]
        #: of each level, its name first
        self.spellings = [[spell(f["value"], TRUTHS[0]), *map(str, f.get("aliases") or [])] for f in declared]
        self.open = bool(facts.get("buckets")) or any(f.get("prefixes") for f in declared)
        every = {text for level in self.spellings for text in level}
        found = [pair for pair in TRUTHS if every & set(pair)]
        self.truths = found[0] if found else TRUTHS[0]

    def read(self, text: str, column: Column) -> Any:
        """The value of the column's dtype that cells spell so, None where no value does."""
        if column.kind == "bool":
            return self.truths.index(text) == 1 if text in self.truths else None
        try:
            value = (column.dtype.type if column.dtype.kind in "iuf" else float)(text)
        except (ValueError, OverflowError):
            return None
        return value if spell(value, self.truths) == text else None

    def check(self, column: Column) -> None:
        """Refuses a dtype of whose values none is a level."""
        if column.kind in ("bool", "int", "float", "days") and not self.open and all(
                column.kind == "days" or self.read(text, column) is None
                for level in self.spellings for text in level):
            raise UsageError(self._refuse(column))

    def classes(self, column: Column, declared: Sequence[Any] | None = None) -> list[Any]:
        """The classes as values of the column's dtype; of objects and lists, as they were declared."""
        if column.kind in ("bool", "int", "float"):
            values = [next((v for v in (self.read(t, column) for t in level) if v is not None), None)
                      for level in self.spellings]
            if None in values:
                raise UsageError(self._refuse(column))
            return values
        if column.kind == "days":
            raise UsageError(self._refuse(column))
        if column.kind == "any" and declared is not None:
            return list(declared)
        return [level[0] for level in self.spellings]

    def _refuse(self, column: Column) -> str:
        levels = ", ".join(repr(level[0]) for level in self.spellings[:10])
        return (f"column {self.name!r} has the dtype {column.dtype}, of which no value is spelt as the levels that the "
                f"schema declares ({levels}): declare levels of that dtype, or give the column as texts. "
                "Nothing was charged")


def load_schema(schema: Any) -> dict[str, Any]:
    """The schema as a document, with all that it leaves out: schema is a path, YAML text, or a document."""
    if isinstance(schema, Mapping):
        text = json.dumps(schema)
    elif isinstance(schema, (str, os.PathLike)):
        text = os.fspath(schema)
        if "\n" not in text:
            answer: dict[str, Any] = json.loads(run(["schema", "check", "--json", "--", text]))
            return answer
    else:
        raise TypeError("schema must be a path, a text in YAML, a dict or an ArraySchema "
                        f"(got {type(schema).__name__}); it has no default: bounds and roles are declared")
    with tempfile.TemporaryDirectory(prefix="discreet-") as folder:
        path = os.path.join(folder, "schema.yaml")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return load_schema(path)


def draft_schema(table: Any, label: str) -> str:
    """A schema of the table's columns to fill in, in YAML.

    It reads names and dtypes and no cell. Every ___ is yours to decide: whose data one row is,
    which columns are private, where numbers lie, which values there are.
    """
    lines = ["name: ___", "unit: ___  # whose data one row is", "relation: replace-one",
             'file: {delimiter: ",", quote: \'"\', header: true, missing: [""]}', "columns:"]
    names = column_names(table)
    if label not in names:
        raise ValueError(f"label must be one of the columns (got {label!r})")
    for name in names:
        quoted = json.dumps(name, ensure_ascii=False)
        if name == label:
            lines += [f"  - name: {quoted}", "    role: ___  # private or public",
                      "    label: {levels: [___, ___], positive: ___, default: ___}"]
        elif column_at(table[:0], name).kind in ("int", "float"):
            lines += [f"  - name: {quoted}", "    role: ___  # private, public or ignored",
                      "    number: {lower: ___, upper: ___, default: ___}"]
        else:
            lines += [f"  - name: {quoted}", "    role: ___  # private, public or ignored",
                      "    category: {levels: [___]}"]
    return "\n".join(lines) + "\n"
