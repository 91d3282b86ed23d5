"""PyMC: covariances, simplices, mixtures, time series, processes, and what is refused."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt

from entry import model

RNG = 20261


@model("PyMC")
def correlated_slopes():
    """Intercepts and slopes with an LKJ prior on their correlation."""
    rng = np.random.default_rng(RNG)
    group = np.repeat(np.arange(20), 15)
    x = rng.normal(size=300)
    effects = rng.multivariate_normal([3.5, -1.0], [[1.0, -0.35], [-0.35, 0.25]], size=20)
    y = effects[group, 0] + effects[group, 1] * x + rng.normal(0, 0.5, size=300)
    with pm.Model(coords={"cafe": np.arange(20), "term": ["intercept", "slope"]}) as cafes:
        chol, corr, sds = pm.LKJCholeskyCov("chol", n=2, eta=2, sd_dist=pm.Exponential.dist(1))
        mean = pm.Normal("mean", 0, 5, dims="term")
        z = pm.Normal("z", 0, 1, dims=("term", "cafe"))
        ab = pm.Deterministic("ab", mean + pt.dot(chol, z).T, dims=("cafe", "term"))
        sigma = pm.Exponential("sigma", 1)
        pm.Normal("y", ab[group, 0] + ab[group, 1] * x, sigma, observed=y)
    return cafes


@model("PyMC")
def covariance():
    """The covariance of a three-dimensional Gaussian sample."""
    rng = np.random.default_rng(RNG)
    scale = np.array([[1.0, 0.5, 0.2], [0.5, 2.0, -0.4], [0.2, -0.4, 0.5]])
    y = rng.multivariate_normal([1.0, 2.0, 3.0], scale, size=100)
    with pm.Model(coords={"axis": ["x", "y", "z"]}) as law:
        chol, _, _ = pm.LKJCholeskyCov("chol", n=3, eta=2, sd_dist=pm.HalfNormal.dist(2.5))
        mu = pm.Normal("mu", 0, 5, dims="axis")
        pm.MvNormal("y", mu, chol=chol, observed=y)
    return law


@model("PyMC")
def dirichlet():
    """Dirichlet–multinomial counts of five species in ten forests."""
    rng = np.random.default_rng(RNG)
    true = rng.dirichlet([5, 3, 2, 1, 1])
    counts = np.array([rng.multinomial(50, rng.dirichlet(30 * true)) for _ in range(10)])
    with pm.Model(coords={"tree": ["pine", "oak", "ash", "elm", "fir"], "forest": np.arange(10)}) as trees:
        frac = pm.Dirichlet("frac", np.ones(5), dims="tree")
        conc = pm.LogNormal("conc", 1, 1)
        pm.DirichletMultinomial("counts", n=50, a=frac * conc, observed=counts, dims=("forest", "tree"))
    return trees


@model("PyMC")
def mixture_ordered():
    """A mixture of three Gaussians whose means are ordered."""
    rng = np.random.default_rng(RNG)
    y = rng.normal(np.array([-4.0, 0.0, 5.0])[rng.choice(3, p=[0.3, 0.4, 0.3], size=500)], [1.0])
    with pm.Model(coords={"cluster": range(3)}) as mixture:
        mu = pm.Normal(
            "mu", 0, 5, transform=pm.distributions.transforms.ordered, initval=[-3, 0, 3], dims="cluster"
        )
        sigma = pm.HalfNormal("sigma", 2, dims="cluster")
        w = pm.Dirichlet("w", np.ones(3), dims="cluster")
        pm.NormalMixture("y", w=w, mu=mu, sigma=sigma, observed=y)
    return mixture


@model("PyMC", compared=("w_sorted",))
def mixture_unordered():
    """A mixture of two Gaussians whose labels may change places: two modes that are the same."""
    rng = np.random.default_rng(RNG)
    y = np.concatenate([rng.normal(-2, 1, size=100), rng.normal(2, 1, size=60)])
    with pm.Model() as mixture:
        mu = pm.Normal("mu", 0, 5, shape=2)
        w = pm.Dirichlet("w", np.ones(2))
        pm.Deterministic("w_sorted", pt.sort(w))
        pm.NormalMixture("y", w=w, mu=mu, sigma=1.0, observed=y)
    return mixture


@model("PyMC")
def garch():
    """A GARCH(1, 1) series: a recursion by scan."""
    rng = np.random.default_rng(RNG)
    r, v = np.zeros(300), 1.0
    for t in range(1, 300):
        v = 0.3 + 0.3 * r[t - 1] ** 2 + 0.5 * v
        r[t] = np.sqrt(v) * rng.normal()
    with pm.Model() as garch:
        omega = pm.HalfNormal("omega", 1)
        a = pm.Uniform("alpha", 0, 1)
        b = pm.Uniform("beta_of_rest", 0, 1)
        pm.GARCH11("r", omega=omega, alpha_1=a, beta_1=b * (1 - a), initial_vol=1.0, observed=r)
    return garch


@model("PyMC")
def stochastic_volatility():
    """Stochastic volatility of 500 returns: a random walk of log volatilities, Student's t."""
    rng = np.random.default_rng(RNG)
    h = np.cumsum(0.1 * rng.normal(size=500)) - 4
    returns = np.exp(h / 2) * rng.standard_t(8, size=500)
    with pm.Model(coords={"day": np.arange(500)}) as stock:
        step = pm.Exponential("step", 10)
        walk = pm.GaussianRandomWalk("walk", sigma=step, init_dist=pm.Normal.dist(-4, 2), dims="day")
        nu = pm.Exponential("nu", 0.1)
        pm.Deterministic("volatility", pt.exp(walk / 2), dims="day")
        pm.StudentT("returns", nu=nu, lam=pt.exp(-walk), observed=returns, dims="day")
    return stock


