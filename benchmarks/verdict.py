"""How often the verdict is wrong, and what it sees: faithbot's rule beside simpler ones, over simulated pull requests.

    python benchmarks/verdict.py                # about 3 minutes; exits 1 where a bound is broken
    python benchmarks/verdict.py --pulls 200    # a quick look, with wider bounds
    python benchmarks/verdict.py --plot docs/verdict.svg

A pull request is simulated as a golden set of answers with 2 to 7 claims. Each question has its own chance that a claim
is supported, an answer can fail as a whole, and the judge errs on single claims. "Unchanged" pull requests draw both
sides alike; "loss" takes half of the support from three questions in ten. Rates are in percent of the pull requests.
"""

from __future__ import annotations

import argparse
import math
import resource
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from dot_plot import draw_plot
from numpy.typing import NDArray

from faithbot.noise import compare_runs

if TYPE_CHECKING:
    from collections.abc import Callable

SEED = 2024
Scores = NDArray[np.float64]


@dataclass(frozen=True)
class World:
    """How answers and judge behave, and what the two sides of a pull request have in common."""

    name: str
    support: tuple[float, float]
    """Parameters of the beta distribution of a question's chance that a claim is supported."""
    judge_error: float
    graded: bool = False
    """The judge gives 1, 0.5 or 0 for the whole answer instead of counting claims."""
    runs: int = 2
    repeats: int = 1
    """Times that each run is recorded again, as by a system that answers the same every time."""
    untouched: float = 0.0
    """Share of questions whose requests are the same on both sides."""
    must_see: dict[int, float] | None = None
    """Least power by number of questions."""


STEADY = World("steady", (20, 1.5), 0.01, must_see={12: 60, 30: 89})
USUAL = World("usual", (6, 1.5), 0.05, must_see={12: 42, 30: 73})
WORLDS = [
    STEADY,
    USUAL,
    World("erratic", (3, 1.5), 0.10, must_see={12: 32, 30: 61}),
    World("graded 1, 0.5, 0", (3, 1), 0.05, graded=True, must_see={12: 35, 30: 64}),
    replace(USUAL, name="usual, 60 % unchanged", untouched=0.6, must_see=None),
    replace(USUAL, name="usual, 5 runs", runs=5, must_see={12: 70, 30: 90}),
    replace(USUAL, name="usual, 1 run", runs=1, must_see=None),
    replace(STEADY, name="steady, runs identical", runs=1, repeats=2, must_see=None),
]


def draw_side(rng: np.random.Generator, world: World, claims: NDArray[np.int64], support: Scores) -> Scores:
    shape = (world.runs, len(claims))
    as_a_whole = rng.random(shape) < 0.3
    true = np.where(as_a_whole, claims * (rng.random(shape) < support), rng.binomial(claims, support, shape))
    judged = rng.binomial(true, 1 - world.judge_error) + rng.binomial(claims - true, world.judge_error)
    scores = (judged / claims).T
    if world.graded:
        scores = np.select([scores > 0.99, scores > 0.4], [1.0, 0.5], 0.0)
    return np.repeat(scores, world.repeats, axis=1)


def draw_pull(rng: np.random.Generator, world: World, questions: int, loss: float) -> tuple[Scores, Scores, Scores]:
    """Base, head and the mask of unchanged questions; ``loss`` is the support that three questions in ten lose."""
    claims, support = rng.integers(2, 8, questions), rng.beta(*world.support, questions)
    unchanged = rng.random(questions) < world.untouched
    hit = rng.random(questions) < 0.3
    base = draw_side(rng, world, claims, support)
    head = draw_side(rng, world, claims, np.where(hit, np.maximum(support - loss, 0), support))
    head[unchanged] = base[unchanged]
    return base, head, unchanged


def drop(base: Scores, head: Scores) -> float:
    return float(base.mean() - head.mean())


def run_to_run(base: Scores, head: Scores, _: Scores) -> bool:
    return drop(base, head) > max(float(np.ptp(side.mean(axis=0))) for side in (base, head))


def bootstrap_rule(base: Scores, head: Scores, _: Scores) -> bool:
    """One-sided 95 % interval of the mean change, by drawing the questions anew."""
    moves = head.mean(axis=1) - base.mean(axis=1)
    drawn = np.random.default_rng(SEED).integers(len(moves), size=(1_000, len(moves)))
    return bool(np.quantile(moves[drawn].mean(axis=1), 0.95) < 0)


RULES: dict[str, Callable[[Scores, Scores, Scores], bool]] = {
    "faithbot": lambda base, head, unchanged: compare_runs(base, head, unchanged=unchanged).flagged,
    "any worse": lambda base, head, _: bool((head.mean(axis=1) < base.mean(axis=1)).any()),
    "drop > 0.05": lambda base, head, _: drop(base, head) > 0.05,
    "> run to run": run_to_run,
    "bootstrap": bootstrap_rule,
}


