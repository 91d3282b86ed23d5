"""The programs on the pages about Python run as they stand, and give what they should."""

import ast
import pathlib
import re
import shutil

import numpy as np
import pytest

import elinvar

from densities import reference_schools

DOCS = pathlib.Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
# Where the model is eight schools.
SCHOOLS = ("PyMC", "NumPyro", "JAX", "PyTorch", "Stan", "NumPy, on batches", "numba")
# What cannot be run here, and where else it is tried.
ELSEWHERE = {
    ("python.md", "Rows on several machines"): "test_dask.py and test_mpi.py",
    ("hand-over.md", "CmdStanPy"): "needs CmdStan, which no package brings",
}


def programs():
    """Page, heading, and the text below it, of every program."""
    for page in ("python.md", "hand-over.md"):
        text = (DOCS / page).read_text(encoding="utf-8")
        for found in BLOCK.finditer(text):
            heading = re.findall(r"^#+ (.*)$", text[: found.start()], re.MULTILINE)[-1]
            yield pytest.param(page, heading, found[1], id=f"{page}, {heading}")


def packages(program):
    """What a program imports."""
    for node in ast.walk(ast.parse(program)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


def write_rows(path):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(200, 2))
    y = rng.uniform(size=200) < 1 / (1 + np.exp(-x @ [1.0, -0.5]))
    np.savetxt(path, np.column_stack([x, y]), delimiter=",", header="a,b,y", comments="", fmt=["%.6f", "%.6f", "%d"])


def compile_here(monkeypatch, folder):
    """Lets BridgeStan compile by what is installed; it would load its sources from the network."""
    bridgestan = pytest.importorskip("bridgestan")
    pytest.importorskip("httpstan")
    if shutil.which("g++") is None:
        pytest.skip("there is no g++")
    from stan_library import compiled

    def compile_model(program, **_):
        return compiled(pathlib.Path(program), folder)

    monkeypatch.setattr(bridgestan.model, "compile_model", compile_model)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("page", "heading", "program"), list(programs()))
def test_a_program_of_the_docs(page, heading, program, tmp_path, monkeypatch, capsys):
    if (page, heading) in ELSEWHERE:
        pytest.skip(ELSEWHERE[page, heading])
    for package in packages(program):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    write_rows(tmp_path / "rows.csv")
    if "from_stan" in program:
        compile_here(monkeypatch, tmp_path)
    names: dict = {"__name__": "__main__"}
    exec(compile(program, f"{page}, {heading}", "exec"), names)
    if "fit" in names:
        assert names["fit"].trusted, names["fit"].reason
    if page == "python.md" and heading in SCHOOLS:
        rows = {row["name"]: row for row in names["fit"].rows()}
        for name, (mean, sd) in reference_schools().items():
            assert abs(rows[name]["mean"] - mean) < 0.1 * sd, (name, rows[name])
        assert names["fit"].sample(7)["theta"].shape == (7, 8)


def test_every_front_end_has_its_program():
    headings = {parameters.values[1] for parameters in programs() if parameters.values[0] == "python.md"}
    assert {*SCHOOLS, "Bambi", "Tables", "scikit-learn"} <= headings
    ways = {name for name in elinvar.__all__ if name.startswith("from_")}
    text = (DOCS / "python.md").read_text(encoding="utf-8")
    assert all(f"`{way}`" in text or f"elinvar.{way}(" in text for way in ways), ways
