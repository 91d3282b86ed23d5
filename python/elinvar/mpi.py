"""Regressions on MPI: every process keeps its shards, draws go there and sums come back.

    mpirun -n 4 python fit.py

with a ``fit.py`` in which every process reads its own part of the table:

>>> import elinvar.mpi                                                      # doctest: +SKIP
>>> fit = elinvar.mpi.fit("logistic", [pandas.read_parquet(path) for path in mine], target="y")  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._fit import Fit
from ._fit import fit as fit_model
from ._missing import needs
from ._model import Model
from ._shards import Plan, Shard, model, summary


def fit(
    model_name: str,
    parts: Sequence[Any],
    target: str,
    *,
    features: Sequence[str] | None = None,
    prior_sd: float | None = None,
    comm: Any = None,
    journal: Any = None,
    **options: Any,
) -> Fit | None:
    """Fits ``logistic``, ``linear`` or ``poisson`` to the parts of all processes; every process calls this.

    ``parts`` are the DataFrames of this process, each a shard; they are numbered in the order of the processes. The
    bits depend on these shards and not on who holds them. The fit is that of process 0, the others get ``None``. What
    is wrong in one process is raised in all. Once it is over the processes do not answer, so that draws and what is
    printed are those of the approximation. ``journal`` is a file of process 0 from which a fit that was ended goes on.
    """
    needs("mpi4py", "mpi4py")
    from mpi4py import MPI

    comm = MPI.COMM_WORLD if comm is None else comm
    summaries, problem = [], None
    counts = comm.allgather(len(parts))
    first = sum(counts[: comm.rank])
    try:
        for k, part in enumerate(parts, first):
            try:
                summaries.append(summary(part, model_name, features, target))
            except ValueError as error:
                raise ValueError(f"partition {k} (process {comm.rank}): {error}") from None
    except Exception as error:  # raised in all processes, once all are here
        problem = error
    _raised_together(comm, problem)
    known = [of for own in comm.allgather(summaries) for of in own]
    # The same numbers everywhere, and so the same plan or the same error.
    plan = Plan.of(model_name, target, known, prior_sd)
    shards = dict(enumerate((Shard.of(part, plan) for part in parts), first))
    if comm.rank > 0:
        _serve(comm, shards)
        return None

    def ask(request: bytes) -> list[tuple[int, bytes]]:
        comm.bcast(request, 0)
        answers = comm.gather(_answers(shards, request), 0)
        for process, answer in enumerate(answers):
            if isinstance(answer, Exception):
                raise RuntimeError(f"process {process} could not evaluate its shards: {answer}") from answer
        return [pair for answer in answers for pair in answer]

    error = None
    try:
        made = model(plan, len(known), ask, f"{comm.size} processes of MPI", journal)
        fitted = fit_model(made, **options)
        # Nobody answers any more: draws are those of the approximation, in the units of the columns.
        fitted._model = Model(None, made.core.names, plan.expand, kind=made.kind)
        return fitted
    except BaseException as raised:
        error = raised
        raise
    finally:
        comm.bcast(None, 0)
        comm.bcast(None if error is None else str(error) or type(error).__name__, 0)


def _serve(comm: Any, shards: dict[int, Shard]) -> None:
    """Answers requests until there are no more."""
    while (request := comm.bcast(None, 0)) is not None:
        comm.gather(_answers(shards, request), 0)
    if (problem := comm.bcast(None, 0)) is not None:
        raise RuntimeError(f"the fit of process 0 was ended: {problem}")


def _answers(shards: dict[int, Shard], request: bytes) -> Any:
    try:
        return [(number, shard.answer(request)) for number, shard in shards.items()]
    except Exception as error:  # sent to the process that fits
        return error


def _raised_together(comm: Any, problem: Exception | None) -> None:
    """Raises in every process what one of them has met."""
    for found in comm.allgather(problem):
        if found is not None:
            raise found