@model("PyMC")
def autoregression():
    """An autoregression of order two with a constant."""
    rng = np.random.default_rng(RNG)
    y = np.zeros(200)
    for t in range(2, 200):
        y[t] = 0.5 + 0.6 * y[t - 1] - 0.3 * y[t - 2] + rng.normal()
    with pm.Model() as series:
        rho = pm.Normal("rho", 0, 1, shape=3)
        sigma = pm.HalfNormal("sigma", 2)
        pm.AR("y", rho, sigma=sigma, constant=True, init_dist=pm.Normal.dist(0, 10), observed=y)
    return series


@model("PyMC")
def survival():
    """Weibull survival with patients who left the study: a Potential of survival functions."""
    rng = np.random.default_rng(RNG)
    x = rng.normal(size=150)
    t = 10 * np.exp(0.5 * x) * rng.weibull(1.5, size=150)
    left = rng.uniform(2, 25, size=150)
    seen, time = t <= left, np.minimum(t, left)
    with pm.Model() as study:
        beta = pm.Normal("beta", 0, 5, shape=2)
        shape = pm.HalfNormal("shape", 5)
        scale = pt.exp(beta[0] + beta[1] * x)
        pm.Weibull("died", alpha=shape, beta=scale[seen], observed=time[seen])
        pm.Potential("left", -((time[~seen] / scale[~seen]) ** shape).sum())
    return study


@model("PyMC")
def gp_marginal():
    """A Gaussian process with noise, its values summed out."""
    rng = np.random.default_rng(RNG)
    x = np.sort(rng.uniform(0, 10, size=50))[:, None]
    y = np.sin(x[:, 0]) * 2 + rng.normal(0, 0.4, size=50)
    with pm.Model() as process:
        ell = pm.Gamma("ell", 2, 1)
        eta = pm.HalfNormal("eta", 5)
        gp = pm.gp.Marginal(cov_func=eta**2 * pm.gp.cov.Matern52(1, ell))
        sigma = pm.HalfNormal("sigma", 1)
        gp.marginal_likelihood("y", X=x, y=y, sigma=sigma)
    return process


@model("PyMC")
def gp_latent():
    """A latent Gaussian process with binary outcomes."""
    rng = np.random.default_rng(RNG)
    x = np.linspace(0, 6, 60)[:, None]
    y = (rng.random(60) < 1 / (1 + np.exp(-3 * np.sin(x[:, 0])))).astype(int)
    with pm.Model() as process:
        ell = pm.InverseGamma("ell", mu=1.0, sigma=0.5)
        eta = pm.Exponential("eta", 0.5)
        gp = pm.gp.Latent(cov_func=eta**2 * pm.gp.cov.ExpQuad(1, ell))
        f = gp.prior("f", X=x, jitter=1e-6)
        pm.Bernoulli("y", logit_p=f, observed=y)
    return process


