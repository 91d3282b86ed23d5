"""JAX: log densities over trees of arrays."""

import jax
import jax.numpy as jnp
import numpy as np

import elinvar

from entry import model

jax.config.update("jax_enable_x64", True)
RNG = 20265


@model("JAX")
def nested_tree():
    """A Poisson regression with groups over a nested tree."""
    rng = np.random.default_rng(RNG)
    group, x = rng.integers(12, size=200), rng.normal(size=200)
    y = rng.poisson(np.exp(0.5 + 0.4 * x + 0.5 * rng.normal(size=12)[group]))

    def log_density(tree):
        b, groups = tree["b"], tree["groups"]
        eta = b[0] + b[1] * x + jnp.exp(groups["log_sd"]) * groups["z"][group]
        prior = -0.5 * (b**2).sum() / 4 - 0.5 * (groups["z"] ** 2).sum() - 0.5 * groups["log_sd"] ** 2
        return prior + (y * eta - jnp.exp(eta)).sum()

    start = {"b": np.zeros(2), "groups": {"log_sd": 0.0, "z": np.zeros(12)}}
    return elinvar.from_jax(log_density, start, expand=lambda tree: {"sd": jnp.exp(tree["groups"]["log_sd"])})


@model("JAX")
def infection():
    """An epidemic of susceptible, infected and recovered by a Runge–Kutta scheme, Poisson counts."""
    rng = np.random.default_rng(RNG)
    people = 1000.0

    def infected(beta, gamma, first):
        def slope(z):
            return jnp.array([-beta * z[0] * z[1] / people, beta * z[0] * z[1] / people - gamma * z[1]])

        def step(z, _):
            h = 0.25
            k1 = slope(z)
            k2 = slope(z + h / 2 * k1)
            k3 = slope(z + h / 2 * k2)
            k4 = slope(z + h * k3)
            z = z + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            return z, z[1]

        _, path = jax.lax.scan(step, jnp.array([people - first, first]), None, length=80)
        return path[3::4]

    y = rng.poisson(infected(1.5, 0.5, 2.0))

    def log_density(tree):
        beta, gamma, first = jnp.exp(tree["log_rates"])
        mean = jnp.maximum(infected(beta, gamma, first), 1e-6)
        return -0.5 * (tree["log_rates"] ** 2).sum() + (y * jnp.log(mean) - mean).sum()

    return elinvar.from_jax(
        log_density, {"log_rates": np.zeros(3)}, expand=lambda tree: {"rates": jnp.exp(tree["log_rates"])}
    )


@model("JAX")
def softmax():
    """A softmax regression of three classes with 12 coefficients."""
    rng = np.random.default_rng(RNG)
    x = np.column_stack([np.ones(200), rng.normal(size=(200, 3))])
    y = np.argmax(x @ rng.normal(size=(4, 3)) + rng.gumbel(size=(200, 3)), axis=1)

    def log_density(w):
        logits = x @ w
        return -0.5 * (w**2).sum() / 4 + (logits[np.arange(200), y] - jax.scipy.special.logsumexp(logits, axis=1)).sum()

    return elinvar.from_jax(log_density, np.zeros((4, 3)))
