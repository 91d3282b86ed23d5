"""Bayesian regressions as estimators of scikit-learn.

Dask DataFrames and arrays are fitted where they are, with an intercept and labels 0 and 1 or -1 and 1.
Features are brought to mean 0 and standard deviation 1 inside, and so is the outcome of a linear regression; there every
coefficient has the prior N(0, prior_sd²). Results are in the units of the data.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from . import _elinvar
from ._fit import Fit, fit
from ._missing import needs
from ._model import Model, from_batch
from .dask import is_collection

needs("sklearn", "sklearn")

from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin  # noqa: E402
from sklearn.utils.multiclass import check_classification_targets  # noqa: E402
from sklearn.utils.validation import check_is_fitted, validate_data  # noqa: E402

__all__ = ["BayesianLinearRegression", "BayesianLogisticRegression", "BayesianPoissonRegressor"]


class _Regression(BaseEstimator):
    """What the three have in common: scaling, the fit, draws of coefficients in the units of the data."""

    _likelihood: str

    def __init__(
        self,
        prior_sd: float = 2.5,
        family: str = "auto",
        fit_intercept: bool = True,
        n_draws: int = 2000,
        seed: int = 1,
        max_seconds: float | None = None,
    ):
        self.prior_sd = prior_sd
        self.family = family
        self.fit_intercept = fit_intercept
        self.n_draws = n_draws
        self.seed = seed
        self.max_seconds = max_seconds

    def _fit_parts(self, x: Any, y: Any) -> Any:
        """Fits Dask collections, whose rows stay on their workers; returns how columns were scaled."""
        from .dask import fit_parts, parts_of

        if not self.fit_intercept:
            raise ValueError("fit_intercept=False does not go with Dask collections; center the columns")
        if hasattr(x, "columns"):
            names = [str(name) for name in x.columns]
            self.feature_names_in_ = np.array(names, dtype=object)
        else:
            names = [f"x{i}" for i in range(x.shape[1])]
        self.n_features_in_ = len(names)
        target = next(name for name in ("y", "target", "outcome", "_y") if name not in names)
        options = {"seed": self.seed, "max_seconds": self.max_seconds, "progress": False}
        parts = parts_of(x, y, names, target)
        self.fit_ = fit_parts(
            self._likelihood, parts, target, prior_sd=self.prior_sd, standardized=True, family=self.family, **options
        )
        plan = self.fit_.plan
        self._keep(len(names), plan.shift, plan.scale, plan.unit, plan.origin)
        return plan

    def _over_parts(self, x: Any, predict: Any, columns: int = 0) -> Any:
        """A Dask array of what ``predict`` gives for every part of a Dask collection."""
        import dask.array as da

        check_is_fitted(self, "fit_")
        x = x.rechunk({1: -1}) if hasattr(x, "rechunk") else x.to_dask_array()
        names = getattr(self, "feature_names_in_", None)

        def of_part(part: np.ndarray) -> np.ndarray:
            with warnings.catch_warnings():
                # The columns were in their order where they had names.
                warnings.filterwarnings("ignore", "X does not have valid feature names")
                return predict(part)

        if names is not None and x.shape[1] != len(names):
            raise ValueError(f"X has {x.shape[1]} features, but was fitted with {len(names)}")
        kept = {"chunks": (x.chunks[0], (columns,))} if columns else {"drop_axis": 1}
        return da.map_blocks(of_part, x, dtype=np.float64, meta=np.empty((0,) * (1 + (columns > 0))), **kept)

    def _fit_scaled(self, x: np.ndarray, outcome: np.ndarray, unit: float, origin: float) -> None:
        """Fits ``(outcome - origin) / unit`` and brings the draws back."""
        if not self.prior_sd > 0:
            raise ValueError(f"prior_sd must be positive, not {self.prior_sd!r}")
        centre = x.mean(axis=0) if self.fit_intercept else np.zeros(x.shape[1])
        width = x.std(axis=0)
        width[width < 1e-12 * np.maximum(1.0, np.abs(x).max(axis=0))] = 1.0
        scaled = (x - centre) / width
        names = [str(name) for name in getattr(self, "feature_names_in_", [f"x{i}" for i in range(x.shape[1])])]
        if self.fit_intercept:
            scaled = np.column_stack([np.ones(len(x)), scaled])
            names = ["intercept", *names]
        model = self._model(np.ascontiguousarray(scaled), (outcome - origin) / unit, names)
        self.fit_: Fit = fit(model, self.family, seed=self.seed, max_seconds=self.max_seconds, progress=False)
        self._keep(x.shape[1], centre, width, unit, origin)

    def _keep(self, n_columns: int, centre: np.ndarray, width: np.ndarray, unit: float, origin: float) -> None:
        """Keeps the verdict, and draws of the coefficients in the units of the data."""
        self.verdict_ = self.fit_.verdict
        self.reason_ = self.fit_.reason
        z = self.fit_.draws(self.n_draws, self.seed)
        first = int(self.fit_intercept)
        slopes = unit * z[:, first : first + n_columns] / width
        intercepts = origin + (unit * z[:, 0] if self.fit_intercept else 0.0) - slopes @ centre
        self._slopes, self._intercepts = slopes, np.broadcast_to(intercepts, (len(z),))
        self._means = slopes.mean(axis=0), float(np.mean(self._intercepts))
        self.coef_sd_ = slopes.std(axis=0, ddof=1)
        self._noise = unit * np.exp(z[:, -1]) if self._likelihood == "linear" else None

    def _model(self, x: np.ndarray, outcome: np.ndarray, names: list[str]) -> Model:
        core = _elinvar.Model.regression(self._likelihood, names, x, outcome, self.prior_sd**-2)
        return Model(core, core.names, kind=f"{self._likelihood} regression")

    def _predictors(self, x: Any) -> np.ndarray:
        """Draws of the linear predictor, of shape (draws, rows)."""
        check_is_fitted(self, "fit_")
        x = validate_data(self, x, reset=False, dtype=np.float64)
        return self._slopes @ x.T + self._intercepts[:, None]


class BayesianLinearRegression(RegressorMixin, _Regression):
    """y ~ N(intercept + x·coef, sigma²).

    ``predict(x, return_std=True)`` gives the standard deviation of a new outcome beside its mean.
    """

    _likelihood = "linear"

    def fit(self, X, y):  # noqa: N803 the name that scikit-learn has
        """Fits the regression; ``verdict_`` and ``reason_`` say whether to trust it."""
        if is_collection(X):
            self._fit_parts(X, y)
            self.coef_, self.intercept_ = self._means
            self.sigma_ = float(self._noise.mean())
            return self
        x, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        unit = float(np.std(y)) or 1.0
        self._fit_scaled(x, np.asarray(y, dtype=np.float64), unit, float(np.mean(y)) if self.fit_intercept else 0.0)
        self.coef_, self.intercept_ = self._means
        self.sigma_ = float(self._noise.mean())
        return self

    def predict(self, X, return_std: bool = False):  # noqa: N803
        """The mean of new outcomes and, if asked, their standard deviations."""
        if is_collection(X) and not return_std:
            return self._over_parts(X, self.predict)
        predictors = self._predictors(X)
        mean = predictors.mean(axis=0)
        if not return_std:
            return mean
        return mean, np.sqrt(predictors.var(axis=0) + np.mean(self._noise**2))


class BayesianLogisticRegression(ClassifierMixin, _Regression):
    """P(second class) = 1 / (1 + exp(-(intercept + x·coef))), averaged over the posterior."""

    _likelihood = "logistic"

    def fit(self, X, y):  # noqa: N803
        """Fits the regression; ``verdict_`` and ``reason_`` say whether to trust it."""
        if is_collection(X):
            plan = self._fit_parts(X, y)
            self.classes_ = np.array([int(plan.low), 1])
            slopes, intercept = self._means
            self.coef_, self.intercept_ = slopes[None], np.array([intercept])
            return self
        x, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, which = np.unique(y, return_inverse=True)
        if len(self.classes_) != 2:
            # The wording that scikit-learn's own checks look for.
            if len(self.classes_) == 1:
                raise ValueError("the outcome has one class only; a classifier needs two")
            raise ValueError(f"Only binary classification is supported. The outcome has {len(self.classes_)} classes.")
        self._fit_scaled(x, 2.0 * which - 1.0, 1.0, 0.0)
        slopes, intercept = self._means
        self.coef_, self.intercept_ = slopes[None], np.array([intercept])
        return self

    def predict_proba(self, X):  # noqa: N803
        """Probabilities of both classes, of shape (rows, 2)."""
        if is_collection(X):
            return self._over_parts(X, self.predict_proba, 2)
        second = (1.0 / (1.0 + np.exp(-np.clip(self._predictors(X), -700, 700)))).mean(axis=0)
        return np.column_stack([1.0 - second, second])

    def decision_function(self, X):  # noqa: N803
        """The log odds of the averaged probability."""
        first, second = self.predict_proba(X).T
        return np.log(np.maximum(second, 1e-300)) - np.log(np.maximum(first, 1e-300))

    def predict(self, X):  # noqa: N803
        """The more probable class."""
        if is_collection(X):
            return self._over_parts(X, self.predict)
        second = self.predict_proba(X)[:, 1]
        return self.classes_[(second > 0.5).astype(int)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class BayesianPoissonRegressor(RegressorMixin, _Regression):
    """y ~ Poisson(exp(intercept + x·coef)).

    Outcomes that are not whole numbers are taken for rates, with a warning: they have no Poisson law, but the same
    estimating equations.
    """

    _likelihood = "poisson"

    def fit(self, X, y):  # noqa: N803
        """Fits the regression; ``verdict_`` and ``reason_`` say whether to trust it."""
        if is_collection(X):
            self._fit_parts(X, y)
            self.coef_, self.intercept_ = self._means
            return self
        x, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        y = np.asarray(y, dtype=np.float64)
        if (y < 0).any():
            row = int(np.argmax(y < 0))
            raise ValueError(f"counts must be 0 or more; that of row {row} is {y[row]}")
        self._fit_scaled(x, y, 1.0, 0.0)
        self.coef_, self.intercept_ = self._means
        return self

    def _model(self, x: np.ndarray, outcome: np.ndarray, names: list[str]) -> Model:
        if (outcome == np.floor(outcome)).all():
            return super()._model(x, outcome, names)
        warnings.warn("the outcomes are not whole numbers: they are taken for rates, which have no Poisson law", stacklevel=4)
        precision = self.prior_sd**-2

        def log_density(z):
            predictor = z @ x.T
            rate = np.exp(np.minimum(predictor, 700.0))
            value = (outcome * predictor - rate).sum(axis=1) - 0.5 * precision * (z**2).sum(axis=1)
            return value, (outcome - rate) @ x - precision * z

        return from_batch(log_density, names=names, kind="Poisson regression of rates")

    def predict(self, X):  # noqa: N803
        """The mean of new counts."""
        if is_collection(X):
            return self._over_parts(X, self.predict)
        return np.exp(np.clip(self._predictors(X), -700, 700)).mean(axis=0)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        tags.regressor_tags.poor_score = True
        return tags
