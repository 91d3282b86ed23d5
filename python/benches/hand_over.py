"""What a sampler saves that starts from a fit: NumPyro's NUTS as it comes, and with starts and metric of elinvar.

Prints a table of gradients and smallest effective numbers of draws; with ``--write`` it goes into docs/hand-over.md.
"""

import sys

import jax
import numpy as np

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp  # noqa: E402
import numpyro  # noqa: E402
from numpyro import distributions as dist  # noqa: E402
from numpyro.diagnostics import effective_sample_size  # noqa: E402
from numpyro.infer import MCMC, NUTS  # noqa: E402

import elinvar  # noqa: E402

from page import put  # noqa: E402

CHAINS, DRAWS, SEEDS = 2, 500, (1, 2, 3)
WARM_UP, SHORT = 1000, 75


def schools():
    effects = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
    errors = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])

    def model():
        mu = numpyro.sample("mu", dist.Normal(0, 5))
        tau = numpyro.sample("tau", dist.HalfCauchy(5))
        with numpyro.plate("school", 8):
            eta = numpyro.sample("eta", dist.Normal(0, 1))
            numpyro.sample("effects", dist.Normal(mu + tau * eta, errors), obs=effects)

    return model


def logistic(n=400, d=20, correlation=0.9):
    rng = np.random.default_rng(5)
    shared = rng.normal(size=(n, 1))
    x = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * rng.normal(size=(n, d))
    y = rng.random(n) < 1 / (1 + np.exp(-x @ rng.normal(size=d)))

    def model():
        b = numpyro.sample("b", dist.Normal(0, 2.5).expand([d]).to_event(1))
        numpyro.sample("y", dist.Bernoulli(logits=jnp.asarray(x) @ b), obs=jnp.asarray(y, dtype=float))

    return model


def poisson(n=200, groups=20):
    rng = np.random.default_rng(6)
    group = rng.integers(groups, size=n)
    x = rng.normal(size=n)
    counts = rng.poisson(np.exp(0.5 + 0.4 * x + 0.6 * rng.normal(size=groups)[group]))

    def model():
        a = numpyro.sample("a", dist.Normal(0, 2))
        b = numpyro.sample("b", dist.Normal(0, 1))
        tau = numpyro.sample("tau", dist.HalfNormal(1))
        with numpyro.plate("group", groups):
            u = numpyro.sample("u", dist.Normal(0, 1))
        numpyro.sample("counts", dist.Poisson(jnp.exp(a + b * x + tau * u[group])), obs=counts)

    return model


def run(kernel, warm_up, seed, start=None):
    """Gradients of all chains, and the smallest effective number of draws."""
    mcmc = MCMC(kernel, num_warmup=warm_up, num_samples=DRAWS, num_chains=CHAINS, chain_method="vectorized",
                progress_bar=False)  # fmt: skip
    key, fields = jax.random.PRNGKey(seed), ("num_steps",)
    mcmc.warmup(key, init_params=start, collect_warmup=True, extra_fields=fields)
    warm = int(mcmc.get_extra_fields()["num_steps"].sum())
    mcmc.run(mcmc.post_warmup_state.rng_key, extra_fields=fields)
    steps = int(mcmc.get_extra_fields()["num_steps"].sum())
    states = mcmc.get_samples(group_by_chain=True)
    effective = min(float(np.min(effective_sample_size(np.asarray(values)))) for values in states.values())
    return warm + steps, effective


def compared(name, model):
    rows = []
    for seed in SEEDS:
        usual = run(NUTS(model), WARM_UP, seed)
        fit = elinvar.fit(model, seed=seed, progress=False)
        info = numpyro.infer.util.initialize_model(jax.random.PRNGKey(0), model)
        _, unravel = jax.flatten_util.ravel_pytree(info.param_info.z)
        start = jax.vmap(unravel)(jnp.asarray(fit.initial_points(CHAINS, seed)))
        sites = tuple(sorted(info.param_info.z))
        metric = {sites: jnp.asarray(fit.covariance)}
        kernel = NUTS(model, inverse_mass_matrix=metric, dense_mass=[sites], adapt_mass_matrix=False)
        gradients, effective = run(kernel, SHORT, seed, start)
        rows.append((*usual, fit.record["gradients"], gradients, effective))
    usual, usual_ess, own, after, after_ess = np.median(np.array(rows), axis=0)
    ratio = (usual / usual_ess) / ((own + after) / after_ess)
    return f"| {name} | {usual:.0f} | {usual_ess:.0f} | {own:.0f} + {after:.0f} | {after_ess:.0f} | {ratio:.1f} |"


def main():
    numpyro.set_host_device_count(1)
    table = [
        "| model | NUTS: gradients | ESS | elinvar + NUTS: gradients | ESS | gradients per ESS, ratio |",
        "|---|---|---|---|---|---|",
    ]
    models = {"eight schools (10)": schools(), "correlated logistic (20)": logistic(), "Poisson, groups (23)": poisson()}
    for name, model in models.items():
        table.append(compared(name, model))
        print(table[-1], flush=True)
    if "--write" in sys.argv:
        put("hand-over.md", "table", table)


if __name__ == "__main__":
    main()
