# SPDX-License-Identifier: Apache-2.0
"""Prices and ledgers: what may be given, and how the program takes it."""

from __future__ import annotations

import csv
import io
import math
import numbers
import os
from typing import Any

import numpy as np


def check_number(name: str, value: Any) -> Any:
    """A number of Python or numpy; a truth value is none."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ValueError(f"{name} must be a number (got {value!r})")
    return value


def check_ledger(ledger: Any, dataset: Any, job: Any, cohorts: Any) -> None:
    """Refuses an account that names half a ledger."""
    if (ledger is None) != (dataset is None):
        raise ValueError("ledger and dataset must be given together")
    for name, value in (("job", job), ("cohorts", cohorts)):
        if value is not None and ledger is None:
            raise ValueError(f"{name} must be given together with ledger and dataset")
    for name, value in (("dataset", dataset), ("job", job)):
        if value is not None and not isinstance(value, str):
            raise ValueError(f"{name} must be a text (got {value!r})")
    if ledger is not None and not isinstance(ledger, (str, os.PathLike)):
        raise ValueError(f"ledger must be a path or an address (got {ledger!r})")
    if cohorts is not None and (isinstance(cohorts, str) or not all(isinstance(name, str) for name in cohorts)):
        raise ValueError(f"cohorts must be a list of names (got {cohorts!r})")


def account_flags(ledger: Any, dataset: Any, job: Any, cohorts: Any) -> list[str]:
    """A ledger's account as the program takes it."""
    if ledger is None:
        return []
    flags = ["--ledger", os.fspath(ledger), "--dataset", dataset]
    if job is not None:
        flags += ["--job", job]
    if cohorts is not None:
        names = io.StringIO()
        csv.writer(names, lineterminator="").writerow(cohorts)
        flags += ["--cohorts", names.getvalue()]
    return flags


def digits(value: Any) -> str:
    """A number with the digits that it takes, as the program reads it."""
    return "inf" if math.isinf(value) else np.format_float_positional(value, trim="-") if isinstance(
        value, np.floating) else repr(float(value))
