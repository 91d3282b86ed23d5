"""The log densities that elinvar and its peers are given, written once more in JAX, and what is read off their points.

Every one is a function of z on all of R^d, Jacobians included, and equals the model of elinvar up to a constant, which
`checked` holds against points that the Rust side wrote.
"""

import csv
import json
import math
from dataclasses import dataclass
from typing import Callable

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)

# Differences of log p between two points may be off by this, relative to their size.
CLOSE = 1e-7

SCHOOLS = "eight_schools-eight_schools_noncentered"


@dataclass
class Density:
    """A log density, the parameters that are read off a point, and their names."""

    dim: int
    log_p: Callable
    names: list
    parameters: Callable


def half_cauchy(scale):
    return lambda s: -jnp.log1p((s / scale) ** 2)


def half_normal(scale):
    return lambda s: -0.5 * (s / scale) ** 2


def half_t3(scale):
    return lambda s: -2.0 * jnp.log1p((s / scale) ** 2 / 3.0)


def linear(x, y, names, mean=0.0, precision=0.0, noise=lambda s: 0.0):
    """y ~ N(X b, s²) with z = (b, log s) and b ~ N(mean, 1 / precision), by the triangular factor of X."""
    n, d = x.shape
    q, r = np.linalg.qr(x)
    best = np.linalg.solve(r, q.T @ y)
    rest = float(np.sum((y - x @ best) ** 2))
    mean, precision = np.broadcast_to(mean, d), np.broadcast_to(precision, d)

    def log_p(z):
        b, t = z[:-1], z[-1]
        square = rest + jnp.sum((r @ (b - best)) ** 2)
        prior = noise(jnp.exp(t)) - 0.5 * jnp.sum(precision * (b - mean) ** 2)
        return -0.5 * square * jnp.exp(-2.0 * t) - (n - 1) * t + prior

    return Density(d + 1, log_p, names + ["sigma"], lambda z: jnp.append(z[:-1], jnp.exp(z[-1])))


def logistic(rows, names):
    y = np.array(rows["y"])
    x = np.array(rows["x"]).reshape(len(y), -1) * y[:, None]
    precision = rows["prior_precision"]

    def log_p(z):
        return -jnp.sum(jnp.logaddexp(0.0, -(x @ z))) - 0.5 * precision * jnp.sum(z**2)

    return Density(x.shape[1], log_p, names or [str(j) for j in range(x.shape[1])], lambda z: z)


def eight_schools(y, s, centred):
    def log_p(z):
        mu, t, effects = z[0], z[1], z[2:]
        tau = jnp.exp(t)
        top = -0.5 * (mu / 5.0) ** 2 - jnp.log1p((tau / 5.0) ** 2) + t
        if centred:
            theta, spread = effects, -0.5 * jnp.sum(((effects - mu) / tau) ** 2) - len(y) * t
        else:
            theta, spread = mu + tau * effects, -0.5 * jnp.sum(effects**2)
        return top + spread - 0.5 * jnp.sum(((y - theta) / s) ** 2)

    letter = "theta" if centred else "eta"
    names = ["mu", "tau"] + [f"{letter}{j}" for j in range(1, len(y) + 1)]
    return Density(len(y) + 2, log_p, names, lambda z: z.at[1].set(jnp.exp(z[1])))


def arma11(y):
    def log_p(z):
        mu, phi, theta, t = z

        def step(before, value):
            previous, e = before
            e = value - mu - phi * previous - theta * e
            return (value, e), e

        _, e = jax.lax.scan(step, (mu, 0.0), jnp.array(y))
        prior = -0.5 * (mu / 10.0) ** 2 - 0.125 * (phi**2 + theta**2) - jnp.log1p((jnp.exp(t) / 2.5) ** 2)
        return prior - (len(y) - 1) * t - 0.5 * jnp.sum(e**2) * jnp.exp(-2.0 * t)

    return Density(4, log_p, ["mu", "phi", "theta", "sigma"], lambda z: z.at[3].set(jnp.exp(z[3])))


def ordered_mixture(y):
    """z = (mu1, log(mu2 - mu1), log s1, log s2, logit w)."""

    def natural(z):
        return jnp.array([z[0], z[0] + jnp.exp(z[1]), jnp.exp(z[2]), jnp.exp(z[3]), jax.nn.sigmoid(z[4])])

    def log_p(z):
        m1, m2, s1, s2, _ = natural(z)
        log_w, log_rest = -jnp.logaddexp(0.0, -z[4]), -jnp.logaddexp(0.0, z[4])
        first = log_w - z[2] - 0.5 * ((y - m1) / s1) ** 2
        second = log_rest - z[3] - 0.5 * ((y - m2) / s2) ** 2
        prior = -(m1**2 + m2**2 + s1**2 + s2**2) / 8.0 + 5.0 * (log_w + log_rest)
        return jnp.sum(jnp.logaddexp(first, second)) + prior + z[1] + z[2] + z[3]

    return Density(5, log_p, ["mu1", "mu2", "sigma1", "sigma2", "weight"], natural)


def gaussian_process(x, k):
    """z = (log rho, log alpha, u), u being about standard normal given the counts, as the model of elinvar has it."""
    n, away = len(x), (np.subtract.outer(x, x)) ** 2
    weight = k + 0.5
    pseudo = weight * np.log(weight)

    def log_p(z):
        kernel = jnp.exp(2.0 * z[1] - 0.5 * away * jnp.exp(-2.0 * z[0])) + 1e-10 * jnp.eye(n)
        l = jnp.linalg.cholesky(kernel)
        m = jnp.linalg.cholesky(jnp.eye(n) + l.T @ (weight[:, None] * l))
        solved = jax.scipy.linalg.solve_triangular(m, l.T @ pseudo, lower=True) + z[2:]
        white = jax.scipy.linalg.solve_triangular(m, solved, lower=True, trans=1)
        f = l @ white
        prior = 25.0 * z[0] - 4.0 * jnp.exp(z[0]) - jnp.exp(2.0 * z[1]) / 8.0 + z[1]
        volume = -jnp.sum(jnp.log(jnp.diag(m)))
        return prior + volume + jnp.sum(k * f - jnp.exp(f)) - 0.5 * jnp.sum(white**2)

    names = ["rho", "alpha"] + [f"u{j}" for j in range(1, n + 1)]
    return Density(n + 2, log_p, names, lambda z: z.at[:2].set(jnp.exp(z[:2])))


