#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Votes of a scikit-learn model: rows as CSV in, votes as CSV out."""
import argparse
import sys

import joblib
import pandas as pd


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("model", help="estimator or pipeline saved with joblib; open your own only, it can run any code")
    p.add_argument("--columns", help="columns to hand the model, separated by commas (default: those it was fitted on)")
    args = p.parse_args()
    model = joblib.load(args.model)
    rows = pd.read_csv(sys.stdin, skipinitialspace=True)
    columns = args.columns.split(",") if args.columns else list(model.feature_names_in_)
    missing = [c for c in columns if c not in rows.columns]
    if missing:
        sys.exit("the table must have the model's columns; these are missing: " + ", ".join(missing))
    if hasattr(model, "predict_proba"):
        votes = pd.DataFrame(model.predict_proba(rows[columns]), columns=[str(c) for c in model.classes_])
    else:
        votes = pd.DataFrame({"label": [str(c) for c in model.predict(rows[columns])]})
    votes.to_csv(sys.stdout, index=False)


if __name__ == "__main__":
    main()
