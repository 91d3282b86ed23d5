"""A fit as a DataTree of ArviZ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._elinvar import __version__
from ._missing import needs

if TYPE_CHECKING:
    from ._fit import Fit


def to_arviz(fit: Fit, n: int, seed: int) -> Any:
    """Groups ``posterior``, ``unconstrained_posterior``, ``sample_stats`` and, where the model has it, ``log_likelihood``."""
    arviz = needs("arviz_base", "arviz")
    z = fit.draws(n, seed)
    names = list(fit._core.names)
    dims: dict[str, Any] = {}
    coords: dict[str, Any] = {}
    if fit.model is None:
        variables = {name: z[:, i] for i, name in enumerate(names)}
        stats = {"log_q": fit.log_prob(z)}
    else:
        variables = fit.model.variables(z)
        dims.update(fit.model.dims)
        coords.update(fit.model.coords)
        stats = {"log_q": fit.log_prob(z), "lp": fit.model.log_density(z)[0]}
    # Dims go by the name of a variable in all groups: this one must not be a name of the user's.
    point = _free("z", variables)
    dims[point] = [_free("coordinate", fit.model.coords if fit.model is not None else {})]
    coords[dims[point][0]] = names
    groups: dict[str, Any] = {"unconstrained_posterior": {point: z[None]}}
    groups["posterior"] = {name: np.asarray(value)[None] for name, value in variables.items()}
    groups["sample_stats"] = {name: value[None] for name, value in stats.items()}
    if fit.model is not None and fit.model.log_likelihood is not None:
        found = fit.model.log_likelihood(z)
        groups["log_likelihood"] = {name: np.asarray(value)[None] for name, value in found.items()}
    record = fit.record
    attributes = {
        "inference_library": "elinvar",
        "inference_library_version": __version__,
        "family": record["family"],
        "verdict": str(fit.verdict or ""),
        "reason": fit.reason or "",
        "given_by": fit.given_by,
        "gradients": record["gradients"],
    }
    if record.get("pareto_k") is not None:
        attributes["pareto_k"] = record["pareto_k"]
    return arviz.from_dict(groups, coords=coords, dims=dims, attrs={"posterior": attributes, "/": attributes})


def _free(name: str, taken: Any) -> str:
    """The name, or the first of name_, name__, ... that is not taken."""
    while name in taken:
        name += "_"
    return name
