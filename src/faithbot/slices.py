"""Gated metrics on the questions of one tag: where a change happened, for reading only."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from faithbot.noise import compare_runs
from faithbot.results import MetricComparison

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from faithbot.metrics import Metric
    from faithbot.side_table import SideTable

_FEWEST = 2
"""Compared questions below which a slice has no noise of its own to show."""


def find_slices(
    metrics: Iterable[Metric], base: SideTable, head: SideTable, unchanged: NDArray[np.bool_]
) -> dict[str, dict[str, MetricComparison]]:
    """By tag and metric, in the order of the golden set; metrics that no question of a tag was scored for are left out.

    Each slice has the noise of its own questions. None is ever flagged: among twenty tags, chance alone moves one by
    more than its noise.
    """
    tags = dict.fromkeys(tag for question in base.questions for tag in question.tags)
    scored = [(metric, base.scores(metric), head.scores(metric)) for metric in metrics] if tags else []
    slices: dict[str, dict[str, MetricComparison]] = {}
    for tag in tags:
        rows = np.array([tag in question.tags for question in base.questions])
        compared = {
            metric.name: _compare_slice(metric, of_base[rows], of_head[rows], unchanged[rows])
            for metric, of_base, of_head in scored
        }
        slices[tag] = {name: comparison for name, comparison in compared.items() if comparison.n_questions}
    return {tag: compared for tag, compared in slices.items() if compared}


def _compare_slice(
    metric: Metric, base: NDArray[np.float64], head: NDArray[np.float64], unchanged: NDArray[np.bool_]
) -> MetricComparison:
    noise = compare_runs(
        base, head, unchanged=unchanged, alternative="less" if metric.better == "higher" else "greater"
    )
    has_noise = noise.n_questions >= _FEWEST
    return MetricComparison(
        base=_number(noise.base_mean),
        head=_number(noise.head_mean),
        delta=_number(noise.delta),
        noise_band=_number(noise.noise_band) if has_noise else None,
        p_value=noise.p_value if has_noise else None,
        flagged=False,
        smallest_detectable=_number(noise.smallest_detectable) if has_noise else None,
        n_questions=noise.n_questions,
        n_either=int(np.isfinite(np.concatenate([base, head], axis=1)).any(axis=1).sum()),
        gated=False,
        better=metric.better,
        interval=noise.interval,
        n_unchanged=noise.n_unchanged,
        method=noise.method,
        measured_noise=noise.measured_noise,
    )


def _number(value: float) -> float | None:
    """JSON has no NaN and no infinity."""
    return value if math.isfinite(value) else None
