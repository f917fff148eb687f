# SPDX-License-Identifier: Apache-2.0
"""ristretto255 (RFC 9496), as far as commitments need it: generators, sums of multiples, bytes."""
from functools import cache

from hashing import expand

P = 2**255 - 19
D = -121665 * pow(121666, -1, P) % P
I = pow(2, (P - 1) // 4, P)
SQRT_AD_MINUS_ONE = 25063068953384623474111414158702152701244531502492656460079210482610430750235
INVSQRT_A_MINUS_D = 54469307008909316920995813868745141605393597292927456921205312896311721017578
ZERO = (0, 1, 1, 0)  # X, Y, Z, T


def add(a, b):
    (x1, y1, z1, t1), (x2, y2, z2, t2) = a, b
    m, n, k, d = (y1 - x1) * (y2 - x2) % P, (y1 + x1) * (y2 + x2) % P, 2 * D * t1 * t2 % P, 2 * z1 * z2 % P
    e, f, g, h = n - m, d - k, d + k, n + m
    return e * f % P, g * h % P, f * g % P, e * h % P


def magnitude(x):
    x %= P
    return P - x if x & 1 else x


def root(u, v):
    """SQRT_RATIO_M1."""
    r = u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P
    check = v * r * r % P
    if check in (-u % P, -u * I % P):
        r = r * I % P
    return check in (u % P, -u % P), magnitude(r)


def element(b):
    """MAP."""
    t = int.from_bytes(b, "little") % 2**255 % P
    r = I * t * t % P
    u, v = (r + 1) * (1 - D * D) % P, (-1 - r * D) * (r + D) % P
    square, s = root(u, v)
    s = s if square else -magnitude(s * t)
    n = ((-1 if square else r) * (r - 1) * (D - 1) ** 2 - v) % P
    w0, w1, w2, w3 = 2 * s * v % P, n * SQRT_AD_MINUS_ONE % P, (1 - s * s) % P, (1 + s * s) % P
    return w0 * w3 % P, w2 * w1 % P, w1 * w3 % P, w0 * w2 % P


@cache
def generator(i):
    b = expand(i.to_bytes(4, "big"), b"discreet secsum generator 1\0")
    return add(element(b[:32]), element(b[32:]))


def encode(point):
    x, y, z, t = point
    u1, u2 = (z + y) * (z - y) % P, x * y % P
    _, inverse = root(1, u1 * u2 * u2 % P)
    d1, d2 = inverse * u1 % P, inverse * u2 % P
    zi = d1 * d2 * t % P
    if t * zi % P & 1:
        x, y, d2 = y * I % P, x * I % P, d1 * INVSQRT_A_MINUS_D % P
    if x * zi % P & 1:
        y = -y
    return magnitude(d2 * (z - y)).to_bytes(32, "little")


def commit(scalars):
    """The sum of the generators, each times its scalar."""
    out = ZERO
    for bit in range(252, -1, -1):
        out = add(out, out)
        for i, s in enumerate(scalars):
            if s >> bit & 1:
                out = add(out, generator(i))
    return encode(out)
