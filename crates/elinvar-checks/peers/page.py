"""docs/peers.md from what was told and found."""

import math
import statistics
from importlib.metadata import version

from gaussians import MOST_GRADIENTS as MOST_OF_A_GAUSSIAN
from gaussians import NEAR, SEEDS
from samplers import DRAWS, ENERGY_VARIANCES, GRADIENTS_PER_STEP, MEAN, MOST_GRADIENTS, SD, SEGMENT, SEGMENTS, TUNING
from samplers import ACCEPTANCES, CHAINS, WARM_UPS

# The goal that was set for the median ratio.
GOAL = 10

SAMPLERS = {"nuts": "NUTS", "microcanonical": "MCLMC"}
KINDS = [*SAMPLERS, "as it comes"]


def table(header, rows):
    """A table in Markdown, columns aligned."""
    cells = [header, *rows]
    widths = [max(len(row[j]) for row in cells) for j in range(len(header))]

    def line(row):
        return "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |\n"

    return line(header) + "|" + "".join("-" * (width + 2) + "|" for width in widths) + "\n" + "".join(map(line, rows))


def number(value):
    return f"{value:,.0f}".replace(",", " ")


def times(ratio):
    return f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}"


def words(values):
    return ", ".join(str(value) for value in values)


class Row:
    """One posterior: what elinvar took, and what each peer did."""

    def __init__(self, problem, found):
        fits = problem["fits"]
        self.name = f"{problem['name']} ({problem['dim']})"
        self.gradients = statistics.median(fit["gradients"] for fit in fits)
        self.most = max(fit["gradients"] for fit in fits)
        self.looked = statistics.median(fit["looked"] for fit in fits)
        self.mean = max(fit["mean"] for fit in fits)
        self.sd = max((fit["sd_ratio"] for fit in fits), key=lambda ratio: abs(math.log(ratio)))
        self.right = sum(fit["right"] for fit in fits)
        self.trusted = sum(fit["trusted"] for fit in fits)
        self.false = sum(fit["trusted"] and not fit["right"] for fit in fits)
        self.seeds = len(fits)
        self.peers = {kind: found.get(f"{kind}: {problem['name']}") for kind in KINDS}

    def ratio(self, kind, own=None):
        """The peer's gradients over elinvar's; infinite where no setting of the peer sufficed, nothing if not run."""
        peer = self.peers[kind]
        if peer is None:
            return None
        return math.inf if peer["gradients"] is None else peer["gradients"] / (own or self.gradients)

    def peer(self, kind):
        ratio = self.ratio(kind)
        if ratio is None:
            return ["not run", "–"]
        if math.isinf(ratio):
            return ["none", "–"]
        return [number(self.peers[kind]["gradients"]), times(ratio)]


def median_ratio(rows, kind, of=lambda row: row.gradients):
    ratios = [row.ratio(kind, of(row)) for row in rows if row.peers[kind] is not None]
    return statistics.median_low(sorted(ratios)) if ratios else None


def sampled(rows):
    header = ["posterior (d)", "elinvar", "of these to look", "worst mean, sd ratio", "right, trusted"]
    header += ["NUTS, cheapest", "ratio", "MCLMC, cheapest", "ratio", "NUTS as it comes", "ratio"]
    lines = []
    for row in rows:
        line = [row.name, f"{number(row.gradients)} ({number(row.most)})", number(row.looked)]
        line += [f"{row.mean:.3f}, {row.sd:.3f}", f"{row.right}, {row.trusted} of {row.seeds}"]
        lines.append(line + row.peer("nuts") + row.peer("microcanonical") + row.peer("as it comes"))
    return table(header, lines)


def settings(rows):
    lines = []
    for row in rows:
        cells = [row.name]
        for kind in SAMPLERS:
            peer = row.peers[kind]
            cells.append("not run" if peer is None else peer["how"] or "none of the grid sufficed")
        known = row.peers["as it comes"]
        cells.append("not run" if known is None else f"{known['how']}: {known['mean']:.3f}, {known['sd_ratio']:.3f}")
        lines.append(cells)
    header = ["posterior (d)", "NUTS, cheapest", "MCLMC, cheapest", "NUTS as it comes: worst mean, sd ratio"]
    return table(header, lines)