@model("PyMC")
def gp_hilbert():
    """A Gaussian process in a Hilbert space of 25 functions, Poisson counts."""
    rng = np.random.default_rng(RNG)
    x = np.linspace(0, 10, 100)[:, None]
    y = rng.poisson(np.exp(1 + np.sin(x[:, 0])))
    with pm.Model() as process:
        ell = pm.InverseGamma("ell", mu=2.0, sigma=1.0)
        eta = pm.Exponential("eta", 1)
        gp = pm.gp.HSGP(m=[25], c=1.5, cov_func=eta**2 * pm.gp.cov.Matern52(1, ell))
        f = gp.prior("f", X=x)
        a = pm.Normal("a", 0, 2)
        pm.Poisson("y", pt.exp(a + f), observed=y)
    return process


@model("PyMC")
def circular():
    """Directions under von Mises' law; the mean direction is near where angles jump."""
    rng = np.random.default_rng(RNG)
    y = rng.vonmises(2.6, 3.0, size=80)
    with pm.Model() as wind:
        mu = pm.VonMises("mu", 0, 0.1)
        kappa = pm.HalfNormal("kappa", 10)
        pm.VonMises("y", mu, kappa, observed=y)
    return wind


@model("PyMC")
def missing_values():
    """Outcomes and a predictor with missing entries, which become parameters."""
    rng = np.random.default_rng(RNG)
    x = rng.normal(1.0, 1.0, size=120)
    y = 2 - x + rng.normal(0, 0.5, size=120)
    x[rng.random(120) < 0.1] = np.nan
    with pm.Model() as partial:
        mean = pm.Normal("mean", 0, 2)
        sd = pm.HalfNormal("sd", 2)
        xs = pm.Normal("x", mean, sd, observed=np.ma.masked_invalid(x))
        b = pm.Normal("b", 0, 2, shape=2)
        sigma = pm.HalfNormal("sigma", 2)
        pm.Normal("y", b[0] + b[1] * xs, sigma, observed=y)
    return partial


@model("PyMC")
def spatial():
    """Conditionally autoregressive effects on a grid of 36 areas, Poisson counts."""
    rng = np.random.default_rng(RNG)
    side = 6
    places = [(i, j) for i in range(side) for j in range(side)]
    near = np.array([[float(abs(a - c) + abs(b - d) == 1) for c, d in places] for a, b in places])
    trend = np.array([np.sin(a / 2) + np.cos(b / 2) for a, b in places])
    y = rng.poisson(np.exp(1 + 0.5 * trend))
    with pm.Model(coords={"area": np.arange(36)}) as atlas:
        beta = pm.Normal("beta", 0, 2)
        tau = pm.Gamma("tau", 2, 2)
        alpha = pm.Beta("alpha", 1, 1)
        phi = pm.CAR("phi", mu=np.zeros(36), tau=tau, alpha=alpha, W=near, dims="area")
        pm.Poisson("y", pt.exp(beta + phi), observed=y, dims="area")
    return atlas


@model("PyMC")
def own_law():
    """A law of one's own by CustomDist."""
    rng = np.random.default_rng(RNG)
    y = rng.gumbel(3, 2, size=100)

    def log_p(value, mu, beta):
        z = (value - mu) / beta
        return -z - pt.exp(-z) - pt.log(beta)

    with pm.Model() as gumbel:
        mu = pm.Normal("mu", 0, 10)
        beta = pm.HalfNormal("beta", 5)
        pm.CustomDist("y", mu, beta, logp=log_p, observed=y)
    return gumbel


@model("PyMC")
def coal_mining_summed_out():
    """Coal mining disasters with the year of the change summed out by a Potential."""
    years, y = _disasters()
    with pm.Model() as coal:
        early = pm.Exponential("early", 1)
        late = pm.Exponential("late", 1)
        counts = pt.as_tensor(y)
        before = pt.cumsum(counts * pt.log(early) - early)
        after = (counts * pt.log(late) - late).sum() - pt.cumsum(counts * pt.log(late) - late)
        pm.Potential("change", pt.logsumexp(before[:-1] + after[:-1]) - np.log(len(years) - 1))
    return coal


