# SPDX-License-Identifier: Apache-2.0
"""Classifiers that provably hide the private columns of a table, for scikit-learn's users.

The work is done by the program ``discreet``, which the wheel carries. See docs/python.md.
"""

from ._binary import BudgetError, DiscreetError, DiscreetWarning, PrivacyWarning, UsageError, find_binary, version
from ._classifier import DiscreetClassifier
from ._schema import ArraySchema, draft_schema

__all__ = [
    "ArraySchema",
    "BudgetError",
    "DiscreetClassifier",
    "DiscreetError",
    "DiscreetWarning",
    "PrivacyWarning",
    "UsageError",
    "draft_schema",
    "find_binary",
    "version",
]
