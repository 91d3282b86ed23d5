"""What people ask a fit for besides its table: one variable, other quantiles, modes, pickles; and what mistakes say."""

import pickle
import warnings

import numpy as np
import pytest

import elinvar

from densities import SCHOOLS, eight_schools, gaussian, schools_of
from test_interrupts import two_modes


def gaussian_model(**options):
    return elinvar.from_batch(gaussian, names=["a", "b"], **options)


@pytest.fixture(scope="module")
def fit():
    return elinvar.fit(gaussian_model(), progress=False)


def test_one_variable(fit):
    assert np.array_equal(fit["a"], fit.sample()["a"])
    with pytest.raises(KeyError, match="no variable 'c'; there are a, b"):
        fit["c"]
    with pytest.raises(TypeError):
        iter(fit)


def test_other_quantiles(fit):
    first, second = fit.rows(quantiles=(0.025, 0.05, 0.975))
    assert {"q2.5", "q97.5"} <= set(first) and first["q2.5"] < first["q5"] < first["q97.5"]
    # N(1, 1) and N(-2, 2); 4000 draws know these quantiles to 0.05 sd.
    assert first["q97.5"] == pytest.approx(1 + 1.96, abs=0.2)
    assert second["q2.5"] == pytest.approx(-2 - 1.96 * 2, abs=0.4)
    assert first["q5"] == fit.rows()[0]["q5"]
    with pytest.raises(ValueError, match="between 0 and 1"):
        fit.summary(quantiles=(2.5,))


def test_modes_with_their_shares(fit):
    assert fit.modes == []
    model = elinvar.from_batch(two_modes, names=["x", "y"])
    several = elinvar.fit(model, progress=False)
    shares = [mode["share"] for mode in several.modes]
    assert shares == pytest.approx([0.7, 0.3], abs=0.05)
    assert [mode["at"]["x"] for mode in several.modes] == pytest.approx([-6.0, 6.0], abs=0.3)
    assert "% of the mass at x -6" in str(several) and "% of the mass at x -6" in several._repr_html_()


def test_pickles_hold_what_the_model_was_made_of():
    model = elinvar.from_batch(eight_schools, names=SCHOOLS, expand=schools_of)
    fit = elinvar.fit(model, "gaussian", progress=False)
    again = pickle.loads(pickle.dumps(fit))
    assert again._model is None, "it is made when it is needed"
    twice = pickle.loads(pickle.dumps(again))
    for copy in (again, twice):
        assert set(copy.sample(20)) == {"mu", "tau", "theta"}
        assert np.array_equal(copy.sample(20)["theta"], fit.sample(20)["theta"])
        assert repr(copy) == repr(fit) and copy.model.names == model.names


def test_a_model_that_cannot_be_pickled_is_left_out(fit, monkeypatch):
    import elinvar._packing

    real = elinvar._packing.importlib.import_module

    def without_cloudpickle(name):
        if name == "cloudpickle":
            raise ModuleNotFoundError(name)
        return real(name)

    monkeypatch.setattr(elinvar._packing.importlib, "import_module", without_cloudpickle)
    other = elinvar.fit(elinvar.from_batch(lambda z: gaussian(z), names=["a", "b"]), "gaussian", progress=False)
    again = pickle.loads(pickle.dumps(other))
    # Weighted draws need the model; what is in the file does not.
    assert again.model is None and again.verdict == other.verdict and np.array_equal(again.mean, other.mean)
    with pytest.raises(TypeError, match="make it again"):
        pickle.dumps(elinvar.Model(None, ["a"]))


MISTAKES = [
    (lambda z: gaussian(z)[0], "must return a pair, log densities .* it gave an array of shape"),
    (lambda z: None, "must return a pair, .* it gave NoneType"),
    (lambda z: (gaussian(z)[0].sum(), gaussian(z)[1]), r"one for each point; .* float64 of shape \(\)"),
    (lambda z: (gaussian(z)[0][:, None], gaussian(z)[1]), r"one for each point; .* float64 of shape \(\d+, 1\)"),
    (lambda z: (gaussian(z)[0], gaussian(z)[1].T), r"gradients must be an array of float64 of shape \(\d+, 2\)"),
    (lambda z: (gaussian(z)[0], -gaussian(z)[1]), "gradient"),
]


@pytest.mark.parametrize(("wrong", "sentence"), MISTAKES)
def test_common_mistakes_are_told_in_a_sentence(wrong, sentence):
    with pytest.raises((TypeError, ValueError, RuntimeError), match=sentence):
        elinvar.fit(elinvar.from_batch(wrong, dim=2), progress=False)


def test_a_function_of_points_that_gives_no_pair():
    with pytest.raises(TypeError, match="must return a pair, a log density and a gradient"):
        elinvar.fit(elinvar.from_function(lambda z: -0.5 * z @ z, dim=2), progress=False)


def test_single_precision_is_warned_of_once():
    def coarse(z):
        log_p, gradient = gaussian(z)
        return log_p, gradient.astype(np.float32)

    with pytest.warns(UserWarning, match="gives gradients in single precision") as said:
        elinvar.fit(elinvar.from_batch(coarse, dim=2), "gaussian", progress=False)
    assert len([w for w in said if "precision" in str(w.message)]) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        elinvar.fit(elinvar.from_batch(gaussian, dim=2), "gaussian", progress=False)


def test_overflow_far_out_is_nothing_to_warn_of():
    seen = []

    def watched(z):
        seen.append(np.abs(z).max())
        np.exp(5 * np.abs(z))
        return eight_schools(z)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit = elinvar.fit(elinvar.from_batch(watched, names=SCHOOLS), progress=False)
    assert fit.trusted and max(seen) > 142, "no exponential has overflowed"
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        eight_schools(np.full((1, len(SCHOOLS)), 1e3))


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def test_the_colours_of_verdicts_are_seen_in_light_and_in_dark():
    from elinvar._html import _COLOURS

    for colour in [*_COLOURS.values(), "#808080"]:
        # Large text needs a contrast of 3 to its ground: white, and the dark one of Jupyter.
        for ground in ("#ffffff", "#111111"):
            low, high = sorted([luminance(colour), luminance(ground)])
            assert (high + 0.05) / (low + 0.05) >= 3, (colour, ground)
