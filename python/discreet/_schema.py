# SPDX-License-Identifier: Apache-2.0
"""Schemas: what is known about a table before anybody looks at it."""

from __future__ import annotations

import json
import os
from typing import Any, Mapping, Sequence

from ._binary import run
from ._table import column_names, dtype_kinds


class ArraySchema:
    """A schema for arrays of numbers: every column private and within the same bounds.

    lower and upper come from what you know, not from the data: numbers beyond them are clamped.
    classes are the values of the label, which is public; None declares that the values that occur
    in the label may be known to everybody.
    """

    def __init__(self, lower: float, upper: float, classes: Sequence[Any] | None = None) -> None:
        self.lower = lower
        self.upper = upper
        self.classes = classes

    def __repr__(self) -> str:
        return f"ArraySchema(lower={self.lower!r}, upper={self.upper!r}, classes={self.classes!r})"

    def document(self, names: Sequence[str], label: str, classes: Sequence[str]) -> dict[str, Any]:
        """The schema of a table with these columns."""
        middle = (self.lower + self.upper) / 2
        columns: list[dict[str, Any]] = [
            {"name": name, "role": "private",
             "number": {"lower": self.lower, "upper": self.upper, "default": middle}} for name in names
        ]
        facts: dict[str, Any] = {"levels": list(classes)}
        if len(classes) == 2:
            facts["positive"] = classes[1]
        columns.append({"name": label, "role": "public", "label": facts})
        return {"name": "array", "unit": "one row", "relation": "replace-one", "columns": columns}


#: How tables travel to the program, whatever the schema's own files look like.
FILE = {"delimiter": ",", "quote": '"', "header": True, "trim": False}


def load_schema(schema: Any) -> dict[str, Any]:
    """The schema as a document: schema is a path, YAML text, or a document already."""
    if isinstance(schema, Mapping):
        document = json.loads(json.dumps(schema))
    elif isinstance(schema, (str, os.PathLike)):
        text = os.fspath(schema)
        if "\n" in text:
            import tempfile

            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "schema.yaml")
                with open(path, "w", encoding="utf-8") as f:
                    f.write(text)
                document = json.loads(run(["schema", "check", path, "--json"]))
        else:
            document = json.loads(run(["schema", "check", text, "--json"]))
    else:
        raise TypeError("schema must be a path, a text in YAML, a dict or an ArraySchema "
                        f"(got {type(schema).__name__}); it has no default: bounds and roles are declared")
    if not isinstance(document, dict):
        raise TypeError("a schema must be a mapping")
    missing = list((document.get("file") or {}).get("missing") or [])
    document["file"] = {**FILE, "missing": sorted({"", *missing})}
    return document


def draft_schema(table: Any, label: str) -> str:
    """A schema of the table's columns to fill in, in YAML.

    It reads names and dtypes and no cell. Every ___ is yours to decide: whose data one row is,
    which columns are private, where numbers lie, which values there are.
    """
    lines = ["name: ___", "unit: ___  # whose data one row is", "relation: replace-one",
             'file: {delimiter: ",", quote: \'"\', header: true, missing: [""]}', "columns:"]
    kinds = dtype_kinds(table)
    names = column_names(table)
    if label not in names:
        raise ValueError(f"label must be one of the columns (got {label!r})")
    for name in names:
        quoted = json.dumps(name, ensure_ascii=False)
        if name == label:
            lines += [f"  - name: {quoted}", "    role: ___  # private or public",
                      "    label: {levels: [___, ___], positive: ___, default: ___}"]
        elif kinds[name] == "number":
            lines += [f"  - name: {quoted}", "    role: ___  # private, public or ignored",
                      "    number: {lower: ___, upper: ___, default: ___}"]
        else:
            lines += [f"  - name: {quoted}", "    role: ___  # private, public or ignored",
                      "    category: {levels: [___]}"]
    return "\n".join(lines) + "\n"
