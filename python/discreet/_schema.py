# SPDX-License-Identifier: Apache-2.0
"""Schemas: what is known about a table before anybody looks at it."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import sys
import tempfile
import unicodedata
import warnings
from pathlib import Path
from types import FrameType
from typing import Any, Iterator, Mapping, Sequence

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from ._binary import DiscreetWarning, UsageError, run
from ._table import Column, column_at, column_names, table_of


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
        levels = [spell(c) for c in self.classes]
        if len(levels) < 2:
            raise ValueError(f"classes must be at least two (got {len(levels)} class)")
        facts: dict[str, Any] = {"levels": levels}
        if len(levels) == 2:
            facts["positive"] = levels[1]
        columns.append({"name": label, "role": "public", "label": facts})
        return {"name": "array", "unit": "one row", "relation": "replace-one", "columns": columns, "file": FRAME}


#: What a schema says of a file's text, for tables that are none: no text but the empty one is a missing cell.
FRAME = {"delimiter": ",", "quote": '"', "header": True, "missing": [""]}


def spell(value: Any) -> str:
    """A value of a schema as text: a whole number without a fraction, a fraction with the digits that it takes."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)):
        if abs(float(value)) >= 1e21 or 0 < abs(float(value)) < 1e-6:
            return np.format_float_scientific(value, trim="-", exp_digits=2)
        return np.format_float_positional(value, trim="-")
    return "" if value is None else str(value)


class Levels:
    """The levels of a label as the schema spells them. Nothing here knows a row."""

    def __init__(self, label: Mapping[str, Any]) -> None:
        self.name = label["name"]
        declared = [f if isinstance(f, Mapping) else {"value": f} for f in label["label"].get("levels") or []]
        #: of each level, its name first
        self.spellings = [[str(f["value"]), *map(str, f.get("aliases") or [])] for f in declared]

    def classes(self, column: Column, declared: Sequence[Any] | None = None) -> list[Any]:
        """The classes as values of the column's dtype, which the program has found to hold them; of objects and
        lists, as they were declared."""
        if column.form in "iufsb":
            return [_class_of(level, column.dtype.type) for level in self.spellings]
        if column.form == "a" and declared is not None:
            return list(declared)
        return [level[0] for level in self.spellings]

    def check_threshold(self, threshold: float | None) -> None:
        """Refuses a threshold unless there are two classes."""
        if threshold is not None and len(self.spellings) != 2:
            raise UsageError(f"threshold must not be given: the label {self.name!r} has {len(self.spellings)} levels, not two")

    def check_metrics(self, column: Column, copied: bool) -> None:
        """Warns if y may hold aliases: predict returns names, and metrics of scikit-learn compare texts.

        What scikit-learn's model selection is to judge by such a metric, it is refused.
        """
        if column.form not in "ta" or all(len(level) == 1 for level in self.spellings):
            return
        names = ", ".join(repr(level[0]) for level in self.spellings[:10])
        text = (f"the levels of {self.name!r} have aliases, which y may hold, and predict returns the levels {names}: score "
                "reads y by the schema, but other metrics of scikit-learn compare it with these. Declare the levels as y "
                "spells them")
        if copied and not judged_by_score():
            raise UsageError(text + ", or leave out scoring=. Nothing was charged")
        if not copied:
            warnings.warn(text, DiscreetWarning, stacklevel=3)


def _class_of(level: Sequence[str], of: Any) -> Any:
    """The value that a level is in a dtype: a number, or the truth value of a word or of 0 and 1."""
    for text in level:
        truth = ["false", "true"].index(text.lower()) if text.lower() in ("false", "true") else None
        try:
            value = of(float(text) == 1 if truth is None else truth) if of is np.bool_ else of(text if truth is None else truth)
        except (ValueError, OverflowError):
            continue
        return value.item()
    return level[0]


def judged_by_score() -> bool:
    """Whether the model selection of scikit-learn that fits this judges it by the method score."""
    return any(type(scorer).__name__ == "_PassthroughScorer" for scorer in scorers_of_selection())


