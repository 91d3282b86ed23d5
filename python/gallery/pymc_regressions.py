"""PyMC: regressions, multilevel models, choices of likelihood."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from entry import model

RNG = 20260


@model("PyMC")
def radon():
    """Radon: intercepts and slopes that vary by county, not centred, with coords and a predictor of counties."""
    rng = np.random.default_rng(RNG)
    counties = [f"county {k}" for k in range(40)]
    county = rng.integers(40, size=500)
    floor = (rng.random(500) < 0.17).astype(float)
    uranium = rng.normal(0, 0.4, size=40)
    level = 1.4 + 0.7 * uranium + rng.normal(0, 0.2, size=40)
    slope = -0.65 + rng.normal(0, 0.3, size=40)
    y = level[county] + slope[county] * floor + rng.normal(0, 0.75, size=500)
    with pm.Model(coords={"county": counties, "obs_id": np.arange(500)}) as radon:
        where = pm.Data("where", county, dims="obs_id")
        below = pm.Data("below", floor, dims="obs_id")
        gamma = pm.Normal("gamma", 0, 10, shape=2)
        sd_level = pm.Exponential("sd_level", 1)
        sd_slope = pm.Exponential("sd_slope", 1)
        mean_slope = pm.Normal("mean_slope", 0, 1)
        a = pm.Normal("a", 0, 1, dims="county")
        b = pm.Normal("b", 0, 1, dims="county")
        alpha = pm.Deterministic("alpha", gamma[0] + gamma[1] * uranium + sd_level * a, dims="county")
        beta = pm.Deterministic("beta", mean_slope + sd_slope * b, dims="county")
        sigma = pm.Exponential("sigma", 1)
        pm.Normal("y", alpha[where] + beta[where] * below, sigma, observed=y, dims="obs_id")
    return radon


@model("PyMC")
def radon_centred():
    """Radon, centred: intercepts drawn from their common law."""
    rng = np.random.default_rng(RNG)
    county = rng.integers(30, size=400)
    y = (1.3 + 0.35 * rng.normal(size=30))[county] + rng.normal(0, 0.8, size=400)
    with pm.Model(coords={"county": np.arange(30)}) as radon:
        mu = pm.Normal("mu", 0, 10)
        tau = pm.HalfCauchy("tau", 2)
        alpha = pm.Normal("alpha", mu, tau, dims="county")
        sigma = pm.HalfNormal("sigma", 2)
        pm.Normal("y", alpha[county], sigma, observed=y)
    return radon


@model("PyMC")
def rugby():
    """Rugby: attack and defence of teams that sum to zero, home advantage, Poisson scores."""
    rng = np.random.default_rng(RNG)
    teams = ["Wales", "France", "Ireland", "Scotland", "Italy", "England"]
    home, away = np.array([(i, j) for i in range(6) for j in range(6) if i != j] * 2).T
    strength, guard = rng.normal(0, 0.3, size=(2, 6))
    scored = rng.poisson(np.exp(2.9 + 0.2 + strength[home] - guard[away]))
    conceded = rng.poisson(np.exp(2.9 + strength[away] - guard[home]))
    with pm.Model(coords={"team": teams, "match": np.arange(len(home))}) as rugby:
        edge = pm.Normal("home", 0, 1)
        intercept = pm.Normal("intercept", 3, 1)
        sd_attack = pm.HalfNormal("sd_attack", 2)
        sd_defence = pm.HalfNormal("sd_defence", 2)
        raw_attack = pm.Normal("raw_attack", 0, sd_attack, dims="team")
        raw_defence = pm.Normal("raw_defence", 0, sd_defence, dims="team")
        attack = pm.Deterministic("attack", raw_attack - raw_attack.mean(), dims="team")
        defence = pm.Deterministic("defence", raw_defence - raw_defence.mean(), dims="team")
        pm.Poisson("home_points", pt.exp(intercept + edge + attack[home] + defence[away]), observed=scored, dims="match")
        pm.Poisson("away_points", pt.exp(intercept + attack[away] + defence[home]), observed=conceded, dims="match")
    return rugby


@model("PyMC")
def rugby_zero_sum():
    """Rugby with ZeroSumNormal effects."""
    rng = np.random.default_rng(RNG)
    home, away = np.array([(i, j) for i in range(6) for j in range(6) if i != j]).T
    scored = rng.poisson(np.exp(2.9 + 0.3 * rng.normal(size=6)[home]))
    with pm.Model(coords={"team": list("WFISTE")}) as rugby:
        intercept = pm.Normal("intercept", 3, 1)
        sd = pm.HalfNormal("sd", 1)
        attack = pm.ZeroSumNormal("attack", sigma=sd, dims="team")
        defence = pm.ZeroSumNormal("defence", sigma=1, dims="team")
        pm.Poisson("points", pt.exp(intercept + attack[home] + defence[away]), observed=scored)
    return rugby


@model("PyMC")
def horseshoe():
    """A sparse regression with a regularised horseshoe: 50 coefficients of which 5 matter."""
    rng = np.random.default_rng(RNG)
    x = rng.normal(size=(200, 50))
    y = x[:, :5] @ np.array([2.0, -1.5, 1.0, 0.7, -0.5]) + rng.normal(size=200)
    with pm.Model() as horseshoe:
        tau = pm.HalfStudentT("tau", 2, 0.05)
        local = pm.HalfStudentT("local", 5, size=50)
        slab = pm.InverseGamma("slab", 2, 4)
        z = pm.Normal("z", 0, 1, size=50)
        width = local * pt.sqrt(slab / (slab + tau**2 * local**2))
        beta = pm.Deterministic("beta", z * tau * width)
        sigma = pm.HalfNormal("sigma", 2)
        pm.Normal("y", x @ beta, sigma, observed=y)
    return horseshoe


@model("PyMC")
def ordered_logit():
    """An ordered logit with cut points under the ordered transform."""
    rng = np.random.default_rng(RNG)
    x = rng.normal(size=(300, 2))
    latent = x @ np.array([0.8, -0.5]) + rng.logistic(size=300)
    y = np.digitize(latent, [-1.0, 0.3, 1.5])
    with pm.Model() as ordinal:
        cuts = pm.Normal(
            "cuts", 0, 2, shape=3, transform=pm.distributions.transforms.ordered, initval=np.array([-1.0, 0.0, 1.0])
        )
        beta = pm.Normal("beta", 0, 1, shape=2)
        pm.OrderedLogistic("y", eta=pt.dot(x, beta), cutpoints=cuts, observed=y)
    return ordinal


@model("PyMC")
def truncated():
    """A regression of outcomes of which only those between two bounds were seen."""
    rng = np.random.default_rng(RNG)
    x = rng.uniform(-3, 3, size=600)
    y = 0.5 + 1.2 * x + rng.normal(size=600)
    seen = (y > -2) & (y < 3)
    with pm.Model() as truncated:
        slope = pm.Normal("slope", 0, 1)
        intercept = pm.Normal("intercept", 0, 1)
        sigma = pm.HalfNormal("sigma", 1)
        outcome = pm.Normal.dist(mu=intercept + slope * x[seen], sigma=sigma)
        pm.Truncated("y", outcome, lower=-2, upper=3, observed=y[seen])
    return truncated


@model("PyMC")
def censored():
    """A regression of outcomes that were cut off at two bounds."""
    rng = np.random.default_rng(RNG)
    x = rng.uniform(-3, 3, size=300)
    y = np.clip(0.5 + 1.2 * x + rng.normal(size=300), -2, 3)
    with pm.Model() as censored:
        slope = pm.Normal("slope", 0, 1)
        intercept = pm.Normal("intercept", 0, 1)
        sigma = pm.HalfNormal("sigma", 1)
        pm.Censored("y", pm.Normal.dist(intercept + slope * x, sigma), lower=-2, upper=3, observed=y)
    return censored


@model("PyMC")
def zero_inflated():
    """Zero-inflated Poisson counts with a probability and a regression."""
    rng = np.random.default_rng(RNG)
    x = rng.normal(size=300)
    y = rng.poisson(np.exp(1.0 + 0.5 * x)) * (rng.random(300) < 0.7)
    with pm.Model() as counts:
        psi = pm.Beta("psi", 1, 1)
        b = pm.Normal("b", 0, 2, shape=2)
        pm.ZeroInflatedPoisson("y", psi=psi, mu=pt.exp(b[0] + b[1] * x), observed=y)
    return counts


@model("PyMC")
def negative_binomial():
    """Overdispersed counts with an interaction of two treatments."""
    rng = np.random.default_rng(RNG)
    alcohol, pills = rng.integers(2, size=(2, 500))
    mean = np.exp(0.5 + 1.0 * alcohol - 0.3 * pills + 0.6 * alcohol * pills)
    y = rng.poisson(mean * rng.gamma(2.0, 0.5, size=500))
    with pm.Model(coords={"term": ["intercept", "alcohol", "pills", "both"]}) as counts:
        beta = pm.Normal("beta", 0, 2, dims="term")
        alpha = pm.Exponential("alpha", 0.5)
        x = np.column_stack([np.ones(500), alcohol, pills, alcohol * pills])
        pm.NegativeBinomial("y", mu=pt.exp(pt.dot(x, beta)), alpha=alpha, observed=y)
    return counts


@model("PyMC")
def robust_groups():
    """Two groups under Student's t with degrees of freedom to learn, and the size of the effect."""
    rng = np.random.default_rng(RNG)
    drug, placebo = 101.9 + 3 * rng.standard_t(3, size=47), 100.4 + 2 * rng.standard_t(3, size=42)
    both = np.concatenate([drug, placebo])
    with pm.Model() as best:
        mean = pm.Normal("mean", both.mean(), 2 * both.std(), shape=2)
        sd = pm.Uniform("sd", 0.1, 10, shape=2)
        nu = pm.Exponential("nu_minus_one", 1 / 29) + 1
        pm.StudentT("drug", nu=nu, mu=mean[0], lam=sd[0] ** -2, observed=drug)
        pm.StudentT("placebo", nu=nu, mu=mean[1], lam=sd[1] ** -2, observed=placebo)
        difference = pm.Deterministic("difference", mean[0] - mean[1])
        pm.Deterministic("effect", difference / pt.sqrt((sd**2).mean()))
    return best


