"""Log densities with known answers, on batches."""

import numpy as np

CORRELATION = 0.6
SCALE = np.array([[1.0, CORRELATION * 2.0], [CORRELATION * 2.0, 4.0]])
MEAN = np.array([1.0, -2.0])
PRECISION = np.linalg.inv(SCALE)


def gaussian(z):
    """A Gaussian with mean (1, -2), standard deviations 1 and 2 and correlation 0.6; its normaliser is left out."""
    away = z - MEAN
    pull = away @ PRECISION
    return -0.5 * (away * pull).sum(axis=1), -pull


EFFECTS = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERRORS = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
SCHOOLS = ["mu", "log_tau", *(f"eta[{i}]" for i in range(8))]


def eight_schools(z):
    """Eight schools, not centred, with mu ~ N(0, 5) and tau ~ half-Cauchy(5)."""
    mu, log_tau, eta = z[:, 0], z[:, 1], z[:, 2:]
    tau = np.exp(log_tau)
    residual = (EFFECTS - mu[:, None] - tau[:, None] * eta) / ERRORS
    square = (tau / 5) ** 2
    log_p = -(mu**2) / 50 - np.log1p(square) + log_tau - 0.5 * (eta**2).sum(1) - 0.5 * (residual**2).sum(1)
    pull = residual / ERRORS
    gradient = np.empty_like(z)
    gradient[:, 0] = -mu / 25 + pull.sum(1)
    gradient[:, 1] = 1 - 2 * square / (1 + square) + tau * (pull * eta).sum(1)
    gradient[:, 2:] = -eta + tau[:, None] * pull
    return log_p, gradient


def schools_of(z):
    """mu, tau and theta of points of eight schools."""
    tau = np.exp(z[:, 1])
    return {"mu": z[:, 0], "tau": tau, "theta": z[:, :1] + tau[:, None] * z[:, 2:]}


def reference_schools():
    """Mean and sd of mu and tau by a sum over a grid of log tau, with the exact law of mu given it."""
    weight, tau, centre, precision, _ = _schools_on_a_grid()
    mean_mu, mean_tau = weight @ centre, weight @ tau
    sd_mu = np.sqrt(weight @ (1 / precision + centre**2) - mean_mu**2)
    sd_tau = np.sqrt(weight @ tau**2 - mean_tau**2)
    return {"mu": (mean_mu, sd_mu), "tau": (mean_tau, sd_tau)}


def reference_coordinates():
    """The means of the ten coordinates of eight schools, likewise."""
    weight, tau, centre, _, variance = _schools_on_a_grid()
    means = {"mu": weight @ centre, "log_tau": weight @ np.log(tau)}
    # eta given mu and tau is normal, and its mean is linear in mu.
    etas = weight @ (tau[:, None] * (EFFECTS - centre[:, None]) / variance)
    return means | {f"eta[{i}]": eta for i, eta in enumerate(etas)}


def reference_theta():
    """Means and sds of the eight theta, likewise: given tau and mu each is normal."""
    weight, tau, centre, precision, variance = _schools_on_a_grid()
    share = tau[:, None] ** 2 / variance
    mean = centre[:, None] + share * (EFFECTS - centre[:, None])
    spread = share * ERRORS**2 + (1 - share) ** 2 / precision[:, None]
    means = weight @ mean
    return means, np.sqrt(weight @ (spread + mean**2) - means**2)


def _schools_on_a_grid():
    """Weights of a grid of tau; mean and precision of mu given tau; the variances of the effects."""
    grid = np.linspace(-12, 6, 40_001)
    tau = np.exp(grid)
    variance = ERRORS**2 + tau[:, None] ** 2
    precision = (1 / variance).sum(1) + 1 / 25
    centre = (EFFECTS / variance).sum(1) / precision
    log_p = (
        -np.log1p((tau / 5) ** 2)
        + grid
        - 0.5 * np.log(variance).sum(1)
        - 0.5 * (EFFECTS**2 / variance).sum(1)
        + 0.5 * centre**2 * precision
        - 0.5 * np.log(precision)
    )
    weight = np.exp(log_p - log_p.max())
    return weight / weight.sum(), tau, centre, precision, variance
