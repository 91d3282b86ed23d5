"""Shards on the processes of MPI: the bits of one process, and errors that reach all of them."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_shards import rows, sharded

pytest.importorskip("mpi4py", reason="mpi4py is not installed: pip install 'elinvar[mpi4py]'")
MPIRUN = shutil.which("mpirun")
pytestmark = pytest.mark.skipif(MPIRUN is None, reason="mpirun is not installed; on Debian it is in openmpi-bin")
SCRIPT = Path(__file__).with_name("mpi_fit.py")
# More processes than processors, as any user, and on this machine alone.
FREE = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_btl": "self,vader,tcp"}


def run(processes, *arguments):
    line = [MPIRUN, "--oversubscribe", "-n", str(processes), sys.executable, str(SCRIPT), *map(str, arguments)]
    ended = subprocess.run(line, env={**os.environ, **FREE}, capture_output=True, text=True, timeout=240)
    assert ended.returncode == 0, ended.stderr
    return [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]


def test_processes_do_not_change_a_bit():
    from elinvar import fit

    one = fit(sharded("logistic", rows(), "label"), progress=False)
    expected = [one.mean.tolist(), one.covariance.tolist(), one.elbo, one.record["gradients"]]
    for processes in (1, 2, 3):
        (found,) = run(processes)
        assert found["processes"] == processes and found["verdict"] == "trust"
        assert found["found"] == expected and found["shown"] == [5, ["a", "b", "intercept"]]


def test_what_is_wrong_in_one_process_is_said_by_all():
    empty = run(2, "empty")
    assert sorted(said["process"] for said in empty) == [0, 1]
    assert all("partition 4 (process 1): there are no rows" in said["error"] for said in empty)
    columns = run(2, "columns")
    assert len(columns) == 2
    assert all("partition 4 has other columns than partition 0: c" in said["error"] for said in columns)


def test_a_journal_is_gone_on_with_by_other_processes(tmp_path):
    (one,) = run(2, "journal", tmp_path / "sums")
    written = (tmp_path / "sums").read_bytes()
    # As if it had been killed in the middle of a sum.
    (tmp_path / "sums").write_bytes(written[: len(written) // 2])
    (again,) = run(3, "journal", tmp_path / "sums")
    assert again["found"] == one["found"]
    assert (tmp_path / "sums").read_bytes() == written
