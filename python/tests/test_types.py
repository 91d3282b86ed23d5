"""A program with types is checked by mypy against the annotations of the package."""

import subprocess
import sys

import pytest

PROGRAM = """
from pathlib import Path

import numpy as np

import elinvar


def gaussian(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return -0.5 * (z**2).sum(axis=1), -z


model: elinvar.Model = elinvar.from_batch(gaussian, names=["a", "b"])
fit: elinvar.Fit = elinvar.fit(model, seed=3, max_seconds=10.0, mean_within=0.05, progress=False)
trusted: bool = fit.trusted
reason: str | None = fit.reason
draws: dict[str, np.ndarray] = fit.sample(100)
points: np.ndarray = fit.initial_points(4)
fit.report(Path("page.html"))
rows: list[dict[str, object]] = fit.rows(quantiles=(0.025, 0.975))
if fit.verdict is not None:
    numbers: dict[str, float] = fit.verdict.numbers
handle = elinvar.fit_in_background(model, "gaussian", seed=1)
handle.stop()
later: elinvar.Fit = handle.result(timeout=3.0)
stop = elinvar.Stop()
stop.pull()
table: elinvar.TableFit = elinvar.fit_example()
page: str = table.page
best = elinvar.compare(fit, later)[0]["elbo"]
again: elinvar.Fit = elinvar.load("fit.json", model)
named: str = elinvar.family("mog", components=4)
ready = elinvar.from_jax(lambda x: x, {"a": 0.0})
"""


def checked(text, tmp_path):
    pytest.importorskip("mypy")
    path = tmp_path / "program.py"
    path.write_text(text, encoding="utf-8")
    words = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(path)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
    return done.returncode, done.stdout + done.stderr


def test_a_program_with_types_is_right(tmp_path):
    code, said = checked(PROGRAM, tmp_path)
    assert code == 0, said


def test_a_wrong_one_is_found(tmp_path):
    wrong = PROGRAM + 'elinvar.fit(model, seeds=3)\nnumber: int = fit.trusted.real + "a"\ndraws.shape\n'
    code, said = checked(wrong, tmp_path)
    assert code == 1
    assert 'Unexpected keyword argument "seeds"' in said and 'no attribute "shape"' in said, said
