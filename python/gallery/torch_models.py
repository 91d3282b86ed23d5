"""PyTorch: log densities of one vector."""

import numpy as np
import torch

import elinvar

from entry import model

RNG = 20266


@model("Torch")
def big_regression():
    """A logistic regression of 10 000 rows and 20 columns."""
    rng = np.random.default_rng(RNG)
    x = rng.normal(size=(10_000, 20))
    y = (rng.random(10_000) < 1 / (1 + np.exp(-x @ rng.normal(size=20)))).astype(float)
    rows, outcome = torch.from_numpy(x), torch.from_numpy(y)

    def log_density(b):
        logits = rows @ b
        return -0.5 * (b**2).sum() / 6.25 - torch.nn.functional.softplus(logits).sum() + (outcome * logits).sum()

    return elinvar.from_torch(log_density, 20)


@model("Torch")
def student_regression():
    """A robust regression of 2 000 rows with the scale and degrees of freedom of its errors."""
    rng = np.random.default_rng(RNG)
    x = rng.normal(size=(2000, 5))
    y = x @ np.arange(5.0) + rng.standard_t(4, size=2000)
    rows, outcome = torch.from_numpy(x), torch.from_numpy(y)

    def log_density(z):
        b, sigma, nu = z[:5], z[5].exp(), 1 + z[6].exp()
        t = (outcome - rows @ b) / sigma
        half = (nu + 1) / 2
        constant = torch.lgamma(half) - torch.lgamma(nu / 2) - 0.5 * torch.log(nu) - torch.log(sigma)
        likelihood = (constant - half * torch.log1p(t**2 / nu)).sum()
        return likelihood - 0.5 * (b**2).sum() / 100 - 0.5 * z[5] ** 2 - 0.5 * (z[6] - 1) ** 2

    def expand(z):
        return {"b": z[:, :5], "sigma": np.exp(z[:, 5]), "nu": 1 + np.exp(z[:, 6])}

    return elinvar.from_torch(log_density, 7, expand=expand)
