# SPDX-License-Identifier: Apache-2.0
"""A secret sum, as its participants see it (docs/protocol.md, A secret sum)."""
import hashlib
import re
import secrets
import struct
import time

from call import PROBLEMS, URN, Client, Refused, base64of
from ranges import ORDER, Ranges
from ristretto import commit

ABSENT = bytes(16)
ROLES = ("aggregator", "combiner", "helper", "operator", "owner", "party", "reader")


class Sum:
    """A signed sum, read."""

    def __init__(self, line):
        self.name, self.rest = hashlib.sha256(line).digest(), line
        begins = self.take(4)
        if len(line) > 4 << 20 or begins not in (b"DSS2", b"DSS3"):
            raise ValueError("not a sum")
        self.round, self.collector, self.topic = self.text(), self.text(), self.take(32)
        self.length, self.range, self.least, self.ends = self.number(4), self.number(8), self.number(4), self.number(8)
        self.helpers = [(self.text(), self.take(16)) for _ in range(self.number(1))]
        self.roster = [self.take(32) for _ in range(self.number(4))]
        n = len(self.roster)
        ok = not self.rest and 3 <= len(self.helpers) <= 255 and len(set(h for h, _ in self.helpers)) == len(self.helpers)
        ok = ok and len(set(self.roster)) == n <= 100_000 and 2 <= self.least <= n and 1 <= self.length <= min(1 << 20, (1 << 25) // n)
        role, _, name = self.collector.partition("/")
        ok = ok and role in ROLES and all(re.fullmatch("[A-Za-z0-9._-]{1,64}", x) for x in [name] + [h for h, _ in self.helpers])
        ok = ok and self.round and 0 < self.ends < 1 << 63
        if not ok or self.range < 2 or n * (self.range - 1) >= 1 << 63:
            raise ValueError("a sum that no collector may begin")
        self.quorum = len(self.helpers) - len(self.helpers) // 3
        self.lane = (n * (self.range - 1)).bit_length()
        self.ranges = Ranges(self.length, self.range, self.lane, len(self.helpers), self.quorum)
        self.proofs = begins == b"DSS3"
        if self.proofs and self.ranges.bytes > 7 << 19:
            raise ValueError("proofs that no collector may demand")
        self.ranges.proven = self.proofs or self.ranges.bytes <= 1 << 20
        sizes = struct.pack(">6Q", n, self.least, len(self.helpers), self.length, self.range, self.ranges.proven)
        self.tag = hashlib.sha256(b"discreet secsum 2\0\x06shamir\x20" + self.name + sizes).digest()

    def take(self, n):
        if len(self.rest) < n:
            raise ValueError("a sum breaks off")
        out, self.rest = self.rest[:n], self.rest[n:]
        return out

    def number(self, n):
        return int.from_bytes(self.take(n), "little")

    def text(self):
        return self.take(self.number(1)).decode(errors="surrogateescape")

    def present(self):
        return [h for h, (_, memory) in enumerate(self.helpers) if memory != ABSENT]

    def packed(self, values):
        """As many coordinates to a scalar as fit, the first lowest."""
        if len(values) != self.length or not all(0 <= v < self.range for v in values):
            raise ValueError("numbers that the sum has no room for")
        lanes = 252 // self.lane
        return [sum(v << self.lane * at for at, v in enumerate(values[i : i + lanes])) for i in range(0, len(values), lanes)]

    def fresh(self, values):
        """What is drawn: blind, lowest coefficient first; the other polynomials; a salt for each helper;
        and what shows that the numbers are in range, or nothing."""
        tail = lambda: [secrets.randbelow(ORDER) for _ in range(self.quorum - 1)]
        salts, packed = [secrets.token_bytes(32) for _ in self.helpers], self.packed(values)
        coins = self.ranges.coins(values) if self.ranges.proven else ()
        others = self.made(coins[0]) if coins else [[v] + tail() for v in packed]
        return [[secrets.randbelow(ORDER)] + tail()] + others, salts, coins

    def made(self, digits):
        """The polynomials that those of the digits make."""
        return [list(f) for f in zip(*(self.ranges.packed([f[k] for f in digits]) for k in range(self.quorum)))]

    def split(self, number, polynomials, salts, coins, sign):
        """The message to each helper, and the signature beside it."""
        name = self.tag + struct.pack(">I", number)
        parts = [salt + b"".join(scalar(at(f, h + 1)) for f in polynomials) for h, salt in enumerate(salts)]
        hashes = b"".join(hashlib.sha256(b"discreet secsum part 1\0" + name + struct.pack(">I", h) + part).digest() for h, part in enumerate(parts))
        statement, own = self.ranges.state(name, *coins) if coins else (b"", [b""] * len(parts))
        proof = bytes([len(parts)]) + hashes + hashlib.sha256(statement).digest() + b"".join(commit([f[k] for f in polynomials]) for k in range(self.quorum))
        signature = sign(b"discreet share 3", name + hashlib.sha256(proof).digest())
        bodies = [proof + part + statement + rest for part, rest in zip(parts, own)]
        return [(b"\1\1" + self.tag + struct.pack(">3i", number, h, len(body)) + body, signature) for h, body in enumerate(bodies)]


def at(polynomial, x):
    y = 0
    for a in reversed(polynomial):
        y = (y * x + a) % ORDER
    return y


def scalar(x):
    return x.to_bytes(32, "little")


def deliver(identity, announced, addresses, shares, until):
    """Gives shares, by participant and helper, to all helpers that are there; returns how many of
    them have each participant's, and the refusals. shares may be none: then whether the sum is begun."""
    kept, answered, refused = [0] * len(shares), 0, {}
    for h in announced.present():
        name = announced.helpers[h][0]
        client, todo = Client(identity, addresses[name], f"helper/{name}"), list(range(len(shares)))
        while True:
            message = {"sumId": base64of(announced.name), "shares": [{"message": base64of(shares[p][h][0]), "signature": base64of(shares[p][h][1])} for p in todo]}
            try:
                no = {f.get("index", 0): f["problem"]["type"].removeprefix(URN) for f in client.call("Helper/Share", message, until).get("refusals", [])}
            except (OSError, Refused) as e:
                refused[name] = str(e)
                break
            again = [p for i, p in enumerate(todo) if i in no and PROBLEMS.get(no[i], PROBLEMS["internal"])[2]]
            refused |= {(name, todo[i]): kind for i, kind in no.items() if todo[i] not in again}
            for i, p in enumerate(todo):
                kept[p] += i not in no
            answered += not again
            if not (todo := again) or time.monotonic() > until:
                break
            time.sleep(0.1)
        client.close()
    return kept, answered, refused
