"""A Stan program, compiled on the spot by what httpstan brings along, and fitted by its address."""

import json
import pathlib
import shutil

import numpy as np
import pytest

import elinvar

from densities import EFFECTS, ERRORS, reference_schools
from stan_library import compiled as compile_program

HERE = pathlib.Path(__file__).parent / "stan"
DATA = {"n": 8, "effects": EFFECTS.tolist(), "errors": ERRORS.tolist()}


@pytest.fixture(scope="module")
def schools(tmp_path_factory):
    """The library of ``schools.stan``: about twenty seconds of a processor."""
    pytest.importorskip("bridgestan")
    pytest.importorskip("httpstan")
    if shutil.which("g++") is None:
        pytest.skip("there is no g++")
    return compile_program(HERE / "schools.stan", tmp_path_factory.mktemp("stan"))


@pytest.mark.filterwarnings("ignore:Loading a shared object")
def test_eight_schools(schools):
    model = elinvar.from_stan(schools, DATA)
    assert model.names[:3] == ["mu", "tau", "eta[1]"]
    fit = elinvar.fit(model, progress=False)
    assert fit.trusted, fit.reason
    rows = {row["name"]: row for row in fit.rows()}
    for name, (mean, sd) in reference_schools().items():
        assert abs(rows[name]["mean"] - mean) < 0.1 * sd, (name, rows[name], mean, sd)
    assert {name: draws.shape for name, draws in fit.sample(50).items()} == {
        "mu": (50,),
        "tau": (50,),
        "eta": (50, 8),
        "theta": (50, 8),
    }
    # Stan counts from one.
    assert "theta[8]" in rows and "theta[0]" not in rows


@pytest.mark.filterwarnings("ignore:Loading a shared object")
def test_the_density_is_stans_own(schools):
    own = compiled(schools)
    model = elinvar.from_stan(own)
    z = np.linspace(-1, 1, 20).reshape(2, 10)
    value, gradient = model.log_density(z)
    for k in range(2):
        # With its constants, so that the evidence is one.
        expected, slopes = own.log_density_gradient(z[k], propto=False)
        assert value[k] == expected
        assert np.array_equal(gradient[k], slopes)


@pytest.mark.filterwarnings("ignore:Loading a shared object")
def test_data_that_do_not_fit_the_program(schools):
    with pytest.raises(RuntimeError, match="mismatch in dimension"):
        elinvar.from_stan(schools, {**DATA, "effects": [1.0]})
    with pytest.raises(TypeError, match="has its data already"):
        elinvar.from_stan(compiled(schools), DATA)


def compiled(library):
    bridgestan = pytest.importorskip("bridgestan")
    return bridgestan.StanModel(str(library), json.dumps(DATA))
