"""Generator's and judge's part in the noise of recorded sides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from faithbot.judge.measured import WITHOUT_CALLS
from faithbot.noise_sources import NoiseSplit, split_noise, variance_of_runs
from faithbot.results import NoiseSources

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from faithbot.judge.protocol import JudgeFingerprint
    from faithbot.metrics import Metric
    from faithbot.side_table import SideTable


def find_noise_sources(
    metrics: Iterable[Metric], sides: Sequence[SideTable], judge: JudgeFingerprint
) -> dict[str, NoiseSources]:
    """By metric, where the sources are known and there is any noise.

    Known they are where answers were judged again, and with a judge that judges the same answer the same way
    every time.
    """
    splits = {metric.name: _split(metric, sides, judge) for metric in metrics}
    return {
        name: NoiseSources(generator=split.generator, judge=split.judge)
        for name, split in splits.items()
        if split is not None and split.judge_share is not None
    }


def _split(metric: Metric, sides: Sequence[SideTable], judge: JudgeFingerprint) -> NoiseSplit | None:
    if judge.method in WITHOUT_CALLS:
        variance = variance_of_runs(np.concatenate([side.scores(metric) for side in sides]))
        return None if variance is None else NoiseSplit(generator=variance, judge=0.0)
    return split_noise(_stacked([side.repeated_scores(metric) for side in sides]))


def _stacked(sides: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Sides below each other, filled up with NaN to the most judgements that one of them has."""
    most = max(scores.shape[2] for scores in sides)
    missing = [((0, 0), (0, 0), (0, most - scores.shape[2])) for scores in sides]
    padded = [np.pad(scores, widths, constant_values=np.nan) for scores, widths in zip(sides, missing, strict=True)]
    return np.concatenate(padded)
