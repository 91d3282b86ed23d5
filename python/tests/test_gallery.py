"""Models as the galleries of PyMC, NumPyro, Bambi and PyTorch have them; python/gallery holds all of them."""

import sys
from pathlib import Path

import numpy as np
import pytest

import elinvar

sys.path.insert(0, str(Path(__file__).parents[1] / "gallery"))

from entry import ENTRIES  # noqa: E402

NUMPYRO = ("numpyro_models", "numpyro_series")
PYMC = ("pymc_regressions", "pymc_laws")
HOMES = {"pymc": PYMC, "numpyro": NUMPYRO, "torch": ("torch_models",), "jax": ("jax_models",), "bambi": ("bambi_models",)}


def made(name):
    library = name.split("/")[0]
    pytest.importorskip(library)
    for module in HOMES[library]:
        pytest.importorskip(module)
    return ENTRIES[name], ENTRIES[name].made()


# The shapes of the variables, as their authors wrote them.
SHAPES = {
    "pymc/radon": {"gamma": (2,), "sd_level": (), "alpha": (40,), "beta": (40,)},
    "pymc/rugby_zero_sum": {"attack": (6,), "defence": (6,), "sd": ()},
    "pymc/ordered_logit": {"cuts": (3,), "beta": (2,)},
    "pymc/correlated_slopes": {"chol": (3,), "chol_corr": (2, 2), "chol_stds": (2,), "ab": (20, 2)},
    "pymc/mixture_ordered": {"mu": (3,), "sigma": (3,), "w": (3,)},
    "pymc/spline": {"z": (15,), "w": (15,)},
    "numpyro/two_plates": {"a": (12, 1), "b": (8,), "sds": (3,)},
    "numpyro/decentred": {"theta": (8,), "theta_decentered": (8,)},
    "numpyro/covariance": {"corr": (3, 3), "sds": (3,)},
    "numpyro/hidden_markov": {"turn": (3, 3), "emit": (3, 4)},
    "numpyro/local_level": {"level": (60,)},
    "jax/nested_tree": {"b": (2,), "groups.log_sd": (), "groups.z": (12,), "sd": ()},
    "torch/big_regression": {"z1": (), "z20": ()},
    "bambi/sleep": {"days": (), "1|subject": (18,), "days|subject": (18,)},
}


@pytest.mark.parametrize("name", SHAPES)
def test_models_of_galleries_fit_with_their_own_shapes(name):
    entry, found = made(name)
    options = {"correct": False, "max_gradients": 3000, "progress": False}
    fit = elinvar.fit(found.model, "gaussian", args=found.args, kwargs=found.kwargs, **options)
    shapes = {key: value.shape[1:] for key, value in fit.sample(50).items()}
    assert SHAPES[name].items() <= shapes.items(), shapes
    assert all(np.isfinite(row["mean"]) and row["sd"] > 0 or "corr" in row["name"] for row in fit.rows(500))
    pytest.importorskip("arviz_base")
    tree = fit.to_arviz(50)
    for key, value in tree.posterior.data_vars.items():
        assert value.shape == (1, 50, *shapes[key])


REFUSED = [
    ("pymc", "coal_mining"),
    ("pymc", "minibatch"),
    ("pymc", "wishart"),
    ("pymc", "black_box_without_gradient"),
    ("numpyro", "enumerated"),
    ("numpyro", "subsampled"),
    ("numpyro", "optimised"),
]


@pytest.mark.parametrize(("library", "name"), REFUSED)
def test_what_cannot_be_fitted_is_refused_in_a_sentence(library, name):
    entry, found = made(f"{library}/{name}")
    with pytest.raises(ValueError, match=entry.refused):
        elinvar.fit(found.model, args=found.args, kwargs=found.kwargs, max_seconds=20, progress=False)


def test_variables_are_in_the_order_of_the_model():
    _, found = made("pymc/radon")
    model = elinvar.from_pymc(found.model)
    order = ["gamma", "sd_level", "sd_slope", "mean_slope", "a", "b", "sigma", "alpha", "beta"]
    assert list(model.variables(np.zeros((1, model.dim)))) == order
    assert model.dims["alpha"] == ["county"] and model.coords["county"][3] == "county 3"


@pytest.mark.parametrize("name", ["pymc/radon_centred", "pymc/zero_inflated"])
def test_both_compilers_give_the_density_of_pymc(name):
    pytest.importorskip("jax")
    _, found = made(name)
    by = {backend: elinvar.from_pymc(found.model, backend=backend) for backend in ("jax", "numba")}
    z = 0.3 * np.random.default_rng(0).normal(size=(3, by["jax"].dim))
    values, gradients = zip(*(model.log_density(z) for model in by.values()), strict=True)
    assert np.allclose(values[0], values[1], rtol=1e-10)
    assert np.allclose(gradients[0], gradients[1], rtol=1e-8, atol=1e-8)
    own = found.model.compile_logp()
    for k in range(3):
        point, start = {}, 0
        for value in (found.model.rvs_to_values[variable] for variable in found.model.free_RVs):
            shape = found.model.initial_point()[value.name].shape
            size = int(np.prod(shape, dtype=int))
            point[value.name] = z[k, start : start + size].reshape(shape)
            start += size
        assert values[0][k] == pytest.approx(float(own(point)), rel=1e-10)


def test_what_jax_does_not_know_is_compiled_by_numba():
    pytest.importorskip("jax")
    _, found = made("pymc/black_box")
    model = elinvar.from_pymc(found.model)
    assert elinvar.fit(model, "gaussian", correct=False, progress=False).trusted
    with pytest.raises(NotImplementedError):
        elinvar.from_pymc(found.model, backend="jax")
    with pytest.raises(ValueError, match="backend is one of"):
        elinvar.from_pymc(found.model, backend="c")


@pytest.mark.parametrize("name", ["pymc/rugby", "pymc/censored", "numpyro/baseball", "numpyro/two_plates"])
def test_log_likelihoods_are_those_of_the_library(name):
    entry, found = made(name)
    arviz = pytest.importorskip("arviz_base")
    fit = elinvar.fit(found.model, "gaussian", args=found.args, kwargs=found.kwargs, correct=False, progress=False)
    tree = fit.to_arviz(40)
    own = {key: value.values for key, value in tree.log_likelihood.data_vars.items()}
    if entry.library == "PyMC":
        pm = pytest.importorskip("pymc")
        try:
            theirs = pm.compute_log_likelihood(tree, model=found.model, extend_inferencedata=False, progressbar=False)
        except Exception:
            # PyMC before version 6 has another container.
            old = pytest.importorskip("arviz")
            data = old.from_dict(posterior={key: value.values for key, value in tree.posterior.data_vars.items()})
            theirs = pm.compute_log_likelihood(data, model=found.model, extend_inferencedata=False, progressbar=False)
        expected = {key: value.values for key, value in theirs.data_vars.items()}
    else:
        numpyro = pytest.importorskip("numpyro")
        latent = {key: value.values[0] for key, value in tree.posterior.data_vars.items()}
        expected = numpyro.infer.util.log_likelihood(found.model, latent, *found.args, **found.kwargs)
        expected = {key: np.asarray(value)[None] for key, value in expected.items()}
    assert own.keys() == expected.keys() and own
    for key, value in own.items():
        assert np.allclose(value, expected[key], rtol=1e-9), key
    assert arviz is not None
    stats = pytest.importorskip("arviz_stats")
    loo = stats.loo(tree, var_name=next(iter(own)))
    assert np.isfinite(loo.elpd)
