"""Models of NumPyro: a function that samples, with its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._missing import needs
from ._model import Model, indexed
from ._packing import remembered
from .jax import from_flat, require_double_precision


@remembered
def from_numpyro(model: Callable[..., Any], *args: Any, **kwargs: Any) -> Model:
    """A model of ``model(*args, **kwargs)``; its latent sites are on their own scale in every result."""
    numpyro = needs("numpyro", "numpyro")
    jax = needs("jax", "jax")
    require_double_precision(jax)
    from jax.flatten_util import ravel_pytree
    from numpyro.infer.util import initialize_model

    _refuse(model, args, kwargs)
    info = initialize_model(
        jax.random.PRNGKey(0), model, model_args=args, model_kwargs=kwargs, dynamic_args=False, validate_grad=False
    )
    trace = info.model_trace
    start = info.param_info.z
    flat, unravel = ravel_pytree(start)
    names: list[str] = []
    for name in sorted(start):
        names += indexed(name, np.shape(start[name]))
    shapes = jax.eval_shape(lambda z: info.postprocess_fn(unravel(z)), flat)
    # Sites in the order in which the model comes to them, whatever the order of the coordinates is.
    order = {name: place for place, name in enumerate(trace)}
    shown = sorted(shapes, key=lambda name: order.get(name, len(order)))
    dims, coords = _dims_and_coords(trace, {name: shapes[name].shape for name in shown})

    def variables(z):
        found = info.postprocess_fn(unravel(z))
        return [found[name] for name in shown]

    def likelihoods(z):
        found = info.postprocess_fn(unravel(z))
        latent = {name: value for name, value in found.items() if name in trace and _is_latent(trace[name])}
        return numpyro.infer.util.log_likelihood(model, latent, *args, batch_ndims=0, **kwargs)

    observed = [name for name, site in trace.items() if _is_observed(site)]
    expand = jax.jit(jax.vmap(variables))
    likelihood = jax.jit(jax.vmap(lambda z: [likelihoods(z)[name] for name in observed]))
    return from_flat(
        lambda z: -info.potential_fn(unravel(z)),
        names,
        lambda z: dict(zip(shown, expand(z), strict=True)),
        dims,
        coords,
        "NumPyro",
        log_likelihood=(lambda z: dict(zip(observed, likelihood(z), strict=True))) if observed else None,
    )


def _refuse(model: Callable[..., Any], args: tuple, kwargs: dict[str, Any]) -> None:
    """Refuses what has no density in continuous variables, or a random one."""
    from numpyro import handlers

    trace = handlers.trace(handlers.seed(model, 0)).get_trace(*args, **kwargs)
    discrete = [name for name, site in trace.items() if _is_latent(site) and site["fn"].support.is_discrete]
    if discrete:
        raise ValueError(f"discrete variables cannot be fitted: {', '.join(discrete)}; sum them out")
    for name, site in trace.items():
        if site["type"] == "plate" and site["args"][1] is not None and site["args"][1] < site["args"][0]:
            size, part = site["args"]
            raise ValueError(
                f"the plate {name!r} takes a random subsample of {part} of its {size} rows, which makes the log density "
                "random: leave out subsample_size"
            )
        if site["type"] == "param":
            raise ValueError(
                f"the site {name!r} is a parameter of an optimiser and has no prior: give it one by numpyro.sample, or a "
                "value by numpyro.handlers.substitute"
            )
    if not any(_is_latent(site) for site in trace.values()):
        raise ValueError("the model has no variable that is not observed")


def _dims_and_coords(
    trace: dict[str, Any], shapes: dict[str, tuple[int, ...]]
) -> tuple[dict[str, list[str]], dict[str, np.ndarray]]:
    """The plates of every shown variable and of every observed one, axis by axis."""
    dims: dict[str, list[str]] = {}
    coords: dict[str, np.ndarray] = {}
    for name, site in trace.items():
        shape = shapes.get(name, np.shape(site.get("value")) if _is_observed(site) else None)
        plates = site.get("cond_indep_stack", [])
        if shape is None or not plates:
            continue
        law = site.get("fn") if site["type"] == "sample" else None
        event = getattr(law, "event_dim", 0) if name in shapes else 0
        # The log likelihood of an observation has the shape of its plates.
        shape = shape if name in shapes else shape[: len(shape) - getattr(law, "event_dim", 0)]
        axes = [f"{name}_dim_{axis}" for axis in range(len(shape))]
        for plate in plates:
            axis = len(shape) - event + plate.dim
            if 0 <= axis and shape[axis] == plate.size:
                # An axis cannot have the name of a variable.
                axes[axis] = plate.name if plate.name not in trace or trace[plate.name]["type"] == "plate" else axes[axis]
                if axes[axis] == plate.name:
                    coords[plate.name] = np.arange(plate.size)
        dims[name] = axes
    return dims, coords


def _is_latent(site: dict[str, Any]) -> bool:
    return site["type"] == "sample" and not site["is_observed"]


def _is_observed(site: dict[str, Any]) -> bool:
    """Whether it is an observation, which a factor is not."""
    return site["type"] == "sample" and site["is_observed"] and type(site["fn"]).__name__ != "Unit"
