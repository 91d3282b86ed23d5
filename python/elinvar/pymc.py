"""Models of PyMC, compiled by numba into a C function that a fit calls without Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._missing import needs
from ._model import Model, from_address, indexed


def from_pymc(model: Any) -> Model:
    """A model of ``pymc.Model``: its free variables and deterministics, with dims and coords, are in every result."""
    needs("pymc", "pymc")
    numba = needs("numba", "pymc")
    import pytensor.tensor as pt
    from pymc.model.transform.optimization import freeze_dims_and_data
    from pymc.pytensorf import compile as compile_graph
    from pytensor.graph.replace import clone_replace

    # Freezing changes the order of variables; results keep the user's.
    order = {variable.name: place for place, variable in enumerate(model.free_RVs)}
    coords = {name: np.asarray(values) for name, values in model.coords.items() if values is not None}
    dims = {name: list(of) for name, of in model.named_vars_to_dims.items()}
    model = freeze_dims_and_data(model)
    if model.discrete_value_vars:
        discrete = ", ".join(variable.name for variable in model.discrete_value_vars)
        raise ValueError(f"discrete variables cannot be fitted: {discrete}; sum them out")
    free = sorted(model.free_RVs, key=lambda variable: order[variable.name])
    if not free:
        raise ValueError("the model has no free variable")
    values = [model.rvs_to_values[variable] for variable in free]
    point = model.initial_point(random_seed=0)
    shapes = [np.shape(point[value.name]) for value in values]
    sizes = [int(np.prod(shape, dtype=int)) for shape in shapes]
    dim = sum(sizes)

    z = pt.TensorType("float64", shape=(dim,))("z")
    ends = np.cumsum(sizes)
    parts = {
        value: z[end - size : end].reshape(shape).astype(value.dtype)
        for value, end, size, shape in zip(values, ends, sizes, shapes, strict=True)
    }
    (log_density,) = clone_replace([model.logp()], parts)
    hidden = {value.name for variable, value in zip(free, values, strict=True) if value.name != variable.name}
    shown = [variable for variable in model.unobserved_value_vars if variable.name not in hidden]
    with model:
        both = compile_graph([z], [log_density, pt.grad(log_density, z)], mode="NUMBA")
        expanded = compile_graph([z], clone_replace(shown, parts), mode="NUMBA", on_unused_input="ignore")
    function = _c_function(numba, both.vm.jit_fn, dim)
    keys = [variable.name for variable in shown]

    def expand(points: np.ndarray) -> dict[str, np.ndarray]:
        rows = [expanded(row) for row in points]
        return {key: np.stack([row[place] for row in rows]) for place, key in enumerate(keys)}

    names = [
        name
        for value, shape in zip(values, shapes, strict=True)
        for name in indexed(value.name, shape)
    ]
    return from_address(
        function.address,
        names=names,
        keep_alive=(function, both),
        expand=expand,
        dims={name: of for name, of in dims.items() if name in keys},
        coords=coords,
        kind="PyMC",
    )


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
