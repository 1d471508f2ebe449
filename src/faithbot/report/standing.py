"""What a level says by itself, and how the number of runs came about: one plain sentence each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithbot.levels import BANDS, read_level
from faithbot.metrics import label
from faithbot.report import wording

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faithbot.results import Results, Stopping

_GOOD = next(lowest for lowest, reading in BANDS if reading == "good")
_READINGS = {
    "good": "is good",
    "room": f"leaves room for improvement ({_GOOD} and more is good)",
    "often_invents": f"means that it often invents ({_GOOD} and more is good)",
    "broken": f"means that something is broken ({_GOOD} and more is good)",
}


def reading(results: Results) -> str | None:
    """``A faithfulness of 0.79 leaves room for improvement (0.85 and more is good).``

    Where the headline is not about it, also which metrics are beyond their floor.
    """
    return " ".join([*_readings(results), *_beyond_floors(results)]) or None


def _readings(results: Results) -> Iterator[str]:
    for name, metric in results.metrics.items():
        if metric.reading is not None and metric.head is not None:
            yield f"A {label(name)} of {_level(name, metric.head)} {_READINGS[metric.reading]}."
            return


def _beyond_floors(results: Results) -> Iterator[str]:
    if results.verdict == "regression":
        return
    for name, metric in results.metrics.items():
        if metric.floor_standing == "broken":
            sentence = wording.beyond_floor(name, metric)
            yield f"{sentence[:1].upper()}{sentence[1:]}."


def _level(name: str, mean: float) -> str:
    """With as many decimals as it takes to stand on the right side of a band's border."""
    honest = (digits for digits in range(2, 6) if read_level(name, round(mean, digits)) == read_level(name, mean))
    return wording.number(mean, next(honest, 6))


def stopping(results: Results) -> str | None:
    """``Stopped after 3 of at most 6 runs: ...``; nothing where their number was fixed or there is no verdict."""
    plan = results.stopping
    if plan is None or not plan.looks or plan.reason is None or results.verdict == "inconclusive":
        return None
    if plan.reason == "all_runs":
        return f"All of at most {plan.most} runs were made: the verdict was open until the last."
    return f"Stopped after {plan.looks[-1].runs} of at most {plan.most} runs: {_why_stopped(plan)}."


def _why_stopped(plan: Stopping) -> str:
    if plan.reason == "unlikely":
        percent = 100 * plan.looks[-1].chance_of_regression
        cases = f"about {percent:.0f}" if percent >= 1 else "fewer than 1"
        return f"by what was seen so far, more would have turned the verdict red in {cases} of 100 cases"
    return {
        "worse": "the change for the worse is clear",
        "unchanged": "every question went to the model unchanged",
        "no_noise": "the runs of a side came out the same, and more would do so, too",
    }[str(plan.reason)]
