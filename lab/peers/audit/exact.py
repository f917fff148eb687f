# SPDX-License-Identifier: Apache-2.0
"""The exact privacy loss of the pair norm-0.csv, norm-1.csv without sampling.

In one dimension the objective is strictly convex and its minimiser w determines
the noise b = b(w), so the density of w is that of b at b(w) times |db/dw|. The
constants are those of diffprivlib 0.6.6, mechanisms/vector.py and
models/logistic_regression.py, lines as cited; nothing is imported from there.
"""

import numpy as np

EPSILON, R, C, CURVATURE = 1.0, 12.0, 1.0, 0.25


def log_density(w, rows):
    # Vector.randomise: epsilon_p, and the fallback with an added ridge.
    left = EPSILON - 2 * np.log(1 + CURVATURE * R * C)
    ridge = 1 / C
    if left <= 0:
        ridge += CURVATURE * R / np.expm1(EPSILON / 4) - 1 / C
        left = EPSILON / 2
    scale = 2 * R / left
    gradient, hessian = ridge * w, ridge * np.ones_like(w)
    for x, y in rows:
        p = 1 / (1 + np.exp(-w * x))
        gradient, hessian = gradient + x * (p - y), hessian + x * x * p * (1 - p)
    return -np.abs(gradient) / scale + np.log(hessian)


def main():
    w = np.linspace(-3, 3, 600_001)
    loss = log_density(w, [(12, 1), (0, 0)]) - log_density(w, [(0, 1), (0, 0)])
    at = np.argmax(np.abs(loss))
    print(f"claimed {EPSILON:g}, exact {abs(loss[at]):.3f} at w = {w[at]:.3f}")


if __name__ == "__main__":
    main()
