"""What second derivatives save and cost: fits with and without them, in one run.

Prints a table of gradients, Hessians and seconds of the processor; with ``--write`` it goes into docs/python-speed.md.
"""

import sys
import time

import jax
import numpy as np
import torch

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp  # noqa: E402

import elinvar  # noqa: E402

from page import put  # noqa: E402

SEEDS = (1, 2)
EFFECTS, ERRORS = np.array([28.0, 8, -3, 7, -1, 1, 18, 12]), np.array([15.0, 10, 16, 11, 9, 11, 10, 18])


def logistic(d):
    """A log density of a logistic regression with 5 d rows, for JAX and for PyTorch."""
    rng = np.random.default_rng(d)
    x = rng.normal(size=(5 * d, d))
    y = np.where(rng.random(5 * d) < 1 / (1 + np.exp(-x @ rng.normal(size=d) / np.sqrt(d) * 2)), 1.0, -1.0)
    rows = x * y[:, None]
    tensor = torch.from_numpy(rows)
    return (
        d,
        lambda z: -jnp.logaddexp(0.0, -(rows @ z)).sum() - 0.5 * (z**2).sum(),
        lambda z: -torch.nn.functional.softplus(-(tensor @ z)).sum() - 0.5 * (z**2).sum(),
    )


def schools():
    """Eight schools, not centred."""
    effects, errors = torch.from_numpy(EFFECTS), torch.from_numpy(ERRORS)

    def density(z, exp, log1p, y, s):
        tau = exp(z[1])
        prior = -(z[0] ** 2) / 50 - log1p((tau / 5) ** 2) + z[1] - 0.5 * (z[2:] ** 2).sum()
        return prior - 0.5 * (((y - z[0] - tau * z[2:]) / s) ** 2).sum()

    return (
        10,
        lambda z: density(z, jnp.exp, jnp.log1p, EFFECTS, ERRORS),
        lambda z: density(z, torch.exp, torch.log1p, effects, errors),
    )


def fitted(make, hessian):
    """Medians over seeds: gradients, Hessians, seconds; and how many fits were trusted. Compilers are warm."""
    model = make(hessian)
    elinvar.fit(model, seed=9, progress=False, max_seconds=60)
    rows, trusted = [], 0
    for seed in SEEDS:
        began = time.process_time()
        fit = elinvar.fit(model, seed=seed, progress=False, max_seconds=60)
        rows.append((fit.record["gradients"], fit.record["hessians"], time.process_time() - began))
        trusted += fit.trusted
    return (*np.median(np.array(rows), axis=0), trusted)


def main():
    torch.set_num_threads(1)
    table = [
        "| model (d) | front end | gradients | s | with Hessians: gradients | Hessians | s | trusted |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, (d, of_jax, of_torch) in {
        "eight schools (10)": schools(),
        "logistic (10)": logistic(10),
        "logistic (50)": logistic(50),
        "logistic (200)": logistic(200),
    }.items():
        ways = {
            "JAX": lambda hessian, d=d, f=of_jax: elinvar.from_jax(f, np.zeros(d), hessian=hessian),
            "PyTorch": lambda hessian, d=d, f=of_torch: elinvar.from_torch(f, d, hessian=hessian),
        }
        for way, make in ways.items():
            without, own = fitted(make, False), fitted(make, True)
            first = f"{without[0]:.0f} | {without[2]:.2f}"
            second = f"{own[0]:.0f} | {own[1]:.0f} | {own[2]:.2f}"
            table.append(f"| {name} | {way} | {first} | {second} | {without[3]}, {own[3]} of {len(SEEDS)} |")
            print(table[-1], flush=True)
    if "--write" in sys.argv:
        put("python-speed.md", "hessians", table)


if __name__ == "__main__":
    main()
