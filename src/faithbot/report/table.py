"""The table of metrics, shared by the comment and the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tabulate import tabulate

from faithbot.metrics import label
from faithbot.report import wording

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faithbot.results import MetricComparison, Results

MAX_ROWS = 12
_MOST_QUIET_ROWS = 2
"""Metrics that are not gated and did not move, up to which the table is short as it is."""


class Row(NamedTuple):
    """One metric as plain text; an empty cell is a number that there is none of."""

    metric: str
    base: str
    head: str
    change: str
    noise: str
    visible_from: str
    """Of gated metrics only: alone at its 5 %, an ungated one would be told less than this promises."""
    meaning: str


class MetricRow(NamedTuple):
    """A row of the table, and how much it matters."""

    row: Row
    gated: bool
    is_quiet: bool
    """Neither gated nor moved beyond its noise: nothing that a reader would miss."""


HEADERS = Row("", "base", "this PR", "change", "noise", "visible from", "")
ALIGNMENT = Row("left", "right", "right", "right", "right", "right", "left")


def metric_rows(results: Results) -> list[MetricRow]:
    """A row for each metric, at most `MAX_ROWS`: gated metrics first, then those that moved beyond their noise."""
    rows = [
        MetricRow(_row(name, metric), metric.gated, not metric.gated and not wording.moved_clearly(metric))
        for name, metric in results.metrics.items()
    ]
    return sorted(rows, key=lambda row: (not row.gated, row.is_quiet))[:MAX_ROWS]


def split_rows(results: Results) -> tuple[list[MetricRow], list[MetricRow]]:
    """The rows to show, and those to fold away: many metrics that did not move would hide the one that did."""
    rows = metric_rows(results)
    quiet = [row for row in rows if row.is_quiet]
    if len(quiet) <= _MOST_QUIET_ROWS or len(quiet) == len(rows):
        return rows, []
    return [row for row in rows if not row.is_quiet], quiet


def filled_columns(rows: list[Row]) -> list[int]:
    """Indices of the columns that hold something in at least one row."""
    return [column for column in range(len(HEADERS)) if any(row[column] for row in rows)]


def markdown_table(cells: Sequence[Sequence[str]], headers: Sequence[str], alignment: Sequence[str]) -> str:
    """A table of cells that are escaped already."""
    return tabulate(
        cells, headers=headers, tablefmt="pipe", disable_numparse=True, colalign=alignment if cells else None
    )


def _row(name: str, metric: MetricComparison) -> Row:
    decimals = wording.table_decimals_for(metric)

    def shown(value: float | None, prefix: str = "") -> str:
        return "" if value is None else prefix + wording.number(value, decimals)

    detectable = metric.smallest_detectable if metric.gated else None

    return Row(
        metric=label(name),
        base=shown(metric.base),
        head=shown(metric.head),
        change="" if metric.delta is None else wording.signed(metric.delta, decimals),
        noise=shown(metric.noise_band, "±") if wording.has_noise(metric) else "",
        visible_from="" if detectable is None else wording.at_least(detectable, decimals),
        meaning=wording.meaning(metric),
    )
