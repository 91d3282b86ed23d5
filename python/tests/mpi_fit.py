"""A fit whose shards are held by the processes of MPI, for test_mpi.py: prints what process 0 has found.

    mpirun -n 3 python mpi_fit.py [what is wrong with the last process | journal FILE]
"""

import json
import sys

from mpi4py import MPI
from test_shards import CUTS, rows

import elinvar.mpi

comm = MPI.COMM_WORLD
frame = rows()[["a", "b", "label"]]
parts = [frame.iloc[begin:end] for begin, end in zip(CUTS, CUTS[1:], strict=False)]
# Shards that follow each other, so that their numbers are the same for any number of processes.
first, last = (len(parts) * (comm.rank + k) // comm.size for k in (0, 1))
mine = parts[first:last]
what = sys.argv[1] if len(sys.argv) > 1 else ""
if comm.rank == comm.size - 1:
    if what == "empty":
        mine[-1] = mine[-1].iloc[:0]
    if what == "columns":
        mine[-1] = mine[-1].assign(c=1.0)
journal = sys.argv[2] if what == "journal" else None
try:
    fit = elinvar.mpi.fit("logistic", mine, "label", progress=False, journal=journal)
except ValueError as error:
    print(json.dumps({"process": comm.rank, "error": str(error)}), flush=True)
    sys.exit(0)
if fit is not None:
    found = [fit.mean.tolist(), fit.covariance.tolist(), fit.elbo, fit.record["gradients"]]
    # The other processes have gone on, and nothing waits for them.
    shown = len(str(fit).splitlines()), sorted(fit.sample(10))
    print(json.dumps({"processes": comm.size, "verdict": fit.verdict, "found": found, "shown": shown}), flush=True)
