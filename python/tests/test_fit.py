"""Fits of batch functions: right answers, names, families, files."""

import doctest
import pickle

import numpy as np
import pytest

import elinvar

from densities import MEAN, SCALE, SCHOOLS, eight_schools, gaussian, reference_schools, schools_of


@pytest.fixture(scope="module")
def schools():
    model = elinvar.from_batch(eight_schools, names=SCHOOLS, expand=schools_of)
    return elinvar.fit(model, progress=False)


def test_a_gaussian_comes_out_exactly():
    fit = elinvar.fit(elinvar.from_batch(gaussian, dim=2), correct=True, progress=False)
    assert fit.trusted and fit.given_by == "chains", fit.reason
    # Stein's identity is exact for a Gaussian.
    for row, mean, variance in zip(fit.rows(), MEAN, np.diag(SCALE), strict=True):
        assert row["mean"] == pytest.approx(mean, abs=1e-9)
        assert row["sd"] == pytest.approx(np.sqrt(variance), rel=1e-9)
    assert np.allclose(fit.covariance, SCALE, rtol=0.05)


def test_eight_schools_agree_with_a_sum_over_a_grid(schools):
    assert schools.trusted, schools.reason
    rows = {row["name"]: row for row in schools.rows()}
    for name, (mean, sd) in reference_schools().items():
        assert abs(rows[name]["mean"] - mean) < 0.1 * sd, name
        assert abs(np.log(rows[name]["sd"] / sd)) < np.log(1.15), name
    assert schools.sample(100)["theta"].shape == (100, 8)
    assert {"theta[0]", "theta[7]"} < set(rows)


def test_the_same_seed_gives_the_same_bits():
    model = elinvar.from_batch(eight_schools, names=SCHOOLS)
    first, second = (elinvar.fit(model, "gaussian", seed=3, progress=False) for _ in range(2))
    assert np.array_equal(first.draws(500), second.draws(500))
    assert first.rows() == second.rows()
    other = elinvar.fit(model, "gaussian", seed=4, progress=False)
    assert not np.array_equal(first.draws(500), other.draws(500))


def test_a_function_of_points_is_the_batch_function():
    def at_a_point(z):
        log_p, gradient = gaussian(z[None])
        return log_p[0], gradient[0]

    by_points = elinvar.fit(elinvar.from_function(at_a_point, dim=2), progress=False)
    by_batches = elinvar.fit(elinvar.from_batch(gaussian, dim=2), progress=False)
    assert np.allclose(by_points.mean, by_batches.mean, atol=1e-10)


@pytest.mark.parametrize("name", ["gaussian", "skew", "student_t", "rank_k"])
def test_families_by_name(name):
    fit = elinvar.fit(elinvar.from_batch(gaussian, dim=2), name, progress=False, correct=False)
    assert fit.record["family"] == name
    assert fit.elbo == pytest.approx(np.log(2 * np.pi) + 0.5 * np.log(np.linalg.det(SCALE)), abs=0.05)


def test_options_of_families():
    mixture = elinvar.family("mog", components=2)
    fit = elinvar.fit(elinvar.from_batch(gaussian, dim=2), mixture, progress=False, correct=False)
    assert fit.record["family"] == "mog"
    with pytest.raises(ValueError, match="no family 'gausian'"):
        elinvar.family("gausian")
    with pytest.raises(TypeError, match="has no option 'components'"):
        elinvar.family("skew", components=2)


def test_files_and_pickles_hold_the_whole_fit(schools, tmp_path):
    path = tmp_path / "schools.fit"
    schools.save(path)
    model = elinvar.from_batch(eight_schools, names=SCHOOLS, expand=schools_of)
    for again in (elinvar.load(path), pickle.loads(pickle.dumps(schools))):
        assert again.verdict == schools.verdict and again.reason == schools.reason
        assert again.given_by == schools.given_by == "chains"
        assert np.array_equal(again.draws(300), schools.draws(300))
    assert np.array_equal(elinvar.load(path, model).sample(300)["tau"], schools.sample(300)["tau"])
    path.write_text(path.read_text().replace('"verdict": "trust"', '"verdict": "trust_means_only"', 1))
    with pytest.raises(ValueError):
        elinvar.load(path)


def test_the_density_of_a_fit_integrates_to_one():
    fit = elinvar.fit(elinvar.from_batch(gaussian, dim=2), "gaussian", progress=False)
    side = np.linspace(-12, 12, 241)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    assert np.exp(fit.log_prob(grid)).sum() * (side[1] - side[0]) ** 2 == pytest.approx(1, abs=1e-6)


def test_an_uncorrected_fit_is_judged_by_importance_weights():
    fit = elinvar.fit(elinvar.from_batch(gaussian, dim=2), "gaussian", progress=False, correct=False)
    assert fit.given_by == "approximation" and fit.trusted
    assert fit.record["log_evidence"] == pytest.approx(fit.elbo, abs=0.01)


def test_weighted_draws_are_resampled():
    fit = elinvar.fit(elinvar.from_batch(gaussian, dim=2), "student_t", progress=False)
    assert fit.given_by == "weights"
    draws = fit.draws(4000)
    assert draws.shape == (4000, 2)
    assert np.all(np.abs(draws.mean(0) - MEAN) < 0.1 * np.sqrt(np.diag(SCALE)))


def test_what_is_shown(schools):
    assert repr(schools).startswith("<elinvar.Fit gaussian: trust, ")
    page = schools._repr_html_()
    assert "Trust." in page and "theta[7]" in page and "background" not in page
    assert "tau" in str(schools)


def test_the_examples_of_the_docstrings():
    for module in (elinvar, elinvar._families):
        failed, tried = doctest.testmod(module, extraglobs={"elinvar": elinvar})
        assert tried > 0 and failed == 0
