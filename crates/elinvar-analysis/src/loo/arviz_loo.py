"""Writes arviz_loo.json: what ArviZ says of the log densities of `log_density` in tests.rs.

    pip install "arviz<0.20" "matplotlib<3.9" && python arviz_loo.py > arviz_loo.json
"""

import json
import math

import arviz
import numpy

N_DRAWS, N_ROWS = 2000, 29

draws = numpy.arange(N_DRAWS)
u = numpy.array([math.fmod((s + 1) * 0.6180339887498949, 1.0) for s in draws])
centre = numpy.log(u / (1 - u)) * 0.12 + 0.1 * (draws % 7 - 3.0) / N_DRAWS
y = numpy.arange(N_ROWS) / 4.0 - 2.0
log_lik = -0.5 * (y[None, None, :] - centre[None, :, None]) ** 2 - 0.5 * math.log(2 * math.pi)
data = arviz.from_dict(posterior={"centre": centre[None]}, log_likelihood={"y": log_lik})
loo = arviz.loo(data, pointwise=True, reff=1.0)
print(
    json.dumps(
        {
            "arviz": arviz.__version__,
            "n_draws": N_DRAWS,
            "elpd": loo.loo_i.values.tolist(),
            "pareto_k": loo.pareto_k.values.tolist(),
            "elpd_loo": float(loo.elpd_loo),
            "se": float(loo.se),
            "p_loo": float(loo.p_loo),
        },
        indent=1,
    )
)
