"""Ctrl-C in every phase of a fit: search, Gaussian, growth, weights, chains, verdict, restarts.

The density itself is interrupted at its n-th call, so that no clock decides where a fit is.
"""

import os
import pickle
import signal

import numpy as np
import pytest

import elinvar

from densities import MEAN, SCALE, SCHOOLS, eight_schools, gaussian, reference_schools, schools_of


def two_modes(z):
    """Two Gaussians of unit variance, 12 apart in the first coordinate, with 70 % and 30 % of the mass."""
    away = np.stack([z - np.array([-6.0, 0.0]), z - np.array([6.0, 0.0])])
    logs = np.log([0.7, 0.3])[:, None] - 0.5 * (away**2).sum(-1)
    log_p = np.logaddexp(*logs)
    shares = np.exp(logs - log_p)
    return log_p, -(shares[..., None] * away).sum(0)


def banana(z):
    bend = z[:, 1] - 0.3 * z[:, 0] ** 2
    return -z[:, 0] ** 2 / 8 - bend**2 / 2, np.stack([-z[:, 0] / 4 + 0.6 * z[:, 0] * bend, -bend], axis=1)


def interrupted_at(density, dim, call, family="auto", **options):
    """The fit that Ctrl-C ends in this call, or nothing where there was none; and how many calls there were."""
    calls = []

    def watched(z):
        calls.append(len(z))
        if len(calls) == call:
            raise KeyboardInterrupt
        return density(z)

    try:
        fit = elinvar.fit(elinvar.from_batch(watched, dim=dim), family, progress=False, **options)
    except KeyboardInterrupt:
        fit = None
    return fit, len(calls)


# Calls that are interrupted, from the first to the last.
PLACES = 9
PHASES = {
    "weights and chains": (eight_schools, len(SCHOOLS), "auto", {}),
    "rungs": (banana, 2, "auto", {"correct": False}),
    "growth": (banana, 2, "mog", {}),
    "modes": (two_modes, 2, "auto", {}),
    "a start from a Gaussian": (eight_schools, len(SCHOOLS), "skew", {}),
    "asked for chains": (gaussian, 2, "gaussian", {"correct": True}),
    "verdict": (gaussian, 2, "gaussian", {"correct": False}),
}


@pytest.mark.parametrize("phases", PHASES)
def test_ctrl_c_gives_the_best_so_far_wherever_it_comes(phases):
    density, dim, family, options = PHASES[phases]
    whole, last = interrupted_at(density, dim, None, family, **options)
    assert whole is not None and not whole.interrupted
    given = []
    # A fit that is interrupted in its last call is complete when that was made again.
    for call in sorted({1 + k * (last - 2) // PLACES for k in range(PLACES + 1)}):
        fit, calls = interrupted_at(density, dim, call, family, **options)
        # It ends at once: a call that was interrupted is made again, and no other.
        assert calls <= call + 1
        if fit is None:
            assert not given, f"nothing at call {call} of {last}, but before"
            continue
        given.append(call)
        assert fit.interrupted and fit.verdict is None and not fit.trusted
        assert np.isfinite(fit.draws(100)).all() and all(row["sd"] > 0 for row in fit.rows(100))
    # Only the search for a start, which comes first, has nothing to give.
    assert given and given[0] <= 1 + 3 * last // 5, (given[0], last)


def test_what_chains_have_found_by_ctrl_c_is_kept():
    _, last = interrupted_at(eight_schools, len(SCHOOLS), None)
    fit, _ = interrupted_at(eight_schools, len(SCHOOLS), 3 * last // 4)
    assert fit.given_by == "chains"
    mean, sd = reference_schools()["mu"]
    row = fit.rows()[0]
    assert abs(row["mean"] - mean) < 5 * row["mean_se"] + 0.05 * sd
    # What is shown and kept of it.
    assert repr(fit).startswith("<elinvar.Fit gaussian: interrupted, not judged, ")
    assert str(fit).startswith("interrupted, not judged\n") and "Interrupted." in fit._repr_html_()
    again = pickle.loads(pickle.dumps(fit))
    assert again.interrupted and np.array_equal(again.draws(50), fit.draws(50))


def test_a_mixture_that_was_growing_covers_both_modes():
    _, last = interrupted_at(two_modes, 2, None, "mog")
    fit, _ = interrupted_at(two_modes, 2, last - 1, "mog")
    assert fit.interrupted
    assert np.mean(fit.draws(4000)[:, 0] < 0) == pytest.approx(0.7, abs=0.05)


def test_a_mixture_that_was_growing_gives_its_best_round():
    _, last = interrupted_at(banana, 2, None, "mog")
    fit, _ = interrupted_at(banana, 2, last // 2, "mog")
    gaussian_fit = elinvar.fit(elinvar.from_batch(banana, dim=2), "gaussian", correct=False, progress=False)
    rows = {row["family"]: row for row in elinvar.compare(gaussian_fit, fit)}
    # One Gaussian is 0.37 nats below what the whole fit reaches.
    assert rows["mog"]["elbo"] > rows["gaussian"]["elbo"] + 0.25


def test_restarts_give_the_best_of_those_that_have_something():
    _, last = interrupted_at(eight_schools, len(SCHOOLS), None, "gaussian", restarts=3)
    given = 0
    for call in range(last // 8, last, last // 8):
        # Threads decide which restart it is.
        fit, calls = interrupted_at(eight_schools, len(SCHOOLS), call, "gaussian", restarts=3)
        given += fit is not None and fit.interrupted and np.isfinite(fit.mean).all()
        assert calls <= call + 8
    assert given >= 4


def test_the_signal_itself_ends_a_fit():
    calls = []

    def watched(z):
        calls.append(len(z))
        if len(calls) == 400:
            os.kill(os.getpid(), signal.SIGINT)
        return eight_schools(z)

    fit = elinvar.fit(elinvar.from_batch(watched, names=SCHOOLS, expand=schools_of), progress=False)
    assert fit.interrupted and len(calls) < 402
    assert fit.sample(10)["theta"].shape == (10, 8)


def test_a_handle_that_was_pulled_before_is_ctrl_c():
    stop = elinvar.Stop()
    stop.pull()
    with pytest.raises(KeyboardInterrupt, match="before it had found a start"):
        elinvar.fit(elinvar.from_batch(gaussian, dim=2), progress=False, stop=stop)


def test_an_exception_is_raised_also_where_there_was_something_to_give():
    calls = []

    def fails(z):
        calls.append(len(z))
        if len(calls) == 100:
            raise ZeroDivisionError("the hundredth call")
        return eight_schools(z)

    with pytest.raises(ZeroDivisionError, match="hundredth"):
        elinvar.fit(elinvar.from_batch(fails, names=SCHOOLS), progress=False)
    assert len(calls) == 100


def test_the_gaussian_is_the_best_so_far_while_it_is_judged():
    _, last = interrupted_at(gaussian, 2, None, "gaussian", correct=False)
    fit, _ = interrupted_at(gaussian, 2, last - 1, "gaussian", correct=False)
    assert fit.interrupted and np.allclose(fit.mean, MEAN, atol=0.05) and np.allclose(fit.covariance, SCALE, rtol=0.1)
