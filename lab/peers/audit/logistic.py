# SPDX-License-Identifier: Apache-2.0
"""Trains diffprivlib's LogisticRegression again and again on one small table.

    python logistic.py DATA.csv EPSILON RUNS --norm R [--C C] [--intercept]

DATA.csv has columns x and y. Each run prints a line: the coefficient and, with
--intercept, the intercept. Nothing of the library is changed or replaced; its
noise comes from the system's generator, afresh for each run. A run may end
before the solver converges: its warnings are silenced, its answer is printed.
"""

import argparse
import csv
import sys
import warnings

import numpy as np
from diffprivlib import BudgetAccountant
from diffprivlib.models import LogisticRegression


def main():
    args = argparse.ArgumentParser()
    args.add_argument("data")
    args.add_argument("epsilon", type=float)
    args.add_argument("runs", type=int)
    args.add_argument("--norm", type=float, required=True)
    args.add_argument("--C", type=float, default=1.0)
    args.add_argument("--intercept", action="store_true")
    args = args.parse_args()
    with open(args.data, newline="") as f:
        rows = [(float(r["x"]), int(r["y"])) for r in csv.DictReader(f)]
    x = np.array([[r[0]] for r in rows])
    y = np.array([r[1] for r in rows])
    warnings.simplefilter("ignore")
    for _ in range(args.runs):
        m = LogisticRegression(
            epsilon=args.epsilon,
            data_norm=args.norm,
            C=args.C,
            fit_intercept=args.intercept,
            accountant=BudgetAccountant(),  # its own: the shared one slows down with every run it remembers
        ).fit(x, y)
        numbers = [m.coef_[0, 0]] + ([m.intercept_[0]] if args.intercept else [])
        print(*(repr(float(v)) for v in numbers))


if __name__ == "__main__":
    sys.exit(main())
