"""Design matrices of formulas by patsy and formulaic, which follow R: writes reference.json beside this file.

    pip install patsy formulaic pandas numpy
    python reference.py

Each case has the formula as elinvar reads it and as patsy or formulaic do. Columns are compared as sets: the order
of columns within an interaction differs between the programs.
"""

import json
import pathlib

import formulaic
import numpy as np
import pandas as pd
import patsy

N = 24
rng = np.random.default_rng(20)
table = pd.DataFrame(
    {
        "y": rng.normal(size=N).round(3),
        "x": rng.normal(size=N).round(3),
        "z": rng.normal(loc=2000, scale=10, size=N).round(1),
        "dose": rng.gamma(2.0, size=N).round(3) + 0.01,
        "a": [["p", "q", "r"][i % 3] for i in range(N)],
        "b": [["no", "yes"][(i // 3) % 2] for i in range(N)],
        "g": [["u", "v", "w", "x"][(i * 7 + i // 5) % 4] for i in range(N)],
        "k": [[1, 2, 3, 10][(i * 5 + i // 4) % 4] for i in range(N)],
        "size m": rng.uniform(1, 9, size=N).round(2),
    }
)

CASES = [
    ("y ~ x", "x", "patsy"),
    ("y ~ 0 + x", "0 + x", "patsy"),
    ("y ~ x - 1 + z", "x - 1 + z", "patsy"),
    ("y ~ a", "a", "patsy"),
    ("y ~ a - 1", "a - 1", "patsy"),
    ("y ~ 0 + a + b", "0 + a + b", "patsy"),
    ("y ~ 0 + x + a + b", "0 + x + a + b", "patsy"),
    ("y ~ a + b + g", "a + b + g", "patsy"),
    ("y ~ x * a", "x * a", "patsy"),
    ("y ~ x:a", "x:a", "patsy"),
    ("y ~ a + x:a", "a + x:a", "patsy"),
    ("y ~ 0 + a + x:a", "0 + a + x:a", "patsy"),
    ("y ~ a * b", "a * b", "patsy"),
    ("y ~ a:b", "a:b", "patsy"),
    ("y ~ 0 + a:b", "0 + a:b", "patsy"),
    ("y ~ a + a:b", "a + a:b", "patsy"),
    ("y ~ 0 + a + a:b", "0 + a + a:b", "patsy"),
    ("y ~ b + a:b + x", "b + a:b + x", "patsy"),
    ("y ~ a * b * x", "a * b * x", "patsy"),
    ("y ~ a * b * g - a:b:g", "a * b * g - a:b:g", "patsy"),
    ("y ~ (a + b + x)^2", "(a + b + x)**2", "patsy"),
    ("y ~ (x + z + dose)^3 - x:z", "(x + z + dose)**3 - x:z", "patsy"),
    ("y ~ a:b:g", "a:b:g", "patsy"),
    ("y ~ 0 + a:x + b", "0 + a:x + b", "patsy"),
    ("y ~ C(k) + x", "C(k) + x", "patsy"),
    ("y ~ C(k, ref = 3) * x", "C(k, Treatment(reference=3)) * x", "patsy"),
    ("y ~ C(a, ref = 'q') + b", "C(a, Treatment(reference='q')) + b", "patsy"),
    ("y ~ k + C(k)", "k + C(k)", "patsy"),
    ("y ~ log(dose) * b", "np.log(dose) * b", "patsy"),
    ("y ~ sqrt(dose) + exp(x) + I(x^2) + I((x + z) / dose)", "np.sqrt(dose) + np.exp(x) + I(x**2) + I((x + z) / dose)", "patsy"),
    ("y ~ log1p(dose) + log2(dose) + log10(dose) + abs(x)", "np.log1p(dose) + np.log2(dose) + np.log10(dose) + np.abs(x)", "patsy"),
    ("y ~ I(-x^2 + 2*x - 1) + I(dose^-1)", "I(-x**2 + 2*x - 1) + I(dose**-1.0)", "patsy"),
    ("y ~ `size m` * x", "Q('size m') * x", "patsy"),
    ("y ~ scale(z) + scale(log(dose))", "scale(z) + scale(log(dose))", "formulaic"),
    ("y ~ poly(z, 3)", "poly(z, degree=3)", "formulaic"),
    ("y ~ poly(x, 2) * a", "poly(x, degree=2) * a", "formulaic"),
    ("y ~ poly(log(dose), 4) + 0", "poly(log(dose), degree=4) + 0", "formulaic"),
    ("y ~ .", "x + z + dose + a + b + g + k + Q('size m')", "patsy"),
    ("y ~ . - g - `size m` - z", "x + dose + a + b + k", "patsy"),
]


def matrix(right, program):
    if program == "patsy":
        return np.asarray(patsy.dmatrix(right, table))
    return np.asarray(formulaic.model_matrix(right, table))


cases = []
for ours, theirs, program in CASES:
    m = matrix(theirs, program)
    cases.append({"formula": ours, "by": program, "columns": [[float(v) for v in column] for column in m.T]})
    print(ours, m.shape)

folder = pathlib.Path(__file__).parent
out = {"table": table.to_csv(index=False), "cases": cases}
(folder / "reference.json").write_text(json.dumps(out, separators=(",", ":")) + "\n")
