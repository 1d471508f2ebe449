"""The table of tags: where the gated metrics moved, in the order of the golden set."""

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


def n_slices(results: Results) -> int:
    """How many rows there would be without a limit."""
    return len(_measured(results))


def slice_rows(results: Results, limit: int) -> list[SliceRow]:
    """A row for each tag and gated metric, in the order in which the golden set first names the tags.

    Of more than ``limit`` those that changed most beyond their own noise.
    """
    found = _measured(results)
    most_telling = sorted(range(len(found)), key=lambda row: _interest(found[row][2]), reverse=True)[:limit]
    shown = [found[row] for row in sorted(most_telling)]
    decimals = wording.common_decimals([metric for *_, metric in shown])
    return [_row(*item, decimals) for item in shown]


def _measured(results: Results) -> list[tuple[str, str, MetricComparison]]:
    """Tag, name and comparison of each metric that has a change there."""
    return [
        (tag, name, metric)
        for tag, metrics in results.slices.items()
        for name, metric in metrics.items()
        if metric.delta is not None
    ]


def slices_table(rows: list[SliceRow]) -> str:
    """Markdown of the rows, without the metric's name where there is only one, nor a column that is empty."""
    columns = [
        column
        for column, values in enumerate(zip(*rows, strict=True))
        if any(values) and (HEADERS[column] != HEADERS.metric or len(set(values)) > 1)
    ]
    escaped = [row._replace(tag=escape_text(row.tag, 60), metric=escape_text(row.metric, 60)) for row in rows]
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


def _row(tag: str, name: str, metric: MetricComparison, decimals: int) -> SliceRow:
    return SliceRow(
        tag=tag,
        metric=label(name),
        questions=str(metric.n_questions),
        base="" if metric.base is None else wording.number(metric.base, decimals),
        head="" if metric.head is None else wording.number(metric.head, decimals),
        change=wording.signed(metric.delta or 0.0, decimals),
        noise=f"±{wording.number(metric.noise_band or 0.0, decimals)}" if wording.has_noise(metric) else "",
    )
