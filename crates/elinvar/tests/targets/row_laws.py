"""Log densities of rows and their derivatives with 50 digits: writes row_laws.json beside this file.

    pip install mpmath
    python row_laws.py

Each case is (law, y, trials, eta, logarithms of the other parameters) with log p, its gradient and its Hessian in
(eta, logarithms), by mpmath's numerical differentiation with 50 digits.
"""

import json
import pathlib
import random

from mpmath import mp, mpf, diff, exp, loggamma, log, pi

mp.dps = 50


def negative_binomial(y, n, eta, a):
    mu, phi = exp(eta), exp(a[0])
    return loggamma(y + phi) - loggamma(phi) - loggamma(y + 1) + phi * log(phi / (phi + mu)) + y * log(mu / (phi + mu))


def student_t(y, n, eta, a):
    sigma, nu = exp(a[0]), exp(a[1])
    r = (y - eta) / sigma
    return loggamma((nu + 1) / 2) - loggamma(nu / 2) - log(pi * nu) / 2 - log(sigma) - (nu + 1) / 2 * log(1 + r * r / nu)


def binomial(y, n, eta, a):
    p = 1 / (1 + exp(-eta))
    return loggamma(n + 1) - loggamma(y + 1) - loggamma(n - y + 1) + y * log(p) + (n - y) * log(1 - p)


def gamma_law(y, n, eta, a):
    mu, shape = exp(eta), exp(a[0])
    return shape * log(shape / mu) - loggamma(shape) + (shape - 1) * log(y) - shape * y / mu


def beta(y, n, eta, a):
    mu, phi = 1 / (1 + exp(-eta)), exp(a[0])
    p, q = mu * phi, (1 - mu) * phi
    return loggamma(phi) - loggamma(p) - loggamma(q) + (p - 1) * log(y) + (q - 1) * log(1 - y)


LAWS = {
    "negative_binomial": (negative_binomial, 1, lambda r: (r.choice([0, 1, 3, 17, 400]), 1)),
    "student_t": (student_t, 2, lambda r: (r.uniform(-8, 8), 1)),
    "binomial": (binomial, 0, lambda r: r.choice([(0, 3), (2, 5), (7, 7), (40, 90)])),
    "gamma": (gamma_law, 1, lambda r: (r.choice([1e-3, 0.4, 2.5, 90.0]), 1)),
    "beta": (beta, 1, lambda r: (r.choice([1e-4, 0.2, 0.5, 0.97]), 1)),
}

rng = random.Random(20)
cases = []
for name, (law, k, response) in LAWS.items():
    for i in range(12):
        y, n = response(rng)
        eta = rng.uniform(-3, 3)
        a = [rng.choice([-2.5, -0.4, 0.7, 3.0, 7.0]) + rng.uniform(-0.3, 0.3) for _ in range(k)]
        at = [mpf(eta)] + [mpf(v) for v in a]

        def f(*z):
            return law(mpf(y), mpf(n), z[0], z[1:])

        d = k + 1
        unit = lambda *indices: tuple(sum(1 for i in indices if i == j) for j in range(d))
        value = f(*at)
        slope = [diff(f, tuple(at), unit(i)) for i in range(d)]
        second = [[diff(f, tuple(at), unit(i, j)) for j in range(d)] for i in range(d)]
        cases.append(
            {
                "law": name,
                "y": y,
                "trials": n,
                "eta": eta,
                "auxiliary": a,
                "log_p": float(value),
                "gradient": [float(v) for v in slope],
                "hessian": [[float(v) for v in row] for row in second],
            }
        )

path = pathlib.Path(__file__).with_suffix(".json")
path.write_text("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")
print(len(cases))
