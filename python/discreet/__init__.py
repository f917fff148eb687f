# SPDX-License-Identifier: Apache-2.0
"""Classifiers that provably hide the private columns of a table, for scikit-learn's users.

The work is done by the program ``discreet``, which the wheel carries. See docs/python.md.
"""

from ._binary import BudgetError, DiscreetError, UsageError, find_binary, version
from ._classifier import DiscreetClassifier, PrivacyWarning
from ._schema import ArraySchema, draft_schema

__all__ = [
    "ArraySchema",
    "BudgetError",
    "DiscreetClassifier",
    "DiscreetError",
    "PrivacyWarning",
    "UsageError",
    "draft_schema",
    "find_binary",
    "version",
]
