"""Eight schools through every front end, by the programs of docs/python.md with sharper means: one posterior."""

import itertools

import numpy as np
import pytest

import elinvar

from densities import reference_schools
from test_pages import SCHOOLS, compile_here, packages, programs

# Standard deviations by which means may differ between any two front ends.
APART = 0.05
PROGRAMS = {found.values[1]: found.values[2] for found in programs() if found.values[0] == "python.md"}


@pytest.fixture(scope="module")
def fits():
    """The fits of all programs whose libraries are installed, by heading."""
    return {}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("heading", SCHOOLS)
def test_means_are_sharper_where_that_is_asked_for(heading, fits, tmp_path, monkeypatch):
    program = PROGRAMS[heading]
    for package in packages(program):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    if heading == "Stan":
        compile_here(monkeypatch, tmp_path)
    as_it_is = elinvar.fit
    monkeypatch.setattr(elinvar, "fit", lambda *a, **k: as_it_is(*a, mean_within=0.02, progress=False, **k))
    names: dict = {}
    exec(compile(program, heading, "exec"), names)
    fit = fits[heading] = names["fit"]
    assert fit.trusted and fit.given_by == "chains", fit.reason
    rows = {row["name"]: row for row in fit.rows(30_000)}
    for name, (mean, sd) in reference_schools().items():
        assert abs(rows[name]["mean"] - mean) < APART / 2 * sd, (rows[name], mean, sd)


def test_all_front_ends_give_the_same_means_and_the_same_evidence(fits):
    if len(fits) < 2:
        pytest.skip("no other front end is installed")
    worst = 0.0
    tables = {heading: [row for row in fit.rows(30_000) if row["name"] == "mu" or row["name"].startswith("t")]
              for heading, fit in fits.items()}  # fmt: skip
    for (one, first), (other, second) in itertools.combinations(tables.items(), 2):
        # Stan counts from one.
        assert len(first) == len(second) == 10, (one, other)
        for a, b in zip(first, second, strict=True):
            away = abs(a["mean"] - b["mean"]) / a["sd"]
            worst = max(worst, away)
            assert away < APART, (one, other, a, b)
    print(f"means of {len(fits)} front ends are within {worst:.3f} sd of each other")
    # Some leave constants out that others keep.
    bare = [fits[name] for name in ("JAX", "PyTorch", "NumPy, on batches", "numba") if name in fits]
    whole = [fits[name] for name in ("PyMC", "NumPyro", "Stan") if name in fits]
    for group in (bare, whole):
        for one, other in itertools.combinations([fit.record for fit in group], 2):
            for number in ("elbo", "log_evidence"):
                error = np.hypot(one[f"{number}_se"], other[f"{number}_se"])
                # The approximation is sought to 0.01 nats.
                assert abs(one[number] - other[number]) < max(4.5 * error, 0.03), (number, one, other)


def test_sharper_means_that_are_no_such_thing():
    model = elinvar.from_batch(lambda z: (-0.5 * (z**2).sum(axis=1), -z), dim=2)
    with pytest.raises(ValueError, match="mean_within must be a finite number, not nan"):
        elinvar.fit(model, mean_within=float("nan"), progress=False)
    for wrong in (0.0, 0.5):
        with pytest.raises(ValueError, match="within 0.001 to 0.1 standard deviations"):
            elinvar.fit(model, mean_within=wrong, progress=False)
    with pytest.raises(ValueError, match="leave one of"):
        elinvar.fit(model, mean_within=0.02, correct=False, progress=False)