def scorers_of_selection() -> Iterator[Any]:
    """What judges this fit, if the model selection of scikit-learn runs it."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if str(frame.f_globals.get("__name__", "")).startswith("sklearn.model_selection"):
            for scorer in [frame.f_locals[name] for name in ("scorer", "scorers") if name in frame.f_locals]:
                scorer = getattr(scorer, "_scorers", scorer)  # of several metrics
                yield from scorer.values() if isinstance(scorer, dict) else [scorer]
        frame = frame.f_back


class _Example(ClassifierMixin, BaseEstimator):
    """A classifier that knows the declared classes alone, for a scorer to judge."""

    def __init__(self, classes: Any) -> None:
        self.classes_ = self.classes = classes

    def predict(self, X: Any) -> Any:
        return np.resize(self.classes_, len(X))

    def predict_proba(self, X: Any) -> Any:
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))

    def decision_function(self, X: Any) -> Any:
        return np.zeros(len(X)) if len(self.classes_) == 2 else np.zeros((len(X), len(self.classes_)))


def check_scorers(classes: Any) -> None:
    """Refuses a fit that scikit-learn's model selection is to judge by a metric of scikit-learn that fails for such classes.

    It would fail after the fit has paid, and only return NaN. Nothing but the declared classes is tried.
    """
    y = np.resize(classes, 2 * len(classes))
    for scorer in scorers_of_selection():
        metric = getattr(scorer, "_score_func", None)
        if not str(getattr(metric, "__module__", "")).startswith("sklearn."):
            continue  # a function of the user's, which may do anything
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                scorer(_Example(classes), np.zeros((len(y), 1)), y)
            except Exception as failure:
                name = getattr(metric, "__name__", "the metric")
                raise UsageError(f"scoring by {name} fails for the classes {', '.join(map(repr, classes.tolist()[:10]))} ({failure}): "
                                 f"pass scoring=make_scorer({name}, ...) with pos_label=, the class that counts as positive, or "
                                 "with average=, as the metric takes them. Nothing was charged") from None


def load_schema(schema: Any) -> dict[str, Any]:
    """The schema as a document, with all that it leaves out: schema is a path, YAML text, or a document."""
    with tempfile.TemporaryDirectory(prefix="discreet-") as folder:
        if isinstance(schema, Mapping):
            text, called = json.dumps(_with_levels({"file": FRAME, **schema}, folder)), ": schema line 1"  # which is all of it
        elif isinstance(schema, (str, os.PathLike)):
            text = os.fspath(schema)
            if "\n" not in text:
                return _check_schema(text, {})
            called = ": schema"
        else:
            raise UsageError("schema must be a path, a text in YAML, a dict or an ArraySchema "
                            f"(got {type(schema).__name__}); it has no default: bounds and roles are declared")
        path = os.path.join(folder, "schema.yaml")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return _check_schema(path, {path + called: "schema", path: "schema"})


def _check_schema(path: str, names: Mapping[str, str]) -> dict[str, Any]:
    return run(["schema", "check", "--json", "--", path], names=names, wrong=True).read_json()


def _with_levels(schema: Any, folder: str) -> Any:
    """The document, with the files that its levels name copied into the folder."""
    if isinstance(schema, (list, tuple)):
        return [_with_levels(item, folder) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    out = {str(key): _with_levels(value, folder) for key, value in schema.items()}
    levels = out.get("levels")
    if isinstance(levels, dict) and "file" in levels:
        copy = f"levels-{len(os.listdir(folder))}.csv"
        shutil.copyfile(levels["file"], os.path.join(folder, copy))
        levels["file"] = copy
    return out


#: What a codebook calls the columns of each form of cells.
_TYPES = {"i": "integer", "u": "integer", "f": "number", "s": "number", "x": "number", "b": "yes_no", "t": "category",
          "a": "category", "-": "category", "d": "date", "z": "date", "?": "ignored"}



def draft_schema(table: Any, label: str, *, name: str | None = None, unit: str | None = None,
                 relation: str | None = None, role: str | None = None,
                 codebook: str | os.PathLike[str] | Mapping[str, Any] | None = None,
                 accept_names: bool = False) -> str:
    """A schema of the table's columns, in YAML, in which each ``___`` is yours to fill in.

    It reads names and dtypes and no cell, as ``discreet schema init`` does with a Parquet file. Columns of a dtype
    that no schema has (periods, durations, lists) are ignored.

    Parameters
    ----------
    label : str
        The column to predict.
    name, unit, relation : str
        What the table is called, whose data one row is, and ``replace-one`` or ``add-remove``.
    role : str
        ``"private"`` protects each column to which the codebook gives no role.
    codebook : path or dict
        What documentation says of columns: a CSV file, as ``discreet schema init --codebook`` reads it,
        or a dict by column. Its values are bounds ``(0, 20)``, levels ``["A", "B"]``, a role or a type
        (``"public"``, ``"ignored"``, ``"yes_no"``), or a dict of a codebook's keys, such as
        ``{"buckets": 64}`` for texts of many values.
    accept_names : bool
        Declares what well-known names mean (``age``: 0 to 120, ``patient_id``: ignored) instead of
        proposing it in comments.

    Of a label with two levels the last one becomes the positive class; truth values are ``yes_no``.

    Raises
    ------
    ValueError
        A name, the label or an entry of the codebook is wrong, or the label has a dtype that cannot be read.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": [31, 47], "died": [False, True]})
    >>> schema = draft_schema(table, "died", codebook={"age": (0, 120)}, role="private")
    >>> "lower: 0, upper: 120" in schema
    True
    """
    table = table_of(table)
    names = column_names(table)
    check_names(names)
    if len(names) < 2:
        raise ValueError(f"table must have at least two columns, the label among them (got {len(names)})")
    if label not in names:
        raise ValueError(f"label must be one of the columns (got {label!r})")
    if role not in (None, "private"):
        raise ValueError(f"role must be 'private', which protects each column without a role of its own (got {role!r})")
    forms = {n: column_at(table[:0], n) for n in names}
    for n in names:
        what = codebook.get(n, "ignored") if isinstance(codebook, Mapping) and n != label else "ignored"
        if forms[n].form == "?" and (n == label or what != "ignored"):
            raise ValueError(f"column {n!r} must have a dtype of numbers, truth values, texts or dates, or be ignored "
                             f"(got {forms[n].dtype})")
    types = {n: _TYPES[column.form] for n, column in forms.items() if n != label}
    with tempfile.TemporaryDirectory(prefix="discreet-") as folder:
        table_path, types_path, book_path = (os.path.join(folder, f) for f in ("table.csv", "types.json", "codebook"))
        if codebook is None or isinstance(codebook, Mapping):
            if unknown := [n for n in codebook or () if n not in names]:
                raise ValueError(f"codebook must be about columns of the table (got {unknown[0]!r})")
            truths = forms[label].form == "b"
            known = {label: _label_entry((codebook or {}).get(label, {}), truths, role),
                     **{n: _entry(n, what, types[n]) for n, what in (codebook or {}).items() if n != label}}
            book, entries = json.dumps(known).encode(), {f"codebook entry {i}": f"codebook of column {n!r}"
                                                         for i, n in enumerate(known, 1)}
        else:
            book, entries = Path(codebook).read_bytes(), {}
        Path(book_path).write_bytes(book)
        Path(types_path).write_text(json.dumps({n: {"type": kind} for n, kind in types.items()}), encoding="utf-8")
        with open(table_path, "w", encoding="utf-8", newline="") as f:
            csv.writer(f).writerow(names)
        text = run(["schema", "init", table_path, "--types", types_path, "--codebook", book_path, "--delimiter", ",",
                    *(["--role", role] if role else []), *(["--accept-names"] if accept_names else [])],
                   names={book_path: "codebook", table_path: "table", types_path: "dtypes", **entries}, wrong=True).out.decode()
    frame = {"trim": "false", "missing": '[""]'}  # a frame's own missing values, and no other text
    for key, value in {**frame, "name": name, "unit": unit, "relation": relation}.items():
        if value is not None:
            spelt = value if key in frame else json.dumps(value, ensure_ascii=False)
            text = re.sub(rf"^(\s*){key}: ___", lambda m: f"{m[1]}{key}: {spelt}", text, count=1, flags=re.MULTILINE)
    return text


def check_names(names: Sequence[str]) -> None:
    """Refuses names that no schema can have."""
    for i, name in enumerate(names):
        if names.count(name) > 1:
            raise ValueError(f"X has {names.count(name)} columns named {name!r}")
        if not name or name != name.strip() or any(unicodedata.category(c)[0] == "C" for c in name):
            raise ValueError(f"column {i} must have a name without blanks around it and control characters (got {name!r}): "
                             "rename it")


def _label_entry(what: Any, truths: bool, role: str | None) -> dict[str, Any]:
    """The label's entry of a codebook. The last of two levels is the positive one, the first stands for unreadable ones."""
    entry = {"type": "label", **({} if what == "yes_no" else _entry("label", what, "label"))}
    if what == "yes_no" or entry.get("type") == "yes_no" or "levels" not in entry and truths:
        entry["levels"] = "yes_no"
    entry["type"] = "label"
    levels = ["no", "yes"] if entry.get("levels") == "yes_no" else entry.get("levels") or []
    if len(levels) == 2:
        entry["positive"] = levels[1]
        if (entry.get("role") or role) != "public":
            entry["default"] = levels[0]
    return entry


def _entry(name: str, what: Any, kind: str) -> dict[str, Any]:
    """A column's entry of a codebook."""
    if isinstance(what, Mapping):
        entry = {str(key): value for key, value in what.items() if value is not None}
    elif isinstance(what, str):
        entry = {"role": what} if what in ("private", "public") else {"type": what}
    elif isinstance(what, tuple) and len(what) == 2:
        entry = {"lower": what[0], "upper": what[1]}
    elif isinstance(what, list):
        entry = {"levels": what}
    else:
        raise UsageError(f"codebook of column {name!r} must be bounds, a list of levels, a role, a type or a dict "
                         f"(got {type(what).__name__})")
    for key, value in entry.items():
        if isinstance(value, (list, tuple)):
            entry[key] = [spell(v) for v in value]
        elif not isinstance(value, str):
            entry[key] = spell(value)
    if "lower" in entry or "upper" in entry:
        entry.setdefault("type", kind if kind in ("integer", "date") else "number")
    return entry

