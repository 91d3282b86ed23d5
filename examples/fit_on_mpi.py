"""A logistic regression on files that the processes of MPI share out among themselves.

    mpirun -n 4 python examples/fit_on_mpi.py y 'part-*.parquet' [JOURNAL]

Needs `pip install 'elinvar[mpi4py]' pandas pyarrow` and, on Debian, `openmpi-bin`. The bits do not depend on the number
of processes; with a journal a run that was killed goes on when it is started again.
"""

import glob
import sys

import pandas as pd
from mpi4py import MPI

import elinvar.mpi

target, pattern, *journal = sys.argv[1:]
files = sorted(glob.glob(pattern))
rank, size = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
# Files that follow each other: shards are numbered in the order of the processes.
mine = files[len(files) * rank // size : len(files) * (rank + 1) // size]
parts = [pd.read_parquet(path) for path in mine]
fit = elinvar.mpi.fit("logistic", parts, target, journal=journal[0] if journal else None, progress=False)
if fit is not None:
    print(fit)
