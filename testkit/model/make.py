# SPDX-License-Identifier: Apache-2.0
"""Reads model files and predicts, independently of the Go code.

Usage: python3 make.py v1   (standard library only)

Writes v1-scores.json from v1-rows.json and the models v1-votes.json and
v1-logistic.json beside this script. Cells of v1-rows.json are clamped numbers,
levels, or null where missing. The models of a version were written once, by
that version, and never are again: they stand for the files it left in the world.
"""

import hashlib
import json
import math
import pathlib
import sys

HERE = pathlib.Path(__file__).parent


def load(path):
    text = path.read_bytes()
    file = json.loads(text)
    body = text[text.index(b'"body": ') + len(b'"body": '):-len(b"\n}\n")]
    assert len(body) == file["bytes"] and hashlib.sha256(body).hexdigest() == file["sha256"], path
    return json.loads(body)


def levels(column):
    return [level if isinstance(level, str) else level["value"] for level in column["category"]["levels"]]


def encode(column, encoding, cell):
    """The features of one cell, all of them, zeros included."""
    if "number" in column:
        spec = column["number"]
        bend = math.log1p if spec.get("transform") == "log1p" else float
        low, high = bend(spec["lower"]), bend(spec["upper"])
        return [2 * (bend(cell) - low) / (high - low) - 1]
    names = levels(column)
    other = len(names)
    code = names.index(cell) if cell in names else other
    if cell is None and column["category"]["missing"]:
        code = other + 1
    if encoding == "onehot":
        return [float(code == k) for k in range(other + 1 + column["category"]["missing"])]
    return [2 * code / (other - 1) - 1 if code < other and other > 1 else 0.0]


def features(model, space, row):
    columns = {c["name"]: c for c in model["schema"]["columns"]}
    return [encode(columns[name], space["encoding"], row[name]) for name in space["columns"]]


def vote_share(model, row):
    total = votes = 0.0
    for member in model["votes"]["members"]:
        space = model["spaces"][member["space"]]
        grid = 2 ** (30 - len(space["columns"]).bit_length())
        coef, sum_ = iter(member["coef"]), round(member["bias"] * grid)
        for column in features(model, space, row):
            # A column adds one contribution, that of its feature that is not 0.
            sum_ += sum(round(next(coef) * value * grid) for value in column)
        votes += member["vote"] if sum_ >= 0 else -member["vote"]
        total += abs(member["vote"])
    return (1 + votes / total) / 2


def probability(model, row):
    part = model["logistic"]
    flat = sum(features(model, model["spaces"][part["space"]], row), [])
    return 1 / (1 + math.exp(-part["bias"] - sum(c * v for c, v in zip(part["coef"], flat, strict=True))))


def main(version):
    table = json.loads((HERE / f"{version}-rows.json").read_text())
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    scores = {}
    for name, score in {"votes": vote_share, "logistic": probability}.items():
        model = load(HERE / f"{version}-{name}.json")
        scores[name] = [score(model, row) for row in rows]
    (HERE / f"{version}-scores.json").write_text(json.dumps(scores, indent=1) + "\n")


main(sys.argv[1])
