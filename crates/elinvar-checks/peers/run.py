"""Runs elinvar's peers on what `elinvar-checks peers` has told of, and writes docs/peers.md.

    python run.py TOLD.json DIR_OF_POSTERIORDB DIR_OF_TABLES --page docs/peers.md [--record FILE] [--only TEXT]

What was found for a problem is kept in the record, a line each, and not looked for again.
"""

import argparse
import json
import pathlib
import warnings

# nutpie imports an ArviZ that announces its successor.
warnings.filterwarnings("ignore")

import densities  # noqa: E402
import gaussians  # noqa: E402
import page  # noqa: E402
import samplers  # noqa: E402


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("told", type=pathlib.Path)
    arguments.add_argument("collection", type=pathlib.Path)
    arguments.add_argument("tables", type=pathlib.Path)
    arguments.add_argument("--page", type=pathlib.Path)
    arguments.add_argument("--record", type=pathlib.Path)
    arguments.add_argument("--only", default="")
    given = arguments.parse_args()
    told = json.loads(given.told.read_text())
    record = given.record or given.told.with_name("found.jsonl")
    found = {}
    if record.exists():
        found = {line["key"]: line for line in map(json.loads, record.read_text().splitlines())}

    def kept(kind, problem, measure):
        key = f"{kind}: {problem['name']}"
        if key not in found and given.only in key:
            density = densities.of(problem, given.collection, given.tables)
            found[key] = {"key": key, **measure(density, problem)}
            with open(record, "a") as file:
                file.write(json.dumps(found[key]) + "\n")
            print(json.dumps(found[key]), flush=True)
        return found.get(key)

    for problem in told["fitted"]:
        kept("Gaussian", problem, gaussians.compared)
    for problem in told["sampled"]:
        kept("as it comes", problem, lambda density, problem: samplers.as_it_comes(density, problem))
    for name in ("nuts", "microcanonical"):
        for problem in told["sampled"]:
            sampler = getattr(samplers, name)
            kept(name, problem, lambda density, problem: samplers.told_of(sampler(density, problem, told["seeds"])))
    if given.page:
        given.page.write_text(page.written(told, found))


if __name__ == "__main__":
    main()
