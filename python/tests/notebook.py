# SPDX-License-Identifier: Apache-2.0
"""Executes notebooks and fails where a cell does: notebook.py FILE..."""

import os
import sys
import tempfile

import nbformat
from nbclient import NotebookClient

with tempfile.TemporaryDirectory() as state:
    os.environ["XDG_STATE_HOME"] = state  # anchors of the notebooks' ledgers
    for path in sys.argv[1:]:
        book = nbformat.read(path, as_version=4)
        NotebookClient(book, timeout=600, kernel_name="python3").execute()
        print(f"{path}: {sum(c.cell_type == 'code' for c in book.cells)} cells ran")
