"""What kind of model it is that somebody hands over."""

from __future__ import annotations

import os
from typing import Any

from ._model import Model

_WAYS = (
    "elinvar.from_batch(f, dim) for log densities (n,) and gradients (n, d) of points (n, d), "
    "elinvar.from_function for single points, elinvar.from_jax, elinvar.from_torch, elinvar.from_numpyro, "
    "elinvar.from_pymc, elinvar.from_stan or elinvar.from_address"
)


def as_model(model: Any, args: tuple = (), kwargs: dict[str, Any] | None = None) -> Model:
    """An elinvar model of whatever was handed over: a model of elinvar, of PyMC or Bambi, a NumPyro function, or Stan.

    ``args`` and ``kwargs`` are the arguments of a NumPyro function; ``kwargs={"data": ...}`` are the data of a Stan program.
    """
    if isinstance(model, Model):
        return model
    home = type(model).__module__.split(".")[0]
    if home == "pymc":
        from .pymc import from_pymc

        return from_pymc(model)
    if home == "bambi":
        from .pymc import from_pymc

        if model.backend is None:
            model.build()
        return from_pymc(model.backend.model)
    if home == "bridgestan" or (isinstance(model, (str, os.PathLike)) and os.fspath(model).endswith((".stan", ".so"))):
        from .stan import from_stan

        return from_stan(model, **(kwargs or {}))
    if callable(model) and (args or kwargs or _samples_with_numpyro(model)):
        from .numpyro import from_numpyro

        return from_numpyro(model, *args, **(kwargs or {}))
    what = "a bare function does not say how many parameters it has" if callable(model) else f"got {type(model)}"
    raise TypeError(f"{what}; make a model of it with {_WAYS}")


def _samples_with_numpyro(function: Any) -> bool:
    """Whether the body of a function speaks of numpyro."""
    known = getattr(function, "__globals__", {})
    names = getattr(getattr(function, "__code__", None), "co_names", ())
    modules = (getattr(known.get(name), "__name__", "") or "" for name in names)
    return any(module.split(".")[0] == "numpyro" for module in modules)
