"""Every model of the gallery, each in a process of its own, against a sampler: writes docs/gallery.md.

``--out FILE`` runs all of them, and ``NAME...`` those that begin with one of the names and writes no page.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import pathlib
import resource
import signal
import sys
import time
import traceback
import warnings

import numpy as np

MODULES = {
    "pymc": ("pymc_regressions", "pymc_laws"),
    "bambi": ("bambi_models",),
    "numpyro": ("numpyro_models", "numpyro_series"),
    "jax": ("jax_models",),
    "torch": ("torch_models",),
    "stan": ("stan_models",),
}
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "benches"))
HEAD = ("| model | what it is | d | verdict | gradients | mean | sd | width |", "|---|---|---|---|---|---|---|---|")
SECONDS = 60.0
# Seconds of a processor that a sampler may take, its compiler counted.
SAMPLER_SECONDS = 60
PATIENCE = 900.0
# What a sampler is asked for; more than enough for errors of a few hundredths of an sd.
CHAINS, TUNE, DRAWS = 2, 700, 1500


def entries(libraries: set[str]):
    """The models of the libraries that can be imported."""
    from importlib import import_module

    from entry import ENTRIES

    for library, modules in MODULES.items():
        for module in modules if library in libraries else ():
            try:
                import_module(module)
            except ModuleNotFoundError as missing:
                print(f"{library}: {missing}", file=sys.stderr)
    return ENTRIES


def one(name: str):
    """A fit of one model; then, if anybody wants it, how far it is from what a sampler finds."""
    import elinvar

    from entry import ENTRIES

    entry = ENTRIES[name]
    made = entry.made()
    began = time.perf_counter()
    try:
        model = elinvar.as_model(made.model, made.args, made.kwargs)
        compiled = time.perf_counter() - began
        fit = elinvar.fit(model, max_seconds=SECONDS, progress=False)
    except Exception as refusal:
        sentence = f"{type(refusal).__name__}: {refusal}"
        yield {"refused": sentence, "seconds": time.perf_counter() - began}
        return
    found = {
        "dim": model.dim,
        "verdict": fit.verdict,
        "reason": fit.reason,
        "given_by": fit.given_by,
        "family": fit.record["family"],
        "gradients": fit.record["gradients"],
        "compiled": compiled,
        "seconds": time.perf_counter() - began,
    }
    draws = fit.sample(4000)
    found["shapes"] = {name: list(value.shape[1:]) for name, value in draws.items()}
    found["rows"] = len(fit.rows())
    tree = fit.to_arviz(500)
    found["dims"] = {name: list(value.dims[2:]) for name, value in tree.posterior.data_vars.items()}
    yield found
    from reference import sample

    began = time.process_time()
    reference = sample(entry, made, model)
    yield {"sampler_seconds": time.process_time() - began, **compared(entry, fit, reference)}


def compared(entry, fit, reference: dict[str, np.ndarray]) -> dict:
    """The largest distance of a mean in standard deviations, of log standard deviations, and of log widths of the
    middle 90 %, each with the number that it is of."""
    draws = fit.sample(4000)
    exact = {row["name"]: row for row in fit.rows()}
    from elinvar._model import indexed

    worst: dict = {"compared": 0}

    def see(what: str, error: float, label: str) -> None:
        if error >= worst.get(what, 0.0):
            worst.update({what: float(error), f"{what}_of": label})

    for name, values in reference.items():
        if name not in draws or (entry.compared is not None and name not in entry.compared):
            continue
        labels = indexed(name, draws[name].shape[1:], fit.model.first_index)
        own = draws[name].reshape(len(draws[name]), -1)
        other = values.reshape(-1, own.shape[1])
        for column, label in enumerate(labels):
            there = other[:, column]
            sd = there.std()
            if sd < 1e-12:
                continue
            here = own[:, column]
            row = exact.get(label, {"mean": here.mean(), "sd": here.std()})
            worst["compared"] += 1
            see("mean_error", abs(row["mean"] - there.mean()) / sd, label)
            see("sd_error", abs(np.log(row["sd"] / sd)), label)
            widths = [float(np.diff(np.quantile(column, [0.05, 0.95]))[0]) for column in (here, there)]
            see("width_error", abs(np.log(widths[0] / widths[1])), label)
    return worst


def row(entry, found: dict) -> str:
    """A line of the table."""
    if "died" in found:
        return f"| {entry.name} | {entry.about} | | **{found['died']}** | | | | |"
    if "refused" in found:
        return f"| {entry.name} | {entry.about} | | {found['refused']} | | | | |"
    word = {"trust": "trust", "trust_means_only": "means only", "do_not_trust": "do not trust", None: "not judged"}
    verdict = word[found["verdict"]]
    head = f"| {entry.name} | {entry.about} | {found['dim']} | {verdict} | {found['gradients']:,} |"
    if "mean_error" not in found:
        return f"{head} {found.get('unsampled', '')} | | |"

    def percent(what):
        size = 100 * np.expm1(found[what])
        return f"{size:.0f} %" + (f" ({found[f'{what}_of']})" if size > 20 else "")

    return f"{head} {found['mean_error']:.2f} | {percent('sd_error')} | {percent('width_error')} |"


def main() -> int:
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("names", nargs="*")
    ask.add_argument("--without-sampler", action="store_true")
    ask.add_argument("--out", type=pathlib.Path, required=True, help="lines of JSON; models that are there are not run")
    asked = ask.parse_args()
    libraries = {name.split("/")[0] for name in asked.names} or set(MODULES)
    known = entries(libraries)
    chosen = [name for name in known if not asked.names or any(name.startswith(part) for part in asked.names)]
    results = read(asked.out)
    bad = 0
    for name in chosen:
        if name not in results:
            results[name] = in_process(name, not asked.without_sampler)
            with open(asked.out, "a", encoding="utf-8") as file:
                file.write(json.dumps({"name": name, **results[name]}) + "\n")
        bad += not as_expected(known[name], results[name])
        print(row(known[name], results[name]), flush=True)
    if not asked.names:
        from page import put

        put("gallery.md", "table", [*HEAD, *(row(known[name], results[name]) for name in chosen)])
    print(f"{len(chosen)} models, {bad} not as expected", file=sys.stderr)
    return int(bad > 0)


def read(path: pathlib.Path) -> dict[str, dict]:
    """What a run that was cut short has found; the last word about a model counts."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {found.pop("name"): found for found in map(json.loads, lines)}


