"""What a sampler says: nutpie for PyMC, NumPyro's NUTS for NumPyro and JAX, nutpie on the function for the others."""

from __future__ import annotations

from typing import Any

import numpy as np

from run import CHAINS, DRAWS, TUNE

SEED = 7


def sample(entry: Any, made: Any, model: Any) -> dict[str, np.ndarray]:
    """Draws by variable, of shape (draws, ...)."""
    if entry.library in ("PyMC", "Bambi"):
        return _of_pymc(made.model)
    if entry.library == "NumPyro":
        return _of_numpyro(made)
    return _of_function(model)


def _of_pymc(model: Any) -> dict[str, np.ndarray]:
    import nutpie

    if type(model).__module__.startswith("bambi"):
        model = model.backend.model
    # JAX compiles faster than numba.
    compiled = nutpie.compile_pymc_model(model, backend="jax", gradient_backend="pytensor")
    tree = nutpie.sample(compiled, draws=DRAWS, tune=TUNE, chains=CHAINS, cores=1, seed=SEED, progress_bar=False)
    flat = {}
    for name, values in tree.posterior.data_vars.items():
        array = values.values
        flat[name] = array.reshape(-1, *array.shape[2:])
    return flat


def _of_numpyro(made: Any) -> dict[str, np.ndarray]:
    import jax
    from numpyro.infer import MCMC, NUTS

    kernel = NUTS(made.model, target_accept_prob=0.9)
    mcmc = MCMC(kernel, num_warmup=TUNE, num_samples=DRAWS, num_chains=CHAINS, chain_method="vectorized",
                progress_bar=False)  # fmt: skip
    mcmc.run(jax.random.PRNGKey(SEED), *made.args, **made.kwargs)
    return {name: np.asarray(values) for name, values in mcmc.get_samples().items()}


def _of_function(model: Any) -> dict[str, np.ndarray]:
    import nutpie
    from nutpie.compiled_pyfunc import from_pyfunc

    def make_log_density():
        def log_density(z):
            value, gradient = model.log_density(z)
            return float(value[0]), gradient[0]

        return log_density

    def make_expand(*_):
        return lambda z: {"z": np.asarray(z)}

    compiled = from_pyfunc(model.dim, make_log_density, make_expand, [np.dtype("float64")], [(model.dim,)], ["z"])
    tree = nutpie.sample(compiled, draws=DRAWS, tune=TUNE, chains=CHAINS, cores=1, seed=SEED, progress_bar=False)
    return model.variables(tree.posterior["z"].values.reshape(-1, model.dim))
