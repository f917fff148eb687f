# SPDX-License-Identifier: Apache-2.0
"""Writes the page of what measure.py recorded, on the machine that it ran on.

usage: page.py DISCREET RECORDS.jsonl OUT.md
"""

import collections
import importlib.metadata
import json
import math
import os
import pathlib
import platform
import subprocess
import sys
import textwrap

from measure import EPSILON, OURS, READS, RIVALS
from peer import DELTA


def fill(text):
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False)


def digits(x):
    """Two digits, or all there are before the point; at most three behind it."""
    n = next((n for n in range(3) if x >= 10 ** (1 - n)), 3)
    return f"{x:,.{n}f}".removeprefix("0")


def span(values):
    """Least and most; one number where they look alike."""
    low, high = digits(min(values)), digits(max(values))
    return low if low == high else f"{low} to {high}"


def share(values):
    """Three digits of a number from 0 to 1, least and most."""
    low, high = (f"{v:.3f}".removeprefix("0") for v in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def processor():
    with open("/proc/cpuinfo") as f:
        name = next(line.split(":")[1].strip() for line in f if line.startswith("model name"))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} processors ({name}), {memory:.0f} GiB"


def main():
    discreet, records, out = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    runs = [json.loads(line) for line in records.open()]
    values = collections.defaultdict(list)
    for r in runs:
        values[r["rows"], r["name"], r["what"]].append(r)
    sizes, repeats = sorted({r["rows"] for r in runs}), len({r["repeat"] for r in runs})
    version = importlib.metadata.version
    libraries = ", ".join(f"{name} {version(name)}" for name in ("diffprivlib", "interpret-core", "scikit-learn", "numpy", "pandas", "pyarrow"))
    own = subprocess.run([discreet, "version"], check=True, capture_output=True, text=True).stdout.split("\n")[0]
    others = sorted(r["others"] for r in runs)
    loads = [r["load"] for r in runs]

    def column(size, name, what, key):
        return [r[key] for r in values[size, name, what]]

    paragraphs = [
        "How long training and predicting take, and in how much memory, beside other libraries. Everything here is one sitting of one command, which writes this page: "
        "`make peers PEERS=performance`. Each process it ran is a line of [performance.jsonl](benchmarks/performance.jsonl).",
        f"*Table.* The invented census of `discreet demo` (14 columns and a label) in Parquet as pyarrow writes it: {' and '.join(f'{s:,}' for s in sizes)} people to train on, and "
        "as many others to predict. Everything is declared private, the label included.",
        f"*What is timed.* Whole processes, {repeats} of each kind, all kinds in turns; least and most are shown. *Fit* starts, reads the table, encodes it, trains and writes the model. "
        "*Predict* starts, reads the model and the other table, and writes that table with a class and a score for every row, as Parquet; its rate "
        "is rows by the time of all of that. Seconds are elapsed, and other work lengthens them (see *where*); those of processor, user's and system's, count the process alone. Memory is "
        "the most that was resident (`wait4`). AUC, on the people predicted, says what the model is worth for its time; *reads only* is what starting "
        "and reading take: `discreet schema check --data`, and Python with pyarrow and pandas into a data frame.",
        f"*Who.* Each at its defaults, on one thread (GOMAXPROCS, OMP_NUM_THREADS and OPENBLAS_NUM_THREADS are 1). ε = {EPSILON} for all that are private. `additive` and `auto` are for adding or removing a row, with the number of rows declared, `brc` and `erm` for "
        f"replacing one; DP-EBM takes δ = 1e{math.log10(DELTA):.0f} besides. diffprivlib and DP-EBM get bounds and levels as in [the comparison of accuracies](benchmarks/rivals.md), which says for "
        "which relation each is, and of its encodings diffprivlib the ordinal one, which has fewer columns. Scikit-learn's two have no privacy; its logistic regression "
        "gets categories as indicators, histogram boosting as such. Both logistic regressions take 100 steps at most.",
        f"*Where.* {platform.system()}, {processor()}; {own}; Python {platform.python_version()}, {libraries}. The load average was {min(loads):.1f} to {max(loads):.1f} when processes started, the "
        f"measured ones before them included; other work took {100 * others[len(others) // 2]:.0f} % of the processors' time during a process at the median, and at most {100 * others[-1]:.0f} %.",
    ]
    lines = ["# Time and memory beside other libraries", ""]
    for p in paragraphs:
        lines += [fill(p), ""]
    for size in sizes:
        lines += [f"## {size:,} rows", "",
                  "| | fit, s | processor, s | memory, MB | predict, 1,000 rows/s | processor, s | memory, MB | AUC |", "|---" * 8 + "|"]
        for name in [*READS, *OURS, *RIVALS]:
            if name in READS:
                cells = [span(column(size, name, "read", k)) for k in ("seconds", "processor", "megabytes")] + ["–"] * 4
            else:
                cells = [span(column(size, name, "fit", k)) for k in ("seconds", "processor", "megabytes")]
                cells += [span([size / 1000 / s for s in column(size, name, "predict", "seconds")])]
                cells += [span(column(size, name, "predict", k)) for k in ("processor", "megabytes")]
                cells += [share(column(size, name, "predict", "auc"))]
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
        lines.append("")
    out.write_text("\n".join(lines).rstrip("\n") + "\n")


if __name__ == "__main__":
    main()
