"""What rows beyond memory and beyond one machine cost: `cargo xtask scale [--short]` runs this and writes docs/scale.md.

    python python/benches/scale.py PROGRAM FOLDER [--short] [--only judged|threads|dask] [--repeats N]

Files of rows_on_disk.py are kept in FOLDER. Times are processor seconds where they are to be compared, because other
programs may run beside; wall clocks are the least of repeats and stand beside the load of the machine.
"""

import json
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

# The bare products are those of one thread.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pyarrow.parquet as pq
import rows_on_disk

ROWS, SHORT_ROWS, COLUMNS = 50_000_000, 1_000_000, 20
# Rows of the wall clocks, and of a shard of the bare products (that of the stream).
CLOCK_ROWS, SHARD = 2_000_000, (1 << 17) // (COLUMNS + 1)
PAGE = Path(__file__).parents[2] / "docs" / "scale.md"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


@dataclass
class Ended:
    """A program that has ended."""

    out: dict
    cpu: float
    wall: float
    peak: float


def stream(program: str, folder: Path, threads: int) -> Ended:
    """A fit by --stream in a process of its own: processor seconds, wall clock, most memory in MB."""
    line = [program, "fit", "logistic", f"{folder}/part-*.parquet", "--target", "y", "--stream", "--json", "--quiet"]
    read, write = os.pipe()
    began = time.perf_counter()
    child = os.posix_spawn(
        program,
        line,
        {**os.environ, "RAYON_NUM_THREADS": str(threads)},
        file_actions=[(os.POSIX_SPAWN_DUP2, write, 1), (os.POSIX_SPAWN_CLOSE, read)],
    )
    os.close(write)
    with os.fdopen(read) as pipe:
        out = pipe.read()
    _, status, used = os.wait4(child, 0)
    wall = time.perf_counter() - began
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"{' '.join(line)} ended with {os.waitstatus_to_exitcode(status)}")
    return Ended(json.loads(out), used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024)


def least(work, repeats: int) -> float:
    """Processor seconds of the fastest repeat."""
    found = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return min(found)


def read_seconds(folder: Path) -> tuple[float, float, int]:
    """Processor seconds a row of reading a file by pyarrow, and of reading its numbers from a plain file; its rows."""
    path = sorted(folder.glob("part-*.parquet"))[0]

    def parquet():
        table = pq.read_table(path, use_threads=False)
        return [column.to_numpy() for column in table.columns]

    columns = parquet()
    plain = folder / "plain"
    with plain.open("wb") as file:
        for column in columns:
            column.tofile(file)
    buffer = bytearray(plain.stat().st_size)

    def bytes_of_it():
        with plain.open("rb", buffering=0) as file:
            view, at = memoryview(buffer), 0
            while n := file.readinto(view[at : at + (1 << 20)]):
                at += n

    n = len(columns[0])
    found = least(parquet, 5) / n, least(bytes_of_it, 5) / n, n
    plain.unlink()
    return found


def product_seconds(asked: str, draws: int) -> float:
    """Processor seconds a row of the products of a pass, by numpy in double precision, in shards as the stream has."""
    random = np.random.default_rng(5)
    d = COLUMNS + 1
    x = random.normal(size=(40, SHARD, d)) if draws < 100 else random.normal(size=(2, SHARD, d))
    b, weights = random.normal(size=(d, max(draws, 1))), random.random(SHARD)
    covariance = np.eye(d)

    def products():
        for rows in x:
            eta = rows @ (b if draws > 1 else b[:, 0])
            if asked in ("gradients", "expectation"):
                rows.T @ eta
            if asked in ("hessian", "expectation"):
                (rows * weights[:, None]).T @ rows
            if asked == "expectation":
                # The variances of the linear predictors.
                rows @ covariance

    products()
    return least(products, 7) / (len(x) * SHARD)


@dataclass
class Asked:
    """A request to the shards of Dask."""

    sent: int
    received: int
    seconds: float


