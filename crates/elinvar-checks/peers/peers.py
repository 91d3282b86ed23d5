"""nutpie's NUTS to the accuracy that a verdict of `trust` claims, counted in gradients.

For each posterior, every number of chains, warm-up steps and draws of a grid is tried with five seeds; its cost is the
number of gradients, warm-up included, and it suffices if in four of five seeds every mean is within 0.1 standard
deviations of the reference and every standard deviation within 15 %. The cheapest that suffices is what the sampler
needs: a user who does not know the answer would take more. Models are plain functions of NumPy; a call is a gradient.

    python peers.py DIR_OF_POSTERIORDB [--only TEXT] [--seeds N] [--out FILE]

needs numpy and nutpie, and writes a line for each posterior.
"""

import argparse
import csv
import json
import math
import pathlib

import numpy as np
import nutpie
from nutpie.compiled_pyfunc import from_pyfunc

CHAINS = (1, 4)
WARM_UPS = (50, 100, 200, 400)
MOST_DRAWS = 1600
MEAN, SD = 0.1, math.log(1.15)


class Regression:
    """y ~ N(X b, s²) with z = (b, log s); b ~ N(mean, sd²) or flat; `noise`: the log prior of s, its slope by log s."""

    def __init__(self, x, y, names, prior=None, noise=lambda s: (0.0, 0.0)):
        self.x, self.y, self.names, self.noise = x, y, names, noise
        self.mean, self.precision = (0.0, 0.0) if prior is None else (np.asarray(prior[0]), 1.0 / np.square(prior[1]))
        self.dim = x.shape[1] + 1

    def __call__(self, z):
        b, s = z[:-1], math.exp(z[-1])
        r = self.y - self.x @ b
        square = float(r @ r) / (s * s)
        away = b - self.mean
        log_noise, by_noise = self.noise(s)
        log_p = -0.5 * square - (len(r) - 1) * z[-1] - 0.5 * float(np.sum(self.precision * away * away)) + log_noise
        by_b = self.x.T @ r / (s * s) - self.precision * away
        return log_p, np.append(by_b, square - (len(r) - 1) + by_noise)

    def parameters(self, z):
        return np.column_stack([z[:, :-1], np.exp(z[:, -1])])


class EightSchools:
    """Non-centred: z = (mu, log tau, eta)."""

    dim = 10

    def __init__(self, y, sigma):
        self.y, self.sigma = y, sigma
        self.names = [f"theta[{j}]" for j in range(1, 9)] + ["mu", "tau"]

    def __call__(self, z):
        mu, tau, eta = z[0], math.exp(z[1]), z[2:]
        r = (self.y - mu - tau * eta) / self.sigma
        by_effect = r / self.sigma
        ratio = tau * tau / 25.0
        log_p = -0.5 * float(r @ r + eta @ eta) - mu * mu / 50.0 - math.log1p(ratio) + z[1]
        by_log_tau = tau * float(by_effect @ eta) - 2.0 * ratio / (1.0 + ratio) + 1.0
        return log_p, np.concatenate([[by_effect.sum() - mu / 25.0, by_log_tau], tau * by_effect - eta])

    def parameters(self, z):
        mu, tau = z[:, 0], np.exp(z[:, 1])
        return np.column_stack([mu[:, None] + tau[:, None] * z[:, 2:], mu, tau])


def half_cauchy(scale):
    return lambda s: (-math.log1p((s / scale) ** 2), -2.0 * (s / scale) ** 2 / (1.0 + (s / scale) ** 2))


def half_normal(scale):
    return lambda s: (-0.5 * (s / scale) ** 2, -((s / scale) ** 2))


