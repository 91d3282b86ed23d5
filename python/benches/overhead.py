"""What the package adds to a user's own function, in microseconds: run by `cargo xtask bench python`.

The minimum over repeats counts. A batch function is called with 32 points of 10 coordinates; a C function is timed per
point, beside an empty one of the same signature.
"""

import ctypes
import sys
import time

import numpy as np

import elinvar
from elinvar import _elinvar

from page import put

REPEATS, INNER = 30, 300


def fastest(call):
    """Seconds of the processor that a call takes: others may be busy, too."""
    best = np.inf
    for _ in range(REPEATS):
        began = time.process_time()
        for _ in range(INNER):
            call()
        best = min(best, (time.process_time() - began) / INNER)
    return best


def batch():
    """Microseconds that a batch costs beyond the user's function."""
    z = np.random.default_rng(0).normal(size=(32, 10))

    def log_density(z):
        return -0.5 * (z * z).sum(axis=1), -z

    model = elinvar.from_batch(log_density, dim=10)
    return 1e6 * (fastest(lambda: _elinvar.evaluate(model.core, z)) - fastest(lambda: log_density(z)))


def nothing():
    """The address of a function that does nothing: `rand` takes no arguments and touches none, which is the price of a
    call and of a little arithmetic."""
    return ctypes.cast(ctypes.CDLL(None).rand, ctypes.c_void_p).value


def address():
    """Microseconds that an evaluation through a C function costs, as numba and PyTensor make them."""
    return per_point(elinvar.from_address(nothing(), dim=10))


def stan():
    """Microseconds that an evaluation through a function of BridgeStan costs, with the lock of its tape."""
    core = _elinvar.Model.stan([f"z{i}" for i in range(10)], nothing(), nothing(), 1, None)
    return per_point(elinvar.Model(core, core.names))


def per_point(model):
    """Microseconds of a point among many."""
    few, many = np.zeros((1, 10)), np.zeros((1001, 10))
    calls = [fastest(lambda points=points: _elinvar.evaluate(model.core, points)) for points in (few, many)]
    return 1e6 * (calls[1] - calls[0]) / 1000


def main():
    lines = [
        f"- a batch of a NumPy function: {batch():.1f} µs beyond the function",
        f"- an evaluation of a C function, such as numba's: {address():.3f} µs",
        f"- an evaluation of a function of Stan: {stan():.3f} µs",
    ]
    print("\n".join(lines))
    if "--write" in sys.argv:
        put("python-speed.md", "overhead", lines)


if __name__ == "__main__":
    main()