def flag_rates(world: World, questions: int, loss: float, pulls: int) -> list[float]:
    """Percent of the pull requests that each rule flags."""
    rng = np.random.default_rng(SEED)
    flags = [
        [rule(*pull) for rule in RULES.values()]
        for pull in (draw_pull(rng, world, questions, loss) for _ in range(pulls))
    ]
    return [100 * float(rate) for rate in np.mean(flags, axis=0)]


def margin(percent: float, pulls: int) -> float:
    """Three standard errors of a rate that is ``percent`` in truth."""
    return 3 * math.sqrt(percent * (100 - percent) / pulls)


def rates(pulls: int, plot: Path | None) -> bool:
    """False alarms (at most 5 % in truth) and power, by world and size of the golden set."""
    bound = 5 + margin(5, pulls)
    print(
        f"False alarms / losses seen, % of {pulls} pull requests; faithbot's false alarms must stay below {bound:.1f}\n"
    )
    print(f"{'world':24}{'questions':>10}  " + "".join(f"{name:>16}" for name in RULES))
    kept, drawn = True, {}
    for world in WORLDS:
        for questions in (12, 30):
            alarms, seen = (flag_rates(world, questions, loss, pulls) for loss in (0.0, 0.5))
            floor = (world.must_see or {}).get(questions, 0)
            good = alarms[0] <= bound and seen[0] >= floor - margin(floor, pulls)
            kept &= good
            cells = "".join(f"{alarm:9.1f} /{see:5.1f}" for alarm, see in zip(alarms, seen, strict=True))
            print(f"{world.name:24}{questions:>10}  {cells}{'' if good else '   <- out of bounds'}")
            if world is USUAL:
                drawn[questions] = (alarms, seen)
    if plot:
        plot.write_text(draw_plot(list(RULES), drawn), encoding="utf-8")
    return kept


def gaussian_pull(
    rng: np.random.Generator, questions: int, runs: tuple[int, int], drops: Scores
) -> tuple[Scores, Scores]:
    """Scores with a noise of 0.1, on a grid of 0.01."""
    levels = rng.uniform(0.5, 1, (questions, 1))
    base, head = (levels + rng.normal(0, 0.1, (questions, side)) for side in runs)
    return base.round(2), (head - drops[:, np.newaxis]).round(2)


def smallest_detectable(pulls: int) -> bool:
    """Is a change of the size that is called the smallest detectable seen in 8 of 10 cases?"""
    low, high = 80 - 5 - margin(80, pulls), 80 + 5 + margin(80, pulls)
    print(
        f"\nDrops of the smallest detectable size that are seen, % of {pulls}; spread evenly: {low:.0f} to {high:.0f}\n"
    )
    print(f"{'questions':>9}{'runs':>8}{'smallest':>10}{'evenly':>8}{'3 in 10':>9}{'3 in 10, x 1.2':>16}")
    kept = True
    for questions in (4, 6, 10, 20, 40):
        for runs in ((2, 2), (5, 2), (1, 1)):
            rng = np.random.default_rng(SEED)
            still = np.zeros(questions)
            smallest = float(
                np.median(
                    [compare_runs(*gaussian_pull(rng, questions, runs, still)).smallest_detectable for _ in range(100)]
                )
            )
            few = np.where(np.arange(questions) < max(1, round(0.3 * questions)), 1.0, 0.0)
            seen = [
                100 * np.mean([compare_runs(*gaussian_pull(rng, questions, runs, drops)).flagged for _ in range(pulls)])
                for drops in (still + smallest, few / few.mean() * smallest, few / few.mean() * smallest * 1.2)
            ]
            kept &= bool(low <= seen[0] <= high)
            print(
                f"{questions:>9}{runs[0]:>5} + {runs[1]}{smallest:>9.3f}{seen[0]:>8.1f}{seen[1]:>9.1f}{seen[2]:>16.1f}"
                f"{'' if low <= seen[0] <= high else '   <- out of bounds'}"
            )
    return kept


def speed() -> bool:
    """10,000 questions x 5 runs in at most a second and 500 MB."""
    rng = np.random.default_rng(SEED)
    base, head = rng.random((10_000, 5)), rng.random((10_000, 5))
    start = time.perf_counter()
    compare_runs(base, head)
    seconds = time.perf_counter() - start
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "linux" else 1024**2)
    print(f"\n10,000 questions x 5 runs: {seconds:.2f} s (at most 1), {megabytes:.0f} MB for the process (at most 500)")
    return seconds <= 1 and megabytes <= 500


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pulls", type=int, default=1_000, help="simulated pull requests per cell (default: 1000)")
    parser.add_argument("--plot", type=Path, help="write the rates of the usual world to an SVG file")
    options = parser.parse_args()
    pulls = options.pulls
    return 0 if all([rates(pulls, options.plot), smallest_detectable(pulls), speed()]) else 1


if __name__ == "__main__":
    sys.exit(main())
