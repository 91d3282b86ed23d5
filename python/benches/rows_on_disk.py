"""Rows of a logistic regression as parquet files of single precision, for benchmarks of rows that do not fit into memory.

    python python/benches/rows_on_disk.py FOLDER 50000000 [COLUMNS]

A million rows in each file, the same ones in every run; 50 million rows of 20 columns are about 4 GB. Never committed.
"""

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

PART = 1_000_000


def part(number: int, rows: int, columns: int) -> pa.Table:
    """The rows of one file: correlated columns, of which every second one matters."""
    random = np.random.default_rng([7, number])
    x = random.standard_normal((rows, columns), dtype=np.float32)
    x[:, 1:] = np.float32(0.8) * x[:, 1:] + np.float32(0.6) * x[:, :1]
    slopes = np.where(np.arange(columns) % 2 == 0, 0.3, 0.0) * (-1.0) ** (np.arange(columns) // 2)
    label = random.random(rows) < 1 / (1 + np.exp(0.5 - x @ slopes))
    names = [f"x{j + 1}" for j in range(columns)]
    arrays = [pa.array(x[:, j]) for j in range(columns)] + [pa.array(label.astype(np.int8))]
    return pa.Table.from_arrays(arrays, names=[*names, "y"])


def write(folder: Path, rows: int, columns: int = 20) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for number, first in enumerate(range(0, rows, PART)):
        path = folder / f"part-{number:04}.parquet"
        pq.write_table(part(number, min(PART, rows - first), columns), path, row_group_size=250_000, use_dictionary=False)
        files.append(path)
    return files


if __name__ == "__main__":
    written = write(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 20)
    print(f"{len(written)} files, {sum(path.stat().st_size for path in written) / 1e9:.2f} GB")
