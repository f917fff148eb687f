# SPDX-License-Identifier: Apache-2.0
"""The estimator."""

from __future__ import annotations

import json
import math
import os
import tempfile
import weakref
from typing import Any, Mapping

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from ._binary import BudgetError, RowServer, run
from ._schema import ArraySchema, load_schema
from ._table import _spell, cell_of, column_cells, column_names, is_frame, rows_of, write_csv


# The processes that predict, beside the estimators, which are compared, copied and pickled.
_children: weakref.WeakKeyDictionary[DiscreetClassifier, RowServer] = weakref.WeakKeyDictionary()


class DiscreetClassifier(ClassifierMixin, BaseEstimator):
    """A classifier with differential privacy.

    Parameters
    ----------
    schema : path, YAML text, dict or ArraySchema
        What is known about the table before anybody looks at it. It has no default.
    epsilon : float
        The privacy loss that one fit may spend. It has no default; ``inf`` trains without privacy.
    learner : str
        What to train; None is the program's default.
    delta : float
        Spent besides by learners with an (epsilon, delta) mode.
    options : dict
        The learner's own options by name, as ``discreet train --help`` lists them.
    ledger, dataset : str
        The ledger to charge, and the data set in it. Every fit pays, copies too.
    job : str
        The fit's own ID in the ledger: the same ID returns the same model and costs nothing.
    uncounted : bool
        Allows copies that scikit-learn makes (grid search, cross-validation) to be fitted although no
        ledger counts what they cost together. Without it they are refused.
    """

    def __init__(self, schema: Any = None, epsilon: float | None = None, learner: str | None = None,
                 delta: float = 0.0, options: Mapping[str, Any] | None = None, ledger: str | None = None,
                 dataset: str | None = None, job: str | None = None, uncounted: bool = False) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.learner = learner
        self.delta = delta
        self.options = options
        self.ledger = ledger
        self.dataset = dataset
        self.job = job
        self.uncounted = uncounted

    def __sklearn_clone__(self) -> "DiscreetClassifier":
        # What scikit-learn copies it fits again and again; such a copy knows that it is one.
        from sklearn.base import _clone_parametrized

        copy: DiscreetClassifier = _clone_parametrized(self)
        copy._copied = True
        return copy

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
            raise ValueError("epsilon must be given: it is the price of the fit and has no default")
        if not (isinstance(self.epsilon, (int, float)) and self.epsilon > 0):
            raise ValueError(f"epsilon must be above 0 (got {self.epsilon!r})")
        if self.schema is None:
            raise ValueError("schema must be given: bounds, values and roles are declared, never guessed from data")
        if (self.ledger is None) != (self.dataset is None):
            raise ValueError("ledger and dataset must be given together")
        copied = getattr(self, "_copied", False)
        if copied and self.ledger is None and not self.uncounted and not math.isinf(self.epsilon):
            raise BudgetError(
                "this is a copy that scikit-learn made (grid search, cross-validation, an ensemble): each fit would "
                f"spend epsilon = {self.epsilon} that nobody counts. Give ledger= and dataset= so that every fit "
                "pays, or uncounted=True to say that nobody need count")

    def fit(self, X: Any, y: Any) -> "DiscreetClassifier":
        """Trains on a table X (pandas, polars, Arrow, or an array of numbers) and its labels y."""
        self._check_account()
        self._drop_child()
        if isinstance(self.schema, ArraySchema) or not is_frame(X):
            X, y = validate_data(self, X, y, dtype="numeric", ensure_all_finite=False)
            if np.isinf(np.asarray(X, dtype=float)).any():
                raise ValueError("Input X contains infinity")
            names = [str(n) for n in getattr(self, "feature_names_in_", [f"x{i}" for i in range(X.shape[1])])]
            table: Any = np.asarray(X)
            cells = [[cell_of(v) for v in table[:, i].tolist()] for i in range(table.shape[1])]
        else:
            names = column_names(X)
            self.feature_names_in_ = np.asarray(names, dtype=object)
            self.n_features_in_ = len(names)
            cells = [column_cells(X, n) for n in names]
            y = column_or_1d(np.asarray(y, dtype=None if hasattr(y, "dtype") else object), warn=True)
            if len(y) != (len(cells[0]) if cells else 0):
                raise ValueError("X and y must have as many rows")
        check_classification_targets(y)
        document, label = self._describe(names, y)
        if label in names:
            raise ValueError(f"X must not have the label's column {label!r}")
        text = write_csv([*names, label], [*cells, [cell_of(v) for v in y.tolist()]])
        with tempfile.TemporaryDirectory(prefix="discreet-") as folder:
            schema, out = os.path.join(folder, "schema.yaml"), os.path.join(folder, "m.json")
            with open(schema, "w", encoding="utf-8") as f:
                json.dump(document, f)
            run(["train", "--data", "-", "--schema", schema, "--model", out, *self._flags()], text)
            with open(out, "rb") as model:
                self.model_ = model.read()
        levels = self._levels(document, label)
        self._spelt = {str(_spell(cell_of(c))): c for c in np.unique(y)}
        kind = np.asarray(y).dtype
        typed = [self._spelt.get(v, self._cast(v, kind)) for v in levels]
        self.classes_ = np.array(sorted(typed), dtype=kind if kind.kind in "biuf" else None)
        if kind.kind == "O":
            self.classes_ = np.array(sorted(typed), dtype=object)
        self._order = [typed.index(c) for c in sorted(typed)]  # of the levels, in the order of classes_
        self.privacy_ = self._read_json("show", positional=True)
        return self

    @staticmethod
    def _cast(text: str, kind: np.dtype[Any]) -> Any:
        """A class that no row has, as the labels are."""
        if kind.kind == "b":
            return text == "true"
        return kind.type(text) if kind.kind in "iuf" else text

    def _describe(self, names: list[str], y: Any) -> tuple[dict[str, Any], str]:
        if not isinstance(self.schema, ArraySchema):
            document = load_schema(self.schema)
            return document, next(str(c["name"]) for c in document["columns"] if "label" in c)
        label = "label"
        while label in names:
            label += "_"
        declared = self.schema.classes
        classes = [_spell(cell_of(c)) for c in (np.unique(y) if declared is None else declared)]
        if len(classes) < 2:
            raise ValueError("the label must have at least two classes; it has 1 class")
        return load_schema(self.schema.document(names, label, classes)), label

    @staticmethod
    def _levels(document: dict[str, Any], label: str) -> list[str]:
        facts = next(c["label"] for c in document["columns"] if c["name"] == label)
        out = []
        for level in facts["levels"]:
            value = level.get("value") if isinstance(level, dict) else level
            out.append(_spell(value))
        return out

    def _flags(self) -> list[str]:
        epsilon = float(self.epsilon) if self.epsilon is not None else 0.0
        if math.isinf(epsilon):
            flags = ["--epsilon", "inf", "--not-private"]
            if self.learner in ("logistic", "adaboost"):
                flags = ["--not-private"]
        else:
            flags = ["--epsilon", repr(epsilon)]
        if self.learner is not None:
            flags += ["--learner", self.learner]
        if self.delta:
            flags += ["--delta", repr(float(self.delta))]
        for name, value in (self.options or {}).items():
            flags.append(f"--{name}={_spell(cell_of(value))}")
        if self.ledger is not None and self.dataset is not None and not math.isinf(epsilon):
            flags += ["--ledger", self.ledger, "--dataset", self.dataset]
            if self.job is not None:
                flags += ["--job", self.job]
        return flags

    def _with_model(self, *args: str) -> bytes:
        check_is_fitted(self, "model_")
        with tempfile.TemporaryDirectory(prefix="discreet-") as folder:
            path = os.path.join(folder, "m.json")
            with open(path, "wb") as f:
                f.write(self.model_)
            return run([path if a == "MODEL" else a for a in args])

    def _read_json(self, command: str, positional: bool = False) -> dict[str, Any]:
        args = ["MODEL"] if positional else ["--model", "MODEL"]
        answer: dict[str, Any] = json.loads(self._with_model(command, *args, "--json"))
        return answer

    @property
    def explain_(self) -> dict[str, Any]:
        """What each column adds, of models that are sums; as ``discreet explain --json`` prints it."""
        return self._read_json("explain")

    def to_onnx(self) -> bytes:
        """The model as an ONNX file, for onnxruntime."""
        return self._with_model("export", "--model", "MODEL", "--format", "onnx", "--out", "-")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file, for the command line and other languages."""
        check_is_fitted(self, "model_")
        with open(path, "wb") as f:
            f.write(self.model_)

    def _child(self) -> RowServer:
        """The process that predicts; made when it is first needed, and anew after a fork."""
        child = _children.get(self)
        if child is None or child.pid != os.getpid():
            with tempfile.TemporaryDirectory(prefix="discreet-") as folder:
                path = os.path.join(folder, "m.json")
                with open(path, "wb") as f:
                    f.write(self.model_)
                child = RowServer(path)
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
        if is_frame(X) and not isinstance(self.schema, ArraySchema):
            missing = [n for n in child.columns if n not in column_names(X)]
            if missing:
                raise ValueError(f"X must have the columns {missing}")
            rows = rows_of(X, child.columns)
        else:
            names = [str(n) for n in getattr(self, "feature_names_in_", [f"x{i}" for i in range(self.n_features_in_)])]
            X = validate_data(self, X, reset=False, dtype="numeric", ensure_all_finite=False)
            if np.isinf(np.asarray(X, dtype=float)).any():
                raise ValueError("Input X contains infinity")
            at = [names.index(n) for n in child.columns]
            rows = [[cell_of(v) for v in row] for row in np.asarray(X)[:, at].tolist()]
        return self._proba(child.score(rows), child)

    def _proba(self, flat: list[float], child: RowServer) -> np.ndarray[Any, np.dtype[np.float64]]:
        scores = np.asarray(flat, dtype=np.float64).reshape(-1, child.width)
        if child.width == 1:
            both = np.empty((len(scores), 2))
            both[:, child.positive] = scores[:, 0]
            both[:, 1 - child.positive] = 1 - scores[:, 0]
            scores = both
        return scores[:, self._order]

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """The predicted classes."""
        scores = self.predict_proba(X)
        if scores.shape[1] == 2:  # one half is the positive class's
            positive = self._order.index(self._child().positive)
            yes = scores[:, positive] >= 0.5
            return np.asarray(self.classes_[np.where(yes, positive, 1 - positive)])
        return np.asarray(self.classes_[np.argmax(scores, axis=1)])

    def predict_row(self, row: Mapping[str, Any]) -> float | list[float]:
        """The score of one row: of two classes that of the positive one, else one per class.

        The way for single rows: no table is made, about as fast as the pipe to the child.
        """
        child = self._child()
        scores = child.score([[row.get(n) for n in child.columns]])
        return scores[0] if child.width == 1 else scores
