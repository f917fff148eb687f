# SPDX-License-Identifier: Apache-2.0
"""Reads model files and predicts, independently of the Go code.

Usage: python3 make.py v1   (standard library only; v3 and v5 likewise)

Writes v1-scores.json from v1-rows.json and the models of v1 beside this script.
Scores of a label of more than two levels stand row by row in one list. Cells of
v1-rows.json are clamped numbers, levels, or null where missing. The models of a
version were written once, by that version, and never are again: they stand for
the files it left in the world.
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


DERIVATIONS = {"largest": max, "smallest": min, "mean": lambda cells: sum(cells) / len(cells)}


def with_derived(columns, derived, row):
    """The columns and the row with what follows from other columns of the row."""
    columns, row = dict(columns), dict(row)
    for column in derived:
        how = next(key for key in DERIVATIONS if key in column)
        specs = [columns[name]["number"] for name in column[how]]
        bounds = {"lower": min(s["lower"] for s in specs), "upper": max(s["upper"] for s in specs)}
        columns[column["name"]] = {"number": specs[0] | bounds}
        row[column["name"]] = DERIVATIONS[how]([row[name] for name in column[how]])
    return columns, row


def features(model, space, row):
    columns = {c["name"]: c for c in model["schema"]["columns"]}
    columns, row = with_derived(columns, model["schema"].get("derived", []), row)
    return [encode(columns[name], space["encoding"], row[name]) for name in space["columns"]]


def positive(model, space, member, row):
    """What a threshold answers: a column adds one contribution, that of its feature that is not 0."""
    grid = 2 ** (30 - len(space["columns"]).bit_length())
    coef, sum_ = iter(member["coef"]), round(member["bias"] * grid)
    for column in features(model, space, row):
        sum_ += sum(round(next(coef) * value * grid) for value in column)
    return sum_ >= 0


def vote_share(model, row):
    total = votes = 0.0
    for member in model["votes"]["members"]:
        space = model["spaces"][member["space"]]
        votes += member["vote"] if positive(model, space, member, row) else -member["vote"]
        total += abs(member["vote"])
    return [(1 + votes / total) / 2]


def probability(model, row):
    part = model["logistic"]
    flat = sum(features(model, model["spaces"][part["space"]], row), [])
    return [1 / (1 + math.exp(-shorten(part, flat) * linear(part, flat)))]


def shorten(part, flat):
    """What a row, with a 1 for the bias, is multiplied with to be at most norm long."""
    return min(1.0, part["norm"] / math.sqrt(1 + sum(v * v for v in flat))) if "norm" in part else 1.0


def linear(part, flat):
    return part["bias"] + sum(c * v for c, v in zip(part["coef"], flat, strict=True))


LINKS = {"share": float, "softmax": math.exp, "one-vs-rest": lambda z: 1 / (1 + math.exp(-z))}


def linked(link, sums):
    terms = [LINKS[link](z) for z in sums]
    return [t / sum(terms) for t in terms]


def per_level(model, row):
    part = model["linear"]
    flat = sum(features(model, model["spaces"][part["space"]], row), [])
    return linked(part["link"], [shorten(part, flat) * linear(level, flat) for level in part["levels"]])


def ballot(model, member, row):
    space = model["spaces"][member["space"]]
    if stump := member.get("stump"):
        return stump["yes" if positive(model, space, stump, row) else "no"]
    values = [linear(level, sum(features(model, space, row), [])) for level in member["argmax"]["levels"]]
    return [float(k == values.index(max(values))) for k in range(len(values))]


def elected(model, row):
    part = model["ballots"]
    ballots = [[member["weight"] * x for x in ballot(model, member, row)] for member in part["members"]]
    return linked(part["link"], [sum(column) for column in zip(*ballots, strict=True)])


MODELS = {
    "v1": {"votes": vote_share, "logistic": probability},
    "v3": {"softmax": per_level, "one-vs-rest": per_level, "ballots": elected, "log-odds": elected, "norm": probability, "norm-levels": per_level},
    "v5": {"derived": probability},
}


def main(version):
    table = json.loads((HERE / f"{version}-rows.json").read_text())
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    scores = {}
    for name, score in MODELS[version].items():
        model = load(HERE / f"{version}-{name}.json")
        scores[name] = [x for row in rows for x in score(model, row)]
    (HERE / f"{version}-scores.json").write_text(json.dumps(scores, indent=1) + "\n")


main(sys.argv[1])
