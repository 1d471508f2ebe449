"""The verdict in the one line of a commit status."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithbot.metrics import label
from faithbot.plain_text import plain
from faithbot.report import wording

if TYPE_CHECKING:
    from faithbot.results import MetricComparison, Results

MAX_CHARACTERS = 140
"""GitHub refuses a longer description."""


def status_line(results: Results) -> str:
    """``faithfulness 0.91 → 0.84 (−0.07, noise ±0.03)``; the headline where there are no two levels to show.

    Of several gated metrics the first that turned it red.
    """
    gated = [(name, metric) for name, metric in results.metrics.items() if metric.gated]
    shown = [one for one in gated if one[1].turns_red] or gated
    if results.verdict in ("pass", "regression"):
        for name, metric in shown:
            if metric.floor_standing == "broken" and not metric.flagged:
                return plain(wording.beyond_floor(name, metric, link=","), MAX_CHARACTERS)
            if metric.base is not None and metric.head is not None:
                return plain(_levels(name, metric, metric.base, metric.head), MAX_CHARACTERS)
    return plain(wording.headline(results), MAX_CHARACTERS)


def _levels(name: str, metric: MetricComparison, base: float, head: float) -> str:
    decimals = wording.decimals_for(metric)
    noise = f", noise ±{wording.number(metric.noise_band or 0.0, decimals)}" if wording.has_noise(metric) else ""
    levels = f"{wording.number(base, decimals)} → {wording.number(head, decimals)}"
    return f"{label(name)} {levels} ({wording.signed(head - base, decimals)}{noise})"
