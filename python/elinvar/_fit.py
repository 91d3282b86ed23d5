"""The fit: its call, its result, and what is made of it."""

from __future__ import annotations

import json
import os
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _elinvar
from ._families import family as family_with_options
from ._model import Arrays, Model, indexed
from ._packing import packed, unpacked
from ._progress import Progress
from ._recognise import as_model
from ._regression import Regression
from ._verdict import TRUSTED, Verdict

_JUDGED_DRAWS = 10_000


def fit(
    model: Any,
    family: str = "auto",
    *,
    seed: int = 1,
    tolerance: float = 0.01,
    max_seconds: float | None = None,
    max_gradients: int | None = None,
    restarts: int = 1,
    correct: bool | None = None,
    mean_within: float | None = None,
    progress: bool = True,
    callback: Callable[[Mapping[str, Any]], object] | None = None,
    stop: _elinvar.Stop | None = None,
    args: tuple = (),
    kwargs: Mapping[str, Any] | None = None,
    dim: int | None = None,
    start: Any = None,
    data: Any = None,
) -> Fit:
    """Fits ``family`` to ``model``, corrects it where that is needed, and judges the answer.

    ``model`` is a PyMC or Bambi model, a NumPyro function (with ``args`` and ``kwargs``), a Stan program (with
    ``data``), a log density of ``dim`` coordinates (by PyTorch, JAX, a ``cfunc`` of numba, or NumPy on batches) or of a
    tree of JAX like ``start``, or what one of the functions ``elinvar.from_...`` has made, which know more. ``family``
    is a name, or ``elinvar.family(name, ...)`` for one with options.

    ``tolerance`` is in nats. ``max_seconds`` and ``max_gradients`` are limits of fit and chains together. Under
    ``auto`` chains on the model correct what importance weights do not confirm; ``correct=True`` asks for them in any
    case and for every family, ``correct=False`` gives the approximation as it is. ``mean_within=0.02`` lets chains go
    on until every mean is within so many standard deviations, where a verdict asks for 0.1. ``callback`` is called with
    a dictionary about the last step, or about the last round of chains, at most ten times a second; an exception that
    it raises ends the fit. Ctrl-C, or ``stop.pull()`` from another thread, ends the fit with what it has.
    """
    made = as_model(model, args, dict(kwargs or {}), dim=dim, start=start, data=data)
    named = family if family.startswith("{") else family_with_options(family)
    limits: dict[str, Any] = {"remaining_nats": float(tolerance)}
    if max_seconds is not None:
        limits["max_seconds"] = float(max_seconds)
    if max_gradients is not None:
        limits["max_evaluations"] = int(max_gradients)
    if mean_within is not None:
        limits["mean_within"] = float(mean_within)
    for name, value in [("tolerance", tolerance), ("max_seconds", max_seconds), ("mean_within", mean_within)]:
        if value is not None and not np.isfinite(value):
            raise ValueError(f"{name} must be a finite number, not {value}")
    asked = {None: "where_needed", True: "always", False: "never"}[correct]
    plan = json.dumps({"seed": seed, "restarts": restarts, "stop": limits, "correct": asked})
    handle = _elinvar.Stop() if stop is None else stop
    with Progress(progress, callback) as shown:
        core = _elinvar.fit(made.core, named, plan, _JUDGED_DRAWS, handle, shown.observer)
    return Fit(core, made)


class Background:
    """A fit in a thread of its own: ``stop()`` ends it with what it has, ``result()`` waits for it."""

    def __init__(self, model: Any, family: str, options: dict[str, Any]):
        self._stop = _elinvar.Stop()
        self._fit: Fit | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(model, family, options), daemon=True)
        self._thread.start()

    def _run(self, model: Any, family: str, options: dict[str, Any]) -> None:
        try:
            self._fit = fit(model, family, stop=self._stop, **{"progress": False, **options})
        except BaseException as error:  # handed to whoever asks for the result
            self._error = error

    @property
    def done(self) -> bool:
        return not self._thread.is_alive()

    def stop(self) -> None:
        self._stop.pull()

    def result(self, timeout: float | None = None) -> Fit:
        self._thread.join(timeout)
        if self._thread.is_alive():
            raise TimeoutError(f"the fit was not over after {timeout} seconds")
        if self._error is not None:
            raise self._error
        assert self._fit is not None
        return self._fit


