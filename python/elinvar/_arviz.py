"""A fit as a DataTree of ArviZ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._elinvar import __version__
from ._missing import needs

if TYPE_CHECKING:
    from ._fit import Fit


def to_arviz(fit: Fit, n: int, seed: int) -> Any:
    """Groups ``posterior``, ``unconstrained_posterior`` and, where the model is at hand, ``sample_stats``."""
    arviz = needs("arviz_base", "arviz")
    z = fit.draws(n, seed)
    names = list(fit._core.names)
    dims: dict[str, Any] = {"z": ["coordinate"]}
    coords: dict[str, Any] = {"coordinate": names}
    groups: dict[str, Any] = {"unconstrained_posterior": {"z": z[None]}}
    if fit.model is None:
        variables = {name: z[:, i] for i, name in enumerate(names)}
        stats = {"log_q": fit.log_prob(z)}
    else:
        variables = fit.model.variables(z)
        dims.update(fit.model.dims)
        coords.update(fit.model.coords)
        stats = {"log_q": fit.log_prob(z), "lp": fit.model.log_density(z)[0]}
    groups["posterior"] = {name: np.asarray(value)[None] for name, value in variables.items()}
    groups["sample_stats"] = {name: value[None] for name, value in stats.items()}
    record = fit.record
    attributes = {
        "inference_library": "elinvar",
        "inference_library_version": __version__,
        "family": record["family"],
        "verdict": fit.verdict or "",
        "reason": fit.reason or "",
        "given_by": fit.given_by,
        "gradients": record["gradients"],
    }
    if record.get("pareto_k") is not None:
        attributes["pareto_k"] = record["pareto_k"]
    return arviz.from_dict(groups, coords=coords, dims=dims, attrs={"posterior": attributes, "/": attributes})
