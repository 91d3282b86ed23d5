"""Regressions on Dask: partitions stay on their workers, draws go there and sums come back.

>>> import elinvar.dask                                         # doctest: +SKIP
>>> fit = elinvar.dask.fit("logistic", ddf, target="y")         # doctest: +SKIP
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any
from uuid import uuid4

import numpy as np

from . import _elinvar
from ._fit import Fit
from ._fit import fit as fit_model
from ._missing import needs
from ._shards import MODELS, Plan, Rows, Shard, model, summary

# Seconds between looks whether somebody wants to stop, and that a scheduler may be silent before it counts as gone.
_LOOK = 0.5
_SILENT = 30.0


def _summary(number: int, part: Any, name: str, features: Sequence[str] | None, target: str) -> Any:
    try:
        return summary(part, name, features, target)
    except ValueError as error:
        raise ValueError(f"partition {number}: {error}") from None


def _request(request: bytes) -> bytes:
    return request


def _answer(shard: Shard, request: bytes) -> bytes:
    return shard.answer(request)


def is_collection(x: Any) -> bool:
    """Whether this is a Dask DataFrame, Series or array; nothing is imported to find out."""
    return type(x).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(x, "to_delayed")


def parts_of(x: Any, y: Any, names: Sequence[str], target: str) -> list[Any]:
    """The parts of features and a target that belong together, as delayed tables."""
    import dask
    import dask.array as da

    def blocks(of: Any) -> list[Any]:
        delayed = of.to_delayed()
        return list(delayed.ravel()) if hasattr(delayed, "ravel") else list(delayed)

    if not is_collection(y):
        raise TypeError(f"features are a Dask collection and the target is {type(y).__name__}; both must be Dask's")
    if hasattr(x, "rechunk"):
        x = x.rechunk({1: -1})
        if hasattr(y, "rechunk") and not np.isnan(x.chunks[0]).any():
            y = da.atleast_1d(y).rechunk((x.chunks[0],))
    xs, ys = blocks(x), blocks(y)
    if len(xs) != len(ys):
        raise ValueError(f"features have {len(xs)} partitions and the target {len(ys)}; give both the same partitions")
    join = dask.delayed(Rows, pure=False)
    return [join(names, a, b, target) for a, b in zip(xs, ys, strict=True)]


class Gone(RuntimeError):
    """The scheduler does not answer any more."""


_GONE = "the Dask scheduler is gone; start it again and fit again, with a journal from where it was"


class _Asking:
    """Futures of one kind, waited for so that a fit can be ended and a scheduler that is gone is noticed."""

    def __init__(self, client: Any, stop: _elinvar.Stop):
        self.client, self.stop = client, stop
        self.bytes_sent = self.bytes_received = self.requests = 0

    def results(self, futures: list[Any]) -> Iterator[tuple[int, Any]]:
        import time

        from distributed import CancelledError, wait

        heard = time.monotonic()
        while True:
            if self.stop.pulled:
                self.client.cancel(futures)
                raise KeyboardInterrupt("the fit was ended while its shards were asked")
            try:
                done = wait(futures, timeout=_LOOK)
            except TimeoutError:
                if self.client.status == "running":
                    heard = time.monotonic()
                if self.client.status == "closed" or time.monotonic() - heard > _SILENT:
                    raise Gone(_GONE) from None
                continue
            except (CancelledError, OSError):
                raise Gone(_GONE) from None
            break
        del done
        try:
            yield from enumerate(self.client.gather(futures))
        except (CancelledError, OSError) as error:
            if self.client.status != "running" or isinstance(error, CancelledError):
                raise Gone(_GONE) from None
            raise


def fit(
    model_name: str,
    ddf: Any,
    target: str,
    *,
    features: Sequence[str] | None = None,
    prior_sd: float | None = None,
    client: Any = None,
    stop: _elinvar.Stop | None = None,
    journal: str | os.PathLike | None = None,
    **options: Any,
) -> Fit:
    """Fits ``logistic``, ``linear`` or ``poisson`` to a Dask DataFrame, and judges the fit.

    Every partition is a shard: it is loaded once into the memory of its worker and stays there; each step sends draws
    and gets sums. The partitions of a worker that is lost are loaded again by Dask, and the fit goes on to the same
    bits: these depend on how the rows are partitioned, and not on workers or their number.

    Coefficients have the priors of ``elinvar fit``, scaled to the data, or N(0, ``prior_sd``²) in the units of the
    columns; ``client`` is that of Dask, by default the current one; ``options`` are those of ``elinvar.fit``.

    Ctrl-C or ``stop.pull()`` ends the fit. With ``journal``, a file, a fit that was ended by whatever (this process was
    killed, the scheduler was lost) goes on where it was when it is called again, and comes to the same bits.
    """
    return fit_parts(
        model_name,
        ddf.to_delayed(),
        target,
        features=features,
        prior_sd=prior_sd,
        client=client,
        stop=stop,
        journal=journal,
        **options,
    )


def fit_parts(
    model_name: str,
    parts: Sequence[Any],
    target: str,
    *,
    features: Sequence[str] | None = None,
    prior_sd: float | None = None,
    standardized: bool = False,
    client: Any = None,
    stop: _elinvar.Stop | None = None,
    journal: str | os.PathLike | None = None,
    **options: Any,
) -> Fit:
    """``fit`` of delayed tables; ``standardized`` is said of priors, as in ``elinvar.sklearn``."""
    needs("distributed", "dask")
    import dask
    from distributed import get_client

    if model_name not in MODELS:
        raise ValueError(f"there is no regression {model_name!r} over shards; there are {', '.join(MODELS)}")
    client = get_client() if client is None else client
    stop = _elinvar.Stop() if stop is None else stop
    asking = _Asking(client, stop)
    summarise = dask.delayed(_summary, name="elinvar-summary", pure=False)
    looked = client.compute([summarise(k, part, model_name, features, target) for k, part in enumerate(parts)])
    plan = Plan.of(model_name, target, [of for _, of in asking.results(looked)], prior_sd, standardized)
    load = dask.delayed(Shard.of, name="elinvar-load", pure=False)
    shards = client.compute([load(part, plan) for part in parts])

    def ask(request: bytes) -> Iterator[tuple[int, bytes]]:
        asking.requests += 1
        # By this name the dashboard counts them: as many tasks in each request as there are partitions.
        key = f"elinvar-sums-{uuid4().hex}"
        try:
            # A task of its own: it is sent once, and made again where it is lost.
            sent = client.submit(_request, request, key=f"elinvar-request-{uuid4().hex}", pure=False)
            answers = client.map(_answer, shards, [sent] * len(shards), key=key, pure=False)
        except Exception:
            if client.status != "running":
                raise Gone(_GONE) from None
            raise
        asking.bytes_sent += len(request) * len(answers)
        for number, answer in asking.results(answers):
            asking.bytes_received += len(answer)
            yield number, answer

    sharded = model(plan, len(parts), ask, f"{len(parts)} partitions on Dask", journal)
    fitted = fit_model(sharded, stop=stop, **options)
    fitted.traffic = {
        "requests": asking.requests,
        "bytes_sent": asking.bytes_sent,
        "bytes_received": asking.bytes_received,
    }
    fitted.plan = plan
    return fitted
