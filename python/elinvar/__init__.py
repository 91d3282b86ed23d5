"""elinvar: a log density in, a judged posterior out.

>>> import numpy as np, elinvar
>>> def banana(z):                      # log densities and gradients of a batch of points
...     bend = z[:, 1] - 0.3 * z[:, 0] ** 2
...     gradient = np.stack([-z[:, 0] / 4 + 0.6 * z[:, 0] * bend, -bend], axis=1)
...     return -z[:, 0] ** 2 / 8 - bend**2 / 2, gradient
>>> fit = elinvar.fit(elinvar.from_batch(banana, names=["x", "y"]), progress=False)
>>> fit.trusted
True
>>> fit.sample(1000)["y"].shape
(1000,)
"""

from typing import TYPE_CHECKING

from ._elinvar import Stop, __version__
from ._families import family
from ._fit import Fit, compare, fit, fit_in_background, load
from ._model import Model, from_address, from_batch, from_function
from ._recognise import as_model
from ._table import TableFit, fit_example, fit_table
from ._verdict import Verdict

if TYPE_CHECKING:
    from .jax import from_jax
    from .numpyro import from_numpyro
    from .pymc import from_pymc
    from .stan import from_stan
    from .torch import from_torch

__all__ = [
    "Fit",
    "Model",
    "Stop",
    "TableFit",
    "Verdict",
    "__version__",
    "as_model",
    "compare",
    "family",
    "fit",
    "fit_example",
    "fit_in_background",
    "fit_table",
    "from_address",
    "from_batch",
    "from_function",
    "from_jax",
    "from_numpyro",
    "from_pymc",
    "from_stan",
    "from_torch",
    "load",
]


def __getattr__(name):
    # Front ends are imported when they are used: none of them is needed by the others.
    if name == "from_jax":
        from .jax import from_jax as front_end
    elif name == "from_numpyro":
        from .numpyro import from_numpyro as front_end
    elif name == "from_pymc":
        from .pymc import from_pymc as front_end
    elif name == "from_stan":
        from .stan import from_stan as front_end
    elif name == "from_torch":
        from .torch import from_torch as front_end
    else:
        raise AttributeError(f"module 'elinvar' has no attribute {name!r}")
    return front_end
