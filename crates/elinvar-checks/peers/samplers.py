"""What samplers need to be as right as a verdict of `trust` says, counted in gradients, warm-up and climbs included.

A setting suffices if in four of five seeds every mean is within 0.1 standard deviations of the reference and every
standard deviation within 15 %; what is told of a sampler is the cheapest setting of a grid that suffices. The grid is
searched by somebody who knows the answer: who does not know it would take more.
"""

import itertools
import math

import blackjax
import jax
import jax.numpy as jnp
import numpy as np
import nutpie
from blackjax.mcmc import mclmc
from nutpie.compiled_pyfunc import from_pyfunc
from scipy.optimize import minimize

MEAN, SD = 0.1, 0.15

# NUTS: chains (several would each pay for their warm-up), steps of warm-up, the acceptance aimed at, a mass matrix that
# is diagonal or has a part of low rank besides, draws in all.
CHAINS = (1,)
WARM_UPS = (100, 50, 300)
ACCEPTANCES = (0.8, 0.9)
LOW_RANK = (True, False)
DRAWS = 1600
# A setting is given up where a run would take more gradients than this.
MOST_GRADIENTS = 40_000
# Draws after which it is known how many a setting can make at that cost.
PILOT = 30
# One seed may take so many times the gradients that are of interest on average.
SLACK = 1.5

# Microcanonical Langevin: steps of tuning, energy variances aimed at, the number of steps; a step is two gradients.
TUNING = (1500,)
ENERGY_VARIANCES = (5e-4, 5e-3, 2e-2)
SEGMENT, SEGMENTS = 25, 400
GRADIENTS_PER_STEP = 2


class Reference:
    """Known means and standard deviations of some parameters of a density."""

    def __init__(self, density, told):
        self.kept = [density.names.index(p["name"]) for p in told["parameters"]]
        self.mean = np.array([p["mean"] for p in told["parameters"]])
        self.sd = np.array([p["sd"] for p in told["parameters"]])

    def right(self, mean, sd):
        """Whether standardised means and standard deviations are within the limits; parameters last."""
        return (np.abs(mean) <= MEAN).all(-1) & (np.abs(sd - 1.0) <= SD).all(-1)


def enough(right, seeds):
    return right >= math.ceil(0.8 * seeds)


def callback(density):
    """z to log p and its gradient, by one call that gives one array: that is the quickest way out of JAX."""
    both = jax.value_and_grad(density.log_p)
    packed = jax.jit(lambda z: jnp.append(*reversed(both(z))))

    def evaluate(z):
        out = np.asarray(packed(z))
        return float(out[-1]), out[:-1]

    return evaluate


class Spent(Exception):
    """A run has taken more gradients than are of interest; nutpie takes it for a divergence and is soon done."""

    is_recoverable = True


class Limited:
    """A log density with its gradient that fails when so many calls have been made."""

    def __init__(self, density):
        self.evaluate, self.left = callback(density), math.inf

    def __call__(self, z):
        self.left -= 1
        if self.left < 0:
            raise Spent
        return self.evaluate(z)


def as_nutpie_has_it(density, evaluate):
    return from_pyfunc(
        density.dim,
        lambda: evaluate,
        lambda *_: lambda z: {"z": np.array(z)},
        [np.dtype("float64")],
        [(density.dim,)],
        ["z"],
    )


def nuts(density, told, seeds):
    """The cheapest setting of nutpie: gradients and what it is."""
    reference = Reference(density, told)
    natural = jax.jit(jax.vmap(density.parameters))
    limited = Limited(density)
    model = as_nutpie_has_it(density, limited)
    best = (math.inf, "")
    for warm_up, low_rank, acceptance, chains in itertools.product(WARM_UPS, LOW_RANK, ACCEPTANCES, CHAINS):
        # Draws in all, from few to many; those that cannot be cheaper than the best so far are left out on the way.
        limited.left = SLACK * min(best[0], MOST_GRADIENTS)
        most = min(DRAWS, affordable(model, limited, warm_up, acceptance, low_rank, min(best[0], MOST_GRADIENTS)))
        if most < PILOT:
            continue
        counts = np.array(sorted({max(8, int(most * 2.0 ** (-k / 3))) for k in range(20)})) // chains
        right, cost = np.zeros(len(counts)), np.zeros(len(counts))
        for seed in range(1, seeds + 1):
            limited.left = SLACK * min(best[0], MOST_GRADIENTS)
            trace = sampled(model, limited, counts[-1], warm_up, chains, seed, acceptance, low_rank)
            if trace is None:
                cost += math.inf
                break
            steps = np.asarray(trace.sample_stats["n_steps"])
            of_warm_up = np.asarray(trace.warmup_sample_stats["n_steps"]).sum()
            z = np.asarray(trace.posterior["z"]).reshape(-1, density.dim)
            x = (np.asarray(natural(z))[:, reference.kept] - reference.mean) / reference.sd
            x = x.reshape(chains, -1, len(reference.kept))
            for k, n in enumerate(counts):
                part = x[:, :n].reshape(-1, len(reference.kept))
                right[k] += reference.right(part.mean(0), part.std(0))
                cost[k] += of_warm_up + steps[:, :n].sum()
            # Whether four of five can still be right, at a cost that is of interest.
            hopeful = enough(right + seeds - seed, seeds) & (cost / seed < min(1.2 * best[0], MOST_GRADIENTS))
            if not hopeful.any():
                break
            counts, right, cost = counts[hopeful], right[hopeful], cost[hopeful]
        else:
            for n, total in zip(counts, cost / seeds):
                if total < best[0]:
                    kind = "low rank" if low_rank else "diagonal"
                    best = (float(total), f"{chains} × ({warm_up} + {n}), {kind}, {acceptance}")
    return best


