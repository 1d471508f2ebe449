"""Does stopping early keep the promise? False alarms, power and runs of `runs: {min: 2, max: 6}` beside fixed runs.

    python benchmarks/stopping.py                # about 12 minutes; exits 1 where a bound is broken
    python benchmarks/stopping.py --pulls 200    # a quick look, with wider bounds

The worlds are those of `benchmarks/verdict.py`. A "loss" takes half of the support from three questions in ten; a loss
"at the boundary" takes 1.2 over the root of the number of questions, of which four fixed runs see about half.

Bounds. False alarms: 5 % in every world, three standard errors allowed. Power: in the mean over worlds and sizes, for
plain losses as for those at the boundary, at most 3 points below four fixed runs. Calls: in the mean over worlds and
sizes at most three quarters of those of four fixed runs, for unchanged pull requests and plain losses each, and for
the three kinds together; at the boundary alone, where more runs tell most, at most four fifths.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from verdict import SEED, STEADY, WORLDS, World, draw_side, gaussian_pull, margin

from faithbot.gate import look_at
from faithbot.noise import compare_runs
from faithbot.run_plan import RunPlan

if TYPE_CHECKING:
    from faithbot.gate import GateLook
    from faithbot.relabelling import Floats

PLAN = RunPlan(2, 6)
FIXED = 4
MOST_LOST = 3.0
MOST_CALLS = {"at the boundary": 0.8}
OUT = "   <- out of bounds"
SIZES = (8, 12, 30, 100)
SIMULATED = [replace(world, runs=PLAN.most, untouched=0.0) for world in WORLDS[:4]]
"""One for each of steady, usual, erratic and graded."""
STILL = [
    replace(STEADY, name="steady, runs identical", runs=1, repeats=PLAN.most),
    World("hardly any noise", (60, 0.3), 0.002, runs=PLAN.most),
]
"""Worlds in which a first look may find no noise at all."""


class Row(NamedTuple):
    """One world and size: percent flagged with two fixed runs, four and the plan, and the runs that the plan made."""

    fixed_2: float
    fixed_4: float
    adaptive: float
    runs: float


def last_look(base: Floats, head: Floats) -> GateLook:
    """Where the plan stops; runs are known beforehand, and used only as far as it looks."""
    unchanged = np.zeros(len(base), dtype=bool)
    for runs in PLAN.looks:
        look = look_at({"faithfulness": (base, head)}, unchanged, {"faithfulness": 0.0}, PLAN, runs)
        if look.stop is not None:
            return look
    raise AssertionError("the last look stops always")


def draw(rng: np.random.Generator, world: World, questions: int, loss: float) -> tuple[Floats, Floats]:
    claims, support = rng.integers(2, 8, questions), rng.beta(*world.support, questions)
    lost = np.where(rng.random(questions) < 0.3, loss, 0)
    return draw_side(rng, world, claims, support), draw_side(rng, world, claims, np.maximum(support - lost, 0))


def measure(world: World, questions: int, loss: float, pulls: int) -> Row:
    rng = np.random.default_rng(SEED)
    rows = []
    for _ in range(pulls):
        base, head = draw(rng, world, questions, loss)
        look = last_look(base, head)
        fixed = [compare_runs(base[:, :runs], head[:, :runs]).flagged for runs in (2, FIXED)]
        rows.append([*(100 * flag for flag in fixed), 100 * bool(look.flagged), look.runs])
    return Row(*np.mean(rows, axis=0).tolist())


def false_alarms(worlds: list[World], sizes: tuple[int, ...], pulls: int) -> tuple[bool, Row]:
    bound = 5 + margin(5, pulls)
    print(f"\nUnchanged pull requests called worse, % of {pulls}; the plan must stay below {bound:.1f}")
    return table(worlds, dict.fromkeys(sizes, 0.0), pulls, most_flagged=bound)


def table(worlds: list[World], losses: dict[int, float], pulls: int, most_flagged: float = 100.0) -> tuple[bool, Row]:
    """Print a row for each world and size; whether all kept to the bound, and the mean.

    The deficit is how many points fewer than with four fixed runs the plan flags.
    """
    print(f"{'world':24}{'questions':>10}{'2 runs':>9}{'4 runs':>9}{'2 to 6':>9}{'its runs':>10}{'deficit':>9}")
    rows = []
    for world in worlds:
        for size, loss in losses.items():
            rows.append(measure(world, size, loss, pulls))
            good = rows[-1].adaptive <= most_flagged
            print(line(f"{world.name:24}{size:>10}", rows[-1]) + ("" if good else OUT), flush=True)
    mean = Row(*np.mean(rows, axis=0).tolist())
    print(line(f"{'mean':34}", mean))
    return all(row.adaptive <= most_flagged for row in rows), mean


def line(name: str, row: Row) -> str:
    flagged = f"{row.fixed_2:9.1f}{row.fixed_4:9.1f}{row.adaptive:9.1f}"
    return f"{name}{flagged}{row.runs:10.2f}{row.fixed_4 - row.adaptive:9.1f}"


def smallest_detectable(pulls: int) -> bool:
    """Is the change that the report calls the smallest detectable seen in 8 of 10 cases, wherever the plan stopped?"""
    low, high = 75 - margin(80, pulls), 85 + margin(80, pulls)
    print(f"\nDrops of the smallest detectable size that are seen, % of {pulls}: {low:.0f} to {high:.0f}")
    kept = True
    for questions in (10, 30):
        rng = np.random.default_rng(SEED)
        still = np.zeros(questions)
        looks = [last_look(*gaussian_pull(rng, questions, (6, 6), still)) for _ in range(100)]
        smallest = float(
            np.median([look.comparisons["faithfulness"].smallest_detectable * look.detectable_factor for look in looks])
        )
        seen = 100 * np.mean(
            [bool(last_look(*gaussian_pull(rng, questions, (6, 6), still + smallest)).flagged) for _ in range(pulls)]
        )
        good = bool(low <= seen <= high)
        kept &= good
        print(f"{questions:>4} questions: {smallest:.3f} seen in {seen:.1f}{'' if good else OUT}")
    return kept


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pulls", type=int, default=1_000, help="simulated pull requests a cell, 3 in 10 for losses")
    pulls = parser.parse_args().pulls
    changed = 3 * pulls // 10
    still_kept, _ = false_alarms(STILL, (6, 12, 30), pulls)
    kept, unchanged = false_alarms(SIMULATED, SIZES, pulls)
    kept &= still_kept
    print(f"\nLosses of half of the support that are seen, % of {changed}")
    _, loss = table(SIMULATED, dict.fromkeys(SIZES, 0.5), changed)
    print(f"\nLosses at the boundary that are seen, % of {changed}")
    _, boundary = table(SIMULATED, {size: 1.2 / size**0.5 for size in SIZES}, changed)
    kinds = {"unchanged": unchanged, "loss": loss, "at the boundary": boundary}
    kinds["all three"] = Row(*np.mean(list(kinds.values()), axis=0).tolist())
    for name, row in kinds.items():
        lost, calls = row.fixed_4 - row.adaptive, row.runs / FIXED
        good = calls <= MOST_CALLS.get(name, 0.75) and (row is unchanged or lost <= MOST_LOST)
        kept &= good
        print(f"{name:16}: {lost:5.1f} points below 4 runs, {calls:.0%} of their calls{'' if good else OUT}")
    kept &= smallest_detectable(changed)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
