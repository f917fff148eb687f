# SPDX-License-Identifier: Apache-2.0
"""Checks the vectors of internal/net/testkit/protocol by what this client does, without discreet's code."""
import hashlib
import json
import pathlib
import struct

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

import answer
import canonical
import party
from owner import ANNOUNCEMENT, Announced, Owner, report, respond
from secretsum import ORDER, Sum
from sumvotes import Statistic

HERE = pathlib.Path(__file__).resolve().parents[3] / "internal" / "net" / "testkit" / "protocol"


def load(name):
    return json.loads((HERE / name).read_text())


class Words:
    """The source of the vectors (docs/protocol.md, Vectors)."""

    def __init__(self, name):
        self.name, self.drawn = name.encode(), 0

    def word(self):
        h = hashlib.sha256(b"discreet vector words 1\0" + self.name + struct.pack("<Q", self.drawn)).digest()
        self.drawn += 1
        return int.from_bytes(h[:8], "little")


def laws():
    draws = 0
    for v in load("laws.json"):
        law = answer.law_for(v["mechanism"], v["epsilon_nano"], v["cells"])
        assert law.name == v["law"], v
        for d in v["draws"]:
            source = Words(d["source"])
            assert law.answer(answer.Draw(source), d["cell"], d["weight"]) == d["words"], (v["law"], d)
            assert source.drawn == d["drawn"], (v["law"], d)
            draws += 1
    print(f"{draws} answers by every law are as the protocol says")


def tasks():
    reports = 0
    for v in load("vectors.json"):
        name = bytes.fromhex(v["task_id"])
        a = Announced(v["announcement"].encode(), name, "local", 20 * answer.NANO)
        assert a.line == v["task"].encode()
        if "listed" in v:
            keys = b"".join(sorted(Ed25519PrivateKey.from_private_bytes(hashlib.sha256(b"discreet vector owner %d" % i).digest()).public_key().public_bytes_raw() for i in range(30)))
            body = canonical.read(v["listed"].encode(), ANNOUNCEMENT)
            assert body.pop("roster") == hashlib.sha256(keys).hexdigest() and body == a.body
        broadcasts = [a.broadcast(line.encode(), slot) for slot, line in enumerate(v["broadcasts"])]
        for x in v["owners"]:
            o = Owner(Ed25519PrivateKey.from_private_bytes(bytes.fromhex(x["seed"])), x["record"])
            slot, ticket = a.place(o.name)
            assert (o.name, slot, ticket) == (x["name"], x["slot"], int(x["ticket"]))
            b = broadcasts[slot]
            ask, words = respond(a, b, ticket, o.record, Words(x["source"]))
            assert answer.cell_of(a.task, b, ask, o.record) == x["cell"], x
            assert abs(answer.weight(a.task, b, o.record) - x["weight"]) < 1e-14, x
            assert (ask, words) == (x["ask"], x["words"]), x
            r = report(name, slot, ask, o.name, words)
            assert r.hex() == x["report"] and o.sign(b"discreet report 1", r).hex() == x["signature"]
            reports += 1
    print(f"{reports} owners' reports are as the protocol says")


def addends():
    draws = 0
    for v in load("addends.json"):
        law = answer.Addend.of_cells(v["epsilon_nano"], v["dim"], v["cells"], v["owners"], v["honest"])
        assert law.range() == v["range"], v
        for d in v["draws"]:
            source = Words(d["source"])
            assert law.cells(answer.Draw(source), v["dim"], d["cells"], d["weight"]) == d["addend"], d
            assert source.drawn == d["drawn"]
            draws += 1
    print(f"{draws} owners' addends are as the protocol says")


class Told:
    """A party's model whose answers are given."""

    def __init__(self, levels, votes):
        self.levels, self.votes = levels, iter(votes)

    def probabilities(self, _):
        return next(self.votes)


def votes():
    for v in load("votes.json"):
        schema, table = json.loads(v["schema"]), v["table"].encode()
        rows, levels = party.rows_of([table]), answer.Task({"schema": schema, "questions": []}).levels
        query = {"tables": [{"sha256": hashlib.sha256(table).hexdigest()}]}
        for f in v["files"]:
            told = Told([answer.value_of(x) for x in levels], v["votes"])
            file = party.votes_file("mary", party.key_of(bytes.fromhex(v["seed"])), told, b"a rule", query | {"kind": f["kind"]}, [table])
            assert file.hex() == f["file"], f["kind"]
        units = [party.shares(p) for p in v["votes"]]
        for x in v["sums"]:
            law, source = Statistic(schema, x["params"], x["honest"], rows), Words(x["source"])
            assert law.addend.range() == x["range"], x["params"]
            assert law.addend.draw(answer.Draw(source), law.of(units)) == x["addend"], x["params"]
            assert source.drawn == x["drawn"]
    print("parties' votes and addends are as the protocol says")


def through(points):
    """The coefficients of the polynomial through (x, y)s, lowest first."""
    out = [0] * len(points)
    for x, y in points:
        term, scale = [1], y
        for z, _ in points:
            if z != x:
                term = [(a - z * b) % ORDER for a, b in zip([0] + term, term + [0])]
                scale = scale * pow(x - z, -1, ORDER) % ORDER
        out = [(a + scale * b) % ORDER for a, b in zip(out, term)]
    return out


def sums():
    v = load("sum.json")
    s = Sum(bytes.fromhex(v["sum"]))
    assert (s.name.hex(), s.tag.hex(), s.round) == (v["sum_id"], v["tag"], v["round"])
    messages = [bytes.fromhex(x["message"]) for x in v["shares"]]
    part = 46 + 1 + 32 * (len(s.helpers) + 1 + s.quorum)  # where a helper's part begins
    bare = part + 32 * (2 + len(s.packed(v["values"])))
    own = bare + s.ranges.statement
    assert s.ranges.proven and all(len(m) == bare + s.ranges.bytes for m in messages)

    def recovered(begin, end):
        scalars = [[int.from_bytes(m[i : i + 32], "little") for i in range(begin, end, 32)] for m in messages]
        return [through([(h + 1, ys[f]) for h, ys in enumerate(scalars[: s.quorum])]) for f in range(len(scalars[0]))]

    polynomials = recovered(part + 32, bare)
    assert [f[0] for f in polynomials[1:]] == s.packed(v["values"])
    shared = recovered(own + 32, len(messages[0]))
    digits, proof = shared[: s.ranges.inputs], shared[s.ranges.inputs :]
    assert [f[0] for f in digits] == s.ranges.encode(v["values"]) and polynomials[1:] == s.made(digits)
    coins = digits, [f[0] for f in proof[: s.ranges.arity]], [f[1:] for f in proof], [m[own : own + 32] for m in messages]
    signed = []
    again = s.split(v["share_of"], polynomials, [m[part : part + 32] for m in messages], coins, lambda purpose, text: signed.append(purpose + b"\0" + text))
    assert [m for m, _ in again] == messages
    key = Ed25519PublicKey.from_public_bytes(s.roster[v["share_of"]])
    for x in v["shares"]:
        key.verify(bytes.fromhex(x["signature"]), signed[0])
    print("a sum and its shares are as the protocol says")


if __name__ == "__main__":
    laws()
    tasks()
    addends()
    votes()
    sums()
