"""How a fit ends other than by its own decision: exceptions, wrong shapes, Ctrl-C, a handle, a callback."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import elinvar

from densities import SCHOOLS, eight_schools, gaussian


def slow(z):
    """Ten milliseconds a batch."""
    time.sleep(0.01)
    return eight_schools(z)


def hopeless(z, seconds=0.01):
    """A ridge that no Gaussian fits, slowly."""
    time.sleep(seconds)
    bend = z[:, 1] - 3 * z[:, 0] ** 2
    return -(z[:, 0] ** 2) / 2 - 50 * bend**2, np.stack([-z[:, 0] + 600 * z[:, 0] * bend, -100 * bend], axis=1)


class OwnError(Exception):
    pass


def test_the_exception_of_a_model_is_raised_with_its_traceback():
    calls = []

    def fails(z):
        calls.append(len(z))
        if len(calls) > 5:
            raise OwnError("the sixth call")
        return gaussian(z)

    with pytest.raises(OwnError, match="the sixth call") as raised:
        elinvar.fit(elinvar.from_batch(fails, dim=2), progress=False)
    assert any(entry.name == "fails" for entry in raised.traceback)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda z: (gaussian(z)[0][:-1], gaussian(z)[1]), r"log densities must be .* of shape \(\d+,\)"),
        (lambda z: (gaussian(z)[0], gaussian(z)[1][:, :1]), r"gradients must be .* of shape \(\d+, 2\)"),
        (lambda z: (gaussian(z)[0], gaussian(z)[1].T.ravel()), "gradients must be"),
    ],
)
def test_wrong_shapes_are_named(wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        elinvar.fit(elinvar.from_batch(wrong, dim=2), progress=False)


def test_a_density_without_a_number_is_a_sentence():
    def nowhere(z):
        return np.full(len(z), np.nan), np.full_like(z, np.nan)

    with pytest.raises((ValueError, RuntimeError), match="finite"):
        elinvar.fit(elinvar.from_batch(nowhere, dim=2), progress=False)


def test_what_cannot_be_a_model():
    with pytest.raises(TypeError, match="how many parameters"):
        elinvar.fit(lambda z: z)
    with pytest.raises(TypeError, match="got <class 'int'>"):
        elinvar.fit(3)
    with pytest.raises(TypeError, match="how many coordinates"):
        elinvar.from_batch(gaussian)
    with pytest.raises(ValueError, match="at least one parameter"):
        elinvar.from_batch(gaussian, dim=0)
    with pytest.raises(ValueError, match="stands for two"):
        elinvar.from_batch(gaussian, names=["a", "a"])


MISSING = {
    "jax": ("jax", lambda: elinvar.from_jax(lambda z: z, 0.0)),
    "numpyro": ("numpyro", lambda: elinvar.from_numpyro(lambda: None)),
    "pymc": ("pymc", lambda: elinvar.from_pymc(None)),
    "torch": ("torch", lambda: elinvar.from_torch(lambda z: z, 2)),
    "bridgestan": ("stan", lambda: elinvar.fit("model.stan", data={})),
    "arviz_base": ("arviz", lambda: elinvar.fit(gaussian, "gaussian", dim=2, progress=False).to_arviz()),
}


@pytest.mark.parametrize("package", MISSING)
def test_a_missing_package_is_named_with_the_line_that_installs_it(package, monkeypatch):
    import importlib

    real = importlib.import_module

    def without(name, *rest):
        if name.split(".")[0] == package:
            raise ModuleNotFoundError(f"No module named {package!r}", name=package)
        return real(name, *rest)

    monkeypatch.setattr(importlib, "import_module", without)
    extra, call = MISSING[package]
    with pytest.raises(ModuleNotFoundError, match=rf"this needs {package}, .* pip install 'elinvar\[{extra}\]'"):
        call()


@pytest.mark.parametrize("place", [30, 300, 940, 1100])
def test_ctrl_c_ends_a_fit_wherever_it_is(place):
    """Counted in calls of the model, which do not depend on how busy the machine is."""
    calls = []

    def interrupted(z):
        calls.append(len(z))
        if len(calls) == place:
            os.kill(os.getpid(), signal.SIGINT)
        if len(calls) > place:
            time.sleep(0.005)
        return hopeless(z, seconds=0.0)

    try:
        fit = elinvar.fit(elinvar.from_batch(interrupted, dim=2), progress=False)
    except KeyboardInterrupt:
        fit = None  # before there was anything to end with
    # A second is granted to the step that is under way, and a call takes five milliseconds.
    assert place <= len(calls) < place + 400, len(calls)
    if fit is not None:
        assert fit.interrupted and not fit.trusted
        assert np.isfinite(fit.mean).all()


def test_ctrl_c_leaves_what_steps_have_found():
    def step(about):
        os.kill(os.getpid(), signal.SIGINT)

    model = elinvar.from_batch(eight_schools, names=SCHOOLS)
    fit = elinvar.fit(model, "skew", progress=False, callback=step)
    assert fit.interrupted and fit.verdict is None
    assert np.isfinite(fit.mean).all() and fit.draws(10).shape == (10, len(SCHOOLS))


def test_a_model_that_has_raised_is_not_asked_again():
    calls = []

    def fails(z):
        calls.append(len(z))
        if len(z) >= 256:
            raise OwnError("many points")
        return hopeless(z, seconds=0.0)

    with pytest.raises(OwnError, match="many points"):
        elinvar.fit(elinvar.from_batch(fails, dim=2), progress=False)
    assert calls[-1] >= 256, calls[-3:]


def test_a_handle_ends_a_fit_from_another_thread():
    fitting = elinvar.fit_in_background(elinvar.from_batch(hopeless, dim=2))
    time.sleep(0.8)
    assert not fitting.done
    began = time.monotonic()
    fitting.stop()
    try:
        assert fitting.result(timeout=5).interrupted
    except KeyboardInterrupt:
        pass
    assert time.monotonic() - began < 2.5
    with pytest.raises(TimeoutError):
        elinvar.fit_in_background(elinvar.from_batch(hopeless, dim=2), max_seconds=2).result(timeout=0.2)


def test_callbacks_see_steps_and_may_end_a_fit():
    seen = []
    elinvar.fit(elinvar.from_batch(eight_schools, names=SCHOOLS), "skew", progress=False, callback=seen.append)
    assert seen and {"step", "elbo", "gradients", "seconds"} <= set(seen[0])

    def refuse(step):
        raise OwnError("enough")

    with pytest.raises(OwnError, match="enough"):
        elinvar.fit(elinvar.from_batch(gaussian, dim=2), progress=False, callback=refuse)


def test_a_callback_may_wait_for_another_python_thread():
    def waits(step):
        thread = threading.Thread(target=lambda: sum(range(1000)))
        thread.start()
        thread.join()

    fit = elinvar.fit(elinvar.from_batch(slow, names=SCHOOLS), "gaussian", progress=False, callback=waits, max_seconds=3)
    assert np.isfinite(fit.mean).all()


def test_limits_are_kept():
    began = time.monotonic()
    elinvar.fit(elinvar.from_batch(hopeless, dim=2), progress=False, max_seconds=1.0)
    assert time.monotonic() - began < 8
