"""A few lines of plain text for a terminal or a log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tabulate import tabulate

from faithbot.plain_text import count, plain
from faithbot.report import changes, claims, standing, wording
from faithbot.report.table import ALIGNMENT, HEADERS, filled_columns, metric_rows, split_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faithbot.report.claims import ChangedClaim
    from faithbot.results import Results

_MOST_CLAIMS = 3
_TEXT_LIMIT = 160


def render_summary(results: Results) -> str:
    """Verdict, metrics and the first newly unsupported claims; no markup, no control characters."""
    blocks = [
        _verdict(results),
        *_failure(results),
        *_levels(results),
        *_standing(results),
        *_notes(results),
        *_claims(results),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _verdict(results: Results) -> str:
    notice = changes.grading_notice(results)
    verdict = f"{results.verdict.upper()}: {wording.headline(results)}"
    return "\n".join(plain(line) for line in (notice, verdict) if line)


def _failure(results: Results) -> Iterator[str]:
    if results.failure is not None:
        yield "\n".join(plain(line) for line in results.failure.message.splitlines())
        if results.failure.computed is not None:
            yield plain(results.failure.computed)


def _levels(results: Results) -> Iterator[str]:
    """The table, where there are answers to have levels."""
    if any(side.answers for side in results.sides.values()):
        yield _metrics(results)


def _metrics(results: Results) -> str:
    shown, quiet = split_rows(results) if "base" in results.sides else (metric_rows(results), [])
    rows = [row._replace(metric=plain(row.metric, 60)) for row, *_ in shown]
    columns = filled_columns(rows)
    table = tabulate(
        [[row[column] for column in columns] for row in rows],
        headers=[HEADERS[column] for column in columns],
        tablefmt="simple",
        disable_numparse=True,
        colalign=[ALIGNMENT[column] for column in columns] if rows else None,
    )
    if not quiet:
        return table
    return f"{table}\n{count(len(quiet), 'more metric')}, none clearly more than chance"


def _standing(results: Results) -> Iterator[str]:
    if lines := [line for line in (standing.reading(results), standing.stopping(results)) if line]:
        yield "\n".join(plain(line) for line in lines)


def _notes(results: Results) -> Iterator[str]:
    if notes := wording.notes(results):
        yield "\n".join(f"Note: {plain(warning.message)}" for warning in notes)


def _claims(results: Results) -> Iterator[str]:
    unsupported = claims.newly_unsupported(results)
    if unsupported:
        more = f", the first {_MOST_CLAIMS}" if len(unsupported) > _MOST_CLAIMS else ""
        yield f"{count(len(results.newly_unsupported), 'claim')} became unsupported ({claims.chance(results)}){more}:"
    for claim in unsupported[:_MOST_CLAIMS]:
        yield "\n".join(_claim_lines(claim))
    yield from filter(None, (claims.reasons(results), claims.not_listed(results)))


def _claim_lines(claim: ChangedClaim) -> Iterator[str]:
    yield f"  {claim.shared_by}{plain(claim.question, _TEXT_LIMIT)}"
    yield f'    now says: "{plain(claim.claim, _TEXT_LIMIT)}" ({claim.standing})'
    if claim.evidence is not None:
        document = f"{plain(claim.document, 80)}: " if claim.document else ""
        yield f'    {"nearest" if claim.is_nearest else "source"}:  {document}"{plain(claim.evidence, _TEXT_LIMIT)}"'
