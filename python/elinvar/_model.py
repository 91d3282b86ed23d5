"""Models: a log density on R^d with its gradient, and the way back to the variables that a user knows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _elinvar
from ._packing import made_again, remembered

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Model:
    """What every front end makes of a model.

    ``core`` is asked for log densities and gradients at points z of R^d, ``expand`` turns points of shape (n, d) into a
    dictionary of the user's variables, each of shape (n, ...), with ``dims`` and ``coords`` as ArviZ has them. Entries
    of arrays are named from ``first_index`` on. ``log_likelihood``, where there is one, gives that of every observation
    at such points, by observed variable. ``origin`` is the call that has made it, which pickles hold.
    """

    core: Any
    names: Sequence[str]
    expand: Callable[[np.ndarray], Mapping[str, Any]] | None = None
    dims: Mapping[str, Sequence[str]] = field(default_factory=dict)
    coords: Mapping[str, Any] = field(default_factory=dict)
    kind: str = "function"
    first_index: int = 0
    log_likelihood: Callable[[np.ndarray], Mapping[str, Any]] | None = None
    origin: tuple[Callable[..., Any], tuple, Mapping[str, Any]] | None = field(default=None, compare=False)

    @property
    def dim(self) -> int:
        return len(self.names)

    def variables(self, z: np.ndarray) -> Arrays:
        """The user's variables at the points z of shape (n, d)."""
        if self.expand is None:
            return {name: z[:, i].copy() for i, name in enumerate(self.names)}
        return {name: np.asarray(value) for name, value in self.expand(z).items()}

    def log_density(self, z) -> tuple[np.ndarray, np.ndarray]:
        """Log densities and gradients at the points z of shape (n, d), as a fit sees them."""
        return _elinvar.evaluate(self.core, np.atleast_2d(np.asarray(z, dtype=np.float64)))

    def __reduce__(self):
        if self.origin is None:
            raise TypeError(f"a model of {self.kind} cannot be pickled: make it again where it is needed")
        return made_again, self.origin

    def __repr__(self):
        return f"<elinvar.Model of {self.kind}, {self.dim} coordinates>"


def coordinate_names(names: Sequence[str] | None, dim: int | None) -> list[str]:
    """The names given, or z1, z2, ...; one of the two must say how many there are."""
    if names is None:
        if dim is None:
            raise TypeError("say how many coordinates the model has: dim=..., or names=[...]")
        return [f"z{i + 1}" for i in range(dim)]
    names = [str(name) for name in names]
    if dim is not None and dim != len(names):
        raise ValueError(f"dim is {dim}, but there are {len(names)} names")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {twice!r} stands for two coordinates")
    return names


def indexed(name: str, shape: tuple[int, ...], first: int = 0) -> list[str]:
    """The names of the entries of an array: alpha, or alpha[0], alpha[1], ..."""
    if shape == ():
        return [name]
    return [f"{name}[{','.join(str(i + first) for i in index)}]" for index in np.ndindex(*shape)]


def _pair(answer: Any, wanted: str) -> tuple[Any, Any]:
    """The two things that a function must return."""
    try:
        value, gradient = answer
    except (TypeError, ValueError):
        found = f"an array of shape {np.shape(answer)}" if hasattr(answer, "shape") else f"{type(answer).__name__}"
        raise TypeError(f"the function must return a pair, {wanted}; it gave {found}") from None
    return value, gradient


def _warn_of_single_precision(value: Any, gradient: Any) -> None:
    """Says that seven digits are few for a log density, of which differences are taken."""
    kinds = {what: str(getattr(array, "dtype", "")) for what, array in (("densities", value), ("gradients", gradient))}
    single = [what for what, kind in kinds.items() if kind.endswith(("float32", "float16"))]
    if single:
        warnings.warn(
            f"the function gives {' and '.join(single)} in single precision, whose rounding a fit sees as noise: "
            "compute in float64",
            stacklevel=2,
        )