def as_it_comes(density, told):
    """nutpie's own choice of chains, warm-up and draws: gradients, and the worst errors of one seed."""
    reference = Reference(density, told)
    trace = nutpie.sample(as_nutpie_has_it(density, callback(density)), cores=1, seed=1, progress_bar=False)
    z = np.asarray(trace.posterior["z"]).reshape(-1, density.dim)
    x = (np.asarray(jax.vmap(density.parameters)(z))[:, reference.kept] - reference.mean) / reference.sd
    counts = [np.asarray(part["n_steps"]) for part in (trace.warmup_sample_stats, trace.sample_stats)]
    ratios = x.std(0)
    return {
        "gradients": int(sum(part.sum() for part in counts)),
        "mean": float(np.abs(x.mean(0)).max()),
        "sd_ratio": float(ratios[np.argmax(np.abs(np.log(ratios)))]),
        "how": f"{counts[1].shape[0]} × ({counts[0].shape[1]} + {counts[1].shape[1]})",
    }


def told_of(best):
    """What is kept of a cheapest setting; no number of gradients where none sufficed."""
    return {"gradients": None if math.isinf(best[0]) else best[0], "how": best[1]}


def affordable(model, limited, warm_up, acceptance, low_rank, gradients):
    """About how many draws a chain makes with so many gradients, its warm-up included."""
    trace = sampled(model, limited, PILOT, warm_up, 1, 1, acceptance, low_rank)
    if trace is None:
        return 0
    left = gradients - np.asarray(trace.warmup_sample_stats["n_steps"]).sum()
    return int(1.2 * left / np.asarray(trace.sample_stats["n_steps"]).mean())


def sampled(model, limited, draws, warm_up, chains, seed, acceptance, low_rank):
    """A trace, or nothing where nutpie finds no start, fails, or has spent what it was given."""
    try:
        trace = nutpie.sample(
            model,
            draws=int(draws),
            tune=warm_up,
            chains=chains,
            cores=1,
            seed=seed,
            progress_bar=False,
            target_accept=acceptance,
            low_rank_modified_mass_matrix=low_rank,
        )
    except RuntimeError:
        return None
    return None if limited.left < 0 else trace


def climbed(density):
    """A mode by L-BFGS from the origin, and the gradients that it took."""
    evaluate = callback(density)

    def asked(z):
        value, gradient = evaluate(z)
        return -value, -gradient

    found = minimize(asked, np.zeros(density.dim), jac=True, method="L-BFGS-B", options={"maxfun": 5000})
    return found.x, found.nfev


def microcanonical(density, told, seeds):
    """The cheapest setting of BlackJAX's `mclmc`, tuned by its `mclmc_find_L_and_step_size`."""
    reference = Reference(density, told)
    kept = np.array(reference.kept)
    mode, climb = climbed(density)
    dim = density.dim
    best = (math.inf, "")

    def run(position, energy_variance, key, tuning):
        start, tune, sample = jax.random.split(key, 3)
        state = mclmc.init(position=position, logdensity_fn=density.log_p, rng_key=start)
        kernel = mclmc.build_kernel()
        third = 1.0 / 3.0
        state, settings, spent = blackjax.mclmc_find_L_and_step_size(
            mclmc_kernel=kernel,
            num_steps=tuning,
            state=state,
            rng_key=tune,
            logdensity_fn=density.log_p,
            frac_tune1=third,
            frac_tune2=third,
            frac_tune3=third,
            desired_energy_var=energy_variance,
        )

        def step(carry, key):
            state, first, second = carry
            state, _ = kernel(
                key, state, density.log_p, settings.inverse_mass_matrix, settings.L, settings.step_size
            )
            x = (density.parameters(state.position)[kept] - reference.mean) / reference.sd
            return (state, first + x, second + x * x), None

        def segment(carry, key):
            carry, _ = jax.lax.scan(step, carry, jax.random.split(key, SEGMENT))
            return carry, carry[1:]

        nothing = jnp.zeros(len(kept))
        _, sums = jax.lax.scan(segment, (state, nothing, nothing), jax.random.split(sample, SEGMENTS))
        return sums, spent

    starts = {"N(0, I)": 0, "a mode": climb}
    keys = jax.random.split(jax.random.key(1), seeds)
    random = jax.vmap(lambda key: jax.random.normal(key, (dim,)))(jax.random.split(jax.random.key(2), seeds))
    steps = SEGMENT * np.arange(1, SEGMENTS + 1)
    for tuning in TUNING:
        over_seeds = jax.vmap(run, (0, None, 0, None))
        lanes = jax.jit(jax.vmap(over_seeds, (None, 0, None, None)), static_argnums=3)
        for start, extra in starts.items():
            positions = random if start == "N(0, I)" else jnp.broadcast_to(mode, (seeds, dim))
            (first, second), spent = lanes(positions, jnp.array(ENERGY_VARIANCES), keys, tuning)
            mean = np.asarray(first) / steps[:, None]
            sd = np.sqrt(np.maximum(np.asarray(second) / steps[:, None] - mean**2, 0.0))
            right = reference.right(mean, sd).sum(1)
            spent = int(np.asarray(spent).flat[0])
            for e, n in np.argwhere(enough(right, seeds)):
                cost = extra + GRADIENTS_PER_STEP * (spent + int(steps[n]))
                if cost < best[0]:
                    best = (cost, f"{spent} + {steps[n]} steps, from {start}, energy variance {ENERGY_VARIANCES[e]}")
    return best
