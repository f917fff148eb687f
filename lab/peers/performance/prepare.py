# SPDX-License-Identifier: Apache-2.0
"""Writes the tables and schemas that measure.py takes.

usage: prepare.py FOLDER SIZE ...

FOLDER holds the built commands, discreet and discreet-lab. Of each size there are
train-SIZE and held-out-SIZE, as .parquet and .csv, the first people of two halves of an
invented census. The encodings of peer.py must be those of lab/peers/rivals.
"""

import gzip
import pathlib
import subprocess
import sys

import numpy as np
import pyarrow.csv
import pyarrow.parquet

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "rivals"))
import peer
from tables import Table

COMPARED = 2000  # rows


def compare(folder, schema, size):
    """Refuses an encoding that is not the one of lab/peers/rivals."""
    with gzip.open(folder / "people.csv.gz", "rb") as f, gzip.open(folder / "some.csv.gz", "wb") as g:
        g.writelines(f.readline() for _ in range(COMPARED + 1))
    table = Table(schema, folder, ["some.csv.gz"])
    theirs = table.draw(np.random.default_rng(1), None)
    cells = [tuple(row) for row in table.cells(table.lines)]
    order = [cells.index(tuple(row)) for row in theirs.rows]
    frame, features, y = peer.read(folder / "replace-one.yaml", folder / f"train-{size}.parquet")
    frame, y = frame.iloc[order], y[order]
    assert (y == theirs.y).all()
    assert (peer.ordinal(frame, features) == theirs.ordinal()).all()
    assert (peer.one_hot(frame, features) == theirs.one_hot()).all()
    (mine, *rest), (other, *others) = peer.strings(frame, features), theirs.frame()
    assert (mine.to_numpy() == other.to_numpy()).all() and rest == others


def main():
    folder, sizes = pathlib.Path(sys.argv[1]), [int(s) for s in sys.argv[2:]]
    half = max(sizes)
    subprocess.run([folder / "discreet-lab", "census", "--rows", str(2 * half), "--out", folder], check=True)
    table = pyarrow.csv.read_csv(folder / "people.csv.gz", convert_options=pyarrow.csv.ConvertOptions(null_values=["?"], strings_can_be_null=True))
    with gzip.open(folder / "people.csv.gz", "rt") as f:
        header, *lines = f
    for name, first in ("train", 0), ("held-out", half):
        for size in sizes:
            (folder / f"{name}-{size}.csv").write_text("".join([header, *lines[first : first + size]]))
            pyarrow.parquet.write_table(table.slice(first, size), folder / f"{name}-{size}.parquet")
    schema = folder.absolute() / "census.yaml"
    for relation in "add-remove", "replace-one":
        (folder / f"{relation}.yaml").write_text(Table(schema, folder, []).closed(relation))
    compare(folder, schema, max(sizes))


if __name__ == "__main__":
    main()
