# SPDX-License-Identifier: Apache-2.0
"""Adult as examples/adult.yaml declares it, in the ordinal encoding."""

import numpy as np
import pandas as pd

COLUMNS = ("age workclass fnlwgt education education-num marital-status occupation relationship race sex "
           "capital-gain capital-loss hours-per-week native-country income").split()
BOUNDS = {"age": (17, 90), "fnlwgt": (0, 1500000), "education-num": (1, 16), "capital-gain": (0, 99999),
          "capital-loss": (0, 4500), "hours-per-week": (1, 99)}
PUBLIC = ["workclass", "fnlwgt", "race", "sex", "native-country"]
PRIVATE = [c for c in COLUMNS[:-1] if c not in PUBLIC]


def table(folder):
    """All 48,842 rows as they are, missing cells as NaN."""
    return pd.concat([pd.read_csv(f"{folder}/{name}", names=COLUMNS, skipinitialspace=True, comment="|", na_values=["?"])
                      for name in ("adult.data.gz", "adult.test.gz")], ignore_index=True)


def label(rows):
    return rows["income"].str.startswith(">50K").to_numpy(bool)


def read(folder):
    """All rows: public and private features in [-1, 1], and the label."""
    rows = table(folder)
    scaled = {}
    for c in COLUMNS[:-1]:
        if c in BOUNDS:
            low, high = BOUNDS[c]
            scaled[c] = 2 * (rows[c].clip(low, high).to_numpy(float) - low) / (high - low) - 1
        else:  # levels in alphabetical order over [-1, 1], missing at 0
            codes, levels = pd.factorize(rows[c], sort=True)
            scaled[c] = np.where(codes < 0, 0, 2 * codes / (len(levels) - 1) - 1)
    return (np.column_stack([scaled[c] for c in PUBLIC]), np.column_stack([scaled[c] for c in PRIVATE]), label(rows))


def balanced(y, rng):
    """Rows of a balanced subset, shuffled: (to train, to test), a tenth held out."""
    yes, no = np.flatnonzero(y), np.flatnonzero(~y)
    k = min(len(yes), len(no))
    rows = np.concatenate([rng.choice(yes, k, replace=False), rng.choice(no, k, replace=False)])
    rng.shuffle(rows)
    test = len(rows) // 10
    return rows[test:], rows[:test]
