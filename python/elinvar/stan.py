"""Models of Stan, compiled by BridgeStan and called without Python."""

from __future__ import annotations

import ctypes
import os
from typing import Any

import numpy as np

from . import _elinvar
from ._missing import needs
from ._model import Model
from ._packing import remembered


@remembered
def from_stan(model: Any, data: Any = None, *, hessian: bool = False) -> Model:
    """A model of a Stan program: a ``.stan`` file, a library that BridgeStan has compiled, or its ``StanModel``.

    ``data`` is a dictionary, JSON text or the path of a JSON file. Parameters and transformed parameters are in every
    result; generated quantities are not. ``hessian=True`` lets a fit ask for second derivatives, which BridgeStan takes
    from differences of gradients unless it was compiled with ``BRIDGESTAN_AD_HESSIAN``.
    """
    if isinstance(model, (str, os.PathLike)):
        bridgestan = needs("bridgestan", "stan")
        model = bridgestan.StanModel(os.fspath(model), data)
    elif data is not None:
        raise TypeError("a StanModel has its data already")
    names = [_bracketed(name) for name in model.param_unc_names()]

    def address(function: str) -> int:
        return ctypes.cast(getattr(model.stanlib, function), ctypes.c_void_p).value or 0

    core = _elinvar.Model.stan(
        names,
        address("bs_log_density_gradient"),
        address("bs_free_error_msg"),
        int(model.model),
        model,
        address("bs_log_density_hessian") if hessian else 0,
    )
    places = _places(model.param_names(include_tp=True))

    def expand(z: np.ndarray) -> dict[str, np.ndarray]:
        rows = np.stack([model.param_constrain(np.ascontiguousarray(point), include_tp=True) for point in z])
        return {name: rows[:, columns] for name, columns in places.items()}

    return Model(core, names, expand, kind="Stan", first_index=1)


def _bracketed(name: str) -> str:
    """theta.1.2 as theta[1,2], with Stan's own numbers."""
    base, *indices = name.split(".")
    return f"{base}[{','.join(indices)}]" if indices else base


def _places(names: list[str]) -> dict[str, np.ndarray]:
    """The columns of each variable, in the shape of the variable; Stan writes the first index fastest."""
    found: dict[str, dict[tuple[int, ...], int]] = {}
    for column, name in enumerate(names):
        base, *indices = name.split(".")
        # A complex number ends in real or imag, and is a pair.
        numbers = tuple(("real", "imag").index(i) if i in ("real", "imag") else int(i) - 1 for i in indices)
        found.setdefault(base, {})[numbers] = column
    places = {}
    for base, columns in found.items():
        shape = tuple(int(size) for size in np.max(list(columns), axis=0) + 1)
        array = np.zeros(shape, dtype=int)
        for numbers, column in columns.items():
            array[numbers] = column
        places[base] = array
    return places
