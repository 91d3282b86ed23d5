"""Fits on a local cluster of Dask: the same bits for any number of workers, and for one that is killed."""

import os
import signal
import threading

import numpy as np
import pytest
from test_shards import rows

pytest.importorskip("distributed", reason="dask and distributed are not installed")
dd = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")
distributed = pytest.importorskip("distributed")

import elinvar.dask  # noqa: E402


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

        import dask

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