def in_process(name: str, sampled: bool) -> dict:
    """What a process says that has the modules already; where it dies, how."""
    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe(duplex=False)
    process = fork.Process(target=_told, args=(name, sampled, there))
    process.start()
    there.close()
    found: dict = {}
    try:
        while True:
            if not here.poll(PATIENCE):
                process.kill()
                return found | ({"unsampled": f"not over after {PATIENCE:.0f} s"} if found else _dead(PATIENCE))
            found |= here.recv()
    except EOFError:
        process.join()
        if not found:
            return {"died": f"ended with {process.exitcode} and no word"}
        if process.exitcode == -signal.SIGXCPU:
            found["unsampled"] = f"NUTS takes more than {SAMPLER_SECONDS} s"
        elif process.exitcode:
            found["unsampled"] = f"NUTS ended with {process.exitcode}"
        return found
    finally:
        process.join()


def _dead(seconds: float) -> dict:
    return {"died": f"not over after {seconds:.0f} s"}


def _told(name: str, sampled: bool, to) -> None:
    warnings.simplefilter("ignore")
    said = one(name)
    try:
        to.send(next(said))
    except Exception as error:
        traceback.print_exc()
        to.send({"died": f"{type(error).__name__}: {error}"})
        return
    if sampled:
        used = int(time.process_time()) + 1 + SAMPLER_SECONDS
        resource.setrlimit(resource.RLIMIT_CPU, (used, used + 60))
        for more in said:
            to.send(more)


def as_expected(entry, found: dict) -> bool:
    """Refused where it must be; otherwise fitted, and right where it says that it is."""
    if "died" in found or ("refused" in found) != (entry.refused is not None):
        return False
    if entry.refused is not None:
        return entry.refused in found["refused"]
    return found["verdict"] != "trust" or found.get("mean_error", 0.0) < 0.15


if __name__ == "__main__":
    sys.exit(main())
