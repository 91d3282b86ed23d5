"""A thousand fits take no more memory than a hundred."""

import gc
from pathlib import Path

import pytest

import elinvar

from densities import gaussian


def resident():
    """Bytes of the process, where the system tells."""
    status = Path("/proc/self/statm")
    if not status.exists():
        pytest.skip("the system does not tell how much memory a process has")
    return int(status.read_text().split()[1]) * 4096


def test_fits_leave_nothing_behind():
    def once():
        elinvar.fit(elinvar.from_batch(gaussian, dim=2), "gaussian", progress=False)

    for _ in range(100):
        once()
    gc.collect()
    before = resident()
    for _ in range(900):
        once()
    gc.collect()
    assert resident() < 1.05 * before
