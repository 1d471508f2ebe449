"""The table of tags: where the gated metrics moved, the most telling rows first."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from faithbot.metrics import label
from faithbot.report import wording
from faithbot.report.escape import escape_text
from faithbot.report.table import markdown_table

if TYPE_CHECKING:
    from faithbot.results import MetricComparison, Results


class SliceRow(NamedTuple):
    """One tag and metric as plain text; an empty cell is a number that there is none of."""

    tag: str
    metric: str
    questions: str
    base: str
    head: str
    change: str
    noise: str


HEADERS = SliceRow("tag", "metric", "questions", "base", "this PR", "change", "noise")
ALIGNMENT = SliceRow("left", "left", "right", "right", "right", "right", "right")


def slice_rows(results: Results) -> list[SliceRow]:
    """A row for each tag and gated metric; those first that changed most beyond their own noise."""
    found = [
        (tag, name, metric)
        for tag, metrics in results.slices.items()
        for name, metric in metrics.items()
        if metric.delta is not None
    ]
    return [_row(*item) for item in sorted(found, key=lambda item: _interest(item[2]), reverse=True)]


def slices_table(rows: list[SliceRow], limit: int) -> str:
    """Markdown of the first rows, without the metric's name where there is only one, nor a column that is empty."""
    columns = [
        column
        for column, values in enumerate(zip(*rows, strict=True))
        if any(values) and (HEADERS[column] != HEADERS.metric or len(set(values)) > 1)
    ]
    escaped = [row._replace(tag=escape_text(row.tag, 60), metric=escape_text(row.metric, 60)) for row in rows[:limit]]
    return markdown_table(
        [[row[column] for column in columns] for row in escaped],
        [HEADERS[column] for column in columns],
        [ALIGNMENT[column] for column in columns],
    )


def _interest(metric: MetricComparison) -> tuple[float, float]:
    """How many times its noise a slice moved; slices of which no noise is known come last, by their change."""
    change = abs(metric.delta or 0.0)
    if not wording.has_noise(metric):
        return -1.0, change
    return (change / metric.noise_band if metric.noise_band else 0.0 if not change else math.inf), change


def _row(tag: str, name: str, metric: MetricComparison) -> SliceRow:
    decimals = wording.table_decimals_for(metric)
    return SliceRow(
        tag=tag,
        metric=label(name),
        questions=str(metric.n_questions),
        base="" if metric.base is None else wording.number(metric.base, decimals),
        head="" if metric.head is None else wording.number(metric.head, decimals),
        change=wording.signed(metric.delta or 0.0, decimals),
        noise=f"±{wording.number(metric.noise_band or 0.0, decimals)}" if wording.has_noise(metric) else "",
    )
