# SPDX-License-Identifier: Apache-2.0
"""Classifiers that provably hide the private columns of a table, for scikit-learn's users.

The work is done by the program ``discreet``, which the wheel carries. See docs/python.md.
"""

from importlib import metadata

from ._binary import BudgetError, DiscreetError, DiscreetWarning, PrivacyWarning, UsageError, find_binary, version
from ._classifier import DiscreetClassifier
from ._ledger import Ledger
from ._schema import ArraySchema, draft_schema
from ._search import plan_search

try:
    __version__ = metadata.version("discreet")
except metadata.PackageNotFoundError:  # from a source tree that is not installed
    __version__ = "0.0.0"

__all__ = [
    "ArraySchema",
    "BudgetError",
    "DiscreetClassifier",
    "DiscreetError",
    "DiscreetWarning",
    "Ledger",
    "PrivacyWarning",
    "UsageError",
    "draft_schema",
    "find_binary",
    "plan_search",
    "version",
]
