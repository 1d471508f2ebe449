"""The table of metrics, shared by the comment and the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tabulate import tabulate

from faithbot.metrics import label
from faithbot.report import wording

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
    return _rows(_ordered(results))


def split_rows(results: Results) -> tuple[list[MetricRow], list[MetricRow]]:
    """The rows to show, and those to fold away: many metrics that did not move would hide the one that did."""
    metrics = _ordered(results)
    quiet = {name: metric for name, metric in metrics.items() if _is_quiet(metric)}
    if len(quiet) <= _MOST_QUIET_ROWS or len(quiet) == len(metrics):
        return _rows(metrics), []
    return _rows({name: metric for name, metric in metrics.items() if name not in quiet}), _rows(quiet)


def _ordered(results: Results) -> dict[str, MetricComparison]:
    metrics = sorted(results.metrics.items(), key=lambda item: (not item[1].gated, _is_quiet(item[1])))
    return dict(metrics[:MAX_ROWS])


def _is_quiet(metric: MetricComparison) -> bool:
    return not metric.gated and not wording.moved_clearly(metric)


def _rows(metrics: Mapping[str, MetricComparison]) -> list[MetricRow]:
    """The rows of one table: a reader compares down a column, so all have the same decimals."""
    decimals = wording.common_decimals(metrics.values())
    return [
        MetricRow(_row(name, metric, decimals), metric.gated, _is_quiet(metric)) for name, metric in metrics.items()
    ]


def filled_columns(rows: list[Row]) -> list[int]:
    """Indices of the columns that hold something in at least one row."""
    return [column for column in range(len(HEADERS)) if any(row[column] for row in rows)]


def markdown_table(cells: Sequence[Sequence[str]], headers: Sequence[str], alignment: Sequence[str]) -> str:
    """A table of cells that are escaped already."""
    return tabulate(
        cells, headers=headers, tablefmt="pipe", disable_numparse=True, colalign=alignment if cells else None
    )


def _row(name: str, metric: MetricComparison, decimals: int) -> Row:
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
