# SPDX-License-Identifier: Apache-2.0
"""The estimator."""

from __future__ import annotations

import io
import json
import math
import numbers
import os
import sys
import tempfile
import warnings
import weakref
import zipfile
from types import FrameType
from typing import Any, Iterator, Mapping, Sequence

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import accuracy_score
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from ._account import account_flags, check_ledger, check_number, digits
from ._binary import BudgetError, DiscreetWarning, Output, PrivacyWarning, RowServer, UsageError, run
from ._ledger import Ledger
from ._report import Report, of_check, of_evaluation, of_plan
from ._schema import ArraySchema, Levels, check_scorers, load_schema, spell
from ._table import Column, array_of, column_at, column_names, column_of, is_frame, stream, table_of
from ._words import in_python


# The processes that predict, beside the estimators, which are compared, copied and pickled.
_children: weakref.WeakKeyDictionary[DiscreetClassifier, RowServer] = weakref.WeakKeyDictionary()


_COPIES = "of grid search, cross-validation, an ensemble, copy.deepcopy or pickle"


def warn_of(done: Output) -> None:
    """Warns of what the program warned of."""
    lines = [*done.said, *(line.strip() for line in done.out.decode("utf-8", "replace").splitlines())]
    warn_in_words([line for line in lines if line.startswith(("TOO FEW: ", "WEAK: ", "question: "))], 4)
    if done.from_ledger:
        warnings.warn(done.from_ledger, DiscreetWarning, stacklevel=3)


def warn_in_words(texts: Sequence[str], level: int) -> None:
    """Warns in the name of the caller that is so many calls away."""
    for text in texts:
        warnings.warn(in_python(text), PrivacyWarning if text.startswith("WEAK: ") else DiscreetWarning, stacklevel=level)


def _column(X: Any, name: str, at: int) -> Column:
    """A column of a table, which an array has at a position."""
    return column_at(X, name) if is_frame(X) else column_of(X[:, at])


def _table(X: Any) -> Any:
    """A frame, or an array of two dimensions; no cell is looked at."""
    X = table_of(X)
    return X if is_frame(X) else array_of(X)