def banana():
    """z1 ~ N(0, s²), z2 given z1 ~ N(b (z1² - s²), 1), with the constants of elinvar's default."""
    s, b = 2.0, 0.5
    return Density(
        2,
        lambda z: -0.5 * (z[0] / s) ** 2 - 0.5 * (z[1] - b * (z[0] ** 2 - s * s)) ** 2,
        ["z1", "z2"],
        lambda z: z,
    )


def of_collection(folder, name):
    """A posterior of posteriordb by the data in its folder."""
    is_schools = name.startswith("eight schools")
    data = json.loads((folder / (SCHOOLS if is_schools else name) / "data.json").read_text())

    def column(field):
        return np.array(data[field], float)

    def with_ones(*values):
        x = np.column_stack([np.ones(len(values[0])), *values])
        return x, [f"beta{j}" for j in range(1, x.shape[1] + 1)]

    if name == "kidiq-kidscore_momiq":
        x, names = with_ones(column("mom_iq"))
        return linear(x, column("kid_score"), names, noise=half_cauchy(2.5))
    if name == "earnings-earn_height":
        x, names = with_ones(column("height"))
        return linear(x, column("earn"), names)
    if name == "earnings-logearn_height_male":
        x, names = with_ones(column("height"), column("male"))
        return linear(x, np.log(column("earn")), names)
    if name == "nes1980-nes":
        age = column("age_discrete")
        groups = [(age == group).astype(float) for group in (2, 3, 4)]
        others = [column(field) for field in ("real_ideo", "race_adj", "educ1", "gender", "income")]
        x, names = with_ones(*others[:2], *groups, *others[2:])
        return linear(x, column("partyid7"), names)
    if name == "mesquite-mesquite":
        fields = ("diam1", "diam2", "canopy_height", "total_height", "density", "group")
        x, names = with_ones(*map(column, fields))
        return linear(x, column("weight"), names)
    if name == "kilpisjarvi_mod-kilpisjarvi":
        x, names = with_ones(column("x"))
        mean = np.array([data["pmualpha"], data["pmubeta"]], float)
        sd = np.array([data["psalpha"], data["psbeta"]], float)
        return linear(x, column("y"), names, mean, sd**-2.0)
    if name == "sblri-blr":
        names = [f"beta{j}" for j in range(1, data["D"] + 1)]
        return linear(column("X"), column("y"), names, 0.0, 0.01, half_normal(10.0))
    if name == "arK-arK":
        y, order = column("y"), data["K"]
        x = np.column_stack([np.ones(len(y) - order)] + [y[order - k : len(y) - k] for k in range(1, order + 1)])
        names = ["alpha"] + [f"beta{k}" for k in range(1, order + 1)]
        return linear(x, y[order:], names, 0.0, 0.01, half_cauchy(2.5))
    if name == "arma-arma11":
        return arma11(column("y"))
    if name == "low_dim_gauss_mix-low_dim_gauss_mix":
        return ordered_mixture(column("y"))
    if name == "gp_pois_regr-gp_pois_regr":
        return gaussian_process(column("x"), column("k"))
    if is_schools:
        return eight_schools(column("y"), column("sigma"), centred="non-centred" not in name)
    raise SystemExit(f"{name} has no density here")


def of_table(folder, name):
    """sblrc and diamonds, whose tables are files of the folder that end in their names."""
    path = sorted(folder.glob(f"*{name}.csv"))[0]
    with open(path) as file:
        table = list(csv.reader(file))
    values = np.array(table[1:], float)
    y, x = values[:, 0], values[:, 1:]
    names = [f"x{j}" for j in range(1, x.shape[1] + 1)]
    if name == "sblrc":
        return linear(x, y, names, 0.0, 0.01, half_normal(10.0))
    x[:, 1:] -= x[:, 1:].mean(0)
    mean, precision = np.zeros(x.shape[1]), np.ones(x.shape[1])
    mean[0], precision[0] = 8.0, 0.01
    return linear(x, y, names, mean, precision, half_t3(10.0))


def of(told, collection, tables):
    """The log density of a problem that the Rust side tells of, held against the points that come with it."""
    name = told["name"]
    if told["rows"]:
        density = logistic(told["rows"], [p["name"] for p in told.get("parameters", [])])
    elif name in ("sblrc", "diamonds"):
        density = of_table(tables, name)
    elif name == "banana":
        density = banana()
    else:
        density = of_collection(collection, name)
    return checked(name, density, told)


def checked(name, density, told):
    if density.dim != told["dim"]:
        raise SystemExit(f"{name}: {density.dim} coordinates instead of {told['dim']}")
    log_p = jax.jit(density.log_p)
    found = np.array([float(log_p(np.array(point["z"]))) for point in told["points"]])
    known = np.array([point["log_p"] for point in told["points"]])
    off = np.abs((found - found[0]) - (known - known[0])).max() / (1.0 + np.abs(known - known[0]).max())
    if not (math.isfinite(off) and off < CLOSE):
        raise SystemExit(f"{name}: the log density is not that of elinvar; differences are off by {off:.1e}")
    return density
