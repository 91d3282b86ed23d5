"""NumPyro: regressions, multilevel models, covariances, handlers, and what is refused."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.handlers import mask, reparam
from numpyro.infer.reparam import LocScaleReparam, TransformReparam

from entry import Made, model

jax.config.update("jax_enable_x64", True)
RNG = 20263


@model("NumPyro")
def horseshoe():
    """A sparse regression with half-Cauchy scales: 40 coefficients of which 4 matter."""
    rng = np.random.default_rng(RNG)
    x = rng.normal(size=(150, 40))
    y = x[:, :4] @ np.array([2.0, -1.5, 1.0, 0.5]) + 0.5 * rng.normal(size=150)

    def regression(x, y=None):
        local = numpyro.sample("local", dist.HalfCauchy(jnp.ones(x.shape[1])))
        tau = numpyro.sample("tau", dist.HalfCauchy(0.1))
        raw = numpyro.sample("raw", dist.Normal(jnp.zeros(x.shape[1]), 1.0))
        beta = numpyro.deterministic("beta", tau * local * raw)
        sigma = numpyro.sample("sigma", dist.HalfNormal(1.0))
        numpyro.sample("y", dist.Normal(x @ beta, sigma), obs=y)

    return Made(regression, (x,), {"y": y})


@model("NumPyro")
def baseball():
    """Batting averages of 18 players: a beta law of probabilities with a Pareto prior of its size."""
    rng = np.random.default_rng(RNG)
    at_bats = np.full(18, 45)
    hits = rng.binomial(at_bats, rng.beta(25, 70, size=18))

    def players(at_bats, hits=None):
        m = numpyro.sample("m", dist.Uniform(0, 1))
        kappa = numpyro.sample("kappa", dist.Pareto(1.0, 1.5))
        with numpyro.plate("player", len(at_bats)):
            phi = numpyro.sample("phi", dist.Beta(m * kappa, (1 - m) * kappa))
            numpyro.sample("hits", dist.Binomial(at_bats, probs=phi), obs=hits)

    return Made(players, (at_bats,), {"hits": hits})


@model("NumPyro")
def two_plates():
    """Crossed plates of 12 rows and 8 columns with effects of both."""
    rng = np.random.default_rng(RNG)
    y = 1 + rng.normal(size=(12, 1)) + 0.5 * rng.normal(size=8) + 0.3 * rng.normal(size=(12, 8))

    def crossed(y=None):
        mean = numpyro.sample("mean", dist.Normal(0, 5))
        sds = numpyro.sample("sds", dist.HalfNormal(jnp.ones(3)))
        rows, columns = numpyro.plate("row", 12, dim=-2), numpyro.plate("column", 8, dim=-1)
        with rows:
            a = numpyro.sample("a", dist.Normal(0, 1))
        with columns:
            b = numpyro.sample("b", dist.Normal(0, 1))
        with rows, columns:
            numpyro.sample("y", dist.Normal(mean + sds[0] * a + sds[1] * b, sds[2]), obs=y)

    return Made(crossed, (), {"y": y})


@model("NumPyro")
def decentred():
    """Eight schools, centred in the text and decentred by a handler."""
    effects, errors = np.array([28.0, 8, -3, 7, -1, 1, 18, 12]), np.array([15.0, 10, 16, 11, 9, 11, 10, 18])

    def schools():
        mu = numpyro.sample("mu", dist.Normal(0, 5))
        tau = numpyro.sample("tau", dist.HalfCauchy(5))
        with numpyro.plate("school", 8), reparam(config={"theta": LocScaleReparam(0.0)}):
            theta = numpyro.sample("theta", dist.Normal(mu, tau))
        numpyro.sample("effects", dist.Normal(theta, errors), obs=effects)

    return schools


@model("NumPyro")
def transformed():
    """Eight schools with a transformed law and its handler."""
    effects, errors = np.array([28.0, 8, -3, 7, -1, 1, 18, 12]), np.array([15.0, 10, 16, 11, 9, 11, 10, 18])

    def schools():
        mu = numpyro.sample("mu", dist.Normal(0, 5))
        tau = numpyro.sample("tau", dist.HalfCauchy(5))
        with numpyro.plate("school", 8), reparam(config={"theta": TransformReparam()}):
            law = dist.TransformedDistribution(dist.Normal(0.0, 1.0), dist.transforms.AffineTransform(mu, tau))
            theta = numpyro.sample("theta", law)
        numpyro.sample("effects", dist.Normal(theta, errors), obs=effects)

    return schools


@model("NumPyro")
def covariance():
    """A covariance with an LKJ prior of its Cholesky factor."""
    rng = np.random.default_rng(RNG)
    y = rng.multivariate_normal(np.zeros(3), [[1.0, 0.5, 0.2], [0.5, 2.0, -0.4], [0.2, -0.4, 0.5]], size=100)

    def law(y=None):
        sds = numpyro.sample("sds", dist.HalfCauchy(jnp.ones(3)))
        corr = numpyro.sample("corr", dist.LKJCholesky(3, 1.0))
        mu = numpyro.sample("mu", dist.Normal(0, 5).expand([3]).to_event(1))
        numpyro.sample("y", dist.MultivariateNormal(mu, scale_tril=sds[:, None] * corr), obs=y)

    return Made(law, (), {"y": y})


@model("NumPyro")
def simplex():
    """Shares of four parties in polls."""
    rng = np.random.default_rng(RNG)
    counts = rng.multinomial(1000, [0.4, 0.3, 0.2, 0.1], size=6)

    def polls(counts=None):
        shares = numpyro.sample("shares", dist.Dirichlet(jnp.ones(4)))
        with numpyro.plate("poll", 6):
            numpyro.sample("counts", dist.Multinomial(1000, probs=shares), obs=counts)

    return Made(polls, (), {"counts": counts})


@model("NumPyro")
def ordinal():
    """An ordered logit."""
    rng = np.random.default_rng(RNG)
    x = rng.normal(size=200)
    y = np.digitize(x + rng.logistic(size=200), [-1.0, 1.0])

    def choice(x, y=None):
        b = numpyro.sample("b", dist.Normal(0, 2))
        base = dist.Normal(0, 2).expand([2]).to_event(1)
        cuts = numpyro.sample("cuts", dist.TransformedDistribution(base, dist.transforms.OrderedTransform()))
        numpyro.sample("y", dist.OrderedLogistic(b * x, cuts), obs=y)

    return Made(choice, (x,), {"y": y})


@model("NumPyro")
def mixture():
    """A mixture of two Gaussians, summed out by MixtureSameFamily, with ordered means."""
    rng = np.random.default_rng(RNG)
    y = np.concatenate([rng.normal(-2, 1, size=100), rng.normal(2, 0.7, size=80)])

    def clusters(y=None):
        w = numpyro.sample("w", dist.Dirichlet(jnp.ones(2)))
        low = numpyro.sample("low", dist.Normal(0, 5))
        gap = numpyro.sample("gap", dist.HalfNormal(5))
        means = numpyro.deterministic("means", jnp.stack([low, low + gap]))
        sds = numpyro.sample("sds", dist.HalfNormal(jnp.ones(2) * 2))
        law = dist.MixtureSameFamily(dist.Categorical(w), dist.Normal(means, sds))
        with numpyro.plate("row", len(y)):
            numpyro.sample("y", law, obs=y)

    return Made(clusters, (), {"y": y})


@model("NumPyro")
def network():
    """A network of one hidden layer of 5 units, whose units may change places."""
    rng = np.random.default_rng(RNG)
    x = np.linspace(-1, 1, 80)[:, None]
    y = np.sin(4 * x[:, 0]) + 0.1 * rng.normal(size=80)

    def network(x, y=None):
        w1 = numpyro.sample("w1", dist.Normal(jnp.zeros((1, 5)), 2.0))
        b1 = numpyro.sample("b1", dist.Normal(jnp.zeros(5), 2.0))
        w2 = numpyro.sample("w2", dist.Normal(jnp.zeros(5), 1.0))
        precision = numpyro.sample("precision", dist.Gamma(3.0, 1.0))
        mean = numpyro.deterministic("mean", jnp.tanh(x @ w1 + b1) @ w2)
        numpyro.sample("y", dist.Normal(mean, precision**-0.5), obs=y)

    return Made(network, (x,), {"y": y})


@model("NumPyro")
def funnel():
    """Neal's funnel, centred: no data, a scale that nine coordinates share."""

    def funnel():
        y = numpyro.sample("y", dist.Normal(0, 3))
        numpyro.sample("x", dist.Normal(jnp.zeros(9), jnp.exp(y / 2)))

    return funnel


