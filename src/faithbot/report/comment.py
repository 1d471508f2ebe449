"""The Markdown comment on a pull request: a pure function of the recorded results."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import jinja2

from faithbot.plain_text import count
from faithbot.report import changes, claims, standing, wording
from faithbot.report.certainty import certainty
from faithbot.report.escape import escape_code, escape_emphasised, escape_text, fence
from faithbot.report.slices import n_slices, slice_rows, slices_table
from faithbot.report.table import ALIGNMENT, HEADERS, MetricRow, filled_columns, markdown_table, split_rows

if TYPE_CHECKING:
    from faithbot.results import Results, ResultWarning

MARKER = "<!-- faithbot -->"
"""First line of every comment, by which the next run finds it."""
MAX_CHARACTERS = 65_000
"""GitHub refuses a comment above 65,536."""
MARKS = {"pass": "✅", "regression": "❌", "inconclusive": "⚪", "first": "⚪"}


@dataclass(frozen=True)
class _Form:
    """How much a comment shows."""

    claims: int
    """Claims in the open."""
    folded: int
    """Further claims, and claims that are no longer unsupported, in a fold."""
    text: int
    """Characters of a claim, a question, a passage or a warning."""
    changes: int
    """Settings and files that differ."""
    diff_lines: int
    """Lines of each file's diff; 0: no diffs."""
    details: bool
    warnings: int
    slices: int
    """Rows of the table of tags."""


_WHOLE = _Form(
    claims=100_000, folded=100_000, text=2000, changes=1000, diff_lines=1000, details=True, warnings=1000, slices=1000
)
"""The report beside the comment."""
_FORMS = (
    _Form(claims=5, folded=50, text=400, changes=20, diff_lines=120, details=True, warnings=12, slices=12),
    _Form(claims=5, folded=20, text=300, changes=8, diff_lines=20, details=True, warnings=8, slices=12),
    _Form(claims=5, folded=10, text=200, changes=8, diff_lines=0, details=True, warnings=4, slices=6),
    _Form(claims=3, folded=0, text=120, changes=0, diff_lines=0, details=False, warnings=2, slices=0),
)
"""From the whole to the shortest; the first that fits is posted."""


def render_comment(results: Results, *, run_url: str | None = None, limit: int = MAX_CHARACTERS) -> str:
    """The comment, at most ``limit`` characters long: diffs go first, then long lists, then all but the verdict.

    ``run_url`` leads to the run that made it, where there is one.
    """
    for form in _FORMS:
        comment = _render(results, form, run_url)
        if len(comment) <= limit:
            return comment
    return f"{MARKER}\n### {_title(results)}\n\nThe rest is too long for a comment: `results.json` holds it.\n"


def render_report(results: Results, *, run_url: str | None = None, measured_alone: bool = False) -> str:
    """Everything that the comment has, at full length; ``measured_alone`` where one side is all that was wanted."""
    return _render(results, _WHOLE, run_url, measured_alone=measured_alone)


def _render(results: Results, form: _Form, run_url: str | None, *, measured_alone: bool = False) -> str:
    urgent, further = _notes(results)
    table, quiet = split_rows(results)
    return _TEMPLATE.render(
        marker=MARKER,
        form=form,
        is_whole=form in (_FORMS[0], _WHOLE),
        run_url=run_url,
        grading_notice=changes.grading_notice(results),
        title=_title(results, measured_alone=measured_alone),
        results=results,
        has_base="base" in results.sides,
        is_evaluated=any(side.answers for side in results.sides.values()),
        head_commit=results.head_commit or (results.sides["head"].commit if results.sides else None),
        urgent=urgent,
        further=further,
        table=_metrics_table(table),
        n_quiet=len(quiet),
        quiet_table=_metrics_table(quiet),
        n_slices=n_slices(results),
        slices=slice_rows(results, form.slices),
        chance=claims.chance(results),
        reasons=claims.reasons(results),
        not_listed=claims.not_listed(results),
        newly_unsupported=claims.newly_unsupported(results),
        no_longer_unsupported=claims.no_longer_unsupported(results),
        grading=changes.of_grading(results),
        changes=changes.under_test(results),
        certainty=certainty(results),
        reading=standing.reading(results),
        stopping=standing.stopping(results),
    )


def _title(results: Results, *, measured_alone: bool = False) -> str:
    return f"{MARKS[results.verdict]} {escape_text(wording.headline(results, measured_alone=measured_alone), 300)}"


def _notes(results: Results) -> tuple[list[ResultWarning], list[ResultWarning]]:
    """Those that stand right below the title and those below the table: a failure is no footnote, nor is a cure."""
    shown = wording.notes(results)
    urgent = [note for note in shown if results.verdict == "inconclusive" or note.code == "head_failed"]
    return urgent, [note for note in shown if note not in urgent]


def _metrics_table(rows: list[MetricRow]) -> str:
    """Gated metrics in bold; no column that is empty throughout."""
    columns = filled_columns([row for row, *_ in rows])
    cells = []
    for row, gated, _ in rows:
        escaped = row._replace(metric=escape_text(row.metric, 60))
        if gated:
            escaped = escaped._replace(metric=f"**{escaped.metric}**", change=_bold(row.change))
        cells.append([escaped[column] for column in columns])
    return markdown_table(cells, [HEADERS[column] for column in columns], [ALIGNMENT[column] for column in columns])


def _bold(text: str) -> str:
    return f"**{text}**" if text else ""


def _commit(commit: str | None) -> str:
    """A short commit id, bare so that GitHub links it; nothing that only claims to be one."""
    return commit[:7] if commit and re.fullmatch(r"[0-9a-f]{7,64}", commit) else ""


def _compile_template() -> jinja2.Template:
    """It escapes nothing by itself: HTML's escaping is not Markdown's, so each value names its filter."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("faithbot.report", "templates"),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "text": escape_text,
        "emphasised": escape_emphasised,
        "code": escape_code,
        "fence": fence,
        "commit": _commit,
        "slices_table": slices_table,
        "lines": str.splitlines,
        "count": count,
        "duration": wording.duration,
        "number": wording.number,
        "n_claims": claims.n_claims,
        "summary": changes.summary,
        "is_told_by_summary": changes.is_told_by_summary,
        "values": changes.setting_values,
    }
    return environment.get_template("comment.md.j2")


_TEMPLATE = _compile_template()
"""Compiled with the import, so that no result waits for it."""
