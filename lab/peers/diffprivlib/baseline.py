# SPDX-License-Identifier: Apache-2.0
"""The private baseline that Shen et al. name: diffprivlib's logistic regression.

usage: baseline.py DATASETS OUT.jsonl REPEATS

Sections 5.1 and 5.2 of the paper: each repeat balances a table and holds out a tenth
anew; diffprivlib's LogisticRegression at its defaults, everything private. Features are
those of examples/*.yaml in [-1, 1] (indicators in [0, 1]), as BRC's are, divided by the
square root of the number of columns, so that data_norm = 1 holds by the schema. A line holds the accuracies of one table, encoding and
epsilon, one for each repeat; repeat r draws its rows from numpy's default generator with
seed r, and its noise with random_state r. Figures 2 and 3 of discreet-lab read the file.
"""

import json
import pathlib
import sys
import warnings

import diffprivlib
import numpy as np
import sklearn
from diffprivlib.models import LogisticRegression

sys.path.append(str(pathlib.Path(__file__).parents[1] / "rivals"))
import tables  # noqa: E402

warnings.filterwarnings("ignore")
EPSILONS = (0.01, 0.02, 0.04, 0.08, 0.16)
# Table, its name in records, how many of its rows, the budgets of its figures, and how
# many times the repeats.
PANELS = [
    ("Adult", "adult", None, (*EPSILONS, 0.32, 0.64, 1, 2), 1),
    ("Adult", "adult-500", 500, (0.5, 1, 2, 4, 8), 10),
    ("Credit", "credit", None, EPSILONS, 1),
    ("Sepsis", "sepsis", None, EPSILONS, 1),
    ("Bank", "bank", None, EPSILONS, 1),
]


def split(y, rng):
    """Rows of a balanced subset: (to train, to test), a tenth held out."""
    yes, no = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    k = min(len(yes), len(no))
    rows = rng.permutation(np.concatenate([rng.choice(yes, k, replace=False), rng.choice(no, k, replace=False)]))
    test = round(0.1 * len(rows))
    return rows[test:], rows[:test]


def main():
    datasets, out, repeats = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
    versions = {"diffprivlib": diffprivlib.__version__, "scikit-learn": sklearn.__version__, "numpy": np.__version__}
    lines = []
    for name, data, first, epsilons, times in PANELS:
        schema, files, _ = tables.TABLES[name]
        table = tables.Table(schema, datasets, files)
        table.lines = table.lines[:first]
        rows = table.draw(np.random.default_rng(0), None)
        one_hot = rows.one_hot()
        number = np.repeat([k is None for _, k in rows._columns], [k or 1 for _, k in rows._columns])
        one_hot[:, number] = 2 * one_hot[:, number] - 1
        for encoding, x in ("ordinal", 2 * rows.ordinal() - 1), ("onehot", one_hot):
            x = x / np.sqrt(len(table.features))
            found = {e: [] for e in epsilons}
            for r in range(times * repeats):
                train, test = split(rows.y, np.random.default_rng(r))
                for e in epsilons:
                    model = LogisticRegression(epsilon=e, data_norm=1.0, random_state=r).fit(x[train], rows.y[train])
                    found[e].append(round(float((model.predict(x[test]) == rows.y[test]).mean()), 6))
            for e, values in found.items():
                lines.append(json.dumps({"data": data, "encoding": encoding, "epsilon": e, "values": values, "versions": versions}))
                print(data, encoding, e, f"{np.mean(values):.4f} ± {np.std(values, ddof=1) / len(values)**0.5:.4f}", file=sys.stderr)
    out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