@model("NumPyro")
def masked():
    """A regression of which rows without an outcome are masked, with a factor."""
    rng = np.random.default_rng(RNG)
    x = rng.normal(size=100)
    y = np.where(rng.random(100) < 0.8, 1 + 2 * x + rng.normal(size=100), 0.0)

    def line(x, y, seen):
        b = numpyro.sample("b", dist.Normal(jnp.zeros(2), 5.0))
        sigma = numpyro.sample("sigma", dist.LogNormal(0.0, 1.0))
        with mask(mask=seen):
            numpyro.sample("y", dist.Normal(b[0] + b[1] * x, sigma), obs=y)
        numpyro.factor("soft", -0.5 * (b.sum() - 3) ** 2)

    return Made(line, (x, y, y != 0))


@model("NumPyro")
def truncated():
    """Outcomes above a threshold, under a truncated law."""
    rng = np.random.default_rng(RNG)
    y = rng.normal(1.0, 2.0, size=400)

    def above(y):
        mu = numpyro.sample("mu", dist.Normal(0, 5))
        sigma = numpyro.sample("sigma", dist.HalfNormal(5))
        numpyro.sample("y", dist.TruncatedNormal(mu, sigma, low=0.0), obs=y)

    return Made(above, (y[y > 0],))


@model("NumPyro", refused="discrete variables cannot be fitted: label")
def enumerated():
    """A mixture whose labels are left to enumeration."""
    y = np.array([-2.0, -1.8, 2.1, 1.7, -2.2, 2.0])

    def clusters(y):
        means = numpyro.sample("means", dist.Normal(jnp.array([-1.0, 1.0]), 2.0))
        with numpyro.plate("row", len(y)):
            label = numpyro.sample("label", dist.Categorical(jnp.ones(2) / 2), infer={"enumerate": "parallel"})
            numpyro.sample("y", dist.Normal(means[label], 1.0), obs=y)

    return Made(clusters, (y,))


@model("NumPyro", refused="subsample")
def subsampled():
    """A regression on random parts of its rows, whose log density is random."""
    rng = np.random.default_rng(RNG)
    x = rng.normal(size=1000)
    y = 1 + 2 * x + rng.normal(size=1000)

    def line(x, y):
        b = numpyro.sample("b", dist.Normal(jnp.zeros(2), 5.0))
        with numpyro.plate("row", 1000, subsample_size=50) as rows:
            numpyro.sample("y", dist.Normal(b[0] + b[1] * x[rows], 1.0), obs=y[rows])

    return Made(line, (x, y))


@model("NumPyro", refused="parameter")
def optimised():
    """A model with a parameter that only an optimiser sets."""

    def line():
        scale = numpyro.param("scale", 1.0, constraint=dist.constraints.positive)
        numpyro.sample("x", dist.Normal(0, scale))

    return line
