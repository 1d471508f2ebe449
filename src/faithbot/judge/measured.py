"""Which judge measures what: a gate on a metric that nobody measures is told before any model is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithbot.errors import UsageError
from faithbot.metrics import METRICS

if TYPE_CHECKING:
    from faithbot.config import JudgeSettings, LoadedConfig, MetricName
    from faithbot.metrics import Metric

WITHOUT_CLAIMS = ("label", "recorded")
"""Judges that give one score to a whole answer."""
_SCORED: tuple[MetricName, ...] = ("faithfulness", "answer_relevance")
"""What `recorded` reads from a column each."""


def require_measured(loaded: LoadedConfig, judge: JudgeSettings) -> None:
    """:class:`UsageError` with the place of the first gated metric that ``judge`` does not measure."""
    for name in loaded.config.gate:
        if not _measures(judge, METRICS[name]):
            raise UsageError(
                f"{loaded.place('gate', name)}: the judge `{judge.method}` does not measure {name} here: {_cure(name)}."
            )


def _measures(judge: JudgeSettings, metric: Metric) -> bool:
    if metric.needs_claims:
        return judge.method not in WITHOUT_CLAIMS
    if metric.name in _SCORED and judge.method == "recorded":
        return metric.name in judge.scores
    return metric.name != "answer_relevance"


def _cure(name: MetricName) -> str:
    by_column = f"`recorded` with its column, such as `scores: {{{name}: COLUMN}}`"
    if name == "answer_relevance":
        return f"{by_column}, does"
    return f"every other does, and {by_column}" if name == "faithfulness" else "`evidence` and `claims` do"
