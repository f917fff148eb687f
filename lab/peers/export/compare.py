# SPDX-License-Identifier: Apache-2.0
"""Runs each exported model of a folder and compares its scores with those in rows.json."""

import json
import pathlib
import sys

import duckdb
import numpy as np
import onnx
import onnxruntime
import pandas as pd
from jpmml_evaluator import make_evaluator

TOLERANCE = 1e-12
PMML_ROWS = 1000  # of those in rows.json: the evaluator takes milliseconds for each


def run_onnx(folder, rows):
    file = (folder / "model.onnx").read_bytes()
    onnx.checker.check_model(onnx.load_from_string(file), full_check=True)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 2  # warnings too
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    feed = {}
    for name, number, cells in zip(rows["Names"], rows["Numbers"], rows["Cells"]):
        kind = np.float64 if number else object
        feed[name] = np.array([float(c) for c in cells] if number else cells, dtype=kind).reshape(-1, 1)
    label, score = session.run(["label", "score"], feed)
    return list(label), score


def run_sql(folder, rows):
    file = folder / "model.sql"
    if not file.exists():
        return None
    query = "\n".join(l for l in file.read_text().splitlines() if not l.startswith("--"))
    names = ['"' + n.replace('"', '""') + '"' for n in rows["Names"]]
    db = duckdb.connect()
    db.execute("SET threads = 1")
    kinds = ["DOUBLE" if number else "VARCHAR" for number in rows["Numbers"]]
    columns = ", ".join(f"{n} {k}" for n, k in zip(names, kinds))
    db.execute(f"CREATE TABLE input (id INTEGER, {columns})")
    table = {"id": np.arange(len(rows["Labels"]))}
    for at, (number, cells) in enumerate(zip(rows["Numbers"], rows["Cells"])):
        if number:
            table[f"c{at}"] = np.array([float(c) for c in cells])
        else:
            table[f"c{at}"] = np.array([None if c == "(missing)" else c for c in cells], dtype=object)
    db.register("given", table)
    db.execute("INSERT INTO input SELECT * FROM given")
    answer = db.execute(f"SELECT * FROM ({query.rstrip().rstrip(';')}) ORDER BY id").fetchall()
    label = ["" if row[1] is None else row[1] for row in answer]
    return label, np.array([[np.nan if x is None else x for x in row[2:]] for row in answer])


def run_pmml(folder, rows):
    table = {}
    for name, number, cells in zip(rows["Names"], rows["Numbers"], rows["Cells"]):
        values = [None if c in ("NaN", "(missing)") else float(c) if number else c for c in cells[:PMML_ROWS]]
        table[name] = pd.Series(values, dtype=object)
    evaluator = make_evaluator(str(folder / "model.pmml")).verify()
    answer = evaluator.evaluateAll(pd.DataFrame(table))
    scores = answer[[c for c in answer.columns if c.startswith("score")]].to_numpy(dtype=float)
    return ["" if pd.isna(x) else x for x in answer["label"]], scores


def compare(what, rows, labels, scores):
    if what.endswith("pmml"):
        rows = {**rows, "Labels": rows["Labels"][:PMML_ROWS], "Scores": rows["Scores"][:PMML_ROWS]}
    width = max(len(s) for s in rows["Scores"])
    want = np.array([[float(x) for x in s] or [np.nan] * width for s in rows["Scores"]])
    if scores.shape != want.shape:
        return f"{what}: scores of shape {scores.shape}, want {want.shape}"
    if not np.array_equal(np.isnan(scores), np.isnan(want)):
        return f"{what}: refuses other rows"
    far = float(np.nanmax(np.abs(scores - want)))
    wrong = sum(a != b for a, b in zip(labels, rows["Labels"]))
    print(f"{what}: {len(want)} rows, scores within {far:.1e}, {wrong} other labels")
    if far > TOLERANCE or wrong:
        return f"{what}: scores off by {far}, {wrong} other labels"
    return None


def main():
    faults, models = [], 0
    for folder in sorted(pathlib.Path(sys.argv[1]).iterdir()):
        rows = json.loads((folder / "rows.json").read_text())
        models += 1
        for system, run in {"onnxruntime": run_onnx, "duckdb": run_sql, "pmml": run_pmml}.items():
            if system in sys.argv[2:] or len(sys.argv) == 2:
                answer = run(folder, rows)
                if answer is None:
                    print(f"{folder.name}: {system}: refused")
                else:
                    faults.append(compare(f"{folder.name}: {system}", rows, *answer))
    faults = [f for f in faults if f]
    print(f"{models} models, {len(faults)} faults", *faults, sep="\n")
    sys.exit(1 if faults or not models else 0)


main()
