"""How many gradients other fits of a full Gaussian take to come within 0.01 nats of the best one.

GSM is the update of the published package `gsmvi`; BaM (batch and match, Cai and others, ICML 2024) is written here
from its paper, since the package on PyPI has no BaM. Both start from N(0, I) or from a Laplace approximation, whose
climb and differences of gradients are counted. They are stopped by somebody who knows the best Gaussian: at the first
of a sequence of states that is near enough.
"""

import math

import jax
import jax.numpy as jnp
import numpy as np
from gsmvi.gsm_numpy import gsm_update
from samplers import callback, climbed

NEAR = 0.01
# Mirrored pairs of draws behind an ELBO, the same for all: differences are much sharper than the ELBOs.
PAIRS = 2000
BATCHES = (4, 16)
SEEDS = 3
MOST_GRADIENTS = 3000
# A state is looked at where the gradients have grown by this factor.
GROWTH = 1.12


class Bound:
    """ELBOs of Gaussians on common draws, as differences to that of the best one."""

    def __init__(self, density, mean, covariance):
        half = np.random.default_rng(5).normal(size=(PAIRS, density.dim))
        self.noise = np.concatenate([half, -half])
        log_p = jax.vmap(density.log_p)
        square = 0.5 * (self.noise**2).sum(1)
        self.value = jax.jit(lambda mean, factor: jnp.mean(log_p(mean + self.noise @ factor.T) + square))
        self.best = 0.0
        self.best = -self.deficit(mean, covariance)

    def deficit(self, mean, covariance):
        """Nats below the best Gaussian; infinite for what is none."""
        try:
            factor = np.linalg.cholesky(covariance)
        except np.linalg.LinAlgError:
            return math.inf
        elbo = float(self.value(mean, factor)) + np.log(np.diag(factor)).sum()
        return self.best - elbo if math.isfinite(elbo) else math.inf


def bam_update(x, g, mean, covariance, rate):
    """The closed-form step of BaM: V = Σ + λC + λ/(1+λ) δδᵀ, U = λΓ + λ/(1+λ) ḡḡᵀ, and ΣUΣ + Σ = V for the new Σ."""
    centre, slope = x.mean(0), g.mean(0)
    share = rate / (1.0 + rate)
    u = rate * np.cov(g.T, bias=True) + share * np.outer(slope, slope)
    v = covariance + rate * np.cov(x.T, bias=True) + share * np.outer(mean - centre, mean - centre)
    root = np.linalg.cholesky(v)
    # With V = RRᵀ and RᵀUR = Q s Qᵀ: Σ = R Q 2/(1 + √(1 + 4s)) Qᵀ Rᵀ.
    s, q = np.linalg.eigh(root.T @ u @ root)
    turned = root @ q
    new = (turned * (2.0 / (1.0 + np.sqrt(1.0 + 4.0 * np.maximum(s, 0.0))))) @ turned.T
    return mean / (1.0 + rate) + share * (new @ slope + centre), new


def updates(dim):
    """Every way of moving, with its batch: name, batch, step (draws, scores, mean, covariance, iteration)."""
    for batch in BATCHES:
        yield "GSM", f"batch {batch}", batch, lambda x, g, m, c, t: gsm_update(x, g, m, c)
        size = batch * dim
        for scale in (1.0, 0.1):
            rate = f"batch {batch}, λ = {scale * size:g}/(t + 1)"
            yield "BaM", rate, batch, lambda x, g, m, c, t, k=scale * size: bam_update(x, g, m, c, k / (t + 1.0))
        yield "BaM", f"batch {batch}, λ = {size}", batch, lambda x, g, m, c, t, k=size: bam_update(x, g, m, c, k)


def laplace(density):
    """Mean, covariance and gradients of a Laplace approximation: a climb and forward differences."""
    mode, spent = climbed(density)
    evaluate = callback(density)
    here = np.array(evaluate(mode)[1])
    hessian = np.empty((density.dim, density.dim))
    for j in range(density.dim):
        step = 1e-5 * max(1.0, abs(mode[j]))
        away = mode.copy()
        away[j] += step
        hessian[j] = (evaluate(away)[1] - here) / step
    values, vectors = np.linalg.eigh(-0.5 * (hessian + hessian.T))
    values = np.maximum(values, 1e-8 * values.max())
    return mode, (vectors / values) @ vectors.T, spent + 1 + density.dim


def run(score, bound, start, batch, step, seed, most):
    """Gradients until the first state that is near enough, if these are fewer than `most`, and the least deficit."""
    mean, covariance, spent = start
    stream = np.random.default_rng(seed)
    least, look = math.inf, spent
    t = 0
    while True:
        if spent >= look:
            deficit = bound.deficit(mean, covariance)
            least = min(least, deficit)
            if deficit <= NEAR:
                return spent, least
            look = GROWTH * max(spent, 10)
        if spent >= most:
            return math.inf, least
        x = mean + stream.normal(size=(batch, len(mean))) @ np.linalg.cholesky(covariance).T
        g = np.asarray(score(x))
        spent += batch
        try:
            new_mean, new_covariance = step(x, g, mean, covariance, t)
            new_covariance = 0.5 * (new_covariance + new_covariance.T)
            np.linalg.cholesky(new_covariance)
            if np.isfinite(new_mean).all() and np.isfinite(new_covariance).all():
                mean, covariance = new_mean, new_covariance
        except np.linalg.LinAlgError:
            pass
        t += 1


def compared(density, told):
    """elinvar and its peers on one problem."""
    square = (density.dim, density.dim)
    best = told["best"]
    bound = Bound(density, np.array(best["mean"]), np.reshape(best["covariance"], square))
    own = [
        (fit["gradients"], bound.deficit(np.array(fit["mean"]), np.reshape(fit["covariance"], square)))
        for fit in told["fits"]
    ]
    climb = laplace(density)
    starts = {"N(0, I)": (np.zeros(density.dim), np.eye(density.dim), 0), "Laplace": climb}
    score = jax.jit(jax.vmap(jax.grad(density.log_p)))
    peers = []
    for name, start in starts.items():
        found = {}
        for method, how, batch, step in updates(density.dim):
            # A setting that is more expensive than the best so far is not followed to its end.
            most = min(MOST_GRADIENTS, found[method][0][0]) if method in found else MOST_GRADIENTS
            runs = sorted(run(score, bound, start, batch, step, seed, most) for seed in range(1, SEEDS + 1))
            key = (runs[len(runs) // 2][0], min(least for _, least in runs))
            if method not in found or key < found[method][0]:
                found[method] = (key, how)
        for method, ((gradients, least), how) in found.items():
            peers.append({"method": method, "start": name, "gradients": gradients, "least": least, "how": how})
    return {"own": own, "laplace": [climb[2], bound.deficit(climb[0], climb[1])], "peers": peers}