@model("PyMC", refused="discrete variables cannot be fitted: switchpoint")
def coal_mining():
    """Coal mining disasters with a discrete year of change."""
    years, y = _disasters()
    with pm.Model() as coal:
        change = pm.DiscreteUniform("switchpoint", years.min(), years.max())
        early = pm.Exponential("early", 1)
        late = pm.Exponential("late", 1)
        pm.Poisson("disasters", pm.math.switch(change >= years, early, late), observed=y)
    return coal


@model("PyMC", refused="Minibatch")
def minibatch():
    """A regression on random parts of its rows, whose log density is random."""
    rng = np.random.default_rng(RNG)
    x = rng.normal(size=10_000)
    y = 1 + 2 * x + rng.normal(size=10_000)
    with pm.Model() as regression:
        xs, ys = pm.Minibatch(x, y, batch_size=100)
        b = pm.Normal("b", 0, 5, shape=2)
        sigma = pm.HalfNormal("sigma", 2)
        pm.Normal("y", b[0] + b[1] * xs, sigma, observed=ys, total_size=10_000)
    return regression


@model("PyMC", refused="Wishart")
def wishart():
    """A Wishart prior, whose variable PyMC does not bring to the whole space."""
    rng = np.random.default_rng(RNG)
    y = rng.normal(size=(50, 3))
    with pm.Model() as law:
        precision = pm.Wishart("precision", nu=5, V=np.eye(3))
        pm.MvNormal("y", np.zeros(3), tau=precision, observed=y)
    return law


@model("PyMC")
def flat_priors():
    """A line with improper priors."""
    rng = np.random.default_rng(RNG)
    x = rng.normal(size=50)
    y = 1 + 2 * x + rng.normal(size=50)
    with pm.Model() as line:
        b = pm.Flat("b", shape=2)
        sigma = pm.HalfFlat("sigma")
        pm.Normal("y", b[0] + b[1] * x, sigma, observed=y)
    return line


class _Line(pytensor.graph.op.Op):
    """The log likelihood of a line, in NumPy, with a gradient of its own or without one."""

    itypes = [pt.dvector]
    otypes = [pt.dscalar]

    def __init__(self, x, y, with_gradient=True):
        self.x, self.y, self.with_gradient = x, y, with_gradient

    def perform(self, node, inputs, outputs):
        (b,) = inputs
        outputs[0][0] = np.array(-0.5 * ((self.y - b[0] - b[1] * self.x) ** 2).sum())

    def grad(self, inputs, slopes):
        if not self.with_gradient:
            raise NotImplementedError("no gradient was written")
        return [slopes[0] * _LineGradient(self.x, self.y)(inputs[0])]


class _LineGradient(pytensor.graph.op.Op):
    itypes = [pt.dvector]
    otypes = [pt.dvector]

    def __init__(self, x, y):
        self.x, self.y = x, y

    def perform(self, node, inputs, outputs):
        rest = self.y - inputs[0][0] - inputs[0][1] * self.x
        outputs[0][0] = np.array([rest.sum(), (rest * self.x).sum()])


def _black_box(with_gradient):
    rng = np.random.default_rng(RNG)
    x = rng.normal(size=30)
    y = 1 + 2 * x + rng.normal(size=30)
    with pm.Model() as line:
        b = pm.Normal("b", 0, 5, shape=2)
        pm.Potential("likelihood", _Line(x, y, with_gradient)(b))
    return line


@model("PyMC")
def black_box():
    """A likelihood in NumPy behind an Op of PyTensor that has a gradient."""
    return _black_box(True)


@model("PyMC", refused="gradient")
def black_box_without_gradient():
    """A likelihood in NumPy behind an Op of PyTensor that has none."""
    return _black_box(False)


def _disasters():
    rng = np.random.default_rng(RNG)
    years = np.arange(1851, 1962)
    return years, np.where(years < 1890, rng.poisson(3.1, size=111), rng.poisson(0.9, size=111))
