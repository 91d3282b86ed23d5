"""Shards in this process: the same fit as of the rows in one piece, and errors with their partition."""

import numpy as np
import pytest

from elinvar import _elinvar, _shards, fit

pd = pytest.importorskip("pandas")

CUTS = [0, 3, 250, 251, 700, 1000]


def rows(n=1000, seed=3):
    random = np.random.default_rng(seed)
    a, b = random.normal(size=n), 100 * random.normal(size=n) + 7
    eta = 0.4 + 0.8 * a - 0.005 * b
    label = (eta + 1.5 * random.logistic(size=n) > 0).astype(np.int64)
    count, number = random.poisson(np.exp(np.clip(eta, -3, 2))), eta + random.normal(size=n)
    return pd.DataFrame({"a": a, "b": b, "label": label, "count": count, "number": number})


def sharded(model, frame, target, cuts=CUTS, order=None, prior_sd=None):
    parts = [frame.iloc[begin:end] for begin, end in zip(cuts, cuts[1:], strict=False)]
    plan = _shards.Plan.of(
        model, target, [_shards.summary(part, model, ["a", "b"], target) for part in parts], prior_sd
    )
    shards = [_shards.Shard.of(part, plan) for part in parts]
    places = list(range(len(shards))) if order is None else order

    def ask(request):
        return [(k, shards[k].answer(request)) for k in places]

    return _shards.model(plan, len(shards), ask, "shards")


@pytest.mark.parametrize(("model", "target"), [("logistic", "label"), ("poisson", "count"), ("linear", "number")])
def test_shards_are_fitted_as_one_piece(model, target):
    frame = rows()
    whole = fit(sharded(model, frame, target, [0, 1000]), progress=False)
    parts = fit(sharded(model, frame, target), progress=False)
    sd = np.sqrt(np.diag(whole.covariance))
    assert parts.verdict == whole.verdict == "trust"
    assert np.all(np.abs(whole.mean - parts.mean) < 1e-6 * sd)


def test_the_order_of_answers_does_not_change_a_bit():
    frame = rows()
    one = fit(sharded("logistic", frame, "label"), progress=False)
    other = fit(sharded("logistic", frame, "label", order=[4, 0, 2, 1, 3]), progress=False)
    assert np.array_equal(one.mean, other.mean) and np.array_equal(one.covariance, other.covariance)
    assert one.elbo == other.elbo


def test_coefficients_are_those_of_the_command_line(tmp_path):
    from elinvar import fit_table

    frame = rows()
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = fit_table("logistic", tmp_path / "t.csv", "label", features=["a", "b"])
    known = {row["name"]: row for row in table.json["parameters"]}
    for row in fit(sharded("logistic", frame, "label"), progress=False).rows(20_000):
        sd = known[row["name"]]["sd"]
        assert abs(row["mean"] - known[row["name"]]["mean"]) < 0.05 * sd and abs(row["sd"] / sd - 1) < 0.05


def test_an_exception_of_whoever_asks_is_that_of_the_fit():
    frame = rows()
    good = sharded("logistic", frame, "label")

    def broken(request):
        raise RuntimeError("the worker is on fire")

    core = _elinvar.Model.shards(_part(frame), 5, 1000, broken)
    with pytest.raises(RuntimeError, match="on fire"):
        fit(_shards.Model(core, good.names), progress=False)
    lost = _elinvar.Model.shards(_part(frame), 5, 1000, lambda request: [])
    with pytest.raises(RuntimeError, match="shard 0"):
        fit(_shards.Model(lost, good.names), progress=False)


def _part(frame):
    x = np.column_stack([np.ones(1000), frame["a"], frame["b"]])
    y = 2.0 * frame["label"].to_numpy(dtype=np.float64) - 1
    return _elinvar.Model.part("logistic", ["intercept", "a", "b"], x, y, ([0.0] * 3, [2.5] * 3), None, 1000)


def test_what_is_wrong_with_a_partition_is_said():
    frame = rows()

    def told(*parts, model="logistic", target="label"):
        with pytest.raises(ValueError) as error:
            _shards.Plan.of(model, target, [_shards.summary(part, model, None, target) for part in parts], None)
        return str(error.value)

    first = frame[["a", "label"]]
    assert "partition 1 has other columns than partition 0: b" in told(first, frame[["a", "b", "label"]])
    assert "there are no rows" in told(first, first.iloc[:0])
    assert "there is one class" in told(first[first.label == 1], first[first.label == 1])
    assert "other labels" in told(first.assign(label=2))
    assert "holds object, not numbers" in told(first.assign(a="text").astype({"a": object}))
    assert "row 2" in told(first.assign(a=np.where(np.arange(1000) == 2, np.nan, 1.0)))
    assert "like the intercept" in told(first.assign(a=1.0))
    assert "no column 'label'" in told(frame[["a", "b"]])
    # One class in one partition is allowed.
    parts = [first[first.label == 1], first[first.label == 0]]
    plan = _shards.Plan.of("logistic", "label", [_shards.summary(p, "logistic", None, "label") for p in parts], None)
    assert (plan.rows, plan.low) == (1000, 0.0)
