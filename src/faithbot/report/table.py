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


class Row(NamedTuple):
    """One metric as plain text; an empty cell is a number that there is none of."""

    metric: str
    base: str
    head: str
    change: str
    noise: str
    visible_from: str
    meaning: str


HEADERS = Row("", "base", "this PR", "change", "noise", "visible from", "")
ALIGNMENT = Row("left", "right", "right", "right", "right", "right", "left")


def metric_rows(results: Results) -> list[tuple[Row, bool]]:
    """A row for each metric and whether it is gated: gated metrics first, at most `MAX_ROWS`."""
    metrics = sorted(results.metrics.items(), key=lambda item: not item[1].gated)
    return [(_row(name, metric), metric.gated) for name, metric in metrics[:MAX_ROWS]]


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

    detectable = metric.smallest_detectable

    return Row(
        metric=label(name),
        base=shown(metric.base),
        head=shown(metric.head),
        change="" if metric.delta is None else wording.signed(metric.delta, decimals),
        noise=shown(metric.noise_band, "±") if wording.has_noise(metric) else "",
        visible_from="" if detectable is None else wording.at_least(detectable, decimals),
        meaning=wording.meaning(metric),
    )
