"""The cells of the notebook run, and say what they said when it was written."""

import json
import pathlib

import pytest

NOTEBOOK = pathlib.Path(__file__).parents[2] / "docs" / "notebooks" / "eight_schools.ipynb"


def test_the_notebook_runs():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    cells = [cell for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert len(cells) == 4
    names: dict = {}
    for cell in cells:
        exec(compile("".join(cell["source"]), str(NOTEBOOK), "exec"), names)
    assert names["fit"].verdict == "trust" and names["wrong"].verdict == "do_not_trust"
    (shown,) = cells[1]["outputs"]
    assert "".join(shown["data"]["text/plain"]).startswith("('trust', 'chains',")