class DiscreetClassifier(ClassifierMixin, BaseEstimator):
    """A classifier with differential privacy.

    Parameters
    ----------
    schema : path, YAML text, dict or ArraySchema
        The declared facts about the table. It has no default.
    epsilon : float
        The privacy loss that one fit may spend. It has no default; ``inf`` trains without privacy.
    learner : str
        The learner's name; None is the program's default.
    delta : float
        Spent in addition by learners with an (epsilon, delta) mode.
    options : dict
        The learner's own options by name, as ``discreet train --help`` lists them.
    ledger, dataset : str
        The ledger to charge, and the data set in it. Every fit is charged, also fits of copies.
    job : str
        The ID of one fit in the ledger: the same ID returns the same model and costs nothing, whatever X and y
        are, since rows are not compared. The fit then warns, and ``privacy_["from_ledger"]`` is True. Copies are
        refused.
    cohorts : list of str
        The cohorts of the data set whose rows are read, and which alone are charged; None for all rows.
    uncounted : bool
        Allows copies that scikit-learn makes (grid search, cross-validation) to be fitted although no
        ledger counts what they cost together. Without it they are refused.
    threshold : float or str
        The score from which ``predict`` answers the positive class of two: a number, or ``"costs=1:5"``, the costs
        of a false positive and a false negative. None is the model's own. It costs nothing and may be set after a fit. ``save`` does not write it.

    Attributes
    ----------
    classes_ : ndarray
        The levels of the label, in the dtype of y.
    n_features_in_, feature_names_in_ : int, ndarray
        The columns of X; an array has no names.
    model_ : bytes
        The model file.
    privacy_ : dict
        The guarantee and all facts of the card, and with a ledger the charged job.
    explain_ : dict
        What each column adds; for models that are sums.
    feature_importances_ : ndarray
        How much each column adds, in the order of ``feature_names_in_``; for models that are sums.
    threshold_ : float
        The score from which ``predict`` answers the positive class of two.

    Raises
    ------
    UsageError
        (a ValueError) An argument or the table is wrong.
    BudgetError
        A budget refuses the price, or a copy would be fitted uncounted. Nothing was charged.
    DiscreetError
        Anything else that the program refuses.

    Examples
    --------
    >>> from discreet import ArraySchema, DiscreetClassifier
    >>> X, y = [[0.2], [0.9], [0.4], [0.7]] * 50, [0, 1, 0, 1] * 50
    >>> model = DiscreetClassifier(ArraySchema(0, 1, classes=[0, 1]), epsilon=2.0).fit(X, y)
    >>> model.predict_proba(X).shape
    (200, 2)
    """

    def __init__(self, schema: Any = None, epsilon: float | None = None, learner: str | None = None,
                 delta: float = 0.0, options: Mapping[str, Any] | None = None, ledger: str | None = None,
                 dataset: str | None = None, job: str | None = None, uncounted: bool = False,
                 cohorts: Sequence[str] | None = None, threshold: float | str | None = None) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.learner = learner
        self.delta = delta
        self.options = options
        self.ledger = ledger
        self.dataset = dataset
        self.job = job
        self.uncounted = uncounted
        self.cohorts = cohorts
        self.threshold = threshold

    def __sklearn_clone__(self) -> "DiscreetClassifier":
        # What scikit-learn copies it fits again and again; such a copy knows that it is one.
        from sklearn.base import _clone_parametrized

        copy: DiscreetClassifier = _clone_parametrized(self)
        copy._copied = True
        return copy

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # of copy, deepcopy and pickle
        self._copied = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        private = self.epsilon is not None and not math.isinf(self.epsilon)
        tags.non_deterministic = private  # noise is fresh in every fit
        tags.classifier_tags.poor_score = private
        tags.input_tags.allow_nan = True  # a missing cell is what the schema declares
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _check_account(self) -> None:
        if self.epsilon is None:
            raise ValueError("epsilon is required: it is the price of the fit and has no default")
        if not check_number("epsilon", self.epsilon) > 0:
            raise ValueError(f"epsilon must be above 0 (got {self.epsilon!r})")
        if not check_number("delta", self.delta) >= 0:
            raise ValueError(f"delta must be at least 0 (got {self.delta!r})")
        if self.schema is None:
            raise ValueError("schema must be given: bounds, values and roles are declared, never guessed from data")
        if self.options is not None and not isinstance(self.options, Mapping):
            raise ValueError(f"options must be a dict of the learner's options by name (got {type(self.options).__name__})")
        check_ledger(self.ledger, self.dataset, self.job, self.cohorts)
        self._declared_threshold()
        private = not math.isinf(self.epsilon)
        if self.ledger is not None and not private:
            raise ValueError("ledger must not be given with epsilon=inf, which no budget allows: leave out ledger and dataset")
        copied = getattr(self, "_copied", False)
        if copied and self.job is not None:
            raise UsageError(f"job={self.job!r} is the ID of one fit, and this is a copy ({_COPIES}): its fits would all return the "
                             "model of the first. Leave out job, and each fit pays and has its own rows")
        if copied and self.ledger is None and not self.uncounted and private:
            raise BudgetError(
                f"this is a copy ({_COPIES}), and each fit would spend epsilon = {self.epsilon} uncounted. Pass ledger= and "
                "dataset= to charge every fit, or uncounted=True to fit without keeping a total")

    def fit(self, X: Any, y: Any, **unsupported: Any) -> "DiscreetClassifier":
        """Trains on a table X (pandas, polars, Arrow, or an array of numbers) and its labels y."""
        if "sample_weight" in unsupported:
            raise UsageError("sample_weight is not supported: a row's weight would change what the row is promised. To "
                             "weigh classes, declare weights under label in the schema")
        if unsupported:
            raise TypeError(f"fit takes X and y (got {', '.join(unsupported)}, too)")
        self._check_account()
        self._warn_of_learned_steps()
        self._drop_child()
        X = _table(X)
        names, shape = column_names(X), X.shape
        self.feature_names_in_, self.n_features_in_ = np.asarray(names, dtype=object), len(names)
        if not is_frame(X) or isinstance(self.schema, ArraySchema):
            del self.feature_names_in_
            validate_data(self, X, skip_check_array=True)  # names and shape; nothing looks at cells
        if min(shape) == 0 and (shape[1] == 0 or isinstance(self.schema, ArraySchema)):
            what = "sample" if shape[0] == 0 else "feature"
            raise ValueError(f"0 {what}(s) (shape={tuple(shape)}) while a minimum of 1 is required.")
        labels = self._labels(y)
        document, levels, text = self._encode(X, labels)
        declared = self.schema.classes if isinstance(self.schema, ArraySchema) else None
        levels.check_threshold(self._declared_threshold())
        levels.check_metrics(labels, getattr(self, "_copied", False))
        if getattr(self, "_copied", False):
            check_scorers(np.array(sorted(levels.classes(labels, declared))))
        with tempfile.TemporaryDirectory(prefix="discreet-") as folder:
            schema, out = self._files(folder, document)[0], os.path.join(folder, "new.json")
            try:
                done = run(["train", "--data", "cells:-", "--schema", schema, "--model", out, *self._flags()],
                           text, {schema: "schema", out: "model"})
            except UsageError as refused:
                if labels.form != "i" or not str(refused).startswith(f'column "{levels.name}" must be of a type'):
                    raise
                raise UsageError(f"{refused}. Ensembles of scikit-learn (voting, bagging, stacking) fit with the codes 0, 1, ... of "
                                 "the classes that occur: declare these as the levels, and pass them as y") from None
            with open(out, "rb") as model:
                self.model_ = model.read()
        warn_of(done)
        typed = levels.classes(labels, declared)
        kind = labels.dtype if labels.form in "iufsb" else None
        if labels.form in "ta" and getattr(labels.dtype, "kind", "O") != "U" and type(typed[0]) is str:
            kind = np.dtype(object)
        self.classes_ = np.array(sorted(typed), dtype=kind)
        self._order = [typed.index(c) for c in sorted(typed)]  # of the levels, in the order of classes_
        self.privacy_ = self._read_json("show", positional=True)
        if self.ledger is not None:
            self.privacy_.update(ledger=os.fspath(self.ledger), dataset=self.dataset, job=done.job)
        self.privacy_["from_ledger"] = bool(done.from_ledger)
        return self

    def _warn_of_learned_steps(self) -> None:
        """Warns when a pipeline that fits this estimator has fitted other steps on the same rows before."""
        if math.isinf(float(self.epsilon or 0)):
            return
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            pipeline = frame.f_locals.get("self")
            if isinstance(pipeline, Pipeline):
                learned = [name for name, step in pipeline.steps[:-1]
                           if step not in (None, "passthrough") and get_tags(step).requires_fit]
                if learned:
                    warnings.warn(f"the steps {learned} of the pipeline learn from the rows before this estimator sees them, "
                                  "and no guarantee covers what they learn: declare bounds and levels in the schema, and "
                                  "leave these steps out", PrivacyWarning, stacklevel=2)
                return
            frame = frame.f_back

    def _files(self, folder: str, document: Mapping[str, Any] | None = None) -> tuple[str, str]:
        """The schema and the model, if there is one, as files of the folder."""
        schema, model = os.path.join(folder, "schema.yaml"), os.path.join(folder, "m.json")
        if document is not None:
            with open(schema, "w", encoding="utf-8") as f:
                json.dump(document, f)
        if hasattr(self, "model_"):
            with open(model, "wb") as m:
                m.write(self.model_)
        return schema, model

    def check(self, X: Any, y: Any) -> Report:
        """NOT PRIVATE: exact counts of the cells that a fit would repair, by column, as ``discreet schema check --json``
        prints them. ``frame`` has a row for each column.

        ``{"rows": ..., "columns": [{"column": ..., "missing": ..., "other": ..., "clamped": ..., "unreadable": ...,
        "cause": ...}, ...], "misfits": [...]}``. Of the columns in misfits, too many cells are not what the schema
        declares. Show all this only to people who may see the rows. Nothing is charged.
        """
        X = _table(X)
        document, _, text = self._encode(X, self._labels(y))
        with tempfile.TemporaryDirectory(prefix="discreet-") as folder:
            schema, _ = self._files(folder, document)
            return of_check(run(["schema", "check", schema, "--data", "cells:-", "--json"], text, {schema: "schema"},
                                found=4).read_json())

    def plan(self, rows: int | None = None, *, persons: int | None = None, simulate: bool = False) -> Report:
        """The price of a fit and what it protects, as ``discreet plan --json`` prints it. No table is read.

        ``frame`` has a row for each release that is paid. With simulate, ``forecast`` has the accuracy that trainings on invented tables of so many rows
        reach, with means and standard deviations.
        """
        self._check_account()
        if isinstance(self.schema, ArraySchema):
            raise UsageError("plan needs a schema with names: an ArraySchema does not know how many columns there are")
        flags = self._flags()
        for name, value in (("rows", rows), ("persons", persons)):
            if value is not None:
                if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
                    raise ValueError(f"{name} must be a whole number, at least 1 (got {value!r})")
                flags += ["--" + name, str(int(value))]
        if "--job" in flags:
            del flags[flags.index("--job"):flags.index("--job") + 2]
        with tempfile.TemporaryDirectory(prefix="discreet-") as folder:
            schema, _ = self._files(folder, load_schema(self.schema))
            answer = run(["plan", "--schema", schema, "--json", *flags, *(["--simulate"] if simulate else [])],
                         names={schema: "schema"}).read_json()
        warn_in_words(answer.get("warnings", []), 3)
        return of_plan(answer)

    def spent(self) -> Report:
        """What ``Ledger.show`` says of the data set that fits charge."""
        if self.ledger is None or self.dataset is None:
            raise UsageError("spent needs ledger= and dataset=: without a ledger nothing is counted")
        return Ledger(self.ledger).show(self.dataset)

    def card(self, path: str | os.PathLike[str]) -> None:
        """Writes the page for the person who signs for the model: .html (which a browser prints) or .yaml. It replaces no file."""
        check_is_fitted(self, "model_")
        out = os.path.abspath(os.fspath(path))
        if os.path.exists(out):
            raise FileExistsError(f"{path} exists; nothing is overwritten")
        if not os.path.isdir(os.path.dirname(out)):
            raise FileNotFoundError(f"the folder of {path} must exist")
        self._with_model("card", "--model", "MODEL", "--out", out,
                         *(["--ledger", os.fspath(self.ledger)] if self.ledger else []))

    def _encode(self, X: Any, labels: Column) -> tuple[dict[str, Any], Levels, Iterator[bytes]]:
        """The schema's document, the label's levels, and the rows of X with their labels for the program."""
        names = column_names(X)
        if labels.size != X.shape[0]:
            raise ValueError("X and y must have as many rows")
        label = "label"
        while label in names:
            label += "_"
        if isinstance(self.schema, ArraySchema):
            document = self.schema.document(names, label)
        else:
            document = load_schema(self.schema)
            label = next(str(c["name"]) for c in document["columns"] if "label" in c)
        if label in names:
            raise ValueError(f"X must not have the label's column {label!r}")
        self._columns = {c["name"]: c for c in document["columns"]}
        self._check_columns(names, document, label)
        person = (document.get("person") or {}).get("column")
        read = {name: at for at, name in enumerate(names) if self._columns[name]["role"] != "ignored" or name == person}
        columns = [_column(X, name, at) for name, at in read.items()]
        return document, Levels(self._columns[label]), stream([*read, label], [*columns, labels])

    def _check_columns(self, names: list[str], document: Mapping[str, Any], label: str) -> None:
        """Refuses columns that are missing, or that the schema does not have."""
        person = (document.get("person") or {}).get("column")
        if missing := [n for n, c in self._columns.items() if n not in names and n != label and (
                c["role"] != "ignored" or n == person)]:
            raise UsageError(self._describe_missing("X", missing, names))
        if derived := [d["name"] for d in document.get("derived") or [] if d["name"] in names]:
            raise UsageError(f"X must not have the column {derived[0]!r}: the schema derives it from other columns")
        if more := [n for n in names if n not in self._columns]:
            raise UsageError(f"X has columns that are not in the schema, {', '.join(map(repr, more[:10]))}: add them to it "
                             "(role: ignored), or drop them from X")

    def evaluate_privately(self, X: Any, y: Any, *, epsilon: float, delta: float = 0.0,
                           costs: tuple[float, float] | None = None, threshold: float | str | None = None,
                           by: str | None = None, ledger: str | None = None, dataset: str | None = None,
                           job: str | None = None, cohorts: Sequence[str] | None = None, uncounted: bool = False) -> Report:
        """A private evaluation on rows that were held out of training, as ``discreet evaluate --epsilon --json`` prints it.

        Every number has an interval, such as ``auc`` and ``auc_interval``. costs, of a false positive
        and a false negative, choose a threshold, and so does ``threshold="rate=0.1"``, the share of rows that
        is predicted positive; a number is a threshold of its own, and None is that of ``predict``. by names a category
        whose levels are groups of rows, which the list ``groups`` measures. ``frame`` has a row for each number,
        of all rows (group "") and of each group; a group that is too small to tell has none.

        The estimator's own ledger is not charged: its data set is the rows that fit read, and these are others.
        ledger and dataset name theirs, a data set of its own if ``discreet split`` divided the table. Without
        them the evaluation is refused (BudgetError), unless uncounted=True allows that nothing adds up its cost.
        """
        check_is_fitted(self, "model_")
        if not 0 < check_number("epsilon", epsilon) < math.inf:
            raise UsageError(f"epsilon must be above 0 and finite (got {epsilon!r})")
        check_ledger(ledger, dataset, job, cohorts)
        if ledger is None and not uncounted:
            raise BudgetError(f"an evaluation would spend epsilon = {epsilon} on these rows uncounted. Pass ledger= and dataset= to "
                              "charge it (the held-out rows are a data set of their own, also in the ledger of the fit), or "
                              "uncounted=True to evaluate without keeping a total")
        if by is not None and not isinstance(by, str):
            raise ValueError(f"by must be the name of one column (got {by!r})")
        if costs is not None and threshold is not None:
            raise ValueError("costs and threshold must not be given together: each of them chooses a threshold")
        X = _table(X)
        document, _, text = self._encode(X, self._labels(y))
        flags = ["--epsilon", digits(epsilon), *account_flags(ledger, dataset, job, cohorts)]
        if check_number("delta", delta):
            flags += ["--delta", digits(delta)]
        if costs is not None:
            if not isinstance(costs, (tuple, list)) or len(costs) != 2:
                raise ValueError(f"costs must be two numbers, of a false positive and of a false negative (got {costs!r})")
            flags += ["--costs", ":".join(digits(check_number("costs", c)) for c in costs)]
        if threshold is None and costs is None:
            threshold = self._declared_threshold()
        if threshold is not None:
            flags += ["--threshold", threshold if isinstance(threshold, str) else digits(check_number("threshold", threshold))]
        if by is not None:
            flags += ["--by", by]
        with tempfile.TemporaryDirectory(prefix="discreet-") as folder:
            schema, model = self._files(folder, document)
            done = run(["evaluate", "--data", "cells:-", "--schema", schema, "--model", model, "--json", *flags], text,
                       {schema: "schema", model: "model"})
        warn_of(done)
        paid = {} if ledger is None else {"job": done.job, "from_ledger": bool(done.from_ledger)}
        return of_evaluation(done.read_json() | paid)

    @staticmethod
    def _labels(y: Any) -> Column:
        """The labels as one column, by shape and dtype alone."""
        if y is None:
            raise ValueError("this requires y to be passed, but the target y is None: y must be the labels of the rows of X")
        y = table_of(y)
        if is_frame(y) and len(column_names(y)) == 1:
            warnings.warn("A column-vector y was passed when a 1d array was expected", DataConversionWarning)
            return column_at(y, column_names(y)[0])
        if not hasattr(y, "dtype") and not hasattr(y, "type") and type(y) not in (list, tuple):
            y = np.asarray(y)
        if isinstance(y, np.ndarray) and y.ndim == 2 and y.shape[1] == 1:
            warnings.warn("A column-vector y was passed when a 1d array was expected", DataConversionWarning)
            y = y[:, 0]
        if len(getattr(y, "shape", (0,))) != 1:
            raise ValueError(f"y must be one column (got the shape {getattr(y, 'shape', None)})")
        return column_of(y)

    def _flags(self) -> list[str]:
        epsilon = self.epsilon if self.epsilon is not None else 0.0
        if math.isinf(epsilon):
            flags = ["--epsilon", "inf", "--not-private"]
            if self.learner == "logistic":
                flags = ["--not-private"]
        else:
            flags = ["--epsilon", digits(epsilon)]
        if self.learner is not None:
            flags += ["--learner", self.learner]
        if self.delta:
            flags += ["--delta", digits(self.delta)]
        for name, value in (self.options or {}).items():
            flags.append(f"--option={name}={spell(value)}")
        return flags + account_flags(self.ledger, self.dataset, self.job, self.cohorts)

    def _declared_threshold(self) -> float | None:
        """The parameter as a score; None if there is none."""
        given = self.threshold
        if isinstance(given, str) and given.startswith("costs="):
            try:
                wrong, missed = (float(cost) for cost in given.removeprefix("costs=").split(":"))
            except ValueError:
                wrong = missed = math.nan
            score = wrong / (wrong + missed) if min(wrong, missed) > 0 and wrong + missed < math.inf else math.nan
        else:
            score = float(check_number("threshold", given)) if given is not None and not isinstance(given, str) else math.nan
        if given is not None and not 0 <= score <= 1:
            raise UsageError(f"threshold must be a score from 0 to 1, or 'costs=FP:FN', two costs above 0 (got {given!r})")
        return None if given is None else score

    @property
    def threshold_(self) -> float:
        """The score from which ``predict`` answers the positive class of two."""
        check_is_fitted(self, "model_")
        if len(self.classes_) != 2:
            raise AttributeError("threshold_ is there for two classes only")
        given = self._declared_threshold()
        return self._child().threshold if given is None else given

    def _with_model(self, *args: str) -> bytes:
        check_is_fitted(self, "model_")
        with tempfile.TemporaryDirectory(prefix="discreet-") as folder:
            _, path = self._files(folder)
            return run([path if a == "MODEL" else a for a in args], names={path: "model"}).out

    def _read_json(self, command: str, positional: bool = False) -> dict[str, Any]:
        args = ["MODEL"] if positional else ["--model", "MODEL"]
        answer: dict[str, Any] = json.loads(self._with_model(command, *args, "--json"))
        return answer

    @property
    def explain_(self) -> dict[str, Any]:
        """The effect of each column on the score, as ``discreet explain --json`` prints it; for models that are sums."""
        return self._read_json("explain")

    @property
    def feature_importances_(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """What each column alone adds to the log-odds, the mean over rows, in the order of ``feature_names_in_``.

        It is 0 for columns that the model does not read, and is there for models that are sums. It follows
        from the model and costs nothing.
        """
        shapes = {s["column"]: s["importance"] for s in self.explain_.get("shapes", []) if "importance" in s}
        if not shapes:
            raise AttributeError("feature_importances_ is there for models that are sums of shapes only")
        return np.array([float(shapes.get(str(name), 0)) for name in self.feature_names_in_])

    def to_onnx(self) -> bytes:
        """The model as an ONNX file, for onnxruntime. The input of a date is its days since 1970-01-01."""
        return self._with_model("export", "--model", "MODEL", "--format", "onnx", "--out", "-")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file, for the command line and other languages. It replaces no file.

        The parameter threshold is not in the file: give it again to the classifier that ``load`` returns.
        """
        check_is_fitted(self, "model_")
        if self.threshold is not None:
            warnings.warn(f"threshold={self.threshold!r} is a parameter and not in the model file: whoever loads it must set it "
                          "again, as in load(path).set_params(threshold=...)", DiscreetWarning, stacklevel=2)
        with open(path, "xb", opener=lambda path, flags: os.open(path, flags, 0o600)) as f:
            f.write(self.model_)

    @classmethod
    def load(cls, path: str | os.PathLike[str], require_signed: str | os.PathLike[str] | None = None
             ) -> "DiscreetClassifier":
        """A classifier that predicts with the model of a file, or of a release.

        With require_signed, a file of public keys, it must be a release that one of them signed, and all
        that discreet verify checks must hold. A damaged release is refused in any case.
        """
        with open(path, "rb") as f:
            data = f.read()
        with tempfile.TemporaryDirectory(prefix="discreet-") as folder:
            copy = os.path.join(folder, "model")  # what was read is what is verified
            with open(copy, "wb") as f:
                f.write(data)
            if require_signed is not None:
                run(["verify", copy, "--keys", os.fspath(require_signed)], names={copy: os.fspath(path)}, wrong=True)
            privacy = run(["show", copy, "--json"], names={copy: os.fspath(path)}, wrong=True).read_json()
            child = RowServer(copy)
        loaded = cls()
        loaded.model_ = data
        if data[:4] == b"PK\x03\x04":
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                loaded.model_ = archive.read("model.json")
        document = json.loads(loaded.model_)["body"]["schema"]
        loaded.schema = document
        loaded._columns = {c["name"]: c for c in document["columns"]}
        loaded.feature_names_in_ = np.asarray(child.columns, dtype=object)
        loaded.n_features_in_ = len(child.columns)
        loaded.classes_ = np.array(sorted(child.classes), dtype=object)
        loaded._order = [child.classes.index(c) for c in sorted(child.classes)]
        _children[loaded] = child
        loaded.privacy_ = privacy
        return loaded

    def _child(self) -> RowServer:
        """The process that predicts; made when it is first needed, and anew after a fork."""
        child = _children.get(self)
        if child is None or not child.serves():
            with tempfile.TemporaryDirectory(prefix="discreet-") as folder:
                child = RowServer(self._files(folder)[1])
            _children[self] = child
        return child

    def _drop_child(self) -> None:
        child = _children.pop(self, None)
        if child is not None:
            child.close()

    def predict_proba(self, X: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Scores of the classes, one row per row of X, in the order of classes_."""
        check_is_fitted(self, "model_")
        child = self._child()
        X = _table(X)
        if is_frame(X) and (missing := [n for n in child.columns if n not in column_names(X)]):
            raise ValueError(self._describe_missing("X", missing, column_names(X)))
        if not is_frame(X) or isinstance(self.schema, ArraySchema):
            validate_data(self, X, reset=False, skip_check_array=True)
        names = [str(n) for n in getattr(self, "feature_names_in_", column_names(X))]
        scores = child.score([_column(X, n, names.index(n)) for n in child.columns]).reshape(-1, child.width)
        if child.width == 1:
            both = np.empty((len(scores), 2))
            both[:, child.positive] = scores[:, 0]
            both[:, 1 - child.positive] = 1 - scores[:, 0]
            scores = both
        return scores[:, self._order]

    def predict_log_proba(self, X: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The logarithms of what ``predict_proba`` returns."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    @staticmethod
    def _describe_missing(what: str, missing: list[str], given: list[str]) -> str:
        folded = {name.casefold().strip(): name for name in given}
        near = [f"{folded[name.casefold().strip()]!r} is given, not {name!r}" for name in missing
                if name.casefold().strip() in folded]
        columns = ", ".join(map(repr, missing))
        return f"{what} lacks the column{'s' * (len(missing) > 1)} {columns}" + (f": {'; '.join(near)}" if near else "")

    def decision_function(self, X: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The log-odds of ``classes_[1]``, one per row; of more than two classes the logarithms of their scores."""
        logs = self.predict_log_proba(X)
        return np.asarray(logs[:, 1] - logs[:, 0]) if logs.shape[1] == 2 else logs

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """The predicted classes."""
        indices = self._predict_indices(X)
        return np.asarray(self.classes_[indices])

    def _predict_indices(self, X: Any) -> np.ndarray[Any, Any]:
        scores = self.predict_proba(X)
        if scores.shape[1] == 2:  # a score at the threshold is the positive class's
            positive = self._order.index(self._child().positive)
            return np.where(scores[:, positive] >= self.threshold_, positive, 1 - positive)
        if self._declared_threshold() is not None:
            raise UsageError(f"threshold must not be given: the model has {scores.shape[1]} classes, not two")
        return np.asarray(np.argmax(scores, axis=1))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted. y is read by the schema, as a fit reads it."""
        predicted = np.asarray(self._order)[self._predict_indices(X)]
        label = next(name for name, column in self._columns.items() if "label" in column)
        actual = self._child().read_labels(label, self._labels(y))
        return float(accuracy_score(actual, predicted, sample_weight=sample_weight))

    def predict_row(self, row: Mapping[str, Any]) -> float | list[float]:
        """The score of one row: of two classes that of the positive one, else one per class.

        The way for single rows: no table is made, about as fast as the pipe to the child. row is a dict or
        a pandas Series with a value for every column; None and NaN are missing values.
        """
        child = self._child()
        if missing := [name for name in child.columns if name not in row]:
            raise ValueError(self._describe_missing("row", missing, [str(name) for name in row.keys()]))
        scores = child.score_row([row[name] for name in child.columns])
        return scores[0] if child.width == 1 else scores
