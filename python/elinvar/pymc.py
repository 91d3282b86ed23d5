"""Models of PyMC, compiled by JAX into a function of batches or by numba into a C function."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ._missing import needs
from ._model import Model, from_address, from_batch, indexed
from ._packing import remembered

_BACKENDS = ("auto", "jax", "numba")


@remembered
def from_pymc(model: Any, *, backend: str = "auto") -> Model:
    """A model of ``pymc.Model``: its free variables and deterministics, with dims and coords, are in every result.

    ``backend`` is ``"numba"``, which is called without Python; ``"jax"``, which compiles in a fraction of the time; or
    ``"auto"``: JAX where it is installed and knows every operation of the model, otherwise numba.
    """
    needs("pymc", "pymc")
    if backend not in _BACKENDS:
        raise ValueError(f"backend is one of {', '.join(_BACKENDS)}, not {backend!r}")
    import pytensor.tensor as pt

    # Freezing changes the order of variables; results keep the user's.
    order = {variable.name: place for place, variable in enumerate([*model.free_RVs, *model.deterministics])}
    coords = {name: np.asarray(values) for name, values in model.coords.items() if values is not None}
    dims = {name: list(of) for name, of in model.named_vars_to_dims.items()}
    model = _frozen(model)
    if model.discrete_value_vars:
        discrete = ", ".join(variable.name for variable in model.discrete_value_vars)
        raise ValueError(f"discrete variables cannot be fitted: {discrete}; sum them out")
    for variable in model.free_RVs:
        if "wishart" in type(variable.owner.op).__name__.lower():
            raise ValueError(
                f"the variable {variable.name} has a Wishart law, which PyMC does not bring to the whole space: "
                "use pm.LKJCholeskyCov"
            )
    free = sorted(model.free_RVs, key=lambda variable: order[variable.name])
    if not free:
        raise ValueError("the model has no free variable")
    values = [model.rvs_to_values[variable] for variable in free]
    point = model.initial_point(random_seed=0)
    shapes = [np.shape(point[value.name]) for value in values]
    sizes = [int(np.prod(shape, dtype=int)) for shape in shapes]
    z = pt.TensorType("float64", shape=(sum(sizes),))("z")
    parts = {
        value: z[end - size : end].reshape(shape).astype(value.dtype)
        for value, end, size, shape in zip(values, np.cumsum(sizes), sizes, shapes, strict=True)
    }
    hidden = {value.name for variable, value in zip(free, values, strict=True) if value.name != variable.name}
    shown = [variable for variable in model.unobserved_value_vars if variable.name not in hidden]
    shown.sort(key=lambda variable: order.get(variable.name, len(order)))
    expand = _Batched(z, parts, {variable.name: variable for variable in shown})
    names = [name for value, shape in zip(values, shapes, strict=True) for name in indexed(value.name, shape)]
    wanted = {variable.name for variable in [*shown, *model.observed_RVs]}
    common = {
        "names": names,
        "expand": expand,
        "dims": {name: of for name, of in dims.items() if name in wanted and None not in of},
        "coords": coords,
        "log_likelihood": _log_likelihood(model, z, parts) if model.observed_RVs else None,
        "kind": "PyMC",
    }
    log_density = _log_density(model, parts)
    graph = [log_density, _gradient(log_density, z)]
    if backend == "jax" or (backend == "auto" and importlib.util.find_spec("jax") is not None):
        try:
            return from_batch(_by_jax(model, z, graph), **common)
        except Exception:  # noqa: BLE001 whatever it is that JAX cannot do, numba may
            if backend == "jax":
                raise
    function, owner = _by_numba(model, z, graph)
    return from_address(function.address, keep_alive=(function, owner), **common)


def _frozen(model: Any) -> Any:
    """A copy with fixed sizes and data, which a model with starts of its own does not give: a fit does not use them."""
    from pymc.model.transform.optimization import freeze_dims_and_data

    starts = model.rvs_to_initial_values
    model.rvs_to_initial_values = dict.fromkeys(starts)
    try:
        return freeze_dims_and_data(model)
    finally:
        model.rvs_to_initial_values = starts


def _log_density(model: Any, parts: Mapping[Any, Any]) -> Any:
    """The graph of the log density, which must not be random."""
    from pytensor.graph.replace import clone_replace
    from pytensor.tensor.random.op import RandomVariable

    (log_density,) = clone_replace([model.logp()], parts)
    for variable in _ancestors([log_density]):
        operation = getattr(variable.owner, "op", None)
        if "minibatch" in type(operation).__name__.lower():
            raise ValueError("pm.Minibatch makes the log density random: give the model all rows")
        if isinstance(operation, RandomVariable):
            raise ValueError(f"the log density depends on random draws of {operation}, and is another at every call")
    return log_density


def _ancestors(outputs: list[Any]) -> Any:
    try:
        from pytensor.graph.traversal import ancestors
    except ImportError:  # where it was before PyTensor 2.31
        from pytensor.graph.basic import ancestors
    return ancestors(outputs)


def _gradient(log_density: Any, z: Any) -> Any:
    import pytensor.tensor as pt
    from pytensor.gradient import NullTypeGradError

    try:
        return pt.grad(log_density, z)
    except (NotImplementedError, NullTypeGradError) as missing:
        raise ValueError(f"PyTensor has no gradient of the log density: {missing}") from missing


class _Batched:
    """Variables at points, by one function that is compiled when it is first called."""

    def __init__(self, z: Any, parts: Mapping[Any, Any], variables: Mapping[str, Any]):
        self._graph = z, parts, variables
        self._function: Callable[[np.ndarray], list[np.ndarray]] | None = None

    def __call__(self, points: np.ndarray) -> dict[str, np.ndarray]:
        z, parts, variables = self._graph
        if self._function is None:
            self._function = _vectorised(z, parts, list(variables.values()))
        found = zip(variables, self._function(points), strict=True)
        return {name: np.broadcast_to(array, (len(points), *np.shape(array)[1:])) for name, array in found}


def _vectorised(z: Any, parts: Mapping[Any, Any], variables: list[Any]) -> Callable[[np.ndarray], list[np.ndarray]]:
    """A function of points: of the graph for all of them, or, where PyTensor has none, of one after the other.

    It is not worth the compiler: a graph for all points takes about as long as to read the answer.
    """
    import pytensor
    import pytensor.tensor as pt
    from pytensor.graph.replace import clone_replace, vectorize_graph

    graph = clone_replace(variables, parts)
    options = {"mode": "FAST_COMPILE", "on_unused_input": "ignore"}
    single = pytensor.function([z], graph, **options)
    try:
        points = pt.TensorType("float64", shape=(None, z.type.shape[0]))("points")
        together = pytensor.function([points], vectorize_graph(graph, {z: points}), **options)
        probe = np.zeros((2, z.type.shape[0]))
        for one, both in zip(single(probe[0]), together(probe), strict=True):
            # What does not depend on z has no axis of points.
            if np.shape(both) != (2, *np.shape(one)):
                raise ValueError("a variable without an axis of points")
        return together
    except Exception:  # noqa: BLE001 not every operation has a form for many points
        return lambda points: [np.stack(column) for column in zip(*map(single, points), strict=True)]


def _log_likelihood(model: Any, z: Any, parts: Mapping[Any, Any]) -> Callable[[np.ndarray], dict[str, np.ndarray]]:
    """That of every observation at points, by observed variable."""
    made: list[_Batched] = []

    def call(points: np.ndarray) -> dict[str, np.ndarray]:
        if not made:
            graphs = model.logp(vars=model.observed_RVs, sum=False, jacobian=False)
            names = [variable.name for variable in model.observed_RVs]
            made.append(_Batched(z, parts, dict(zip(names, graphs, strict=True))))
        return made[0](points)

    return call


def _by_jax(model: Any, z: Any, graph: list[Any]) -> Callable[[np.ndarray], tuple[np.ndarray, ...]]:
    """The function of batches that JAX compiles; it has been called once."""
    from pymc.pytensorf import compile as compile_graph

    from .jax import in_batches, require_double_precision

    with model:
        compiled = compile_graph([z], graph, mode="JAX")
    import jax

    require_double_precision(jax)
    both = in_batches(lambda point: tuple(compiled.vm.jit_fn(point)), z.type.shape[0])
    both(np.zeros((1, z.type.shape[0])))
    return both


def _by_numba(model: Any, z: Any, graph: list[Any]) -> tuple[Any, Any]:
    """A C function that numba compiles, and what must live as long as it does."""
    numba = needs("numba", "pymc")
    from pymc.pytensorf import compile as compile_graph

    with model:
        both = compile_graph([z], graph, mode="NUMBA")
    return _c_function(numba, both.vm.jit_fn, z.type.shape[0]), both


def _c_function(numba: Any, compiled: Any, dim: int) -> Any:
    """A function of numba behind the C signature of ``from_address``; an exception is a failed evaluation."""
    double = numba.types.CPointer(numba.types.double)
    signature = numba.types.int32(numba.types.uintp, double, double, double, numba.types.voidptr)

    @numba.cfunc(signature)
    def log_density(n, z, gradient, value, user):
        try:
            log_p, slope = compiled(numba.carray(z, (dim,)))
            numba.carray(value, (1,))[0] = log_p.item()
            numba.carray(gradient, (dim,))[:] = slope
        except Exception:  # noqa: BLE001 numba knows no other kind
            return 1
        return 0

    return log_density