def medians(rows):
    text = ""
    for kind, what in (
        ("nuts", "the cheapest setting of nutpie's NUTS"),
        ("microcanonical", "the cheapest setting of BlackJAX's MCLMC"),
        ("as it comes", "nutpie as it comes"),
    ):
        ratio = median_ratio(rows, kind)
        if ratio is None:
            continue
        of = [row for row in rows if row.peers[kind] is not None]
        bare = median_ratio(rows, kind, lambda row: row.gradients - row.looked)
        less = sum(row.ratio(kind) < 1.0 for row in of)
        none = sum(math.isinf(row.ratio(kind)) for row in of)
        text += f"- {what}: {times(ratio)} times the gradients of elinvar in the median of {len(of)}\n"
        text += f"  ({times(bare)} times without the look around); fewer than elinvar on {less}"
        text += f"; no setting sufficed on {none}" if none else ""
        if kind == "as it comes":
            errors = [(row.name, row.peers[kind]) for row in of]
            far = [name for name, of in errors if of["mean"] > MEAN or abs(of["sd_ratio"] - 1.0) > SD]
            text += f";\n  outside the limits on {', '.join(far) or 'none'}"
        text += ".\n"
    return text


def lost(rows):
    """Where a peer that knows the answer needs fewer gradients, and where elinvar does not trust or is wrong."""
    cheaper = []
    for row in rows:
        by = [name for kind, name in SAMPLERS.items() if (row.ratio(kind) or math.inf) < 1.0]
        if by:
            cheaper.append(f"{row.name} ({' and '.join(by)})")
    text = "Fewer gradients than elinvar take, at their cheapest setting:\n\n"
    text += "".join(f"- {row}\n" for row in cheaper) or "- none\n"
    text += "\n"
    unsure = [f"{row.name} ({row.trusted} of {row.seeds} trusted)" for row in rows if row.trusted < row.seeds]
    text += "elinvar does not always trust its answer on:\n\n" + ("".join(f"- {row}\n" for row in unsure) or "- none\n")
    text += "\n"
    wrong = sum(row.seeds - row.right for row in rows)
    text += f"Wrong answers of elinvar: {wrong} of {sum(row.seeds for row in rows)}, "
    return text + f"{sum(row.false for row in rows)} of them trusted.\n"


def gaussians(told, found):
    header = ["problem (d)", "elinvar", "nats", "Laplace: gradients, nats"]
    kinds = [("GSM", "N(0, I)"), ("GSM", "Laplace"), ("BaM", "N(0, I)"), ("BaM", "Laplace")]
    header += [f"{method} from {start}" for method, start in kinds]
    lines = []
    for problem in told["fitted"]:
        known = found.get(f"Gaussian: {problem['name']}")
        if known is None:
            continue
        gradients = [fit[0] for fit in known["own"]]
        line = [f"{problem['name']} ({problem['dim']})"]
        line.append(f"{number(statistics.median(gradients))} ({number(max(gradients))})")
        line.append(f"{max(fit[1] for fit in known['own']):.4f}")
        line.append(f"{number(known['laplace'][0])}, {known['laplace'][1]:.3g}")
        for method, start in kinds:
            peer = next(peer for peer in known["peers"] if (peer["method"], peer["start"]) == (method, start))
            if math.isinf(peer["gradients"]):
                line.append(f"never; {peer['least']:.2g} nats at best")
            else:
                line.append(f"{number(peer['gradients'])} ({peer['how']})")
        lines.append(line)
    return table(header, lines)


def beaten(told, found):
    """Where a peer that is stopped from outside needs fewer gradients than elinvar with its own stop."""
    text, far = "Fewer gradients than elinvar took:\n\n", ""
    for problem in told["fitted"]:
        known = found.get(f"Gaussian: {problem['name']}")
        if known is None:
            continue
        own = statistics.median(fit[0] for fit in known["own"])
        by = [f"{peer['method']} from {peer['start']}" for peer in known["peers"] if peer["gradients"] < own]
        if known["laplace"][0] < own and known["laplace"][1] <= NEAR:
            by.insert(0, "the Laplace approximation as it is")
        text += f"- {problem['name']}: {', '.join(by)}\n" if by else ""
        farthest = max(fit[1] for fit in known["own"])
        far += f"- {problem['name']}: {farthest:.3f} nats away\n" if farthest > NEAR else ""
    return text + (f"\nBy itself elinvar stops farther than {NEAR} nats away on:\n\n{far}" if far else "")


