# SPDX-License-Identifier: Apache-2.0
"""Writes the verdicts of measured figures into the table of evidence.

usage: figures.py FOLDER ... OUT.tsv   (standard library only)

FOLDER is what make figures, or discreet-lab experiment run, wrote. A row of OUT.tsv is replaced if its figure is there, and
kept otherwise. Its code is the digest of the packages that measured; discreet-lab report compares it with a checkout's.
"""

import json
import pathlib
import sys

COLUMNS = ["figure", "verdict", "repeats", "seed", "code", "reproduced", "differs", "cannot tell"]


def row(folder):
    """What a figure's folder holds; nothing if several versions of the code measured it."""
    v = json.loads((folder / "verdict.json").read_text())
    with (folder / "records.jsonl").open() as f:
        code = {json.loads(line).get("code", "") for line in f}
    if len(code) != 1 or "" in code:
        return None
    words = [c["word"] for c in v["checks"] if not c.get("later")]
    return [v["figure"], v["outcome"], v["repeats"], v["seed"], *code, *(words.count(w) for w in COLUMNS[5:])]


def main(*folders, out):
    rows = {}
    if out.exists():
        rows = {line.split("\t")[0]: line.split("\t") for line in out.read_text().splitlines()[1:]}
    for folder in folders:
        for verdict in sorted(pathlib.Path(folder).glob("*/*/verdict.json")):
            if r := row(verdict.parent):
                rows[r[0]] = [str(c) for c in r]
            else:
                print(f"{verdict.parent}: left out, measured by several versions of the code, or by one that is not known", file=sys.stderr)
    out.write_text("\n".join("\t".join(r) for r in [COLUMNS, *(rows[name] for name in sorted(rows))]) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:-1], out=pathlib.Path(sys.argv[-1]))
