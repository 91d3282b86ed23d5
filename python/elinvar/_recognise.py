"""What kind of model it is that somebody hands over."""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any

import numpy as np

from ._model import Model

_WAYS = (
    "elinvar.from_batch(f, dim) for log densities (n,) and gradients (n, d) of points (n, d), "
    "elinvar.from_function for single points, elinvar.from_jax, elinvar.from_torch, elinvar.from_numpyro, "
    "elinvar.from_pymc, elinvar.from_stan or elinvar.from_address"
)


def as_model(
    model: Any,
    args: tuple = (),
    kwargs: dict[str, Any] | None = None,
    *,
    dim: int | None = None,
    start: Any = None,
    data: Any = None,
) -> Model:
    """An elinvar model of whatever was handed over: a model of elinvar, of PyMC or Bambi, a NumPyro function, Stan, or
    a log density.

    ``args`` and ``kwargs`` are the arguments of a NumPyro function, ``data`` those of a Stan program. A log density
    needs ``dim``: what its body speaks of decides whether it is one of PyTorch, of JAX, or a NumPy function on batches;
    a ``cfunc`` of numba or an address is called as it is. ``start`` is the tree that a log density of JAX is of.
    """
    home = type(model).__module__.split(".")[0]
    if dim is not None or start is not None:
        return _of_log_density(model, dim, start)
    if data is not None and not _is_stan(model, home):
        raise TypeError("data= belongs to a Stan program; a NumPyro function takes args= and kwargs=")
    if isinstance(model, Model):
        return model
    if home == "pymc":
        from .pymc import from_pymc

        return from_pymc(model)
    if home == "bambi":
        from .pymc import from_pymc

        if model.backend is None:
            model.build()
        return from_pymc(model.backend.model)
    if _is_stan(model, home):
        from .stan import from_stan

        return from_stan(model, **{**(kwargs or {}), **({} if data is None else {"data": data})})
    if callable(model) and (args or kwargs or _speaks_of(model, "numpyro")):
        from .numpyro import from_numpyro

        return from_numpyro(model, *args, **(kwargs or {}))
    unknown = "a bare function does not say how many parameters it has: give dim=..., or"
    raise TypeError(f"{unknown if callable(model) else f'got {type(model)};'} make a model of it with {_WAYS}")


def _of_log_density(model: Any, dim: int | None, start: Any) -> Model:
    """A log density of which no more is known than its number of coordinates, or a tree."""
    import elinvar

    address = model if isinstance(model, int) else getattr(model, "address", None)
    if isinstance(model, Model) or not (callable(model) or isinstance(address, int)):
        raise TypeError(f"dim= and start= belong to a log density, which {model!r} is not")
    if start is not None:
        return elinvar.from_jax(model, start)
    if isinstance(address, int):
        return elinvar.from_address(address, dim, keep_alive=model)
    if _speaks_of(model, "torch"):
        return elinvar.from_torch(model, dim)
    if _speaks_of(model, "jax") or _speaks_of(model, "numpyro"):
        return elinvar.from_jax(model, np.zeros(dim))
    return elinvar.from_batch(model, dim)


def _is_stan(model: Any, home: str) -> bool:
    named = isinstance(model, (str, os.PathLike)) and os.fspath(model).endswith((".stan", ".so"))
    return home == "bridgestan" or named


def _speaks_of(function: Any, package: str) -> bool:
    """Whether the body of a function names a package, by one of its modules or functions."""
    code = getattr(function, "__code__", None)
    known = {**getattr(function, "__globals__", {}), **_closed_over(function)}
    names = (*getattr(code, "co_names", ()), *getattr(code, "co_freevars", ()))
    homes = (_home(known.get(name)) for name in names)
    return any(home.split(".")[0] == package for home in homes)


def _home(thing: Any) -> str:
    """The module that something is, or comes from."""
    if isinstance(thing, ModuleType):
        return thing.__name__
    return getattr(thing, "__module__", None) or type(thing).__module__ or ""


def _closed_over(function: Any) -> dict[str, Any]:
    """The variables of an outer function that a function uses."""
    names = getattr(getattr(function, "__code__", None), "co_freevars", ())
    found = {}
    for name, cell in zip(names, getattr(function, "__closure__", None) or (), strict=False):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not bound yet
            continue
    return found
