#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Votes of an ONNX classifier: rows as CSV in, votes as CSV out."""
import argparse
import sys

import numpy as np
import onnxruntime
import pandas as pd


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("model", help="an ONNX file whose one input is a float matrix, a row each")
    p.add_argument("--levels", required=True, help="levels of the label in the model's order, separated by commas")
    p.add_argument("--columns", help="columns to hand the model, separated by commas (default: all, in the file's order)")
    args = p.parse_args()
    levels = args.levels.split(",")
    rows = pd.read_csv(sys.stdin, skipinitialspace=True)
    if args.columns:
        rows = rows[args.columns.split(",")]
    session = onnxruntime.InferenceSession(args.model, providers=["CPUExecutionProvider"])
    outputs = session.run(None, {session.get_inputs()[0].name: rows.to_numpy(np.float32)})
    for out in outputs:  # the probabilities, where there are any
        out = np.asarray(out)
        if out.ndim == 2 and out.shape[1] == len(levels):
            pd.DataFrame(out, columns=levels).to_csv(sys.stdout, index=False)
            return
    codes = np.asarray(outputs[0]).reshape(-1)
    if codes.dtype.kind in "iu":
        codes = [levels[c] for c in codes]
    pd.DataFrame({"label": codes}).to_csv(sys.stdout, index=False)


if __name__ == "__main__":
    main()
