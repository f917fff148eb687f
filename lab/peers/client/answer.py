# SPDX-License-Identifier: Apache-2.0
"""What an owner answers (docs/protocol.md): from a record to the words of a report."""
import math
import re
import secrets
from fractions import Fraction

NANO = 10**9


class System:
    """The system's randomness, 64 bits at a time."""

    def word(self):
        return secrets.randbits(64)


class Unanswerable(Exception):
    """The record cannot answer."""


# Cells, codes and bins.


class Task:
    """What a task's text says about records and questions."""

    def __init__(self, body):
        self.body = body
        self.schema = body["schema"]
        self.file = self.schema["file"]
        self.columns = {c["name"]: c for c in self.schema["columns"]}
        self.derived = {c["name"]: c for c in self.schema.get("derived", [])}
        self.label = next(c for c in self.schema["columns"] if "label" in c)
        self.levels = self.label["label"]["levels"]
        self.k = len(self.levels)
        self.questions = body["questions"]

    def codes(self, name):
        """How many codes a category has; None for a number."""
        c = self.columns.get(name)
        if c is None or "number" in c:
            return None
        return len(c["category"]["levels"]) + 1 + c["category"]["missing"]

    def bins(self, q):
        question = self.questions[q]
        return self.codes(question["column"]) or len(question.get("edges", [])) + 1

    def number_of(self, name):
        """lower, upper, transform of a number, derived or not."""
        if name in self.derived:
            of = [self.columns[s]["number"] for s in self.sources(name)[1]]
            return min(n["lower"] for n in of), max(n["upper"] for n in of), of[0].get("transform")
        n = self.columns[name]["number"]
        return n["lower"], n["upper"], n.get("transform")

    def sources(self, name):
        for how in ("largest", "smallest", "mean"):
            if how in self.derived[name]:
                return how, self.derived[name][how]
        raise ValueError("a derived column must say how")

    def value(self, name, record):
        """The code of a category, or the number."""
        if name in self.derived:
            how, of = self.sources(name)
            values = [self.value(s, record) for s in of]
            x = {"largest": max, "smallest": min, "mean": lambda v: sum(v) / len(v)}[how](values)
            low, high, _ = self.number_of(name)
            return cut(x, low, high)
        c, cell = self.columns[name], self.cell(record[name])
        if "number" in c:
            n, x = c["number"], number(cell)
            if x is None or cell in self.file["missing"]:
                x = n.get("default")
                if x is None:
                    raise Unanswerable(name)
            return cut(x, n["lower"], n["upper"])
        levels = c["category"]["levels"]
        code = level(levels, cell)
        if code is not None:
            return code
        missing = cell in self.file["missing"] and c["category"]["missing"]
        return len(levels) + missing

    def cell(self, text):
        return text.strip(" \t") if self.file["trim"] else text

    def label_of(self, record):
        code = level(self.levels, self.cell(record[self.label["name"]]))
        if code is None:
            if "default" not in self.label["label"]:
                raise Unanswerable("label")
            code = level(self.levels, self.label["label"]["default"])
        return code

    def bin(self, q, record):
        question = self.questions[q]
        x = self.value(question["column"], record)
        if self.codes(question["column"]):
            return x
        return sum(e <= x for e in question.get("edges", []))


