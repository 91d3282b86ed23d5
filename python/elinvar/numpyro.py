"""Models of NumPyro: a function that samples, with its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._missing import needs
from ._model import Model, indexed
from .jax import from_flat, require_double_precision


def from_numpyro(model: Callable[..., Any], *args: Any, **kwargs: Any) -> Model:
    """A model of ``model(*args, **kwargs)``; its latent sites are on their own scale in every result."""
    needs("numpyro", "numpyro")
    jax = needs("jax", "jax")
    require_double_precision(jax)
    from jax.flatten_util import ravel_pytree
    from numpyro.infer.util import initialize_model

    _refuse_discrete(model, args, kwargs)
    info = initialize_model(
        jax.random.PRNGKey(0), model, model_args=args, model_kwargs=kwargs, dynamic_args=False, validate_grad=False
    )
    trace = info.model_trace
    start = info.param_info.z
    _, unravel = ravel_pytree(start)
    names: list[str] = []
    for name in sorted(start):
        names += indexed(name, np.shape(start[name]))
    dims: dict[str, list[str]] = {}
    coords: dict[str, Any] = {}
    for name, site in trace.items():
        plates = sorted(site.get("cond_indep_stack", []), key=lambda plate: plate.dim)
        if plates and (_is_latent(site) or site["type"] == "deterministic"):
            dims[name] = [plate.name for plate in plates]
            coords.update({plate.name: np.arange(plate.size) for plate in plates})
    return from_flat(
        lambda z: -info.potential_fn(unravel(z)),
        names,
        jax.jit(jax.vmap(lambda z: info.postprocess_fn(unravel(z)))),
        dims,
        coords,
        "NumPyro",
    )


def _refuse_discrete(model: Callable[..., Any], args: tuple, kwargs: dict[str, Any]) -> None:
    from numpyro import handlers

    trace = handlers.trace(handlers.seed(model, 0)).get_trace(*args, **kwargs)
    discrete = [name for name, site in trace.items() if _is_latent(site) and site["fn"].support.is_discrete]
    if discrete:
        raise ValueError(f"discrete variables cannot be fitted: {', '.join(discrete)}; sum them out")


def _is_latent(site: dict[str, Any]) -> bool:
    return site["type"] == "sample" and not site["is_observed"]
