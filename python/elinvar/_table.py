"""Tables fitted by the models of the command line: the same settings, the same bits, the same page."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from . import _elinvar
from ._fit import Fit


class TableFit(Fit):
    """A fit of a table; ``print`` shows the page of the command line."""

    def __init__(self, core: Any, shown: _elinvar.Shown):
        super().__init__(core)
        self._shown = shown

    @property
    def page(self) -> str:
        """What ``elinvar fit`` prints."""
        return self._shown.page

    @property
    def json(self) -> dict[str, Any]:
        """What ``elinvar fit --json`` prints."""
        return json.loads(self._shown.json)

    def report(self, path: str | os.PathLike) -> None:
        """Writes the report as one HTML page that needs nothing else."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._shown.html)

    def __str__(self) -> str:
        # `print` ends the last line, as the command line does.
        return self.page.removesuffix("\n")


def fit_table(
    model: str,
    file: str | os.PathLike,
    target: str | None = None,
    *,
    formula: str | None = None,
    features: Sequence[str] | None = None,
    family: str = "auto",
    seed: int = 1,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    stop: _elinvar.Stop | None = None,
) -> TableFit:
    """``elinvar fit MODEL FILE --target TARGET``: ``logistic``, ``linear``, ``poisson``, ``network``, ...

    ``formula`` takes the place of ``target`` and ``features``: ``"cured ~ age + log(dose) * sex"``.

    ``settings`` are further sections of a ``config.toml`` as dictionaries, for example
    ``{"data": {"test_fraction": 0.2}, "model": {"prior_sd": 2.5}}``.
    """
    asked: dict[str, dict[str, Any]] = {name: dict(section) for name, section in (settings or {}).items()}
    data = asked.setdefault("data", {})
    data["file"] = os.fspath(file)
    if target is not None and formula is not None:
        raise ValueError("name the target or give a formula, not both")
    if target is not None:
        data["target"] = target
    if formula is not None:
        data["formula"] = formula
    if features is not None:
        data["features"] = list(features)
    asked.setdefault("model", {})["name"] = model
    asked.setdefault("family", {})["name"] = family
    asked.setdefault("plan", {}).setdefault("seed", seed)
    explained = repr(target) if formula is None else f"formula={formula!r}"
    call = f"elinvar.fit_table({model!r}, {os.path.basename(data['file'])!r}, {explained}, seed={seed})"
    return TableFit(*_elinvar.fit_table(json.dumps(asked), call, _elinvar.Stop() if stop is None else stop))


def fit_example() -> TableFit:
    """``elinvar fit`` without a table: the embedded example.

    >>> import elinvar
    >>> elinvar.fit_example().trusted
    True
    """
    return TableFit(*_elinvar.fit_table("{}", "elinvar.fit_example()", _elinvar.Stop()))
