"""Estimators of scikit-learn: its own checks, and answers against maximum likelihood where data are many."""

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn")

from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

from elinvar.sklearn import (  # noqa: E402
    BayesianLinearRegression,
    BayesianLogisticRegression,
    BayesianPoissonRegressor,
)

QUICK = {"max_seconds": 5.0, "n_draws": 500}


@pytest.mark.filterwarnings("ignore:the outcomes are not whole numbers")
@parametrize_with_checks(
    [BayesianLinearRegression(**QUICK), BayesianLogisticRegression(**QUICK), BayesianPoissonRegressor(**QUICK)])
def test_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture
def data():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(2000, 3)) * [1.0, 100.0, 0.01] + [0.0, 2000.0, 5.0]
    predictor = (x - [0.0, 2000.0, 5.0]) @ [0.5, -0.008, 40.0] + 0.3
    return rng, x, predictor


def test_linear(data):
    rng, x, predictor = data
    y = 1e5 * (predictor + 0.5 * rng.normal(size=len(x)))
    ours, theirs = BayesianLinearRegression().fit(x, y), LinearRegression().fit(x, y)
    assert ours.verdict_ == "trust", ours.reason_
    assert np.all(np.abs(ours.coef_ - theirs.coef_) < 0.3 * ours.coef_sd_)
    assert ours.sigma_ == pytest.approx(5e4, rel=0.05)
    mean, sd = ours.predict(x, return_std=True)
    covered = np.mean(np.abs(y - mean) < 1.96 * sd)
    assert 0.93 < covered < 0.97


def test_logistic(data):
    rng, x, predictor = data
    y = np.where(rng.random(len(x)) < 1 / (1 + np.exp(-predictor)), "yes", "no")
    ours = BayesianLogisticRegression().fit(x, y)
    scaled = (x - x.mean(0)) / x.std(0)
    theirs = LogisticRegression(C=1e6).fit(scaled, y)
    assert ours.verdict_ == "trust" and list(ours.classes_) == ["no", "yes"]
    assert np.all(np.abs(ours.coef_ - theirs.coef_ / x.std(0)) < 0.3 * ours.coef_sd_)
    chances = ours.predict_proba(x)
    assert chances.shape == (2000, 2) and np.allclose(chances.sum(1), 1)
    assert np.mean(ours.predict(x) == y) == pytest.approx(np.mean(theirs.predict(scaled) == y), abs=0.01)


def test_poisson(data):
    rng, x, predictor = data
    y = rng.poisson(np.exp(predictor))
    ours = BayesianPoissonRegressor().fit(x, y)
    scaled = (x - x.mean(0)) / x.std(0)
    theirs = PoissonRegressor(alpha=0, max_iter=1000).fit(scaled, y)
    assert ours.verdict_ == "trust"
    assert np.all(np.abs(ours.coef_ - theirs.coef_ / x.std(0)) < 0.3 * ours.coef_sd_)
    with pytest.warns(UserWarning, match="not whole numbers"):
        rates = BayesianPoissonRegressor().fit(x, y + 0.25)
    theirs = PoissonRegressor(alpha=0, max_iter=1000).fit(scaled, y + 0.25)
    assert np.all(np.abs(rates.coef_ - theirs.coef_ / x.std(0)) < 0.3 * rates.coef_sd_)
    with pytest.raises(ValueError, match="0 or more; that of row 0"):
        ours.fit(x, -1.0 - y)
