"""Regressions on Dask: partitions stay on their workers, draws go there and sums come back.

>>> import elinvar.dask                                         # doctest: +SKIP
>>> fit = elinvar.dask.fit("logistic", ddf, target="y")         # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from . import _elinvar
from ._fit import Fit
from ._fit import fit as fit_model
from ._missing import needs
from ._shards import MODELS, Plan, Shard, model, summary

# Seconds between looks whether somebody wants to stop, and that a scheduler may be silent before it counts as gone.
_LOOK = 0.5
_SILENT = 30.0


def _summary(number: int, part: Any, name: str, features: Sequence[str] | None, target: str) -> Any:
    try:
        return summary(part, name, features, target)
    except ValueError as error:
        raise ValueError(f"partition {number}: {error}") from None


def _answer(shard: Shard, request: bytes) -> bytes:
    return shard.answer(request)


class Gone(RuntimeError):
    """The scheduler does not answer any more."""


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
                    raise Gone("the Dask scheduler is gone; start it again and fit again") from None
                continue
            except (CancelledError, OSError):
                raise Gone("the Dask scheduler is gone; start it again and fit again") from None
            break
        del done
        try:
            yield from enumerate(self.client.gather(futures))
        except (CancelledError, OSError) as error:
            if self.client.status != "running" or isinstance(error, CancelledError):
                raise Gone("the Dask scheduler is gone; start it again and fit again") from None
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
    **options: Any,
) -> Fit:
    """Fits ``logistic``, ``linear`` or ``poisson`` to a Dask DataFrame, and judges the fit.

    Every partition is a shard: it is loaded once into the memory of its worker and stays there; each step sends draws
    and gets sums. The partitions of a worker that is lost are loaded again by Dask, and the fit goes on to the same
    bits: these depend on how the rows are partitioned, and not on workers or their number.

    Coefficients have the priors of ``elinvar fit``, scaled to the data, or N(0, ``prior_sd``²) in the units of the
    columns; ``client`` is that of Dask, by default the current one; ``options`` are those of ``elinvar.fit``.
    """
    needs("distributed", "dask")
    import dask
    from distributed import get_client

    if model_name not in MODELS:
        raise ValueError(f"there is no regression {model_name!r} over shards; there are {', '.join(MODELS)}")
    client = get_client() if client is None else client
    stop = _elinvar.Stop() if stop is None else stop
    asking = _Asking(client, stop)
    parts = ddf.to_delayed()
    summarise = dask.delayed(_summary, pure=False)
    looked = client.compute([summarise(k, part, model_name, features, target) for k, part in enumerate(parts)])
    plan = Plan.of(model_name, target, [of for _, of in asking.results(looked)], prior_sd)
    load = dask.delayed(Shard.of, pure=False)
    shards = client.compute([load(part, plan) for part in parts])

    def ask(request: bytes) -> Iterator[tuple[int, bytes]]:
        answers = client.map(_answer, shards, request=request, pure=False)
        asking.requests += 1
        asking.bytes_sent += len(request) * len(answers)
        for number, answer in asking.results(answers):
            asking.bytes_received += len(answer)
            yield number, answer

    sharded = model(plan, len(parts), ask, f"{len(parts)} partitions on Dask")
    fitted = fit_model(sharded, stop=stop, **options)
    fitted.traffic = {
        "requests": asking.requests,
        "bytes_sent": asking.bytes_sent,
        "bytes_received": asking.bytes_received,
    }
    return fitted
