"""NumPyro: time series, hidden states that are summed out, differential equations, processes."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from jax.scipy.special import logsumexp
from numpyro.contrib.control_flow import scan

from entry import Made, model

jax.config.update("jax_enable_x64", True)
RNG = 20264


@model("NumPyro")
def hidden_markov():
    """A hidden Markov model of three states, its states summed out by a forward scan."""
    rng = np.random.default_rng(RNG)
    turn = np.array([[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    emit = np.array([[0.7, 0.1, 0.1, 0.1], [0.1, 0.7, 0.1, 0.1], [0.05, 0.05, 0.2, 0.7]])
    states = [0]
    for _ in range(299):
        states.append(rng.choice(3, p=turn[states[-1]]))
    known, words = np.array(states[:100]), np.array([rng.choice(4, p=emit[s]) for s in states])

    def chain(known, words):
        turn = numpyro.sample("turn", dist.Dirichlet(jnp.ones((3, 3))))
        emit = numpyro.sample("emit", dist.Dirichlet(jnp.ones((3, 4))))
        numpyro.sample("next", dist.Categorical(turn[known[:-1]]), obs=known[1:])
        numpyro.sample("first", dist.Categorical(emit[known]), obs=words[: len(known)])
        start = jnp.log(turn[known[-1]]) + jnp.log(emit[:, words[len(known)]])

        def step(log_p, word):
            return logsumexp(log_p[:, None] + jnp.log(turn), axis=0) + jnp.log(emit[:, word]), None

        log_p, _ = jax.lax.scan(step, start, words[len(known) + 1 :])
        numpyro.factor("rest", logsumexp(log_p))

    return Made(chain, (known, words))


@model("NumPyro")
def autoregression():
    """An autoregression of order two by NumPyro's own scan over its outcomes."""
    rng = np.random.default_rng(RNG)
    y = np.zeros(150)
    for t in range(2, 150):
        y[t] = 0.3 + 0.6 * y[t - 1] - 0.3 * y[t - 2] + 0.5 * rng.normal()

    def series(y):
        a = numpyro.sample("a", dist.Normal(jnp.zeros(3), 1.0))
        sigma = numpyro.sample("sigma", dist.HalfNormal(1.0))

        def step(carry, value):
            before, last = carry
            numpyro.sample("y", dist.Normal(a[0] + a[1] * last + a[2] * before, sigma), obs=value)
            return (last, value), None

        scan(step, (y[0], y[1]), y[2:])

    return Made(series, (y,))


@model("NumPyro")
def local_level():
    """A local level with 60 hidden levels that a scan samples."""
    rng = np.random.default_rng(RNG)
    y = np.cumsum(0.3 * rng.normal(size=60)) + rng.normal(size=60)

    def series(y):
        step_sd = numpyro.sample("step_sd", dist.LogNormal(-1.0, 0.5))
        sigma = numpyro.sample("sigma", dist.HalfNormal(2.0))

        def step(level, value):
            level = numpyro.sample("level", dist.Normal(level, step_sd))
            numpyro.sample("y", dist.Normal(level, sigma), obs=value)
            return level, level

        scan(step, 0.0, y)

    return Made(series, (y,))


@model("NumPyro")
def stochastic_volatility():
    """Stochastic volatility of 300 returns with a Gaussian random walk."""
    rng = np.random.default_rng(RNG)
    returns = np.exp(np.cumsum(0.1 * rng.normal(size=300)) / 2 - 1) * rng.normal(size=300)

    def stock(returns):
        step = numpyro.sample("step", dist.Exponential(20.0))
        walk = numpyro.sample("walk", dist.GaussianRandomWalk(scale=step, num_steps=len(returns)))
        nu = numpyro.sample("nu", dist.Exponential(0.1))
        numpyro.sample("returns", dist.StudentT(nu, 0.0, jnp.exp(walk / 2)), obs=returns)

    return Made(stock, (returns,))


@model("NumPyro")
def predators():
    """Lotka and Volterra's equations by a Runge–Kutta scheme: 20 years of hares and lynxes."""
    rng = np.random.default_rng(RNG)

    def path(start, theta, years, per_year=20):
        def slope(z):
            hares, lynxes = z
            return jnp.array([(theta[0] - theta[1] * lynxes) * hares, (theta[2] * hares - theta[3]) * lynxes])

        def step(z, _):
            h = 1.0 / per_year
            k1 = slope(z)
            k2 = slope(z + h / 2 * k1)
            k3 = slope(z + h / 2 * k2)
            k4 = slope(z + h * k3)
            return z + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), None

        def year(z, _):
            z, _ = jax.lax.scan(step, z, None, length=per_year)
            return z, z

        _, states = jax.lax.scan(year, start, None, length=years)
        return states

    truth = np.asarray(path(jnp.array([30.0, 4.0]), jnp.array([0.55, 0.028, 0.024, 0.8]), 20))
    y = truth * np.exp(0.25 * rng.normal(size=truth.shape))

    def hares_and_lynxes(y):
        start = numpyro.sample("start", dist.LogNormal(jnp.log(jnp.array([20.0, 5.0])), 1.0))
        low, mean, sd = jnp.zeros(4), jnp.array([1.0, 0.05, 0.05, 1.0]), jnp.array([0.5, 0.05, 0.05, 0.5])
        theta = numpyro.sample("theta", dist.TruncatedNormal(mean, sd, low=low))
        sigma = numpyro.sample("sigma", dist.LogNormal(-1.0, 1.0).expand([2]))
        states = path(start, theta, len(y))
        numpyro.sample("y", dist.LogNormal(jnp.log(jnp.maximum(states, 1e-9)), sigma), obs=y)

    return Made(hares_and_lynxes, (y,))


@model("NumPyro")
def process():
    """A Gaussian process with a squared exponential kernel and noise."""
    rng = np.random.default_rng(RNG)
    x = np.linspace(-1, 1, 40)
    y = x + 0.2 * x**3 + 0.5 * np.sin(4 * x) + 0.2 * rng.normal(size=40)

    def gp(x, y):
        variance = numpyro.sample("variance", dist.LogNormal(0.0, 2.0))
        noise = numpyro.sample("noise", dist.LogNormal(0.0, 2.0))
        length = numpyro.sample("length", dist.LogNormal(0.0, 1.0))
        k = variance * jnp.exp(-0.5 * ((x[:, None] - x) / length) ** 2) + (noise + 1e-6) * jnp.eye(len(x))
        numpyro.sample("y", dist.MultivariateNormal(jnp.zeros(len(x)), covariance_matrix=k), obs=y)

    return Made(gp, (x, y))


@model("NumPyro")
def survival():
    """Exponential survival with patients who left, by a factor of survival functions."""
    rng = np.random.default_rng(RNG)
    x = rng.normal(size=100)
    t, left = rng.exponential(np.exp(1 + 0.5 * x)), rng.uniform(0.5, 8, size=100)
    died, time = t <= left, np.minimum(t, left)

    def study(x, time, died):
        b = numpyro.sample("b", dist.Normal(jnp.zeros(2), 2.0))
        rate = jnp.exp(-(b[0] + b[1] * x))
        numpyro.factor("likelihood", jnp.sum(jnp.where(died, jnp.log(rate), 0.0) - rate * time))

    return Made(study, (x, time, died))
