# SPDX-License-Identifier: Apache-2.0
"""What a party adds to a secret sum (docs/protocol.md, Adding up in secret)."""
import math
from fractions import Fraction

import answer


class Statistic:
    """The law of a query's addends, from its public table; and what a party's votes make."""

    def __init__(self, schema, params, honest, rows):
        self.task = answer.Task({"schema": schema, "questions": []})
        self.k, self.parties, self.honest = self.task.k, params["parties"], honest
        self.encoding = params["encoding"]
        names = [c["name"] for c in schema["columns"] if c["role"] != "ignored" and "label" not in c] + [c["name"] for c in schema.get("derived", [])]
        s = math.nextafter(math.nextafter(1 / math.sqrt(len(names) + 1), 0), 0)
        self.rows = [self.features(names, row, s) for row in rows]
        self.d = len(self.rows[0])
        self.dim = self.d * (self.k - 1)
        self.law(params["epsilon_nano"], params["shape"])

    def features(self, names, row, s):
        """A row in units of 2^-40, cut towards zero."""
        out = []
        for name in names:
            codes, x = self.task.codes(name), self.task.value(name, row)
            if codes is None:
                low, high, transform = self.task.number_of(name)
                t = math.log1p if transform == "log1p" else float
                out.append(2 * (t(x) - t(low)) / (t(high) - t(low)) - 1)
            elif self.encoding == "onehot":
                out += [float(code == x) for code in range(codes)]
            else:
                levels = len(self.task.columns[name]["category"]["levels"])
                out.append(2 * x / (levels - 1) - 1 if x < levels and levels > 1 else 0.0)
        return [int(math.ldexp(s * x, 40)) for x in out + [1.0]]

    def law(self, nano, shape):
        n, d = len(self.rows), self.d
        x = [[v / 2**40 for v in row] for row in self.rows]
        g = [[math.fsum(r[i] * r[j] for r in x) / n for j in range(d)] for i in range(d)]
        self.a, b, f, h = None, g, 1.0, 0.0
        if shape == "rows":
            tau = 2**-14 * sum(g[i][i] for i in range(d)) / d
            lower = cholesky([[g[i][j] + tau * (i == j) for j in range(d)] for i in range(d)])
            self.a = inverse(lower)
            b = times(times(self.a, g), transposed(self.a))
            f = norm(self.a)
            h = 4 * d * 2**-52 * norm(times(times(sizes(self.a), sizes(g)), sizes(transposed(self.a))))
        h += f * f * (max(n // 64, 8192) + 68) * 2**-52
        turn = 1 if self.k == 2 else math.sqrt(2)
        self.l2 = turn * math.sqrt(largest(b) + h) * (1 + 2**-30) * (1 + 2**-40) + 2 * math.sqrt(self.k - 1) * f * (d + 512) * 2**-51
        l1 = min(self.l2 * math.sqrt(self.dim), 2 * self.dim)
        apart = lambda s: math.ceil(l1 / 2 * s * (1 + 2**-40)) + self.dim
        self.addend = answer.Addend(*answer.coarsest(nano, self.parties, apart), self.honest)

    def of(self, votes):
        """The vector of one party's votes: for each row K whole numbers of 65,535ths."""
        sums = [[0] * self.d for _ in range(self.k)]
        for row, u in zip(self.rows, votes, strict=True):
            for k in range(self.k):
                w = self.k * u[k] - 65535
                for i, v in enumerate(row):
                    sums[k][i] += w * v
        whole = self.k * 65535 * len(self.rows) << 40
        s = [[float(Fraction(v, whole)) for v in of] for of in sums]
        if self.k == 2:
            blocks = [s[answer.level(self.task.levels, self.task.label["label"]["positive"])]]
        else:
            blocks = [[(sum(s[k][i] for k in range(c + 1)) - (c + 1) * s[c + 1][i]) / math.sqrt((c + 1) * (c + 2)) for i in range(self.d)] for c in range(self.k - 1)]
        if self.a:
            blocks = [[sum(p * q for p, q in zip(row, block)) for row in self.a] for block in blocks]
        return [v for block in blocks for v in block]


def cholesky(m):
    """The lower factor; None where there is none."""
    n = len(m)
    low = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            v = m[i][j] - sum(low[i][k] * low[j][k] for k in range(j))
            if i == j:
                if not v > 0:
                    return None
                low[i][i] = math.sqrt(v)
            else:
                low[i][j] = v / low[j][j]
    return low


def inverse(low):
    n = len(low)
    out = [[0.0] * n for _ in range(n)]
    for j in range(n):
        for i in range(j, n):
            out[i][j] = ((i == j) - sum(low[i][k] * out[k][j] for k in range(j, i))) / low[i][i]
    return out


def transposed(m):
    return [list(row) for row in zip(*m)]


def times(a, b):
    return [[sum(x * y for x, y in zip(row, col)) for col in zip(*b)] for row in a]


def sizes(m):
    return [[abs(x) for x in row] for row in m]


def norm(m):
    return math.sqrt(sum(x * x for row in m for x in row))


def largest(b):
    n = len(b)
    low, high = max(b[i][i] for i in range(n)), sum(b[i][i] for i in range(n))
    while high - low > 2**-12 * low:
        middle = (low + high) / 2
        if cholesky([[middle * (i == j) - (b[i][j] + b[j][i]) / 2 for j in range(n)] for i in range(n)]):
            high = middle
        else:
            low = middle
    return high * (1 + n * n * 2**-50)