def fit_in_background(model: Any, family: str = "auto", **options: Any) -> Background:
    """``fit`` in a thread of its own; returns at once."""
    return Background(model, family, options)


class Fit:
    """A posterior with its verdict.

    Everything is on the scale of the user's variables; ``z`` stands for the unconstrained coordinates of the fit.
    """

    def __init__(self, core: Any, model: Model | None = None):
        self._core = core
        self._model = model
        self._packed: bytes | None = None

    @property
    def model(self) -> Model | None:
        """The model that was fitted; that of a fit from a pickle is made again when it is first needed."""
        if self._model is None and self._packed is not None:
            self._model, self._packed = unpacked(self._packed), None
        return self._model

    # The verdict.

    @property
    def verdict(self) -> Verdict | None:
        """``trust``, ``trust_means_only``, ``do_not_trust``, or nothing for a fit that was interrupted.

        It is a word that knows why: ``fit.verdict.trusted``, ``fit.verdict.reason``, ``fit.verdict.numbers``.
        """
        record = self.record
        return Verdict(record["verdict"], record) if "verdict" in record else None

    @property
    def reason(self) -> str | None:
        """Why, in a sentence with numbers."""
        return self.record.get("reason")

    @property
    def trusted(self) -> bool:
        """Whether every mean is within 0.1 sd and every sd within 15 %, as far as can be seen."""
        return self.verdict == TRUSTED

    @property
    def interrupted(self) -> bool:
        """Whether it was ended before its time."""
        return self._core.interrupted

    @property
    def record(self) -> dict[str, Any]:
        """Family, why the fit stopped, evaluations, seconds, verdict, and what draws and chains found."""
        return self._core.record

    # Numbers.

    @property
    def elbo(self) -> float | None:
        """The evidence lower bound of the approximation, by fresh draws, where it was judged by them."""
        return self.record.get("elbo")

    @property
    def given_by(self) -> str:
        """Where the answers come from: ``chains`` on the model, importance ``weights``, or the ``approximation``."""
        return self.record["given_by"]

    def draws(self, n: int = 4000, seed: int = 1, *, weighted: bool = True) -> np.ndarray:
        """Points z of shape (n, d) from where the answers come from; ``weighted=False``: of the approximation as it is.

        Weighted draws need the model: a fit that was loaded without it has draws of the approximation.
        """
        if not weighted:
            return self._core.sample(n, seed)[0]
        return self._core.draws(n, seed, None if self.model is None else self.model.core)

    def sample(self, n: int = 4000, seed: int = 1, *, weighted: bool = True) -> Arrays:
        """Draws of the user's variables, each of shape (n, ...): of the answer, which chains or importance weights have
        corrected, or with ``weighted=False`` of the approximation as it is."""
        return self._variables(self.draws(n, seed, weighted=weighted))

    def __getitem__(self, name: str) -> np.ndarray:
        """4000 draws of one variable, the same as ``fit.sample()[name]``."""
        variables = self.sample()
        if name not in variables:
            raise KeyError(f"there is no variable {name!r}; there are {', '.join(variables)}")
        return variables[name]

    # A fit is no sequence of its draws.
    __iter__ = None

    @property
    def modes(self) -> list[dict[str, Any]]:
        """Where the posterior has several modes and chains were run on each: the ``share`` of the mass with its error
        (``share_se``), the largest first, and the user's variables at the mean of the mode (``at``)."""
        found = sorted(self._core.modes, key=lambda mode: -mode["share"])
        at = [{name: value[0] for name, value in self._variables(mode.pop("mean")[None]).items()} for mode in found]
        return [{**mode, "at": values} for mode, values in zip(found, at, strict=True)]

    def log_prob(self, z) -> np.ndarray:
        """log q of the approximation at points z of shape (n, d), on the unconstrained scale."""
        return self._core.log_density(np.atleast_2d(np.asarray(z, dtype=np.float64)))

    @property
    def mean(self) -> np.ndarray:
        """Mean of the approximation on the unconstrained scale."""
        return self._core.mean

    @property
    def covariance(self) -> np.ndarray:
        """Covariance of the approximation on the unconstrained scale."""
        return self._core.covariance

    def _variables(self, z: np.ndarray) -> Arrays:
        if self.model is None:
            return {name: z[:, i].copy() for i, name in enumerate(self._core.names)}
        return self.model.variables(z)

    def rows(self, n: int = 4000, seed: int = 1, quantiles: Sequence[float] = ()) -> list[dict[str, Any]]:
        """Name, mean, sd and 5, 50 and 95 % quantiles of every number, on the scale of the user's variables.

        A variable that is a coordinate of the fit has the numbers of the answer with their errors (``mean_se``, ...);
        the others are summaries of draws, their means by regression on the coordinates where chains know the means of
        these better than draws do. So are further ``quantiles``: ``(0.025, 0.975)`` adds ``q2.5`` and ``q97.5``.
        """
        if not all(0 < p < 1 for p in quantiles):
            raise ValueError(f"quantiles are between 0 and 1, as 0.025 is; these are {tuple(quantiles)}")
        further = {f"q{100 * p:g}": p for p in quantiles if f"q{100 * p:g}" not in ("q5", "q50", "q95")}
        exact = {row["name"]: row for row in self._core.answer(n, seed)}
        z = self.draws(n, seed)
        rows, names = [], self._core.names
        first = 0 if self.model is None else self.model.first_index
        regression = Regression(z, list(exact.values())) if self.given_by == "chains" else None
        for name, values in self._variables(z).items():
            flat = values.reshape(len(values), -1)
            for label, column in zip(indexed(name, values.shape[1:], first), flat.T, strict=True):
                added = {key: float(np.quantile(column, p)) for key, p in further.items()}
                known = exact.get(label)
                if known is not None and np.array_equal(column, z[:, names.index(label)]):
                    rows.append(known | added)
                    continue
                q5, q50, q95 = np.quantile(column, [0.05, 0.5, 0.95])
                mean = column.mean() if regression is None else regression.mean_of(column)
                row = {"name": label, "mean": mean, "sd": column.std(ddof=1), "q5": q5, "q50": q50, "q95": q95}
                rows.append({key: value if key == "name" else float(value) for key, value in row.items()} | added)
        return rows

    def summary(self, n: int = 4000, seed: int = 1, quantiles: Sequence[float] = ()) -> Any:
        """``rows`` as a DataFrame where pandas is installed, as a list otherwise."""
        rows = self.rows(n, seed, quantiles)
        try:
            import pandas
        except ModuleNotFoundError:
            return rows
        return pandas.DataFrame(rows).set_index("name")

    def to_arviz(self, n: int = 4000, seed: int = 1) -> Any:
        """An ArviZ DataTree: ``posterior`` in the user's variables, ``unconstrained_posterior``, the verdict in attrs."""
        from ._arviz import to_arviz

        return to_arviz(self, n, seed)

    def report(self, path: str | os.PathLike, title: str | None = None) -> None:
        """Writes a report, one HTML page that needs nothing else: verdict, parameters, pictures, the course of the fit.

        Its parameters are the unconstrained coordinates of the fit. The draws of the verdict are evaluated again.
        """
        if self.model is None:
            raise ValueError("a report evaluates the model again: load the fit with its model, elinvar.load(path, model)")
        what = title or f"A model of {len(self.mean)} coordinates from Python"
        page = self._core.report(self.model.core, what, f"elinvar.fit(model, seed={self._core.seed})")
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)

    def initial_points(self, n: int = 4, seed: int = 1) -> np.ndarray:
        """Starts for the chains of a sampler: draws of the answer on the unconstrained scale, of shape (n, d).

        ``covariance`` is the inverse mass matrix that goes with them.
        """
        return self.draws(n, seed)

    # Keeping.

    def save(self, path: str | os.PathLike) -> None:
        """Writes one self-contained file that ``elinvar.load`` and the command line read."""
        self._core.save(os.fspath(path))

    def __reduce__(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "fit.json")
            self._core.save(path)
            with open(path, "rb") as file:
                content = file.read()
        return _restored, (content, self._packed or packed(self._model))

    # Looking.

    @property
    def _unjudged(self) -> str:
        return "interrupted, not judged" if self.interrupted else "not judged"

    def __repr__(self) -> str:
        record = self.record
        gradients = record["gradients"]
        verdict = self.verdict or self._unjudged
        return f"<elinvar.Fit {record['family']}: {verdict}, {gradients:,} gradients, {len(self.mean)} coordinates>"

    def _repr_html_(self) -> str:
        from ._html import page

        return page(self)

    def __str__(self) -> str:
        lines = [f"{self.verdict or self._unjudged}: {self.reason or ''}".rstrip(": ")]
        rows = self.rows(2000)
        width = max([len(row["name"]) for row in rows], default=4)
        lines.append(f"{'':{width}}  {'mean':>10} {'sd':>10} {'5 %':>10} {'95 %':>10}")
        for row in rows[:60]:
            numbers = " ".join(f"{row[key]:>10.4g}" for key in ("mean", "sd", "q5", "q95"))
            lines.append(f"{row['name']:{width}}  {numbers}")
        if len(rows) > 60:
            lines.append(f"and {len(rows) - 60} more")
        for k, mode in enumerate(self.modes):
            lines.append(f"{'modes' if k == 0 else '':{width}}  {mode_line(mode)}")
        return "\n".join(lines)


