# SPDX-License-Identifier: Apache-2.0
"""Writes the test accuracies of the numpy BRC on Adult, for TestNumpyAgrees.

    python accuracy.py DATASETS OUT.json REPEATS
"""

import json
import sys

import numpy as np

import adult
import brc

EPSILONS = (0.02, 0.16)


def main():
    datasets, out, repeats = sys.argv[1], sys.argv[2], int(sys.argv[3])
    public, private, y = adult.read(datasets)
    rng = np.random.default_rng(1)
    found = {str(e): [] for e in EPSILONS}
    for _ in range(repeats):
        train, test = adult.balanced(y, rng)
        for e in EPSILONS:
            members = brc.fit(public[train], private[train], y[train], e, rng, refit="changed")
            found[str(e)].append(float((brc.predict(members, public[test], private[test]) == y[test]).mean()))
    with open(out, "w") as f:
        json.dump(found, f)
    print({e: f"{np.mean(a):.4f} ± {np.std(a, ddof=1) / len(a)**0.5:.4f}" for e, a in found.items()})


if __name__ == "__main__":
    main()
