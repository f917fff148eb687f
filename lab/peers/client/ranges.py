# SPDX-License-Identifier: Apache-2.0
"""That what a participant shares is in range (docs/protocol.md, Ranges)."""
import hashlib
import secrets
import struct
from math import prod

from hashing import expand

ORDER = 2**252 + 27742317777372353535851937790883648493  # of ristretto255
DIGITS, POINT, OUTPUTS, OPENING = range(4)  # what is drawn


def scalars(values):
    return b"".join(v.to_bytes(32, "little") for v in values)


def horner(polynomial, x):
    y = 0
    for a in reversed(polynomial):
        y = (y * x + a) % ORDER
    return y


def lagrange(n, x):
    """What the values at 0 … n − 1 count for in the value at x."""
    factors = [(x - i) % ORDER for i in range(n)]
    if 0 in factors:
        return [int(i == factors.index(0)) for i in range(n)]
    weight, whole = [], prod(range(1, n)) * (-1) ** (n - 1)  # of 0
    for i in range(n):
        weight.append(whole)
        whole = whole * (i + 1) // (i + 1 - n) if i + 1 < n else 0
    top = 1
    for f in factors:
        top = top * f % ORDER
    return [top * pow(f * w, -1, ORDER) % ORDER for f, w in zip(factors, weight)]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b)) % ORDER


class Ranges:
    def __init__(self, length, limit, lane, helpers, quorum):
        self.length, self.lane, self.helpers, self.quorum, self.digits, n = length, lane, helpers, quorum, [], limit
        while n > 16:
            self.digits.append((16, n // 16))
            n -= 15 * (n // 16)
        self.digits.append((n, 1))
        k, self.degree = len(self.digits), max(v for v, _ in self.digits)
        size = lambda c: 2 * -(-length // c) * k + self.degree * c
        a = -(-length // min(range(1, min(16, length) + 1), key=size))
        self.calls, self.arity, self.inputs = -(-length // a), a * k, length * k
        self.elements = self.arity + self.degree * self.calls + 1
        self.statement = 64 * helpers + 32 * (quorum - 1 + self.arity)
        self.bytes = self.statement + 32 * (1 + self.inputs + self.elements)

    def encode(self, values):
        out = []
        for v in values:
            for most, weight in self.digits:
                out.append(min(v // weight, most - 1))
                v -= out[-1] * weight
        return out

    def packed(self, digits):
        """The scalars of a row of digits, or of their coefficients."""
        k, weights = len(self.digits), [w for _, w in self.digits]
        numbers = [dot(weights, digits[i : i + k]) for i in range(0, len(digits), k)]
        lanes = 252 // self.lane
        return [horner(numbers[i : i + lanes], 1 << self.lane) for i in range(0, len(numbers), lanes)]

    def gadget(self, wires, r):
        out = 0
        for i in reversed(range(len(wires))):
            p = 1
            for v in range(self.digits[i % len(self.digits)][0]):
                p = p * (wires[i] - v) % ORDER
            out = (out * r + p) % ORDER
        return out

    def wires(self, seeds, digits):
        """The values of each wire at 0 … calls."""
        padded = digits + [0] * (self.arity * self.calls - len(digits))
        return [[seed] + padded[w :: self.arity] for w, seed in enumerate(seeds)]

    def prove(self, digits, seeds, r):
        wires, proof = self.wires(seeds, digits), list(seeds)
        for x in range(self.degree * self.calls + 1):
            row = lagrange(self.calls + 1, x)
            proof.append(self.gadget([dot(row, w) for w in wires], r))
        return proof

    def query(self, digits, proof, t, s):
        seeds, values = proof[: self.arity], proof[self.arity :]
        # the points of the calls are among those of the values
        outputs = values[1] if self.calls == 1 else sum(pow(s, j, ORDER) * values[j] for j in range(1, self.calls + 1)) % ORDER
        row = lagrange(self.calls + 1, t)
        return [outputs] + [dot(row, w) for w in self.wires(seeds, digits)] + [dot(lagrange(len(values), t), values)]

    def coins(self, values):
        tails = lambda n: [[secrets.randbelow(ORDER) for _ in range(self.quorum - 1)] for _ in range(n)]
        digits = [[d] + tail for d, tail in zip(self.encode(values), tails(self.inputs))]
        seeds = [secrets.randbelow(ORDER) for _ in range(self.arity)]
        return digits, seeds, tails(self.elements), [secrets.token_bytes(32) for _ in range(self.helpers)]

    def state(self, name, digits, seeds, tails, salts):
        """The statement, and each helper's own part. name is the tag and the participant's number."""
        points = lambda polynomials, h: scalars(horner(f, h + 1) for f in polynomials)
        draw = lambda what, data: int.from_bytes(expand(name + bytes([what]) + data, b"discreet secsum range 1\0"), "little") % ORDER
        digest = lambda label, h, b: hashlib.sha256(label + b"\0" + name + struct.pack(">I", h) + salts[h] + b).digest()
        own = [salts[h] + points(digits, h) for h in range(self.helpers)]
        out = b"".join(digest(b"discreet secsum digits 1", h, own[h][32:]) for h in range(self.helpers))
        r = draw(DIGITS, out)
        proof = [[v] + tail for v, tail in zip(self.prove([f[0] for f in digits], seeds, r), tails)]
        rest = [points(proof, h) for h in range(self.helpers)]
        out += b"".join(digest(b"discreet secsum argument 1", h, b) for h, b in enumerate(rest))
        t, s = draw(POINT, out), draw(OUTPUTS, out)
        answers = [self.query([f[k] for f in digits], [f[k] for f in proof], t, s) for k in range(self.quorum)]
        out += scalars(answers[0][1:-1])
        e = draw(OPENING, out)
        return out + scalars(horner(a, e) for a in answers[1:]), [a + b for a, b in zip(own, rest)]
