"""Stan: programs that are compiled on the spot and kept in a folder of the system for temporary files."""

import json
import pathlib
import sys
import tempfile

import numpy as np

import elinvar

from entry import model

HERE = pathlib.Path(__file__).parent / "stan"
sys.path.insert(0, str(HERE.parents[1] / "tests"))

from stan_library import compiled  # noqa: E402

RNG = 20267


def _model(name, data):
    program = HERE / f"{name}.stan"
    folder = pathlib.Path(tempfile.gettempdir()) / "elinvar-gallery"
    folder.mkdir(exist_ok=True)
    library = folder / f"{name}_model.so"
    if not library.exists() or library.stat().st_mtime < program.stat().st_mtime:
        compiled(program, folder)
    return elinvar.from_stan(library, json.dumps(data))


@model("Stan")
def mixture():
    """A mixture of two Gaussians with ordered means."""
    rng = np.random.default_rng(RNG)
    y = np.concatenate([rng.normal(-2.7, 1, size=150), rng.normal(2.8, 1, size=100)])
    return _model("mixture", {"n": 250, "y": y.tolist()})


@model("Stan")
def autoregression():
    """An autoregression of order five."""
    rng = np.random.default_rng(RNG)
    y = np.zeros(200)
    for t in range(5, 200):
        y[t] = y[t - 5 : t][::-1] @ [0.7, -0.4, 0.1, 0.1, 0.1] + 0.2 * rng.normal()
    return _model("autoregression", {"k": 5, "n": 200, "y": y.tolist()})


@model("Stan")
def slopes():
    """Intercepts and slopes with a correlation, matrices of parameters, generated quantities."""
    rng = np.random.default_rng(RNG)
    group, x = rng.integers(15, size=250), rng.normal(size=250)
    effect = rng.multivariate_normal([3.5, -1.0], [[1.0, -0.35], [-0.35, 0.25]], size=15)
    y = effect[group, 0] + effect[group, 1] * x + rng.normal(0, 0.5, size=250)
    data = {"n": 250, "groups": 15, "group": (group + 1).tolist(), "x": x.tolist(), "y": y.tolist()}
    return _model("slopes", data)


@model("Stan")
def items():
    """Item response with two parameters an item: 120 people, 20 items."""
    rng = np.random.default_rng(RNG)
    ability, hardness, sharpness = rng.normal(size=120), rng.normal(size=20), rng.lognormal(0, 0.3, size=20)
    y = rng.random((120, 20)) < 1 / (1 + np.exp(-sharpness * (ability[:, None] - hardness)))
    return _model("items", {"people": 120, "items": 20, "y": y.astype(int).tolist()})
