"""Regressions whose rows are elsewhere: what is done where a shard is, and what is done with its answers.

Whoever holds a shard calls three functions of this module: ``summary`` of its rows, ``Shard`` to keep them, and its
``answer`` to a request; requests and answers are bytes. ``Plan`` of all summaries says how columns are scaled, and
``model`` makes of a function that asks every shard a model that ``elinvar.fit`` takes. Sums are added in the order of
the shards' numbers, by pairs, so that the bits do not depend on where shards are or who answers first.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _elinvar
from ._model import Model

MODELS = ("logistic", "linear", "poisson")
# Prior standard deviations of the linear predictor that one standard deviation of a column is worth.
_WIDTH = 2.5


@dataclass(frozen=True)
class Summary:
    """What is known of the rows of a shard."""

    columns: tuple[str, ...]
    rows: int
    mean: np.ndarray
    squares: np.ndarray
    least: np.ndarray
    most: np.ndarray


class Rows:
    """Columns and target as a table that ``table`` takes, where there is no DataFrame."""

    def __init__(self, names: Sequence[str], x: Any, y: Any, target: str):
        self.columns = [*names, target]
        x, y = np.asarray(x), np.asarray(y)
        if x.ndim != 2 or y.shape != (len(x),) or x.shape[1] != len(names):
            raise ValueError(f"features of shape {x.shape} do not go with a target of shape {y.shape}")
        self._of = dict(zip(self.columns, [*x.T, y], strict=True))

    def __getitem__(self, name: str) -> np.ndarray:
        return self._of[name]

    def __len__(self) -> int:
        return len(self._of[self.columns[-1]])


def table(part: Any, features: Sequence[str] | None, target: str) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    """Names of the features, the features and the target of a part of a table, as float64."""
    columns = [str(name) for name in part.columns]
    if target not in columns:
        raise ValueError(f"there is no column {target!r}; the columns are {', '.join(columns)}")
    names = tuple(columns[k] for k in range(len(columns)) if columns[k] != target) if features is None else tuple(features)
    absent = [name for name in names if name not in columns]
    if absent:
        raise ValueError(f"there is no column {absent[0]!r}; the columns are {', '.join(columns)}")
    numbers = {}
    for name in (*names, target):
        column = np.asarray(part[name])
        if column.dtype.kind not in "biuf":
            raise ValueError(f"column {name!r} holds {column.dtype}, not numbers; make numbers of it or leave it out")
        numbers[name] = column.astype(np.float64)
        bad = np.flatnonzero(~np.isfinite(numbers[name]))
        if bad.size:
            raise ValueError(f"column {name!r}, row {bad[0]}: {numbers[name][bad[0]]} is not a finite number")
    x = np.column_stack([numbers[name] for name in names]) if names else np.empty((len(part), 0))
    return names, x, numbers[target]


def summary(part: Any, model: str, features: Sequence[str] | None, target: str) -> Summary:
    """Moments and ranges of the columns, the target as the last."""
    names, x, y = table(part, features, target)
    if len(y) == 0:
        raise ValueError("there are no rows; drop empty partitions, for example by repartition")
    if model == "logistic" and not (np.isin(y, (0.0, 1.0)).all() or np.isin(y, (-1.0, 1.0)).all()):
        raise ValueError(f"column {target!r} holds other labels than 0 and 1, or -1 and 1")
    if model == "poisson" and not ((y >= 0) & (y == np.floor(y))).all():
        raise ValueError(f"column {target!r} holds numbers that are no counts 0, 1, 2, ...")
    rows = np.column_stack([x, y])
    mean = rows.mean(axis=0)
    return Summary(names, len(y), mean, ((rows - mean) ** 2).sum(axis=0), rows.min(axis=0), rows.max(axis=0))


@dataclass(frozen=True)
class Plan:
    """How all shards are made: scales of columns, priors, rows of all."""

    model: str
    target: str
    columns: tuple[str, ...]
    shift: np.ndarray
    scale: np.ndarray
    low: float
    rows: int
    prior_mean: np.ndarray
    prior_sd: np.ndarray
    noise: tuple[str, float] | None
    # What is subtracted from the target of a linear regression, and what the rest is divided by.
    origin: float
    unit: float
    # By which a journal tells these shards from others.
    subject: str

    @staticmethod
    def of(
        model: str, target: str, summaries: Sequence[Summary], prior_sd: float | None, standardized: bool = False
    ) -> Plan:
        """The plan for these shards, in their order.

        ``prior_sd`` holds for coefficients in the units of the columns or, if ``standardized``, for those of columns
        (and of the target of a linear regression) with mean 0 and standard deviation 1.
        """
        if model not in MODELS:
            raise ValueError(f"there is no regression {model!r} over shards; there are {', '.join(MODELS)}")
        if not summaries:
            raise ValueError("there are no partitions")
        first = summaries[0]
        for k, of in enumerate(summaries):
            if of.columns != first.columns:
                different = sorted(set(of.columns) ^ set(first.columns)) or ["their order"]
                raise ValueError(f"partition {k} has other columns than partition 0: {', '.join(different)}")
        n, mean, squares = 0, np.zeros_like(first.mean), np.zeros_like(first.mean)
        for of in summaries:
            # Two sets of rows with their own means make one (Chan, Golub and LeVeque 1979).
            apart, total = of.mean - mean, n + of.rows
            squares = squares + of.squares + apart**2 * (n * of.rows / total)
            mean, n = mean + apart * (of.rows / total), total
        least, most = np.min([of.least for of in summaries], axis=0), np.max([of.most for of in summaries], axis=0)
        if model == "logistic" and least[-1] == most[-1]:
            raise ValueError(f"column {target!r} is {least[-1]:g} in every row of every partition: there is one class")
        if model == "logistic" and least[-1] == -1.0 and any((of.least[-1] == 0.0) for of in summaries):
            raise ValueError(f"column {target!r} holds labels 0 and 1 in some partitions and -1 and 1 in others")
        if model != "logistic" and least[-1] == most[-1]:
            raise ValueError(f"column {target!r} is {least[-1]:g} in every row: there is nothing to explain")
        constant = np.flatnonzero(least[:-1] == most[:-1])
        if constant.size:
            name = first.columns[constant[0]]
            raise ValueError(f"column {name!r} is {least[constant[0]]:g} in every row, like the intercept; leave it out")
        sd = np.sqrt(squares / max(n - 1, 1))
        d = len(first.columns)
        origin, unit = 0.0, 1.0
        if standardized:
            sd = np.sqrt(squares / n)
            shift, scale, centre, width, noise = mean[:-1], sd[:-1], 0.0, float(prior_sd), ("half_cauchy", 1.0)
            origin, unit = (mean[-1], sd[-1]) if model == "linear" else (origin, unit)
        elif prior_sd is not None:
            shift, scale, centre, width = np.zeros(d), np.ones(d), 0.0, float(prior_sd)
            noise = ("half_cauchy", 2.5)
        else:
            linear = model == "linear"
            shift, scale = mean[:-1], sd[:-1]
            centre, width = (mean[-1], _WIDTH * sd[-1]) if linear else (0.0, _WIDTH)
            noise = ("exponential", 1.0 / sd[-1])
        prior_mean = np.concatenate([[centre], np.zeros(d)])
        prior_noise = noise if model == "linear" else None
        widths = np.full(d + 1, width)
        known = (of.rows.to_bytes(8, "little") + of.mean.tobytes() + of.squares.tobytes() for of in summaries)
        settings = repr((model, target, first.columns, prior_sd, standardized, len(summaries)))
        subject = hashlib.sha256(settings.encode() + b"".join(known)).hexdigest()
        return Plan(
            model,
            target,
            first.columns,
            shift,
            scale,
            least[-1],
            n,
            prior_mean,
            widths,
            prior_noise,
            origin,
            unit,
            subject,
        )

    @property
    def names(self) -> list[str]:
        """Names of the coefficients."""
        return ["intercept", *self.columns]

    def core(self, x: np.ndarray, y: np.ndarray) -> Any:
        """The compiled model of some rows."""
        scaled = np.column_stack([np.ones(len(y)), (x - self.shift) / self.scale])
        y = np.where(y == self.low, -1.0, 1.0) if self.model == "logistic" else (y - self.origin) / self.unit
        prior = (self.prior_mean.tolist(), self.prior_sd.tolist())
        return _elinvar.Model.part(self.model, self.names, scaled, y, prior, self.noise, self.rows)

    def expand(self, z: np.ndarray) -> dict[str, np.ndarray]:
        """Coefficients in the units of the columns, and sigma."""
        slopes = self.unit * z[:, 1 : len(self.columns) + 1] / self.scale
        variables = {"intercept": self.origin + self.unit * z[:, 0] - slopes @ self.shift}
        variables |= {name: slopes[:, j].copy() for j, name in enumerate(self.columns)}
        return variables | ({"sigma": self.unit * np.exp(z[:, -1])} if self.model == "linear" else {})


class Shard:
    """The rows of a part of a table, kept where they are asked. It can be moved, but should not have to be."""

    def __init__(self, plan: Plan, x: np.ndarray, y: np.ndarray):
        self._made = (plan, x, y)
        self._core = plan.core(x, y)

    @staticmethod
    def of(part: Any, plan: Plan) -> Shard:
        _, x, y = table(part, plan.columns, plan.target)
        return Shard(plan, x, y)

    def answer(self, request: bytes) -> bytes:
        """The sums over the rows that a request asks for."""
        return self._core.answer(request)

    def __reduce__(self):
        return Shard, self._made

    def __sizeof__(self) -> int:
        return 2 * (self._made[1].nbytes + self._made[2].nbytes)


def model(
    plan: Plan,
    shards: int,
    ask: Callable[[bytes], Iterable[tuple[int, bytes]]],
    kind: str,
    journal: str | os.PathLike | None = None,
) -> Model:
    """A model of shards: ``ask`` has every one answer a request, and gives their numbers and answers in any order.

    Sums are kept in the file ``journal``: a fit that was ended, by whatever, and begins again with the same shards asks
    for none of them twice, and comes to the same bits.
    """
    # What one row says of itself is what all say.
    one = plan.core((plan.shift + plan.scale)[None, :], np.array([1.0 if plan.model == "poisson" else plan.low]))
    kept = None if journal is None else (os.fspath(journal), plan.subject)
    core = _elinvar.Model.shards(one, shards, plan.rows, ask, kept)
    return Model(core, core.names, plan.expand, kind=kind)
