"""What estimators are handed: DataFrames with names, sparse matrices, copies by clone, pickle and pipelines."""

import pickle

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.model_selection import cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

from elinvar.sklearn import (  # noqa: E402
    BayesianLinearRegression,
    BayesianLogisticRegression,
    BayesianPoissonRegressor,
)

ALL = [BayesianLinearRegression, BayesianLogisticRegression, BayesianPoissonRegressor]


@pytest.fixture
def rows():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(150, 2))
    return x, (rng.uniform(size=150) < 1 / (1 + np.exp(-x @ [1.0, -1.0]))).astype(int)


@pytest.mark.parametrize("kind", ALL)
def test_sparse_rows_are_refused_in_a_sentence(kind, rows):
    sparse = pytest.importorskip("scipy.sparse")
    x, y = rows
    with pytest.raises(TypeError, match="dense data is required"):
        kind().fit(sparse.csr_array(x), y)


@pytest.mark.parametrize("kind", ALL)
def test_names_of_columns_are_kept(kind, rows):
    pandas = pytest.importorskip("pandas")
    x, y = rows
    table = pandas.DataFrame(x, columns=["age", "dose"])
    model = kind().fit(table, y)
    assert list(model.feature_names_in_) == ["age", "dose"]
    assert [row["name"] for row in model.fit_.rows()][:3] == ["intercept", "age", "dose"]
    assert model.verdict_ == "trust" and model.verdict_.trusted and model.reason_ == model.verdict_.reason
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(table.rename(columns={"dose": "weight"}))


@pytest.mark.parametrize("kind", ALL)
def test_copies(kind, rows):
    x, y = rows
    model = clone(kind(prior_sd=1.5)).fit(x, y)
    again = pickle.loads(pickle.dumps(model))
    assert again.prior_sd == 1.5 and np.array_equal(again.predict(x), model.predict(x))
    assert again.verdict_ == model.verdict_


def test_a_pipeline_and_folds(rows):
    x, y = rows
    scores = cross_val_score(make_pipeline(StandardScaler(), BayesianLogisticRegression()), x, y, cv=3)
    assert scores.min() > 0.6
