# SPDX-License-Identifier: Apache-2.0
"""Times BRC on the same 21,037 rows of Adult, here and in Go, in turns.

    python speed.py DATASETS GO_TEST_BINARY PAIRS

One pair is one Go benchmark process and one fit of each numpy variant in this
process; the sides alternate so that whatever else the machine does hits both.
"train" starts from a table in memory; "read+train" from the two CSV files.
"""

import os
import platform
import re
import statistics
import subprocess
import sys
import time

import numpy as np
import sklearn

import adult
import brc


def fixed_rows(y):
    """The rows that BenchmarkBRCAdult takes."""
    yes, no = np.flatnonzero(y), np.flatnonzero(~y)
    rows = np.concatenate([yes, no[: len(yes)]])
    return rows[np.arange(len(rows)) % 10 != 9]


def ours(binary, name):
    """Seconds per fit of one Go benchmark, timed inside its process."""
    out = subprocess.run([binary, "-test.run=^$", f"-test.bench=^BenchmarkBRCAdult$/^{re.escape(name)}$", "-test.benchtime=10x"],
                         cwd="../../../lab/internal/experiment/shen", capture_output=True, text=True, check=True).stdout
    return float(re.search(r"([0-9.]+) ns/op", out).group(1)) / 1e9


def timed(f):
    start = time.perf_counter()
    f()
    return time.perf_counter() - start


def main():
    datasets, binary, pairs = sys.argv[1], sys.argv[2], int(sys.argv[3])
    rng = np.random.default_rng(1)
    public, private, y = adult.read(datasets)
    rows = fixed_rows(y)
    x, z, labels = public[rows], private[rows], y[rows]
    assert len(rows) == 21037

    def train(refit):
        brc.fit(x, z, labels, 0.16, rng, refit=refit)

    def read_and_train():
        public, private, y = adult.read(datasets)
        rows = fixed_rows(y)
        brc.fit(public[rows], private[rows], y[rows], 0.16, rng)

    print(f"# BRC on balanced Adult: {len(rows)} rows, 25 rounds, ordinal encoding, epsilon 0.16; seconds")
    print(f"# numpy {np.__version__}, scikit-learn {sklearn.__version__}, python {platform.python_version()}, "
          f"{os.cpu_count()} processors, OMP_NUM_THREADS={os.environ.get('OMP_NUM_THREADS', 'unset')}")
    print("pair\tgo_train\tnumpy_train\tnumpy_train_refit_if_changed\tgo_read_train\tnumpy_read_train")
    train("always")  # first calls load libraries
    table = []
    for pair in range(pairs):
        row = [ours(binary, "train"), timed(lambda: train("always")), timed(lambda: train("changed")),
               ours(binary, "read+train"), timed(read_and_train)]
        table.append(row)
        print(pair + 1, *(f"{s:.4f}" for s in row), sep="\t", flush=True)
    for what, a, b in (("train", 0, 1), ("train, refit only if weights changed", 0, 2), ("read+train", 3, 4)):
        ratios = sorted(r[b] / r[a] for r in table)
        print(f"# {what}: numpy/go median {statistics.median(ratios):.1f}, lowest {ratios[0]:.1f}, highest {ratios[-1]:.1f}; "
              f"best of each side {min(r[b] for r in table):.4f} / {min(r[a] for r in table):.4f} = "
              f"{min(r[b] for r in table) / min(r[a] for r in table):.1f}")


if __name__ == "__main__":
    main()
