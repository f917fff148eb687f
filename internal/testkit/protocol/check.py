# SPDX-License-Identifier: Apache-2.0
"""Checks sum.json without discreet's code, from docs/protocol.md alone.

Needs the package cryptography for signatures.
"""
import hashlib
import json
import pathlib
import struct

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

v = json.loads((pathlib.Path(__file__).parent / "sum.json").read_text())
b = bytes.fromhex(v["sum"])
assert hashlib.sha256(b).hexdigest() == v["sum_id"]


class Cursor:
    at = 0

    def take(self, n):
        self.at += n
        return b[self.at - n : self.at]

    def number(self, n):
        return int.from_bytes(self.take(n), "little")

    def text(self):
        return self.take(self.number(1))


c = Cursor()
assert c.take(4) == b"DSS1"
assert c.text().decode() == v["round"] and c.text() == b"aggregator/main"
c.take(32)  # the topic
length, bound, least, _ = c.number(4), c.number(8), c.number(4), c.number(8)
helpers = [(c.text(), c.take(16)) for _ in range(c.number(1))]
roster = [c.take(32) for _ in range(c.number(4))]
assert c.at == len(b)
tag = b"discreet secsum 1\0\x06shamir\x20" + hashlib.sha256(b).digest()
tag += struct.pack(">5Q", len(roster), least, len(helpers), length, bound)
assert hashlib.sha256(tag).hexdigest() == v["tag"]
order = 2**252 + 27742317777372353535851937790883648493
points = {}
for h, s in enumerate(v["shares"]):
    m = bytes.fromhex(s["message"])
    Ed25519PublicKey.from_public_bytes(roster[v["share_of"]]).verify(bytes.fromhex(s["signature"]), b"discreet share 1\0" + m)
    assert m[:2] == b"\1\1" and m[2:34].hex() == v["tag"]
    assert struct.unpack(">3i", m[34:46]) == (v["share_of"], h, len(m) - 46)
    points[h + 1] = [int.from_bytes(m[i : i + 32], "little") for i in range(46, len(m), 32)]
lane = (len(roster) * (bound - 1)).bit_length()
for quorum in [(1, 2, 3), (2, 3, 4), (1, 3, 4)]:
    values = []
    for scalar in range(len(points[1])):
        secret = 0
        for x in quorum:
            y = points[x][scalar]
            for z in quorum:
                if z != x:
                    y = y * z * pow(z - x, -1, order) % order
            secret += y
        values += [secret % order >> lane * j & 2**lane - 1 for j in range(252 // lane)]
    assert values[:length] == v["values"]
print("a sum and its shares are as the protocol says")