def number(cell):
    if not re.fullmatch(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?", cell):
        return None
    x = float(cell)
    return None if math.isinf(x) else x


def cut(x, low, high):
    return max(low, min(x, high)) + 0.0


def level(levels, cell):
    for code, l in enumerate(levels):
        if cell == value_of(l) or isinstance(l, dict) and cell in l["aliases"]:
            return code
    return None


def value_of(level):
    return level if isinstance(level, str) else level["value"]


# Weights and cells.


def first_largest(z):
    return z.index(max(z))


def argmax(task, a, record):
    z, at = list(map(float, a["bias"])), 0
    for question in task.questions:
        name = question["column"]
        codes, x = task.codes(name), task.value(name, record)
        if codes:
            f, v, width = at + x, 1.0, codes
        else:
            low, high, transform = task.number_of(name)
            t = math.log1p if transform == "log1p" else float
            f, v, width = at, 2 * (t(x) - t(low)) / (t(high) - t(low)) - 1, 1
        z = [s + a["coef"][k][f] * v for k, s in enumerate(z)]
        at += width
    return first_largest(z)


def scores(task, member, vote, record, z):
    for s in member["shapes"]:
        leaf = s["leaves"][task.bin(s["question"], record)]
        for k, x in enumerate(leaf):
            z[k] += vote * x


def weight(task, broadcast, record):
    members = broadcast["members"]
    if broadcast["slot"] % 2:
        members = members[:-1]
    if not members:
        return 1.0
    y = task.label_of(record)
    log, bound, z, shaped = 0.0, 0.0, [0.0] * task.k, False
    for m in members:
        if "argmax" in m:
            bound += m["vote"]
            if argmax(task, m["argmax"], record) != y:
                log += m["vote"]
        else:
            shaped = True
            bound += m["vote"] * sum(max(max(leaf) - min(leaf) for leaf in s["leaves"]) for s in m["shapes"])
            scores(task, m, m["vote"], record, z)
    if shaped:
        log += max(x for k, x in enumerate(z) if k != y) - z[y]
    w = min(task.body["weight_cap"], math.exp(bound))
    return min(math.exp(log), w) / w


def bins_of(task, broadcast, ask):
    """How many bins an ask tells apart."""
    if broadcast["slot"] % 2:
        return task.k
    a = broadcast["asks"][ask]
    return max(a["groups"]) + 1 if a.get("groups") else task.bins(a["question"])


def cell_of(task, broadcast, ask, record):
    if broadcast["slot"] % 2:
        m = broadcast["members"][-1]
        if "argmax" in m:
            b = argmax(task, m["argmax"], record)
        else:
            z = [0.0] * task.k
            scores(task, m, 1, record, z)
            b = first_largest(z)
    else:
        a = broadcast["asks"][ask]
        b = task.bin(a["question"], record)
        if a.get("groups"):
            b = a["groups"][b]
    return b * task.k + task.label_of(record)


# Randomness.


class Draw:
    def __init__(self, source):
        self.word = source.word

    def below(self, m):
        while True:
            product = self.word() * m
            if product % 2**64 >= 2**64 % m:
                return product >> 64

    def coin(self, a):
        return self.word() >> 2 < a

    def round(self, x, b):
        u = 2**61 + round(Fraction(max(-1.0, min(x, 1.0))) * 2**61)
        rest = u & (1 << (62 - b)) - 1
        return (u >> 62 - b) + (self.word() >> 2 + b < rest)

    def exp(self, a, b):
        while a > b:
            if not self.exp(1, 1):
                return False
            a -= b
        k = 1
        while self.below(k) == 0 and self.below(b) < a:
            k += 1
        return k % 2 == 1

    def geometric(self, z):
        u = self.below(z)
        while not self.exp(u, z):
            u = self.below(z)
        v = 0
        while self.exp(1, 1):
            v += 1
        return v * z + u

    def urn(self, g, h):
        """How many of g draws from an urn are marked; its words are spent twelve bits at a time."""
        y, word, left = 0, 0, 0
        for i in range(g):
            a, b = 1 + h * y, h * (i + 1)
            while a < b:
                if not left:
                    word, left = self.word(), 5
                c, word, left = word & 4095, word >> 12, left - 1
                w, a = divmod(4096 * a, b)
                if c != w:
                    y += c < w
                    break
            else:
                y += 1
        return y


# Laws.


def e(nano, m=1):
    t, k, total = 1 << 160, 0, 0
    while t:
        total, k = total + t, k + 1
        t = t * nano // (k * NANO * m)
    return total


def check(nano):
    if not 1 <= nano <= 32 * NANO:
        raise ValueError("epsilon must be from 1e-9 to 32 for each number that is told")


def odds(nano, r):
    x = e(nano)
    s = 60 - max(x.bit_length() - 160, r)
    return x >> 160 - s, 1 << s


class OUE:
    name = "oue"

    def __init__(self, nano, n):
        check(nano)
        self.n, den = n, (1 << 160) + e(nano)
        self.p = -(-(1 << 222) // den)
        self.numbers = {"p": self.p}

    def spread(self):
        q, d = float(self.p) / 2**62, float(2**61 - self.p) / 2**62
        return q * (1 - q) / (d * d)

    def answer(self, draw, cell, weight):
        kept = draw.coin(int(Fraction(weight) * 2**62))
        bits = 0
        for first in range(0, self.n, 64):
            still, lies = 2**64 - 1, 0
            for place in reversed(range(62)):
                if not still:
                    break
                w = draw.word()
                if self.p >> place & 1:
                    lies, still = lies | still & ~w, still & w
                else:
                    still &= ~w
            bits |= lies << first
        bits &= (1 << self.n) - 1
        half = draw.word() & 1
        if kept:
            bits = bits & ~(1 << cell) | half << cell
        return [bits >> 32 * i & 2**32 - 1 for i in range((self.n + 31) // 32)]


class GRR:
    name = "grr"

    def __init__(self, nano, n):
        check(nano)
        self.n = n
        self.i, self.o = odds(nano, n.bit_length())
        self.numbers = {"I": self.i, "O": self.o}

    def spread(self):
        total = self.i + self.n * self.o
        q, d = float(Fraction(self.o, total)), float(Fraction(self.i - self.o, total))
        return q * (1 - q) / (d * d)

    def answer(self, draw, cell, weight):
        t = cell if draw.coin(int(Fraction(weight) * 2**62)) else self.n
        u = draw.below(self.i + self.n * self.o)
        if u < self.i:
            return [t]
        c = (u - self.i) // self.o
        return [c + (c >= t)]


class Vector:
    """A law about a vector: the weight in the cell, 0 elsewhere."""

    def answer(self, draw, cell, weight):
        return self.vector(draw, [weight if c == cell else 0.0 for c in range(self.n)])


class Sampled(Vector):
    """piecewise and hybrid"""

    def __init__(self, nano, n):
        self.n = n
        self.k = max(1, min(n, nano * 2 // (5 * NANO)))
        part = nano // self.k
        check(part)
        x = e(part, 2)
        exponent = x.bit_length() - 160
        self.i, self.o = odds(part, max(16 + exponent, 2 * exponent))
        self.w = max(1, ((1 << 177) // x + 1) // 2)
        self.numbers = {"k": self.k, "I": self.i, "O": self.o, "W": self.w}
        if self.name == "hybrid":
            self.a, self.b = odds(part, 1)
            self.first = 1 << 62 if part <= 609352493 else (1 << 222) // x
            self.numbers |= {"A": self.a, "B": self.b, "first": self.first}

    def line(self, draw, x, i, o, s, w):
        j = draw.round(x, s.bit_length() - 1)
        u = draw.below(w * i + s * o)
        if u < w * i:
            return j + u // i
        c = (u - w * i) // o
        return c + w if c >= j else c

    def told(self, draw):
        if self.k == self.n:
            return range(self.n)
        out = set()
        for last in range(self.n - self.k, self.n):
            x = draw.below(last + 1)
            out.add(last if x in out else x)
        return sorted(out)

    def vector(self, draw, values):
        out = []
        for at in self.told(draw):
            if self.name == "hybrid":
                if self.first == 1 << 62 or draw.coin(self.first):
                    out += [at, self.line(draw, values[at], self.a, self.b, 1, 1)]
                    continue
                out += [at, 2 + self.line(draw, values[at], self.i, self.o, 1 << 16, self.w)]
            else:
                out += [at, self.line(draw, values[at], self.i, self.o, 1 << 16, self.w)]
        return out


class Piecewise(Sampled):
    name = "piecewise"


class Hybrid(Sampled):
    name = "hybrid"


class Duchi(Vector):
    name = "duchi"

    def __init__(self, nano, n):
        check(nano)
        if n > 8192:
            raise ValueError("too many numbers")
        self.n = n
        self.i, self.o = odds(nano, 1)
        self.numbers = {"I": self.i, "O": self.o}

    def vector(self, draw, values):
        mine = sum(draw.round(x, 0) << j for j, x in enumerate(values))
        every = (1 << self.n) - 1
        while True:
            signs = sum((draw.word() & 2**32 - 1) << 32 * i for i in range((self.n + 31) // 32)) & every
            agree = self.n - (mine ^ signs).bit_count()
            if 2 * agree != self.n:
                if (draw.below(self.i + self.o) < self.i) != (2 * agree > self.n):
                    signs ^= every
                break
            if draw.below(self.i + self.o) < 2 * self.o:
                break
        return [signs >> 32 * i & 2**32 - 1 for i in range((self.n + 31) // 32)]


class Laplace(Vector):
    name = "laplace"

    def __init__(self, nano, n):
        self.n = n
        for self.b in range(16, -1, -1):
            self.z = -(-(n << self.b) * NANO // nano)
            if self.z <= 1 << 24:
                break
        else:
            raise ValueError("epsilon is too small")
        self.numbers = {"b": self.b, "Z": self.z}

    def vector(self, draw, values):
        out = []
        for x in values:
            j = draw.round(x, self.b)
            while True:
                noise, minus = draw.geometric(self.z), draw.word() & 1
                if noise or not minus:
                    break
            top = (1 << self.b) + 128 * self.z
            out.append(max(0, min(64 * self.z + j + (-noise if minus else noise), top)))
        return out


LAWS = {law.name: law for law in (OUE, GRR, Piecewise, Duchi, Hybrid, Laplace)}


def law_for(mechanism, nano, n):
    if mechanism:
        return LAWS[mechanism](nano, n)
    grr, oue = GRR(nano, n), OUE(nano, n)
    return grr if grr.spread() < oue.spread() else oue


# Addends.


def coarsest(nano, most, apart):
    """S and Z: apart(S) is how many steps two addends lie apart; most take part."""
    steps = 1
    while True:
        scale = -(-apart(steps) * NANO // nano)
        if scale > 1 << 20 or nano > 32 * NANO:
            raise ValueError("no noise of a secret sum is for this epsilon")
        if scale >= max(256, math.ceil(4 * math.sqrt(most))) and 31 * apart(steps) <= 16 * apart(2 * steps) or steps == 1 << 16:
            return steps, scale
        steps *= 2


class Addend:
    """What one of several adds to a secret sum, of whom so many are honest."""

    def __init__(self, steps, scale, honest):
        self.steps, self.scale, self.honest = steps, scale, honest

    @staticmethod
    def of_cells(nano, dim, cells, owners, honest):
        return Addend(*coarsest(nano, owners, lambda s: min(dim, 2 * cells) * s), honest)

    def range(self):
        return self.steps + 192 * self.scale + 1

    def draw(self, draw, values):
        """values are in [-1, 1]; -1 is what an owner adds to a cell it is not in."""
        out = []
        for v in values:
            j = draw.round(v, self.steps.bit_length() - 1)
            x = draw.urn(draw.geometric(self.scale), self.honest)
            x -= draw.urn(draw.geometric(self.scale), self.honest)
            out.append(min(max(96 * self.scale + j + x, 0), self.range() - 1))
        return out

    def cells(self, draw, dim, cells, weight):
        return self.draw(draw, [2 * max(0.0, min(weight, 1.0)) - 1 if at in cells else -1.0 for at in range(dim)])