def models(folder):
    """The posteriors, each with a name and a log density with its gradient."""

    def data(name):
        return json.loads((folder / name / "data.json").read_text())

    def columns(*values):
        x = np.column_stack([np.ones(len(values[0])), *map(np.asarray, values)]).astype(float)
        return x, [f"beta[{j}]" for j in range(1, x.shape[1] + 1)] + ["sigma"]

    d = data("kidiq-kidscore_momiq")
    x, names = columns(d["mom_iq"])
    yield "kidiq-kidscore_momiq", Regression(x, np.array(d["kid_score"], float), names, noise=half_cauchy(2.5))
    d = data("earnings-logearn_height_male")
    x, names = columns(d["height"], d["male"])
    yield "earnings-logearn_height_male", Regression(x, np.log(np.array(d["earn"], float)), names)
    d = data("mesquite-mesquite")
    fields = ["diam1", "diam2", "canopy_height", "total_height", "density", "group"]
    x, names = columns(*(d[field] for field in fields))
    yield "mesquite-mesquite", Regression(x, np.array(d["weight"], float), names)
    d = data("kilpisjarvi_mod-kilpisjarvi")
    x, _ = columns(d["x"])
    prior = ([d["pmualpha"], d["pmubeta"]], [d["psalpha"], d["psbeta"]])
    yield "kilpisjarvi_mod-kilpisjarvi", Regression(x, np.array(d["y"], float), ["alpha", "beta", "sigma"], prior)
    d = data("sblri-blr")
    x = np.array(d["X"], float)
    names = [f"beta[{j}]" for j in range(1, x.shape[1] + 1)] + ["sigma"]
    prior = (np.zeros(x.shape[1]), np.full(x.shape[1], 10.0))
    yield "sblri-blr", Regression(x, np.array(d["y"], float), names, prior, half_normal(10.0))
    d = data("eight_schools-eight_schools_noncentered")
    yield "eight_schools-eight_schools_noncentered", EightSchools(np.array(d["y"], float), np.array(d["sigma"], float))


def checked(model):
    """The model, if its gradient is that of its log density by differences."""
    z = 0.1 * np.random.default_rng(3).normal(size=model.dim) + 0.3
    _, gradient = model(z)
    for j in range(model.dim):
        step = 1e-6 * (np.arange(model.dim) == j)
        slope = (model(z + step)[0] - model(z - step)[0]) / 2e-6
        assert abs(slope - gradient[j]) < 1e-4 * (1.0 + abs(slope)), (j, slope, gradient[j])
    return model


def sampled(model, chains, warm_up, draws, seed):
    """Draws as (chain, step, coordinate) and gradients as (chain, step), those of the warm-up first."""
    compiled = from_pyfunc(
        model.dim,
        lambda: lambda z: model(z),
        lambda *_: lambda z: {"z": np.array(z)},
        [np.dtype("float64")],
        [(model.dim,)],
        ["z"],
    )
    trace = nutpie.sample(
        compiled, draws=draws, tune=warm_up, chains=chains, cores=1, seed=seed, progress_bar=False, save_warmup=True
    )
    steps = np.asarray(trace.sample_stats["n_steps"]), np.asarray(trace.warmup_sample_stats["n_steps"])
    return np.asarray(trace.posterior["z"]), steps[1].sum(), steps[0]


def reference(folder, name, wanted):
    with open(folder / name / "summary.csv") as file:
        rows = {row["parameter"]: (float(row["mean"]), float(row["sd"])) for row in csv.DictReader(file)}
    kept = [k for k, name in enumerate(wanted) if name in rows]
    return kept, *(np.array([rows[wanted[k]][i] for k in kept]) for i in (0, 1))


def cheapest(model, folder, name, seeds):
    """The least cost over the grid at which four of five seeds are right, with chains, warm-up and draws."""
    kept, mean, sd = reference(folder, name, model.names)
    best = (math.inf, None)
    for chains in CHAINS:
        for warm_up in WARM_UPS:
            most = MOST_DRAWS // chains
            counts = sorted({max(4, int(most * 2.0 ** (-k / 2))) for k in range(11)})
            right, cost = np.zeros(len(counts)), np.zeros(len(counts))
            for seed in range(1, seeds + 1):
                z, of_warm_up, steps = sampled(model, chains, warm_up, most, seed)
                for k, n in enumerate(counts):
                    x = model.parameters(z[:, :n].reshape(-1, model.dim))[:, kept]
                    off = np.abs(x.mean(0) - mean) / sd
                    log_sd = np.abs(np.log(x.std(0) / sd))
                    right[k] += bool((off < MEAN).all() and (log_sd < SD).all())
                    cost[k] += (of_warm_up + steps[:, :n].sum()) / seeds
            for k, n in enumerate(counts):
                if right[k] >= 0.8 * seeds and cost[k] < best[0]:
                    best = (cost[k], (chains, warm_up, n))
    return best


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("folder", type=pathlib.Path)
    arguments.add_argument("--only", default="")
    arguments.add_argument("--seeds", type=int, default=5)
    arguments.add_argument("--out")
    given = arguments.parse_args()
    lines = ["posterior,sampler,gradients,chains,warm_up,draws"]
    for name, model in models(given.folder):
        if given.only in name:
            cost, how = cheapest(checked(model), given.folder, name, given.seeds)
            lines.append(f"{name},nutpie {nutpie.__version__},{cost:.0f},{','.join(map(str, how or ('', '', '')))}")
            print(lines[-1], flush=True)
    if given.out:
        pathlib.Path(given.out).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
