"""Models of PyTorch: a log density of one vector, in double precision."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ._missing import needs
from ._model import Model, from_batch
from ._packing import remembered


@remembered
def from_torch(
    log_density: Callable[[Any], Any],
    dim: int | None = None,
    *,
    names: Sequence[str] | None = None,
    expand: Callable[[np.ndarray], Mapping[str, Any]] | None = None,
    dims: Mapping[str, Sequence[str]] | None = None,
    coords: Mapping[str, Any] | None = None,
    hessian: bool = False,
) -> Model:
    """A model of ``log_density(z)`` for a tensor z of shape (d,) and dtype float64, evaluated by ``torch.func.vmap``.

    ``hessian=True`` lets a fit ask for second derivatives, too, which was not seen to pay.
    """
    torch = needs("torch", "torch")
    both = torch.func.vmap(torch.func.grad_and_value(log_density))
    value = torch.func.vmap(log_density)

    def gradient_and_value(z):
        gradient, log_p = both(torch.from_numpy(z))
        return log_p.detach().numpy(), gradient.detach().numpy()

    def value_alone(z):
        with torch.no_grad():
            return value(torch.from_numpy(z)).numpy()

    def curvature(z):
        return second(torch.from_numpy(z)).detach().numpy()

    second = torch.func.vmap(torch.func.hessian(log_density))
    return from_batch(
        gradient_and_value,
        dim,
        log_density=value_alone,
        hessian=curvature if hessian else None,
        names=names,
        expand=expand,
        dims=dims,
        coords=coords,
        kind="PyTorch",
    )
