# SPDX-License-Identifier: Apache-2.0
"""Tables by a shipped schema, as cells for discreet and as features for others."""

import csv
import gzip
import pathlib

import numpy as np
import pandas as pd
import yaml

EXAMPLES = pathlib.Path(__file__).parents[3] / "examples"
# Schema, files, and how many rows a repeat draws, None for all: of KDD Cup 99
# as many as Chaudhuri et al. take.
TABLES = {
    "Adult": ("adult.yaml", ["adult/adult.data.gz", "adult/adult.test.gz"], None),
    "Credit": ("credit.yaml", ["credit/UCI_Credit_Card.csv.gz"], None),
    "Sepsis": ("sepsis.yaml", ["sepsis/s41598-020-73558-3_sepsis_survival_primary_cohort.csv.gz"], None),
    "Bank": ("bank.yaml", ["bank/bank-full.csv.gz"], None),
    "KDD Cup 99": ("kdd99.yaml", ["kdd99/kddcup.data_10_percent.gz"], 70_000),
    "Phishing": ("phishing.yaml", ["phishing/phishing_websites.csv.gz"], None),
}


class Table:
    """The lines of a table; draw reads some of them."""

    def __init__(self, schema, folder, files):
        self.schema = yaml.safe_load((EXAMPLES / schema).read_text())
        self.columns = self.schema["columns"]
        self.features = [c for c in self.columns if "label" not in c and c["role"] != "ignored"]
        form = self.schema["file"]
        self.order = range(len(self.columns))
        self.lines = []
        for file in files:
            with gzip.open(pathlib.Path(folder) / file, "rt") as f:
                lines = [line for line in f if line.strip() and not (form.get("comment") and line.startswith(form["comment"]))]
            if form["header"]:
                names = self.cells(lines[:1])[0]
                self.order = [names.index(c["name"]) for c in self.columns]
                lines = lines[1:]
            self.lines += lines

    def cells(self, lines):
        form = self.schema["file"]
        quoting = {"quotechar": '"'} if form.get("quote") else {"quoting": csv.QUOTE_NONE}
        return [[c.strip() for c in row] for row in csv.reader(lines, delimiter=form["delimiter"], **quoting)]

    def draw(self, rng, most):
        """A random order of the rows, or of so many of them."""
        chosen = rng.permutation(len(self.lines))[:most]
        return Rows(self, [[row[i] for i in self.order] for row in self.cells([self.lines[k] for k in chosen])])

    def closed(self, relation):
        """The schema with everything private, for tables as Rows.write has them, as YAML."""
        s = {**self.schema, "relation": relation, "columns": [dict(c) for c in self.columns]}
        s["file"] = {"delimiter": ",", "quote": '"', "header": True, "missing": sorted(self.schema["file"].get("missing", []))}
        for c in s["columns"]:
            if c["role"] != "public":
                continue
            c["role"] = "private"
            if "number" in c:
                c["number"] = {"default": c["number"]["lower"], **c["number"]}
            if "label" in c:
                c["label"] = {"default": value(c["label"]["levels"][0]), **c["label"]}
        return yaml.safe_dump(s, sort_keys=False)


def value(level):
    """What a declared level is called."""
    return level["value"] if isinstance(level, dict) else level


class Rows:
    def __init__(self, table, rows):
        self.table, self.rows = table, rows
        classes, label = {}, next(i for i, c in enumerate(table.columns) if "label" in c)
        for level in table.columns[label]["label"]["levels"]:
            for name in [value(level), *(level.get("aliases", []) if isinstance(level, dict) else [])]:
                classes[str(name)] = str(value(level))
        self.positive = str(table.columns[label]["label"]["positive"])
        self.y = np.array([classes[row[label]] == self.positive for row in rows], dtype=int)
        self._columns = [self._column(i, c) for i, c in enumerate(table.columns) if c in table.features]

    def _column(self, i, c):
        """Values in [0, 1] of a number; codes of a category, the last one for what is not declared."""
        cells = [row[i] for row in self.rows]
        if "category" in c:
            codes = {str(value(v)): k for k, v in enumerate(c["category"]["levels"])}
            return np.array([codes.get(x, len(codes)) for x in cells]), len(codes) + 1
        n = c["number"]
        low, high = float(n["lower"]), float(n["upper"])
        default = float(n.get("default", low))

        def number(cell):
            try:
                return min(max(float(cell), low), high)
            except ValueError:
                return default

        x = np.array([number(cell) for cell in cells])
        if n.get("transform") == "log1p":
            x, low, high = np.log1p(x), np.log1p(low), np.log1p(high)
        return (x - low) / (high - low), None

    def ordinal(self):
        """One number in [0, 1] a column."""
        return np.column_stack([x if k is None else x / (k - 1) for x, k in self._columns])

    def one_hot(self):
        """Numbers in [0, 1], categories as indicators."""
        return np.column_stack([x if k is None else np.eye(k)[x] for x, k in self._columns])

    def frame(self):
        """Numbers as floats, categories as strings, and the types and bounds that DP-EBM takes."""
        names = [c["name"] for c in self.table.features]
        data = {n: pd.Series(x if k is None else [f"level {v}" for v in x], dtype=float if k is None else object) for n, (x, k) in zip(names, self._columns)}
        types = ["continuous" if k is None else "nominal" for _, k in self._columns]
        bounds = {n: (0.0, 1.0) for n, (_, k) in zip(names, self._columns) if k is None}
        return pd.DataFrame(data), types, bounds

    def write(self, path, rows):
        with open(path, "w", newline="") as f:
            w = csv.writer(f)
            w.writerow([c["name"] for c in self.table.columns])
            w.writerows(self.rows[i] for i in rows)
