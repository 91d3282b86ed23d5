"""The numbers of Python are those of the command line, bit for bit."""

import json
import os
import pathlib
import shutil
import subprocess

import numpy as np
import pytest

import elinvar

# What a clock says.
TIMES = {"seconds", "chain_seconds", "predict_seconds"}


@pytest.fixture(scope="module")
def program():
    """The program that `cargo xtask python` has built beside the wheel."""
    named = os.environ.get("ELINVAR_PROGRAM")
    if named is None:
        pytest.skip("ELINVAR_PROGRAM names no program; cargo xtask python does")
    assert pathlib.Path(named).exists() or shutil.which(named), named
    return named


def by_command(program, *words):
    done = subprocess.run([program, "fit", *map(str, words), "--json"], capture_output=True, text=True)
    assert done.stdout, done.stderr
    return done.stdout


def without_times(value):
    """The same without what a clock says, and without the command that was typed."""
    if isinstance(value, dict):
        return {key: without_times(entry) for key, entry in value.items() if key not in TIMES}
    if isinstance(value, list):
        return [without_times(entry) for entry in value]
    return value


def test_the_example(program):
    ours, theirs = elinvar.fit_example().json, json.loads(by_command(program))
    assert without_times(ours) == without_times(theirs)
    assert len(theirs["parameters"]) > 2


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(8)
    x = rng.normal(size=(150, 3))
    predictor = x @ [0.8, -0.5, 0.0]
    columns = {
        "a": x[:, 0],
        "b": x[:, 1],
        "c": x[:, 2],
        "binary": (rng.uniform(size=150) < 1 / (1 + np.exp(-predictor))).astype(int),
        "count": rng.poisson(np.exp(predictor)),
        "number": predictor + rng.normal(size=150),
    }
    path = tmp_path_factory.mktemp("table") / "rows.csv"
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join([",".join(columns), *(",".join(repr(float(entry)) for entry in row) for row in rows)]))
    return path


@pytest.mark.parametrize(
    ("model", "formula", "seed"),
    [("logistic", "binary ~ a + b * c", 3), ("poisson", "count ~ a + b", 1), ("linear", "number ~ a + b + c", 5)],
)
def test_tables(program, table, model, formula, seed):
    ours = elinvar.fit_table(model, table, formula=formula, seed=seed)
    theirs = json.loads(by_command(program, model, table, formula, "--seed", seed))
    assert without_times(ours.json) == without_times(theirs)


def test_another_seed_is_seen(program, table):
    ours = elinvar.fit_table("logistic", table, formula="binary ~ a + b", seed=3)
    theirs = json.loads(by_command(program, "logistic", table, "binary ~ a + b", "--seed", 4))
    assert without_times(ours.json) != without_times(theirs)
