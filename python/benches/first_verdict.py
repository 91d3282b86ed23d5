"""From the start of Python to a verdict on eight schools by PyMC, against the draws of nutpie's NUTS, in one run.

Prints seconds of the processor and of the clock with imports and compilation, the first run of each with empty caches;
with ``--write`` they go into docs/python-speed.md.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

from page import put

REPEATS = 3
MODEL = """
import pymc as pm
import numpy as np
effects = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
errors = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
with pm.Model(coords={"school": list("ABCDEFGH")}) as model:
    mu = pm.Normal("mu", 0, 5)
    tau = pm.HalfCauchy("tau", 5)
    eta = pm.Normal("eta", 0, 1, dims="school")
    theta = pm.Deterministic("theta", mu + tau * eta, dims="school")
    pm.Normal("y", theta, errors, observed=effects, dims="school")
"""
WAYS = {
    "elinvar, JAX": f"import elinvar\n{MODEL}\nassert elinvar.fit(elinvar.from_pymc(model, backend='jax')).trusted",
    "elinvar, numba": f"import elinvar\n{MODEL}\nassert elinvar.fit(elinvar.from_pymc(model, backend='numba')).trusted",
    "nutpie": f"import nutpie\n{MODEL}\nnutpie.sample(nutpie.compile_pymc_model(model), progress_bar=False, seed=1)",
}


def run(code, cache):
    """Seconds of the processor and of the clock."""
    flags = f"base_compiledir={cache}/pytensor"
    environment = {**os.environ, "PYTENSOR_FLAGS": flags, "NUMBA_CACHE_DIR": f"{cache}/numba", "PYTHONWARNINGS": "ignore"}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used, time.perf_counter() - began


def main():
    table = [
        "| way | first run: processor s | clock s | later runs, median: processor s | clock s |",
        "|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        times = {way: [] for way in WAYS}
        # In turns, so that a busy minute meets all of them.
        for _ in range(1 + REPEATS):
            for place, (way, code) in enumerate(WAYS.items()):
                times[way].append(run(code, f"{folder}/{place}"))
    for way, found in times.items():
        (first, clock), later = found[0], np.median(np.array(found[1:]), axis=0)
        table.append(f"| {way} | {first:.1f} | {clock:.1f} | {later[0]:.1f} | {later[1]:.1f} |")
        print(table[-1], flush=True)
    if "--write" in sys.argv:
        put("python-speed.md", "first verdict", table)


if __name__ == "__main__":
    main()
