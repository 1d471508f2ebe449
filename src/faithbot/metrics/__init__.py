"""What is measured of each answer: a file a metric, and the order in which reports show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithbot.metrics import (
    abstention_rate,
    answer_correctness,
    answer_relevance,
    citation_validity,
    context_recall,
    contradiction_rate,
    faithfulness,
    hit_rate,
    mrr,
    precision_at_k,
    unsupported_per_answer,
)
from faithbot.metrics.judged import is_judged
from faithbot.metrics.metric import Metric

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faithbot.config import MetricName
    from faithbot.results import MetricComparison

__all__ = ["METRICS", "Metric", "first_gated", "is_judged", "label", "questions_moved"]

METRICS: dict[MetricName, Metric] = {
    module.METRIC.name: module.METRIC
    for module in (
        faithfulness,
        contradiction_rate,
        unsupported_per_answer,
        citation_validity,
        answer_relevance,
        answer_correctness,
        abstention_rate,
        context_recall,
        hit_rate,
        precision_at_k,
        mrr,
    )
}
_LABELS: dict[str, str] = {name: metric.label for name, metric in METRICS.items()}


def label(name: str) -> str:
    """A metric's name in plain words; also of one that only another version of faithbot knows."""
    return _LABELS.get(name) or name.replace("_", " ").strip() or "unnamed metric"


def questions_moved(metric: MetricComparison) -> int:
    """By how many questions a share of questions moved, rounded; 0 where it was not compared."""
    return round((metric.delta or 0.0) * metric.n_questions)


def first_gated(compared: Mapping[str, MetricComparison]) -> Metric | None:
    """The metric that noise is looked at for; None where no gated one was measured."""
    return next((metric for name, metric in METRICS.items() if name in compared and compared[name].gated), None)