@model("PyMC")
def rat_tumours():
    """Hierarchical binomial rates with a prior on log odds and size by a Potential."""
    rng = np.random.default_rng(RNG)
    n = rng.integers(10, 50, size=40)
    y = rng.binomial(n, rng.beta(2, 12, size=40))
    with pm.Model(coords={"experiment": np.arange(40)}) as rats:
        ab = pm.HalfNormal("ab", 10, shape=2)
        pm.Potential("prior", -2.5 * pt.log(ab.sum()))
        theta = pm.Beta("theta", ab[0], ab[1], dims="experiment")
        pm.Binomial("y", n=n, p=theta, observed=y, dims="experiment")
    return rats


@model("PyMC")
def item_response():
    """Item response with two parameters an item: 200 people, 30 items."""
    rng = np.random.default_rng(RNG)
    ability, hardness, sharpness = rng.normal(size=200), rng.normal(size=30), rng.lognormal(0, 0.3, size=30)
    p = 1 / (1 + np.exp(-sharpness * (ability[:, None] - hardness)))
    y = (rng.random((200, 30)) < p).astype(int)
    with pm.Model(coords={"person": np.arange(200), "item": np.arange(30)}) as irt:
        theta = pm.Normal("theta", 0, 1, dims="person")
        b = pm.Normal("b", 0, 2, dims="item")
        a = pm.LogNormal("a", 0, 0.5, dims="item")
        pm.Bernoulli("y", logit_p=a * (theta[:, None] - b), observed=y, dims=("person", "item"))
    return irt


@model("PyMC")
def spline():
    """A spline: 15 coefficients of a basis, a common scale."""
    rng = np.random.default_rng(RNG)
    t = np.linspace(0, 1, 200)
    basis = np.exp(-0.5 * ((t[:, None] - np.linspace(0, 1, 15)) / 0.07) ** 2)
    y = np.sin(8 * t) + rng.normal(0, 0.3, size=200)
    with pm.Model(coords={"spline": np.arange(15)}) as spline:
        tau = pm.HalfCauchy("tau", 1)
        z = pm.Normal("z", 0, 1, dims="spline")
        w = pm.Deterministic("w", tau * z, dims="spline")
        sigma = pm.Exponential("sigma", 1)
        pm.Normal("y", pt.dot(basis, w), sigma, observed=y)
    return spline
