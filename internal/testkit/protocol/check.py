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
quorum = len(helpers) - len(helpers) // 3
points = {}


def expand(message, label):  # expand_message_xmd of RFC 9380 with SHA-512, 64 bytes
    label += bytes([len(label)])
    first = hashlib.sha512(bytes(128) + message + b"\0\x40" + b"\0" + label).digest()
    return hashlib.sha512(first + b"\1" + label).digest()


for h, s in enumerate(v["shares"]):
    m = bytes.fromhex(s["message"])
    assert m[:2] == b"\1\1" and m[2:34].hex() == v["tag"]
    assert struct.unpack(">3i", m[34:46]) == (v["share_of"], h, len(m) - 46)
    end = 46 + 1 + 32 * (len(helpers) + quorum)
    proof, part = m[46:end], m[end:]
    signed = b"discreet share 2\0" + bytes.fromhex(v["tag"]) + struct.pack(">I", v["share_of"]) + hashlib.sha256(proof).digest()
    Ed25519PublicKey.from_public_bytes(roster[v["share_of"]]).verify(bytes.fromhex(s["signature"]), signed)
    assert proof[0] == len(helpers)
    commitments = proof[1 : 1 + 32 * len(helpers)]
    name = bytes.fromhex(v["tag"]) + struct.pack(">I", v["share_of"])
    part_name = b"discreet secsum part 1\0" + name + struct.pack(">I", h)
    assert hashlib.sha256(part_name + part).digest() == commitments[32 * h : 32 * h + 32]
    c = int.from_bytes(expand(name + commitments, b"discreet secsum challenge 1\0"), "little") % order
    mix = [int.from_bytes(proof[i : i + 32], "little") for i in range(1 + len(commitments), len(proof), 32)]
    mask, *points[h + 1] = [int.from_bytes(part[i : i + 32], "little") for i in range(32, len(part), 32)]
    mixed = mask + sum(pow(c, i + 1, order) * y for i, y in enumerate(points[h + 1]))
    assert mixed % order == sum(a * (h + 1) ** k for k, a in enumerate(mix)) % order
lane = (len(roster) * (bound - 1)).bit_length()
for some in [(1, 2, 3), (2, 3, 4), (1, 3, 4)]:
    values = []
    for scalar in range(len(points[1])):
        secret = 0
        for x in some:
            y = points[x][scalar]
            for z in some:
                if z != x:
                    y = y * z * pow(z - x, -1, order) % order
            secret += y
        values += [secret % order >> lane * j & 2**lane - 1 for j in range(252 // lane)]
    assert values[:length] == v["values"]
print("a sum and its shares are as the protocol says")
