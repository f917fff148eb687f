# SPDX-License-Identifier: Apache-2.0
"""How much the non-private baseline of Figure 2a depends on what the paper
leaves open: the coding of categories and the details of the regression.

    python codings.py DATASETS REPEATS

All rows of a table are paired: same subsets, same held-out tenths.
"""

import sys

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

import adult


def coded(rows, levels):
    """Features in [-1, 1]; levels(cells) lists a category's levels in order."""
    columns = []
    for c in adult.COLUMNS[:-1]:
        if c in adult.BOUNDS:
            low, high = adult.BOUNDS[c]
            columns.append(2 * (rows[c].to_numpy(float) - low) / (high - low) - 1)
        else:
            order = {v: 2 * i / (len(levels(rows[c])) - 1) - 1 for i, v in enumerate(levels(rows[c]))}
            columns.append(rows[c].map(order).fillna(0).to_numpy(float))
    return np.column_stack(columns)


def main():
    datasets, repeats = sys.argv[1], int(sys.argv[2])
    rows = adult.table(datasets)
    y = adult.label(rows)
    marked = rows.fillna("?")
    centre = coded(rows, lambda cells: sorted(cells.dropna().unique()))
    level = coded(marked, lambda cells: sorted(cells.unique()))
    appearance = coded(marked, lambda cells: list(pd.unique(cells)))
    variants = {
        "alphabetical, missing at 0 (examples/adult.yaml)": (centre, {}),
        "alphabetical, missing a level": (level, {}),
        "same, scaled to [0, 1]": ((level + 1) / 2, {}),
        "in order of appearance, missing a level": (appearance, {}),
        "first, C = 0.1": (centre, {"C": 0.1}),
        "first, without an intercept": (centre, {"fit_intercept": False}),
    }
    found = {name: [] for name in variants}
    for repeat in range(repeats):
        train, test = adult.balanced(y, np.random.default_rng(repeat))
        for name, (x, options) in variants.items():
            h = LogisticRegression(max_iter=1000, **options).fit(x[train], y[train])
            found[name].append((h.predict(x[test]) == y[test]).mean())
    first = np.array(next(iter(found.values())))
    for name, a in found.items():
        d = np.array(a) - first
        print(f"{name:52s} {np.mean(a):.4f}   minus the first {d.mean():+.4f} ± {d.std(ddof=1) / repeats**0.5:.4f}")


if __name__ == "__main__":
    main()
