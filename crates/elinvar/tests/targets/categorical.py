"""Writes categorical.json: softmax regressions with 50 digits, by the definition.

Value, gradient and Hessian of sum_n w_n log(exp(eta_ny) / sum_k exp(eta_nk)) with eta_n0 = 0 and
eta_nk = x_n . beta_k + offset_n, by the quotient itself: p_k = exp(eta_k)/sum, d log p / d eta_k = [y = k] - p_k and
d p_k / d eta_l = p_k ([k = l] - p_l), all in decimal arithmetic. Run it here: python3 categorical.py
"""

import json
import random
from decimal import Decimal, getcontext

getcontext().prec = 50
D = Decimal


def case(rows, columns, classes, size, seed):
    rng = random.Random(seed)
    draw = lambda scale: round(rng.uniform(-scale, scale), 3)
    x = [[draw(2) for _ in range(columns)] for _ in range(rows)]
    y = [rng.randrange(classes) for _ in range(rows)]
    offset = [draw(1) for _ in range(rows)]
    weights = [round(rng.uniform(0, 3), 3) for _ in range(rows)]
    z = [draw(size) for _ in range(columns * (classes - 1))]
    d = len(z)
    exact = lambda v: D(repr(v))
    value, gradient = D(0), [D(0)] * d
    hessian = [[D(0)] * d for _ in range(d)]
    for n in range(rows):
        w = exact(weights[n])
        eta = [D(0)]
        for k in range(classes - 1):
            beta = z[k * columns : (k + 1) * columns]
            eta.append(exact(offset[n]) + sum(exact(a) * exact(b) for a, b in zip(x[n], beta)))
        total = sum(e.exp() for e in eta)
        p = [e.exp() / total for e in eta]
        value += w * (eta[y[n]] - total.ln())
        for i in range(d):
            k, a = divmod(i, columns)
            gradient[i] += w * ((1 if y[n] == k + 1 else 0) - p[k + 1]) * exact(x[n][a])
            for j in range(d):
                l, b = divmod(j, columns)
                slope = p[k + 1] * ((1 if k == l else 0) - p[l + 1])
                hessian[i][j] -= w * slope * exact(x[n][a]) * exact(x[n][b])
    return {
        "columns": columns,
        "classes": classes,
        "x": [v for row in x for v in row],
        "y": y,
        "offset": offset,
        "weights": weights,
        "z": z,
        "log_p": float(value),
        "gradient": [float(v) for v in gradient],
        "hessian": [[float(v) for v in row] for row in hessian],
    }


cases = [case(7, 3, 4, 1, 1), case(5, 2, 2, 3, 2), case(9, 4, 3, 20, 3), case(4, 1, 6, 200, 4), case(300, 2, 3, 1, 5)]
with open("categorical.json", "w") as file:
    json.dump(cases, file, indent=1)
    file.write("\n")