def dask_fit(frame, partitions: int, workers: int) -> tuple[list[Asked], list[bytes], float, float]:
    """Requests of a fit on a cluster of this machine, how long all took, and processor seconds of the workers."""
    import dask.dataframe as dd
    import distributed

    import elinvar.dask

    asked, requests = [], []
    plain = elinvar.dask.model

    def timed(plan, n, ask, kind, journal):
        def each(request):
            began = time.perf_counter()
            answers = list(ask(request))
            seconds = time.perf_counter() - began
            asked.append(Asked(len(request) * n, sum(len(answer) for _, answer in answers), seconds))
            requests.append(request)
            return answers

        return plain(plan, n, each, kind, journal)

    options = {"n_workers": workers, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    elinvar.dask.model = timed
    try:
        with distributed.LocalCluster(host="127.0.0.1", **options) as local, distributed.Client(local) as client:
            ddf = dd.from_pandas(frame, npartitions=partitions)
            client.wait_for_workers(workers)
            before = sum(client.run(time.process_time).values())
            elinvar.dask.fit("logistic", ddf, "y", client=client, progress=False, correct=False)
            cpu = sum(client.run(time.process_time).values()) - before
    finally:
        elinvar.dask.model = plain
    return asked, requests, sum(of.seconds for of in asked), cpu


def shard_seconds(frame, requests: list[bytes]) -> list[float]:
    """Processor seconds a row of what a shard does for each request."""
    from elinvar import _shards

    plan = _shards.Plan.of("logistic", "y", [_shards.summary(frame, "logistic", None, "y")], None)
    shard = _shards.Shard.of(frame, plan)
    return [least(lambda request=request: shard.answer(request), 2) / len(frame) for request in requests]


def grouped(n: float) -> str:
    return f"{n:,.0f}".replace(",", " ")


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def counted(passes: list[dict]) -> list[tuple[str, int, int]]:
    """Kinds of passes with their draws, and how many there were of each."""
    kinds = [(one["asked"], one["draws"]) for one in passes]
    return [(*kind, kinds.count(kind)) for kind in dict.fromkeys(kinds)]


def judged(program: str, folder: Path, n: int) -> str:
    """The fit that does not fit into memory, beside reading and bare products."""
    fit = stream(program, folder, os.cpu_count() or 1)
    parquet, plain, _ = read_seconds(folder)
    kinds = counted(fit.out["passes"])
    rows, total = [], 0.0
    for asked, draws, times in kinds:
        read = parquet if asked == "files" else plain
        product = 0.0 if asked == "files" else product_seconds(asked, draws)
        total += n * times * (read + product)
        name = f"{asked}, {draws} draws" if draws > 1 else asked
        cells = [1e9 * read, 1e9 * product, n * times * (read + product)]
        rows.append([name, str(times), f"{cells[0]:.1f}", f"{cells[1]:.1f}", f"{cells[2]:.1f}"])
    size = sum(path.stat().st_size for path in folder.glob("part-*.parquet")) / 1e9
    facts = [
        ["rows × columns, parquet", f"{grouped(n)} × {COLUMNS}, {size:.2f} GB"],
        ["most memory", f"{fit.peak:.0f} MB (goal: 600)"],
        ["passes", str(sum(times for *_, times in kinds))],
        ["processor seconds of the fit", f"{fit.cpu:.1f}"],
        ["of reading and bare products, as many passes", f"{total:.1f}"],
        ["ratio", f"{fit.cpu / total:.2f} (goal: 2)"],
        ["wall clock, seconds", f"{fit.wall:.0f}, under a load of {os.getloadavg()[0]:.0f}"],
        ["verdict", fit.out["verdict"]],
    ]
    head = ["pass", "times", "reading, ns a row", "products, ns a row", "together, s"]
    return (
        "`elinvar fit logistic 'part-*.parquet' --target y --stream`:\n\n"
        + table(["", ""], facts)
        + "\nReading is pyarrow's for the files, and plain reading of as many bytes as the cache has for later passes;"
        + "\nproducts (Xb, Xᵀr, XᵀDX and the variances XΣ, as far as a pass has them) are numpy's, one thread, in double"
        + "\nprecision. Logarithms and exponentials of the likelihood are in the fit and not in them.\n\n"
        + table(head, rows)
    )


def threads(program: str, folder: Path, n: int, repeats: int) -> str:
    """Threads of a stream."""
    rows = []
    for count in (1, 2):
        fits = [stream(program, folder, count) for _ in range(repeats)]
        rows.append((count, min(fit.cpu for fit in fits), min(fit.wall for fit in fits)))
    (_, cpu, wall), (_, cpu_two, wall_two) = rows
    load = os.getloadavg()[0]
    return (
        f"Threads of a stream, {grouped(n)} rows, least of {repeats}, load {load:.0f} on {os.cpu_count()} processors:\n\n"
        + table(
            ["threads", "processor s", "wall s"],
            [[str(count), f"{cpu:.2f}", f"{wall:.2f}"] for count, cpu, wall in rows],
        )
        + f"\nEfficiency at two: {cpu / cpu_two:.2f} by processor time (how much of the work is not overhead), "
        + f"{wall / wall_two / 2:.2f} by the clock.\n"
    )


def dask(n: int, repeats: int) -> str:
    """Workers of Dask: strong and weak scaling, bytes, and the model of a step."""
    frame = rows_on_disk.part(0, n, COLUMNS).to_pandas()
    half = frame.iloc[: n // 2]
    runs = {}
    for name, rows, workers in (("one", frame, 1), ("two", frame, 2), ("half", half, 1)):
        found = [dask_fit(rows, 4 * workers if name == "half" else 8, workers) for _ in range(repeats)]
        runs[name] = min(found, key=lambda of: of[2])
    small, *_ = min((dask_fit(frame.iloc[:4_000], 8, 1) for _ in range(repeats)), key=lambda of: of[2])
    own = shard_seconds(frame, runs["one"][1])
    work = n * sum(own)
    load = os.getloadavg()[0]
    one, two, half_time = (runs[name][2] for name in ("one", "two", "half"))
    asked = runs["one"][0]
    cpu_one, cpu_two, cpu_half = (runs[name][3] for name in ("one", "two", "half"))
    strong = [f"strong {cpu_one / cpu_two:.2f}", f"strong {one / two / 2:.2f}"]
    weak = [f"weak {2 * cpu_half / cpu_two:.2f}", f"weak {half_time / two:.2f}"]
    rows = [
        ["1 worker", grouped(n), f"{cpu_one:.2f}", f"{one:.2f}", "", ""],
        ["2 workers", grouped(n), f"{cpu_two:.2f}", f"{two:.2f}", *strong],
        ["1 worker", grouped(n / 2), f"{cpu_half:.2f}", f"{half_time:.2f}", *weak],
    ]
    head = ["", "rows", "processor s of workers", "wall s of requests", "efficiency by processor", "by the clock"]
    # T = latency + bytes / bandwidth + row seconds: what the same requests take with next to no rows is the first two.
    volume = np.array([of.sent + of.received for of in small], dtype=float)
    seconds = np.array([of.seconds for of in small])
    latency = float(np.median(seconds[volume <= np.median(volume)]))
    slope = np.polyfit(volume, seconds, 1)[0]
    bandwidth = 1 / slope if slope > 0 else float("inf")
    predicted = sum(latency + (of.sent + of.received) / bandwidth for of in asked) + work
    page = (
        f"Workers of Dask, one thread each, 8 partitions, {len(asked)} requests of a fit, least of {repeats}, "
        f"load {load:.0f} on {os.cpu_count()} processors:\n\n"
        + table(head, rows)
        + ("" if load < (os.cpu_count() or 1) else "\nWith more programs than processors the clock says nothing of a cluster.\n")
        + f"\nThe work of the shards is {work:.2f} processor seconds of these. Bytes of a request, sent to and received "
        + "from each partition:\n"
        + f"{grouped(min(of.sent for of in asked) / 8)} and {grouped(min(of.received for of in asked) / 8)} at least, "
        + f"{grouped(max(of.sent for of in asked) / 8)} and {grouped(max(of.received for of in asked) / 8)} at most.\n"
    )
    return page + planned(asked, own, latency, bandwidth, predicted, one)


def planned(asked: list[Asked], own: list[float], latency: float, bandwidth: float, predicted: float, one: float) -> str:
    """The model of a step, drawn out."""
    threads_each = 8
    rows = []
    for n, machines in ((5e7, 1), (1e8, 2), (1e9, 10), (1e10, 100), (1e10, 1000)):
        parts = machines * threads_each
        work = n / parts * sum(own)
        # Every shard is sent the request and answers; all of it goes through one scheduler.
        wire = sum((of.sent + of.received) / 8 * parts / bandwidth for of in asked)
        wait = latency * len(asked) * max(parts / 8, 1.0)
        rows.append([f"{n:.0e}".replace("e+", "e"), str(machines), f"{work:.1f}", f"{wire:.1f}", f"{wait:.1f}"])
        rows[-1].append(f"{work + wire + wait:.0f}")
    share = " and ".join(f"{1e9 * seconds:.0f}" for seconds in (min(own), max(own)))
    return (
        "\nA step takes latency + bytes / bandwidth + rows · seconds a row / threads. Fitted here: latency "
        f"{1e3 * latency:.0f} ms for 8 partitions,\nbandwidth {bandwidth / 1e6:.0f} MB/s through the scheduler of Dask, "
        f"between {share} ns a row, one thread. It gives {predicted:.2f} s for\nthe fit on one worker above, which took "
        f"{one:.2f} s. Drawn out to more rows, {threads_each} threads on each machine, one shard\nfor each thread:\n\n"
        + table(["rows", "machines", "work s", "wire s", "waiting s", "fit s"], rows)
        + "\nAssumed: as many requests as here (a Gaussian, judged by draws in blocks of 1 024); threads as fast as here "
        "and rows\nin memory; latency that grows with the number of shards, because one scheduler starts every task; a "
        "network no slower\nthan the loopback of this machine. None of it was measured on more than one machine.\n"
    )


def main() -> None:
    program, folder = os.path.abspath(sys.argv[1]), Path(sys.argv[2])
    is_short = "--short" in sys.argv
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else None
    n = SHORT_ROWS if is_short else ROWS
    clock, repeats = (300_000, 1) if is_short else (CLOCK_ROWS, 3)
    repeats = int(sys.argv[sys.argv.index("--repeats") + 1]) if "--repeats" in sys.argv else repeats
    for rows in dict.fromkeys([n, clock]):
        if not (folder / str(rows)).exists():
            rows_on_disk.write(folder / str(rows), rows, COLUMNS)
    parts = {
        "judged": lambda: judged(program, folder / str(n), n),
        "threads": lambda: threads(program, folder / str(clock), clock, repeats),
        "dask": lambda: dask(clock // 2, repeats),
    }
    for name, measure in parts.items():
        # A part takes minutes, and is kept for a page that another part is measured anew for.
        if only in (None, name):
            kept = folder / f"{name}.md"
            kept.write_text(measure(), encoding="utf-8")
            print(kept.read_text(encoding="utf-8"), flush=True)
    if not is_short:
        measured = "\n".join((folder / f"{name}.md").read_text(encoding="utf-8") for name in parts)
        before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
        after = rest.split(END)[1]
        PAGE.write_text(f"{before}{BEGIN}\n{measured}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
