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
import statistics
import subprocess
import sys
import textwrap

from measure import EPSILON, FILES, OURS, READS, RIVALS
from peer import DELTA

PAIRS = "\n## Pairs\n"  # measured by hand and kept


def fill(text):
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False)


def digits(x):
    """Two digits, or all there are before the point; at most three behind it."""
    n = next((n for n in range(3) if x >= 10 ** (1 - n)), 3)
    return f"{x:,.{n}f}"


def span(values):
    """Least and most; one number if they look alike."""
    low, high = digits(min(values)), digits(max(values))
    return low if low == high else f"{low} to {high}"


def share(values):
    """Three digits of a number from 0 to 1, least and most."""
    low, high = (f"{v:.3f}" for v in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def processor():
    with open("/proc/cpuinfo") as f:
        name = next(line.split(":")[1].strip() for line in f if line.startswith("model name"))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} processors ({name}), {memory:.0f} GiB"


def files(column):
    """The table of processes that read and write files, beside polars."""
    lines = [fill("Ours beside polars on the same files, which has no schema to follow and trains nothing. *Ratio* is that of the medians of processor seconds."), "",
             "| | s | processor, s | memory, MB | beside | s | processor, s | memory, MB | ratio |", "|---" * 9 + "|"]
    for ours, theirs in FILES.items():
        cells = []
        for name in ours, theirs:
            cells += [name] + [span(column(name, key)) for key in ("seconds", "processor", "megabytes")]
        ratio = statistics.median(column(ours, "processor")) / statistics.median(column(theirs, "processor"))
        lines.append("| " + " | ".join(cells) + f" | {ratio:.2f} |")
    return [*lines, ""]


def serving(served):
    """The table of servers."""
    lines = ["## Serving", "", fill("Requests over HTTP by the protocol that both speak (Open Inference Protocol, version 2), one after the other on one connection. discreet serve "
             "has the census' cells and the model of `additive`; MLServer has numbers that are encoded already, and scikit-learn's logistic regression. "
             "Milliseconds are those that the client waits, at the median and at the 99th of a hundred; processor milliseconds are those of the server's processes; memory is "
             "the sum of their largest resident sets."), "",
             "| | rows of a request | median, ms | 99 %, ms | processor, ms | memory, MB |", "|---" * 6 + "|"]
    for r in served:
        lines.append(f"| {r['name']} | {r['rows_each']:,} | {digits(r['median_ms'])} | {digits(r['most_ms_of_99_%'])} | {digits(r['processor_ms_each'])} | {digits(r['megabytes'])} |")
    return [*lines, ""]


def main():
    discreet, records, out = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    runs = [json.loads(line) for line in records.open()]
    served = [r for r in runs if r["what"] == "serve"]
    runs = [r for r in runs if r["what"] != "serve"]
    values = collections.defaultdict(list)
    for r in runs:
        values[r["rows"], r["name"], r["what"]].append(r)
    sizes, repeats = sorted({r["rows"] for r in runs}), len({r["repeat"] for r in runs})
    version = importlib.metadata.version
    libraries = ", ".join(f"{name} {version(name)}" for name in ("diffprivlib", "interpret-core", "scikit-learn", "numpy", "pandas", "pyarrow", "polars"))
    own = subprocess.run([discreet, "version"], check=True, capture_output=True, text=True).stdout.split("\n")[0]
    others = sorted(r["others"] for r in runs)
    loads = [r["load"] for r in runs]

    def column(size, name, what, key):
        return [r[key] for r in values[size, name, what]]

    paragraphs = [
        "How long training and prediction take, and how much memory they need, compared with other libraries. `make comparison` measures it and writes this page. "
        "Each process is one line of [performance.jsonl](performance.jsonl).",
        f"*Table.* The invented census of `discreet demo` (14 columns and a label), in Parquet as pyarrow writes it: {' and '.join(f'{s:,}' for s in sizes)} people for training, and "
        "as many others for prediction. Every column is private, and so is the label.",
        f"*Measurements.* {repeats} processes of each kind ran in turns. Cells show the least and the most. *Fit* starts, reads the table, encodes it, trains and writes the model. "
        "*Predict* starts, reads the model and the other table, and writes that table as Parquet, with a class and a score for every row. Its rate is rows divided by this time. "
        "Seconds are elapsed time, which other work on the machine lengthens. Processor seconds are user and system time of the process alone. Memory is the largest resident set (`wait4`). "
        "AUC is measured on the table for prediction. *Reads only* starts and reads: `discreet schema check --data`, or Python with pyarrow and pandas.",
        f"*Settings.* Each library has its defaults and one thread. ε = {EPSILON} if private. `additive` and `auto` use add-remove with a declared number of rows; `brc` and `erm` use "
        f"replace-one. DP-EBM also gets δ = 1e{math.log10(DELTA):.0f}. diffprivlib and DP-EBM get bounds and levels as in [the comparison of accuracies](rivals.md), which lists each relation. "
        "diffprivlib uses the ordinal encoding, which has fewer columns. The two methods of scikit-learn have no privacy: its logistic regression gets indicators of categories, and "
        "histogram boosting gets the categories themselves. Both logistic regressions take at most 100 steps.",
        f"*Machine.* {platform.system()}, {processor()}; {own}; Python {platform.python_version()}, {libraries}. The load average was {min(loads):.1f} to {max(loads):.1f} when processes started, "
        f"including the measured ones. Other work took {100 * others[len(others) // 2]:.0f} % of processor time in the median process, and at most {100 * others[-1]:.0f} %.",
    ]
    lines = ["# Time and memory compared with other libraries", ""]
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
        if (size, next(iter(FILES)), "file") in values:
            lines += files(lambda name, key, size=size: column(size, name, "file", key))
    if served:
        lines += serving(served)
    _, heading, pairs = out.read_text().partition(PAIRS) if out.exists() else ("", "", "")
    out.write_text("\n".join(lines).rstrip("\n") + "\n" + heading + pairs)


if __name__ == "__main__":
    main()
