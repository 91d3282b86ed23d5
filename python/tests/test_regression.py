"""Means of computed variables: what is linear in the coordinates has their means, and the rest is as sharp as draws."""

import numpy as np
import pytest

import elinvar
from elinvar._regression import Regression

from densities import SCHOOLS, eight_schools, reference_theta


def test_what_is_linear_has_the_means_of_the_coordinates():
    rng = np.random.default_rng(1)
    z = rng.normal(size=(400, 3)) @ rng.normal(size=(3, 3))
    known = [0.3, -0.1, 0.2]
    regression = Regression(z, [{"mean": mean} for mean in known])
    slopes = np.array([2.0, -1.0, 0.5])
    assert regression.mean_of(4 + z @ slopes) == pytest.approx(4 + slopes @ known, rel=1e-12)
    # Few states, or one coordinate that does not move, are left as they are.
    assert Regression(z[:20], [{"mean": 9.0}] * 3).mean_of(z[:20, 0]) == z[:20, 0].mean()
    assert Regression(z * [1, 0, 1], [{"mean": 9.0}] * 3).mean_of(z[:, 0]) == z[:, 0].mean()


def test_theta_of_eight_schools_is_as_sharp_as_its_draws():
    def theta(z):
        return {"theta": z[:, :1] + np.exp(z[:, 1:2]) * z[:, 2:]}

    mean, sd = reference_theta()
    model = elinvar.from_batch(eight_schools, names=SCHOOLS, expand=theta)
    errors = {"rows": [], "draws": []}
    for seed in range(1, 9):
        fit = elinvar.fit(model, seed=seed, progress=False)
        assert fit.given_by == "chains"
        errors["rows"].append((np.array([row["mean"] for row in fit.rows()]) - mean) / sd)
        errors["draws"].append((fit["theta"].mean(axis=0) - mean) / sd)
    rows, draws = (np.sqrt(np.mean(np.square(errors[way]))) for way in ("rows", "draws"))
    # The states of a hierarchy are nearly independent, so that a regression has little to add, and takes nothing away.
    assert rows < 1.25 * draws and rows < 0.03 and np.abs(errors["rows"]).max() < 0.1, (rows, draws)
