"""Normal laws on the positive orthant with 30 digits: writes orthant.json beside this file.

    pip install mpmath
    python orthant.py

The density is proportional to exp(-w'Kw/2 + c'w) on w > 0. Mass and moments are plain product rules over all k
variables, 24 Gauss-Legendre nodes in panels of at most five units of 1/sqrt(K_jj), over a box outside of which the
density is below exp(-50) times its maximum; no formula for a truncated normal law is used.
"""

import json
import pathlib

from mpmath import mp, mpf, exp, inverse, log, matrix, sqrt, legendre, cos, pi

mp.dps = 30


def rule(n):
    out = []
    for i in range(n):
        x = cos(pi * (i + mpf(3) / 4) / (n + mpf(1) / 2))
        for _ in range(60):
            slope = n * (x * legendre(n, x) - legendre(n - 1, x)) / (x * x - 1)
            x -= legendre(n, x) / slope
        out.append((x, 2 / ((1 - x * x) * slope * slope)))
    return out


RULE = rule(24)


def nodes(low, high, panels):
    half = (high - low) / panels / 2
    return [(low + half * (2 * p + 1) + half * x, half * w) for p in range(panels) for x, w in RULE]


def mode(k, K, c):
    """The maximum on the orthant, by ascent in one variable after the other."""
    w = [mpf(0)] * k
    for _ in range(4000):
        for j in range(k):
            w[j] = max(mpf(0), (c[j] - sum(K[j][i] * w[i] for i in range(k) if i != j)) / K[j][j])
    return w


def box(k, K, c):
    w = mode(k, K, c)
    spread = inverse(matrix(K))
    out = []
    for j in range(k):
        least = 1 / spread[j, j]
        pull = max(mpf(0), sum(K[j][i] * w[i] for i in range(k)) - c[j])
        reach = lambda g: 100 / (g + sqrt(g * g + 100 * least))
        low, high = max(mpf(0), w[j] - reach(mpf(0))), w[j] + reach(pull if w[j] == 0 else mpf(0))
        out.append(nodes(low, high, max(2, int((high - low) * sqrt(K[j][j]) / 5) + 1)))
    return w, out


def solved(K, c):
    k = len(c)
    K = [[mpf(v) for v in row] for row in K]
    c = [mpf(v) for v in c]
    value = lambda w: sum(c[i] * w[i] for i in range(k)) - sum(K[i][j] * w[i] * w[j] for i in range(k) for j in range(k)) / 2
    at, grid = box(k, K, c)
    top = value(at)
    mass, first = mpf(0), [mpf(0)] * k
    second = [[mpf(0)] * k for _ in range(k)]
    outer = [[]]
    for axis in grid[:-1]:
        outer = [chosen + [node] for chosen in outer for node in axis]
    j = k - 1
    for chosen in outer:
        w = [node[0] for node in chosen]
        weight = mpf(1)
        for node in chosen:
            weight *= node[1]
        base = sum(c[i] * w[i] for i in range(j)) - sum(K[a][b] * w[a] * w[b] for a in range(j) for b in range(j)) / 2 - top
        along = c[j] - sum(K[i][j] * w[i] for i in range(j))
        if j and base + max(along, mpf(0)) ** 2 / K[j][j] / 2 < -60:
            continue
        sums = [mpf(0)] * 3
        for x, h in grid[j]:
            density = h * exp(base + (along - K[j][j] * x / 2) * x)
            off = x - at[j]
            sums[0] += density
            sums[1] += density * off
            sums[2] += density * off * off
        off = [w[i] - at[i] for i in range(j)]
        mass += weight * sums[0]
        for i in range(j):
            first[i] += weight * sums[0] * off[i]
            second[i][j] += weight * sums[1] * off[i]
            for h in range(i + 1):
                second[h][i] += weight * sums[0] * off[i] * off[h]
        first[j] += weight * sums[1]
        second[j][j] += weight * sums[2]
    mean = [first[i] / mass for i in range(k)]
    cov = [[float(second[min(a, b)][max(a, b)] / mass - mean[a] * mean[b]) for a in range(k)] for b in range(k)]
    return {
        "precision": [[float(v) for v in row] for row in K],
        "c": [float(v) for v in c],
        "log_mass": float(top + log(mass)),
        "mean": [float(at[i] + mean[i]) for i in range(k)],
        "covariance": cov,
    }


CASES = [
    ([[1.5]], [0.5]),
    ([[2]], [-9]),
    ([[1.25, 0.5], [0.5, 2]], [0.5, -0.25]),
    ([[1.25, 0.5], [0.5, 2]], [6, 9]),
    ([[1.25, 0.5], [0.5, 2]], [-8, -3]),
    ([[1.25, -0.75], [-0.75, 2]], [-4, 3]),
    ([[5, -4], [-4, 5]], [0.5, 1]),
    ([[5, 4], [4, 5]], [2, 2.5]),
    ([[9.5, -9], [-9, 9.5]], [-1, 2]),
    ([[0.0625, 0.03125], [0.03125, 0.125]], [-1.25, -0.875]),
    ([[1.5, 0.25, -0.5], [0.25, 2, 0.375], [-0.5, 0.375, 1.25]], [0.5, 0.25, -0.5]),
    ([[1.5, 0.25, -0.5], [0.25, 2, 0.375], [-0.5, 0.375, 1.25]], [-5, -3, -6]),
    ([[1.5, 0.25, -0.5], [0.25, 2, 0.375], [-0.5, 0.375, 1.25]], [5, 7, 4]),
    ([[3, -1.5, -1], [-1.5, 3, 0.5], [-1, 0.5, 2]], [1, -2, 0.75]),
]

if __name__ == "__main__":
    cases = [solved(K, c) for K, c in CASES]
    place = pathlib.Path(__file__).with_name("orthant.json")
    place.write_text(json.dumps({"cases": cases}, indent=1) + "\n")