def written(told, found):
    rows = [Row(problem, found) for problem in told["sampled"]]
    seeds = told["seeds"]
    versions = {name: version(name) for name in ("nutpie", "blackjax", "gsmvi")}
    steps = SEGMENT * SEGMENTS
    chains = "one chain" if CHAINS == (1,) else f"{words(CHAINS)} chains"
    return f"""# elinvar beside its peers

Written by `cargo xtask peers DIR TABLES`, problem by problem. Every program is given the same log densities: those of
elinvar's models, written once more in JAX (`crates/elinvar-checks/peers/densities.py`) and held against elinvar's at
{len(told['sampled'][0]['points'])} points of each before anything is counted. Nobody gets a Hessian.

## Right answers

*elinvar*: the default plan from gradients alone, {seeds} seeds; gradients of everything, search, fit, chains, verdict and
the look around for other modes that precedes every trust, median and, in brackets, most. That look asks for log
densities only, each of which is counted as a gradient; *of these to look* are so many, and where a log density is known
to be concave there are none. *Worst mean* is in standard deviations of the reference.

*NUTS* is nutpie {versions['nutpie']}, *MCLMC* the microcanonical sampler `mclmc` of BlackJAX {versions['blackjax']} with its
`mclmc_find_L_and_step_size`; a step is {GRADIENTS_PER_STEP} gradients. *Cheapest* is the smallest cost, warm-up and tuning included,
over a grid at which in four of {seeds} seeds every mean is within {MEAN} sd and every sd within {100 * SD:.0f} %. For NUTS: {words(sorted(WARM_UPS))}
steps of warm-up, acceptance {words(ACCEPTANCES)}, a diagonal mass matrix or one with a part of low rank, up to {DRAWS}
draws of {chains}, at most {number(MOST_GRADIENTS)} gradients. For MCLMC: {words(TUNING)} steps asked for to tune, energy variances
{words(f'{v:g}' for v in ENERGY_VARIANCES)}, from N(0, I) or from a mode (whose climb by L-BFGS is counted), one chain of up to
{number(steps)} steps. So the cheapest setting is chosen by somebody who knows the answer, from dozens, on the very seeds
that it is judged by. elinvar does not know the answer, and says whether to trust it. *As it comes* is nutpie with its
own choice of chains, warm-up and draws, one seed: what people pay who do not know the answer either.

What is compared are the parameters that the models print; θ of the non-centred eight schools is left out for its η,
and of the Gaussian process there are ρ and α. The truth is that of posteriordb's reference draws; for η, quadrature;
for Sonar, importance sampling; for the generated regression (N = 250), 16 long corrections of elinvar's own. *None*:
no setting sufficed; it counts as infinitely many gradients. *Not run* is what its name says, and part of no median.
MCLMC might be tuned in fewer steps: 300 were tried on kidiq, sblri and Sonar, and sufficed on none in 5 000 steps.

{sampled(rows)}
In the median:

{medians(rows)}
The goal was {GOAL} times fewer gradients in the median than the cheapest setting of each peer:
{verdict(rows)}

{lost(rows)}
The settings:

{settings(rows)}
## The best Gaussian

The fewest gradients until the ELBO is within {NEAR} nats of that of the best Gaussian, which is the better of two long
fits with Hessians ([evaluations](evaluations.md)); ELBOs are compared on common draws. *elinvar*: `Family::gaussian()`,
{seeds} seeds, median and most, until it stops by itself, with the worst distance. *GSM* (Gaussian score matching) is the
update of gsmvi {versions['gsmvi']}; *BaM* (batch and match) is written here from its paper, since that package has none. They begin at
N(0, I) or at a Laplace approximation (L-BFGS and differences of gradients, counted); the best of their batches and
rates, median of {SEEDS} seeds, at most {number(MOST_OF_A_GAUSSIAN)} gradients, stopped by somebody who knows the best Gaussian.
*Never*: the median seed did not come that near; the nearest state of any seed is told.

{gaussians(told, found)}
{beaten(told, found)}
gmmvi was not run: its package asks for TensorFlow and a service for records of experiments, which this command does not
install. nutpie fits no Gaussian.
"""


def verdict(rows):
    missed = [name for kind, name in SAMPLERS.items() if (median_ratio(rows, kind) or 0.0) < GOAL]
    if not missed:
        return "met."
    return f"missed against {' and '.join(missed)}."
