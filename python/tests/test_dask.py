"""Fits on a local cluster of Dask: the same bits for any number of workers, and for one that is killed."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from test_shards import rows

pytest.importorskip("distributed", reason="dask and distributed are not installed")
dd = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")
distributed = pytest.importorskip("distributed")
pd = pytest.importorskip("pandas", reason="pandas is not installed")

import dask  # noqa: E402

import elinvar.dask  # noqa: E402
from elinvar import _shards  # noqa: E402


def cluster(workers):
    return distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    )


def table():
    return dd.from_pandas(rows(), npartitions=5)[["a", "b", "label"]]


def numbers(fit):
    return [fit.mean.tolist(), fit.covariance.tolist(), fit.elbo, fit.record["gradients"]]


def fitted(workers, **options):
    with cluster(workers) as local, distributed.Client(local) as client:
        return elinvar.dask.fit("logistic", table(), "label", client=client, progress=False, **options)


def test_the_number_of_workers_does_not_change_a_bit():
    one = fitted(1)
    assert one.trusted and one.traffic["requests"] > 3
    for workers in (2, 4):
        assert numbers(fitted(workers)) == numbers(one)


def test_large_requests_are_those_of_their_step():
    # Blocks of 1 024 draws of 21 coordinates: Dask keeps what is as large as that apart from its tasks.
    random = np.random.default_rng(4)
    names = [f"x{j}" for j in range(20)]
    frame = rows(600)[["label"]].join(pd.DataFrame(random.normal(size=(600, 20)), columns=names))
    cuts = [0, 200, 400, 600]
    parts = [frame.iloc[begin:end] for begin, end in zip(cuts, cuts[1:], strict=False)]
    plan = _shards.Plan.of("logistic", "label", [_shards.summary(part, "logistic", None, "label") for part in parts], None)
    shards = [_shards.Shard.of(part, plan) for part in parts]
    model = _shards.model(plan, 3, lambda request: [(k, of.answer(request)) for k, of in enumerate(shards)], "shards")
    expected = numbers(elinvar.fit(model, progress=False))
    with cluster(2) as local, distributed.Client(local) as client:
        meta = frame.iloc[:0]
        ddf = dd.from_delayed([dask.delayed(part) for part in parts], meta=meta, verify_meta=False)
        found = elinvar.dask.fit("logistic", ddf, "label", client=client, progress=False)
    assert numbers(found) == expected


def test_a_worker_that_is_killed_in_the_middle_does_not_change_a_bit():
    expected = numbers(fitted(2))
    with cluster(2) as local, distributed.Client(local) as client:
        killed = []

        def kill(_):
            if not killed:
                pid = client.run(os.getpid)
                killed.append(next(iter(pid.values())))
                os.kill(killed[0], signal.SIGKILL)

        fit = elinvar.dask.fit("logistic", table(), "label", client=client, progress=False, callback=kill)
        assert killed, "the fit was over before a worker was killed"
        assert numbers(fit) == expected


def test_a_fit_can_be_ended_by_its_handle():
    stop = elinvar.Stop()
    with cluster(1) as local, distributed.Client(local) as client:
        timer = threading.Timer(0.05, stop.pull)
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            elinvar.dask.fit("logistic", table(), "label", client=client, progress=False, stop=stop)
        timer.join()


def test_errors_name_their_partition():
    frame = rows()[["a", "b", "label"]]
    with cluster(1) as local, distributed.Client(local) as client:

        def told(ddf):
            with pytest.raises(ValueError) as error:
                elinvar.dask.fit("logistic", ddf, "label", client=client, progress=False)
            return str(error.value)

        def made(*parts):
            meta = frame.iloc[:0]
            return dd.from_delayed([dask.delayed(part) for part in parts], meta=meta, verify_meta=False)

        assert "partition 1 has other columns than partition 0" in told(made(frame, frame.assign(c=1.0)))
        assert "partition 1: there are no rows" in told(made(frame, frame.iloc[:0]))
        assert "there is one class" in told(made(frame[frame.label == 1], frame[frame.label == 1]))
        fit = elinvar.dask.fit(
            "logistic", made(frame[frame.label == 1], frame[frame.label == 0]), "label", client=client, progress=False
        )
        assert np.all(np.isfinite(fit.mean))


def test_a_killed_client_goes_on_to_the_same_bits(tmp_path):
    expected = numbers(fitted(2))
    journal = tmp_path / "sums"
    script = (
        "import os, signal, sys; sys.path.insert(0, sys.argv[2]); import test_dask\n"
        "def kill(*_): os.kill(os.getpid(), signal.SIGKILL)\n"
        "if __name__ == '__main__': test_dask.fitted(1, journal=sys.argv[1], callback=kill)\n"
    )
    path = tmp_path / "killed.py"
    path.write_text(script)
    line = [sys.executable, str(path), str(journal), os.path.dirname(__file__)]
    ended = subprocess.run(line, capture_output=True, timeout=120)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    kept = journal.stat().st_size
    assert kept > 0
    again = fitted(2, journal=journal)
    assert numbers(again) == expected
    # What the killed client had asked was not asked again.
    whole = fitted(1)
    assert 0 < again.traffic["requests"] < whole.traffic["requests"] and journal.stat().st_size > kept
    finished = fitted(4, journal=journal)
    assert numbers(finished) == expected and finished.traffic["requests"] == 0
    with cluster(1) as local, distributed.Client(local) as client, pytest.raises(ValueError, match="other rows"):
        elinvar.dask.fit("logistic", table(), "label", features=["a"], client=client, progress=False, journal=journal)


def test_a_scheduler_that_is_gone_is_said_soon():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    start = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    scheduler = subprocess.Popen([*start, "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"])
    worker = None
    try:
        address = f"tcp://127.0.0.1:{port}"
        start = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard"]
        worker = subprocess.Popen([*start, "--no-nanny", "--death-timeout", "20"])
        with distributed.Client(address, timeout=60) as client:
            client.wait_for_workers(1, timeout=60)
            gone = []

            def kill(_):
                if not gone:
                    scheduler.kill()
                    scheduler.wait()
                    gone.append(time.monotonic())

            with pytest.raises(elinvar.dask.Gone, match="scheduler is gone"):
                elinvar.dask.fit("logistic", table(), "label", client=client, progress=False, callback=kill)
            assert gone and time.monotonic() - gone[0] < 60.0
            client.close(timeout=1)
    finally:
        for process in (scheduler, worker):
            if process is not None:
                process.kill()
                process.wait()


def test_scikit_learns_estimators_take_collections():
    sklearn = pytest.importorskip("elinvar.sklearn", reason="scikit-learn is not installed", exc_type=ImportError)
    frame = rows()
    ddf = dd.from_pandas(frame, npartitions=4)
    estimators = [
        (sklearn.BayesianLogisticRegression, "label"),
        (sklearn.BayesianLinearRegression, "number"),
        (sklearn.BayesianPoissonRegressor, "count"),
    ]
    with cluster(2) as local, distributed.Client(local):
        for estimator, target in estimators:
            memory = estimator().fit(frame[["a", "b"]], frame[target])
            frames = estimator().fit(ddf[["a", "b"]], ddf[target])
            arrays = estimator().fit(
                ddf[["a", "b"]].to_dask_array(lengths=True), ddf[target].to_dask_array(lengths=True).rechunk(333)
            )
            for found in (frames, arrays):
                assert found.verdict_ == memory.verdict_ == "trust"
                assert np.all(np.abs(found.coef_ - memory.coef_) < 0.01 * memory.coef_sd_), target
                assert np.all(np.abs(found.coef_sd_ / memory.coef_sd_ - 1) < 0.01), target
            predicted = frames.predict(ddf[["a", "b"]]).compute()
            assert predicted.shape == (1000,) and np.array_equal(predicted, frames.predict(frame[["a", "b"]]))
            if target == "label":
                probability = frames.predict_proba(ddf[["a", "b"]]).compute()
                assert np.array_equal(probability, frames.predict_proba(frame[["a", "b"]]))
        with pytest.raises(TypeError, match="both must be Dask's"):
            sklearn.BayesianLogisticRegression().fit(ddf[["a", "b"]], frame["label"])
        with pytest.raises(ValueError, match="the same partitions"):
            sklearn.BayesianLogisticRegression().fit(ddf[["a", "b"]], ddf["label"].repartition(npartitions=2))
        with pytest.raises(ValueError, match="fit_intercept=False"):
            sklearn.BayesianLogisticRegression(fit_intercept=False).fit(ddf[["a", "b"]], ddf["label"])
