"""Models of JAX: a log density over a pytree of arrays, on the unconstrained scale."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ._missing import needs
from ._model import Model, from_batch, indexed
from ._packing import remembered


@remembered
def from_jax(
    log_density: Callable[[Any], Any],
    start: Any,
    *,
    expand: Callable[[Any], Mapping[str, Any]] | None = None,
    dims: Mapping[str, Sequence[str]] | None = None,
    coords: Mapping[str, Any] | None = None,
    hessian: bool = False,
) -> Model:
    """A model of ``log_density(tree)``, where ``start`` shows the shape of the tree; its values do not matter.

    ``expand(tree)`` adds quantities that are computed from a tree, such as ``{"tau": exp(tree["log_tau"])}``.
    ``hessian=True`` lets a fit ask for second derivatives, too, which was not seen to pay.
    """
    jax = needs("jax", "jax")
    from jax.flatten_util import ravel_pytree

    require_double_precision(jax)
    flat, unravel = ravel_pytree(jax.tree_util.tree_map(lambda leaf: jax.numpy.asarray(leaf, dtype="float64"), start))
    leaves = _leaves(jax, start)
    names = [name for leaf, shape in leaves.items() for name in indexed(leaf, shape)]

    def variables(z):
        tree = unravel(z)
        known = dict(zip(leaves, jax.tree_util.tree_leaves(tree), strict=True))
        return known if expand is None else {**known, **expand(tree)}

    return from_flat(
        lambda z: log_density(unravel(z)),
        names,
        jax.jit(jax.vmap(variables)),
        dims or {},
        coords or {},
        "JAX",
        hessian=hessian,
    )


def require_double_precision(jax: Any) -> None:
    """Refuses to compute with 32 bits, in which differences of log densities are noise."""
    if not jax.config.jax_enable_x64:
        raise ValueError(
            "JAX computes in 32 bits, which is too coarse for a log density; before the model is made, call "
            'jax.config.update("jax_enable_x64", True)'
        )


def from_flat(
    log_density: Callable[[Any], Any],
    names: Sequence[str],
    expand: Callable[[np.ndarray], Mapping[str, Any]],
    dims: Mapping[str, Sequence[str]],
    coords: Mapping[str, Any],
    kind: str,
    *,
    hessian: bool = False,
    log_likelihood: Callable[[np.ndarray], Mapping[str, Any]] | None = None,
) -> Model:
    """A model of a function of one flat vector; one compiled call per batch."""
    import jax

    def batches(function: Callable[[Any], tuple]) -> Callable[[np.ndarray], tuple[np.ndarray, ...]]:
        return in_batches(function, len(names))

    return from_batch(
        batches(jax.value_and_grad(log_density)),
        names=names,
        log_density=_first_of(batches(lambda z: (log_density(z),))),
        hessian=_first_of(batches(lambda z: (jax.hessian(log_density)(z),))) if hessian else None,
        expand=lambda z: _expanded(expand, z),
        dims=dims,
        coords=coords,
        log_likelihood=None if log_likelihood is None else lambda z: _expanded(log_likelihood, z),
        kind=kind,
    )


def _first_of(function: Callable[[np.ndarray], tuple]) -> Callable[[np.ndarray], Any]:
    """The first of the arrays that a function gives."""
    return lambda z: function(z)[0]


def in_batches(function: Callable[[Any], tuple], dim: int) -> Callable[[np.ndarray], tuple[np.ndarray, ...]]:
    """A function of points from one of a point of ``dim``, compiled for four numbers of points and no others."""
    import jax

    # Two factorisations of batches that XLA runs at once may wait for each other for ever where there are two threads.
    one_by_one = _factorises(jax.make_jaxpr(function)(np.zeros(dim)).jaxpr)
    compiled = jax.jit((lambda z: jax.lax.map(function, z)) if one_by_one else jax.vmap(function))

    def call(z: np.ndarray) -> tuple[np.ndarray, ...]:
        parts = []
        for start, end, size in _pieces(len(z)):
            piece = z[start:end]
            if end - start < size:
                piece = np.concatenate([piece, np.repeat(piece[-1:], size - (end - start), axis=0)])
            parts.append([np.asarray(array)[: end - start] for array in compiled(piece)])
        return tuple(parts[0]) if len(parts) == 1 else tuple(np.concatenate(arrays) for arrays in zip(*parts, strict=True))

    return call


_FACTORISATIONS = {"cholesky", "eig", "eigh", "geqrf", "householder_product", "lu", "qr", "schur", "svd", "triangular_solve"}


def _factorises(jaxpr: Any) -> bool:
    """Whether a program calls the linear algebra library, at any depth."""
    for equation in jaxpr.eqns:
        if equation.primitive.name in _FACTORISATIONS:
            return True
        for parameter in equation.params.values():
            for part in parameter if isinstance(parameter, (list, tuple)) else (parameter,):
                inner = getattr(part, "jaxpr", part)
                if hasattr(inner, "eqns") and _factorises(inner):
                    return True
    return False


def _pieces(n: int) -> list[tuple[int, int, int]]:
    """Where n points are cut, and the size that each piece is filled up to; every other size would be compiled anew."""
    pieces, start = [], 0
    while start < n:
        left = n - start
        size = 256 if left >= 128 else 32 if left > 8 else 8 if left > 1 else 1
        end = min(n, start + size)
        pieces.append((start, end, size))
        start = end
    return pieces


def _expanded(expand: Callable[[np.ndarray], Mapping[str, Any]], z: np.ndarray) -> dict[str, np.ndarray]:
    """The variables at points: draws come in few numbers, which are filled up to powers of two."""
    n = 1 << max(len(z) - 1, 0).bit_length()
    filled = z if n == len(z) else np.concatenate([z, np.repeat(z[-1:], n - len(z), axis=0)])
    return {key: np.asarray(array)[: len(z)] for key, array in expand(filled).items()}


def _leaves(jax: Any, tree: Any) -> dict[str, tuple[int, ...]]:
    """The shapes of the arrays of a tree, named by the way to them: groups.scale."""
    leaves = {}
    for path, leaf in jax.tree_util.tree_leaves_with_path(tree):
        keys = [str(getattr(key, "key", getattr(key, "idx", getattr(key, "name", key)))) for key in path]
        leaves[".".join(keys) or "z"] = np.shape(leaf)
    return leaves
