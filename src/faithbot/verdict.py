"""The metrics of a comparison to one word, and why, in one plain sentence; too little to go by comes with its cure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from faithbot.config import COUNTS
from faithbot.metrics import METRICS, label
from faithbot.plain_text import count
from faithbot.stopping import GIVE_UP_BELOW

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from faithbot.compare import Grading
    from faithbot.config import MetricName
    from faithbot.gate import GateLook
    from faithbot.results import MetricComparison, SideName, Verdict
    from faithbot.side_table import SideTable

NOTHING_CHANGED = "Nothing that the answers depend on changed."
MIN_COMPARED = 0.5
"""Share of the questions scored on either side that must be scored on both. Where one side abstains from most of them,
the mean of the rest says nothing about the golden set."""
FEWEST_COMPARED = 6
"""Questions below which there is no verdict on a change."""
WORTH_SEEING = 0.10
"""The drop for which the cure of too few questions says how many it takes; of counts, `WORTH_SEEING_IN_COUNTS`."""
WORTH_SEEING_IN_COUNTS = 0.5
_ROUNDING = 1e-9


def first_verdict(head: SideTable, grading: Grading) -> tuple[Verdict, str]:
    """Where there is no base: `first`, if enough could be judged."""
    if (missing := _missing_coverage({"head": head}, grading)) is not None:
        return "inconclusive", missing
    return "first", "There is no base configuration to compare with yet."


def decide(
    metrics: Mapping[str, MetricComparison],
    tables: Mapping[SideName, SideTable],
    unchanged: NDArray[np.bool_],
    grading: Grading,
) -> tuple[Verdict, str]:
    """The verdict of two sides. ``unchanged`` marks the questions whose requests are the same on both.

    A regression by any metric that can be compared counts, whatever the others lack.
    """
    if unchanged.all():
        return "pass", NOTHING_CHANGED
    if (missing := _missing_coverage(tables, grading)) is not None:
        return "inconclusive", missing
    mute = _not_comparable(metrics, grading)
    comparable = {name: metrics[name] for name in grading.gate if name not in mute}
    reasons = []
    if flagged := [label(name) for name, metric in comparable.items() if metric.flagged]:
        reasons.append(f"Worse by more than the noise of measuring: {' and '.join(flagged)}.")
    if broken := [label(name) for name, metric in comparable.items() if metric.floor_standing == "broken"]:
        reasons.append(f"Beyond the floor that is set for it: {' and '.join(broken)}.")
    if reasons:
        return "regression", " ".join([*reasons, *mute.values()])
    if mute:
        return "inconclusive", next(iter(mute.values()))
    return "pass", "No gated metric is worse by more than the noise of measuring."


def may_turn_red(
    metrics: Mapping[str, MetricComparison],
    tables: Mapping[SideName, SideTable],
    unchanged: NDArray[np.bool_],
    grading: Grading,
    look: GateLook,
) -> bool:
    """Whether the runs that are left could make a regression of a verdict that is none yet.

    They could by a metric that can be compared, if its change has a chance to be flagged or its level lies beyond its
    floor by less than the noise. ``metrics`` are those of ``look``.
    """
    verdict, _ = decide(metrics, tables, unchanged, grading)
    if verdict == "regression" or unchanged.all() or _missing_coverage(tables, grading) is not None:
        return False
    mute = _not_comparable(metrics, grading)
    return any(
        look.chances[name] >= GIVE_UP_BELOW
        or (metrics[name].floor_standing == "within_noise" and metrics[name].measured_noise)
        for name in grading.gate
        if name not in mute
    )


def _not_comparable(metrics: Mapping[str, MetricComparison], grading: Grading) -> dict[MetricName, str]:
    """The gated metrics that say too little about the golden set, and why."""
    reasons = {
        name: _why_not_comparable(name, metrics[name])
        if name in metrics
        else f"The judge `{grading.fingerprint.method}` does not measure the gated metric {label(name)}."
        for name in grading.gate
    }
    return {name: reason for name, reason in reasons.items() if reason is not None}


def _why_not_comparable(name: MetricName, metric: MetricComparison) -> str | None:
    """Why the questions that both sides scored say too little; None where they say enough."""
    n, field = metric.n_questions, METRICS[name].needs_field
    if field and metric.n_either == 0:
        return f"No question has a score for {label(name)}: it takes questions with `{field}`."
    if n == 0:
        return f"No question has a score for {label(name)} on both sides, so there is nothing to compare."
    if n < MIN_COMPARED * metric.n_either:
        return (
            f"Only {n} of {metric.n_either} questions have a score for {label(name)} on both sides: "
            "the others are answered on one side only."
        )
    if n < FEWEST_COMPARED:
        return (
            f"{count(n, 'question')} could be compared in {label(name)}, and a verdict takes {FEWEST_COMPARED}: "
            f"{_add_questions(name, metric)}."
        )
    return None


def _add_questions(name: MetricName, metric: MetricComparison) -> str:
    """``add 9 questions to see a drop of 0.10``: the smallest change that is seen shrinks with the root of their count.

    Where no noise was measured, or none of any size could be seen, nothing is known but the fewest that it takes.
    """
    n, seen = metric.n_questions, metric.smallest_detectable
    field = METRICS[name].needs_field
    needs = f" with `{field}`" if field else ""
    if not seen or not metric.measured_noise or metric.n_unchanged:
        return f"add {count(FEWEST_COMPARED - n, 'question')} or more{needs}"
    worth_seeing = WORTH_SEEING_IN_COUNTS if name in COUNTS else WORTH_SEEING
    needed = max(FEWEST_COMPARED, math.ceil(n * (seen / worth_seeing) ** 2))
    change = "drop" if metric.better == "higher" else "rise"
    return f"add {count(needed - n, 'question')}{needs} to see a {change} of {worth_seeing:.2f}"


def _missing_coverage(tables: Mapping[SideName, SideTable], grading: Grading) -> str | None:
    """Why too few questions were judged; None where enough were."""
    judged = np.logical_and.reduce([table.judged() for table in tables.values()])
    if judged.mean() >= grading.min_coverage:
        return None
    reasons = [reason for table in tables.values() for reason in table.failures()] or ["one side has no answer"]
    commonest = max(set(reasons), key=reasons.count)
    enough = math.ceil(grading.min_coverage * len(judged) - _ROUNDING)
    missing = f"{(~judged).sum()} of {len(judged)} questions could not be scored ({commonest})"
    return f"{missing}: a verdict takes {enough} that are"
