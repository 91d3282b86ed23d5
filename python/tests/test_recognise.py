"""``elinvar.fit`` of a log density as it is: what it is by is seen, and what is not enough is said."""

import time

import numpy as np
import pytest

import elinvar

from densities import MEAN, SCALE, gaussian


def right(fit):
    rows = fit.rows()
    assert fit.trusted, fit.reason
    for row, mean, variance in zip(rows, MEAN, np.diag(SCALE), strict=True):
        assert abs(row["mean"] - mean) < 0.1 * np.sqrt(variance), row


def by_torch():
    torch = pytest.importorskip("torch")
    precision, mean = torch.from_numpy(np.linalg.inv(SCALE)), torch.from_numpy(MEAN)

    # It is the tensors that say by what it is.
    def log_density(z):
        return -0.5 * (z - mean) @ precision @ (z - mean)

    return log_density, "PyTorch"


def by_jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    jnp, precision = jax.numpy, np.linalg.inv(SCALE)

    def log_density(z):
        return -0.5 * jnp.dot(z - MEAN, precision @ (z - MEAN))

    return log_density, "JAX"


def by_numba():
    numba = pytest.importorskip("numba")
    double = numba.types.CPointer(numba.types.double)
    (a, b), (_, c) = np.linalg.inv(SCALE)

    @numba.cfunc(numba.types.int32(numba.types.uintp, double, double, double, numba.types.voidptr))
    def log_density(n, z, gradient, value, user):
        x, y = z[0] - 1.0, z[1] + 2.0
        gradient[0], gradient[1] = -(a * x + b * y), -(b * x + c * y)
        value[0] = 0.5 * (x * gradient[0] + y * gradient[1])
        return 0

    return log_density, "a C function"


@pytest.mark.parametrize("make", [by_torch, by_jax, by_numba, lambda: (gaussian, "a batch function")])
def test_a_log_density_is_known_by_its_body(make):
    log_density, kind = make()
    fit = elinvar.fit(log_density, dim=2, progress=False)
    assert fit.model.kind == kind
    right(fit)


def test_a_tree_of_jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    fit = elinvar.fit(lambda at: -0.5 * ((at["a"] - 1) ** 2 + (at["b"] ** 2).sum()), start={"a": 0.0, "b": np.zeros(2)},
                      progress=False)  # fmt: skip
    assert fit.sample(5)["b"].shape == (5, 2) and fit.trusted


def test_what_does_not_go_together():
    with pytest.raises(TypeError, match="give dim="):
        elinvar.fit(gaussian)
    with pytest.raises(TypeError, match="dim= and start= belong to a log density"):
        elinvar.fit(elinvar.from_batch(gaussian, dim=2), dim=2)
    with pytest.raises(TypeError, match="data= belongs to a Stan program"):
        elinvar.fit(gaussian, data={"n": 1})


def test_ctrl_c_while_a_c_function_is_called():
    """No Python runs in the fit, so somebody else sends the signal; what is counted is calls after it."""
    numba = pytest.importorskip("numba")
    import os
    import signal
    import threading

    double = numba.types.CPointer(numba.types.double)

    @numba.cfunc(numba.types.int32(numba.types.uintp, double, double, double, numba.types.voidptr))
    def ridge(n, z, gradient, value, user):
        bend = z[1] - 3 * z[0] * z[0]
        waste = 0.0
        for i in range(20_000):
            waste += 1.0 / (1.0 + i * z[0] * z[0])
        value[0] = -0.5 * z[0] * z[0] - 50 * bend * bend + 0.0 * waste
        gradient[0], gradient[1] = -z[0] + 600 * z[0] * bend, -100 * bend
        return 0

    model = elinvar.from_address(ridge.address, dim=2, keep_alive=ridge)
    sent = []

    def send():
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.7, send)
    timer.start()
    try:
        fit = elinvar.fit(model, progress=False)
        assert fit.interrupted and fit.verdict is None
    except KeyboardInterrupt:
        pass  # before there was anything to end with
    assert sent and time.process_time() - sent[0] < 1.0
    timer.join()
