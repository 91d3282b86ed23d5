"""Models of JAX: a log density over a pytree of arrays, on the unconstrained scale."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ._missing import needs
from ._model import Model, from_batch, indexed


def from_jax(
    log_density: Callable[[Any], Any],
    start: Any,
    *,
    expand: Callable[[Any], Mapping[str, Any]] | None = None,
    dims: Mapping[str, Sequence[str]] | None = None,
    coords: Mapping[str, Any] | None = None,
) -> Model:
    """A model of ``log_density(tree)``, where ``start`` shows the shape of the tree; its values do not matter.

    ``expand(tree)`` adds quantities that are computed from a tree, such as ``{"tau": exp(tree["log_tau"])}``.
    """
    jax = needs("jax", "jax")
    from jax.flatten_util import ravel_pytree

    require_double_precision(jax)
    flat, unravel = ravel_pytree(jax.tree_util.tree_map(lambda leaf: jax.numpy.asarray(leaf, dtype="float64"), start))
    names = _names(jax, start)

    def variables(z):
        tree = unravel(z)
        known = dict(tree) if isinstance(tree, Mapping) else {"z": tree}
        return known if expand is None else {**known, **expand(tree)}

    return from_flat(
        lambda z: log_density(unravel(z)), names, jax.jit(jax.vmap(variables)), dims or {}, coords or {}, "JAX"
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
) -> Model:
    """A model of a function of one flat vector; one compiled call per batch."""
    import jax

    both = jax.jit(jax.vmap(jax.value_and_grad(log_density)))
    value = jax.jit(jax.vmap(log_density))
    return from_batch(
        lambda z: _unpadded(both(_padded(z)), len(z)),
        names=names,
        log_density=lambda z: value(_padded(z))[: len(z)],
        expand=lambda z: {key: np.asarray(array)[: len(z)] for key, array in expand(_padded(z)).items()},
        dims=dims,
        coords=coords,
        kind=kind,
    )


def _padded(z: np.ndarray) -> np.ndarray:
    """The points and copies of the last one, a power of two of them: every other number would be compiled anew."""
    n = 1 << max(len(z) - 1, 0).bit_length()
    return z if n == len(z) else np.concatenate([z, np.repeat(z[-1:], n - len(z), axis=0)])


def _unpadded(arrays: tuple[Any, Any], n: int) -> tuple[np.ndarray, np.ndarray]:
    value, gradient = arrays
    return np.asarray(value)[:n], np.asarray(gradient)[:n]


def _names(jax: Any, tree: Any) -> list[str]:
    names = []
    for path, leaf in jax.tree_util.tree_leaves_with_path(tree):
        keys = [str(getattr(key, "key", getattr(key, "idx", getattr(key, "name", key)))) for key in path]
        names += indexed(".".join(keys) or "z", np.shape(leaf))
    return names
