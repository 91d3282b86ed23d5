"""Tables, the embedded example, reports and comparisons."""

import json
import subprocess
import sys

import numpy as np
import pytest

import elinvar

from densities import SCHOOLS, eight_schools, gaussian


def test_the_example_prints_the_page_of_the_command_line():
    fit = elinvar.fit_example()
    assert fit.trusted, fit.reason
    assert "parameter" in fit.page and "Approximation: trust" in fit.page, fit.page
    assert fit.json["verdict"] == "trust"
    code = "import elinvar; print(elinvar.fit_example())"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # Seconds differ.
    without = [line for line in fit.page.splitlines() if not line.startswith("time")]
    assert [line for line in shown.stdout.splitlines() if not line.startswith("time")] == without


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(200, 2))
    y = (rng.uniform(size=200) < 1 / (1 + np.exp(-x @ [1.0, -2.0]))).astype(int)
    path = tmp_path / "rows.csv"
    np.savetxt(path, np.column_stack([x, y]), delimiter=",", header="a,b,y", comments="", fmt=["%.6f", "%.6f", "%d"])
    return path


def test_a_table_is_fitted_as_the_command_line_fits_it(table, tmp_path):
    fit = elinvar.fit_table("logistic", table, "y", seed=3, settings={"data": {"test_fraction": 0.25}})
    assert fit.trusted, fit.reason
    assert fit.json["test"] is not None
    rows = {row["name"]: row for row in fit.json["parameters"]}
    assert rows["a"]["mean"] > 0 > rows["b"]["mean"]
    fit.report(tmp_path / "page.html")
    assert "<svg" in (tmp_path / "page.html").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="no column"):
        elinvar.fit_table("logistic", table, "z")
    by_formula = elinvar.fit_table("logistic", table, formula="y ~ a * b", seed=3)
    assert [row["name"] for row in by_formula.json["parameters"]] == ["intercept", "a", "b", "a:b"]
    with pytest.raises(ValueError, match="did you mean"):
        elinvar.fit_table("poisson", table, formula="y ~ lg(a)")
    with pytest.raises(ValueError, match="unknown field"):
        elinvar.fit_table("logistic", table, "y", settings={"data": {"nonsense": 1}})


def test_a_report_of_ones_own_model(tmp_path):
    model = elinvar.from_batch(eight_schools, names=SCHOOLS)
    fit = elinvar.fit(model, progress=False)
    fit.report(tmp_path / "page.html", title="Eight schools")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Eight schools" in page and "<svg" in page and SCHOOLS[0] in page
    fit.save(tmp_path / "fit.json")
    with pytest.raises(ValueError, match="load the fit with its model"):
        elinvar.load(tmp_path / "fit.json").report(tmp_path / "other.html")
    assert json.loads((tmp_path / "fit.json").read_text())["format"] == "elinvar-fit"
    assert fit.initial_points(3).shape == (3, len(SCHOOLS))


def test_fits_are_compared_on_their_model():
    model = elinvar.from_batch(eight_schools, names=SCHOOLS)
    full = elinvar.fit(model, "gaussian", progress=False, correct=False)
    mean_field = elinvar.fit(model, elinvar.family("gaussian", covariance="diagonal"), progress=False, correct=False)
    rows = elinvar.compare(mean_field, full)
    assert [row["fit"] for row in rows] == [1, 0]
    assert rows[0]["difference"] == 0 and rows[1]["difference"] < 0, rows
    other = elinvar.fit(elinvar.from_batch(gaussian, dim=2), "gaussian", progress=False, correct=False)
    with pytest.raises(ValueError, match="different models"):
        elinvar.compare(full, other)