def mode_line(mode: Mapping[str, Any], most: int = 4) -> str:
    """The share of a mode, and where its first numbers are."""
    numbers = [
        f"{label} {number:.3g}"
        for name, value in mode["at"].items()
        for label, number in zip(indexed(name, np.shape(value)), np.ravel(value), strict=True)
    ]
    more = ", ..." if len(numbers) > most else ""
    share = f"{100 * mode['share']:.1f} ± {100 * mode['share_se']:.1f} %"
    return f"{share} of the mass at {', '.join(numbers[:most])}{more}"


def _restored(content: bytes, model: bytes | None = None) -> Fit:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "fit.json")
        with open(path, "wb") as file:
            file.write(content)
        fit = load(path)
    fit._packed = model
    return fit


def compare(*fits: Fit, n: int = 4000, seed: int = 1) -> list[dict[str, Any]]:
    """Fits of one model beside each other, on ``n`` draws of each, the best first.

    Of every fit: its place among the arguments (``fit``), ``family``, ``elbo``, its ``difference`` from the best with
    the error of the pair (``difference_se``), ``pareto_k``, ``gradients``, ``verdict``.
    """
    if not fits:
        raise ValueError("there is no fit to compare")
    model = next((fit.model for fit in fits if fit.model is not None), None)
    if model is None:
        raise ValueError("fits are compared on their model: load one of them with it, elinvar.load(path, model)")
    if any(len(fit.mean) != len(fits[0].mean) for fit in fits):
        raise ValueError("these are fits of different models: they differ in their number of coordinates")
    best, rows = _elinvar.compare(model.core, [fit._core for fit in fits], n, seed)
    for k, (fit, row) in enumerate(zip(fits, rows, strict=True)):
        known = fit.record
        row |= {"fit": k, "family": known["family"], "gradients": known["gradients"], "verdict": fit.verdict}
    return sorted(rows, key=lambda row: (row["fit"] != best, -row["elbo"]))


def load(path: str | os.PathLike, model: Any = None) -> Fit:
    """Reads a fit file; with its model, draws are on the scale of the user's variables again."""
    return Fit(_elinvar.Fit.load(os.fspath(path)), None if model is None else as_model(model))