@remembered
def from_batch(
    log_density_and_gradient: Callable[[np.ndarray], tuple[Any, Any]],
    dim: int | None = None,
    *,
    log_density: Callable[[np.ndarray], Any] | None = None,
    hessian: Callable[[np.ndarray], Any] | None = None,
    names: Sequence[str] | None = None,
    expand: Callable[[np.ndarray], Mapping[str, Any]] | None = None,
    dims: Mapping[str, Sequence[str]] | None = None,
    coords: Mapping[str, Any] | None = None,
    log_likelihood: Callable[[np.ndarray], Mapping[str, Any]] | None = None,
    kind: str = "a batch function",
) -> Model:
    """A model of a function on batches: z of shape (n, d) gives log densities (n,) and gradients (n, d).

    ``log_density``, if it is given, is called where gradients are not needed; ``hessian``, if it is given, turns points
    into second derivatives (n, d, d). ``log_likelihood`` turns points into a dictionary of arrays (n, ...), the log
    likelihoods of observations, for ``to_arviz``.
    """
    names = coordinate_names(names, dim)

    said = False

    # Fits look at places so far out that exponentials overflow there. What comes of it is dropped and counted.
    quiet = np.errstate(over="ignore", invalid="ignore", divide="ignore")

    @quiet
    def both(z):
        nonlocal said
        value, gradient = _pair(log_density_and_gradient(z), "log densities (n,) and gradients (n, d)")
        if not said:
            said = True
            _warn_of_single_precision(value, gradient)
        return np.asarray(value, dtype=np.float64), np.asarray(gradient, dtype=np.float64)

    @quiet
    def value(z):
        return np.asarray(log_density(z), dtype=np.float64)

    @quiet
    def second(z):
        return np.asarray(hessian(z), dtype=np.float64)

    core = _elinvar.Model.batch(
        names, both, None if log_density is None else value, None if hessian is None else second
    )
    return Model(core, names, expand, dims or {}, coords or {}, kind, log_likelihood=log_likelihood)


@remembered
def from_function(
    log_density_and_gradient: Callable[[np.ndarray], tuple[float, Any]],
    dim: int | None = None,
    *,
    names: Sequence[str] | None = None,
    expand: Callable[[np.ndarray], Mapping[str, Any]] | None = None,
    dims: Mapping[str, Sequence[str]] | None = None,
    coords: Mapping[str, Any] | None = None,
) -> Model:
    """A model of a function on single points: z of shape (d,) gives a number and a gradient (d,).

    A call of Python for every point costs more than most densities: a function on batches (``from_batch``) is faster.
    """

    def both(z):
        pairs = [_pair(log_density_and_gradient(point), "a log density and a gradient (d,)") for point in z]
        return [value for value, _ in pairs], np.stack([np.asarray(gradient) for _, gradient in pairs])

    return from_batch(both, dim, names=names, expand=expand, dims=dims, coords=coords, kind="a function")


def from_address(
    address: int,
    dim: int | None = None,
    *,
    user_data: int = 0,
    keep_alive: Any = None,
    names: Sequence[str] | None = None,
    expand: Callable[[np.ndarray], Mapping[str, Any]] | None = None,
    dims: Mapping[str, Sequence[str]] | None = None,
    coords: Mapping[str, Any] | None = None,
    log_likelihood: Callable[[np.ndarray], Mapping[str, Any]] | None = None,
    kind: str = "a C function",
) -> Model:
    """A model of a C function, such as a numba ``cfunc``, called without Python.

    Its signature is ``int f(size_t dim, const double *z, double *gradient, double *log_density, void *user_data)``; it
    returns 0 where all went well, must not keep the pointers and may be called from any thread. ``keep_alive`` is held
    as long as the model is.
    """
    names = coordinate_names(names, dim)
    core = _elinvar.Model.address(names, address, user_data, keep_alive)
    return Model(core, names, expand, dims or {}, coords or {}, kind, log_likelihood=log_likelihood)
