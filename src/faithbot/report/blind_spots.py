"""What a judge overlooks, in words: a table for the terminal, one sentence for the comment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tabulate import tabulate

from faithbot.plain_text import count, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faithbot.judge.blind_spots import FaultKind, ProbeResult, Rewriting
    from faithbot.probe.run import JudgedProbe, ProbeReport

_FAULTS: dict[FaultKind, str] = {
    "number": "changed numbers",
    "date": "changed dates",
    "unit": "changed units",
    "name": "swapped names",
    "negation": "negations",
    "antonym": "opposites",
    "condition": "dropped conditions",
    "addition": "additions from other documents",
    "refusal": "denials turned into claims",
}
_REWRITINGS: dict[Rewriting, str] = {
    "verbatim": "word for word",
    "numbers": "numbers written in another way",
    "reordered": "clauses or lists in another order",
    "joined": "two passages joined",
}
WEAK_BELOW = 0.7
"""A kind of fault is weak where its whole interval lies below this share found."""
STRICT_FROM = 0.3
"""Sound sentences are rejected too often where the whole interval lies above this share."""
_EXAMPLES = 3
_TEXT = 240
"""Characters of a sentence."""


def blind_spots_sentence(result: ProbeResult | None) -> Iterator[str]:
    """``Tried on your documents, this judge finds 30 of 30 changed numbers, but only 4 of 30 negations.``

    Only kinds that are clearly weak, with the best one for contrast; nothing where none is, or where nobody tried.
    """
    clauses = [*_finds_few(result), *_rejects_many(result)] if result else []
    if clauses:
        yield f"Tried on your documents, this judge {' and '.join(clauses)}."


def _finds_few(result: ProbeResult) -> Iterator[str]:
    weak = sorted(
        (kind for kind, counts in result.faults.items() if counts.interval[1] < WEAK_BELOW),
        key=lambda kind: result.faults[kind].interval[1],
    )
    if weak:
        best = max(result.faults, key=lambda kind: result.faults[kind].interval[0])
        contrast = "" if best in weak else f"{_found(result, best)}, but "
        yield f"finds {contrast}only {_listed([_found(result, kind) for kind in weak])}"


def _rejects_many(result: ProbeResult) -> Iterator[str]:
    rejected = [
        f"{counts.rejected} of {counts.of} sound sentences ({_REWRITINGS[kind]})"
        for kind, counts in result.sound.items()
        if counts.interval[0] > STRICT_FROM
    ]
    if rejected:
        yield f"rejects {_listed(rejected)}"


def _found(result: ProbeResult, kind: FaultKind) -> str:
    return f"{result.faults[kind].found} of {result.faults[kind].of} {_FAULTS[kind]}"


def _listed(items: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(items[:-1]), items[-1]]))


def render_probe(report: ProbeReport) -> str:
    """What was found, what was rejected, and a few faults that were overlooked: plain text, no control characters."""
    blocks = [_subject(report), _table(report.result), *_overlooked(report)]
    if report.given_up:
        blocks.append(plain(report.given_up))
    return "\n\n".join(blocks)


def _subject(report: ProbeReport) -> str:
    fingerprint = report.fingerprint
    model = f" with {plain(fingerprint.model, 80)}" if fingerprint.model else ""
    documents = {probe.document for probe in report.probes}
    unscored = f"; {report.result.unscored} of them it could not judge" if report.result.unscored else ""
    return (
        f"The judge `{fingerprint.method}`{model} on {count(len(report.probes), 'sentence')}, at most "
        f"{report.per_kind} of a kind, made of {count(len(documents), 'document')}, {report.passages}{unscored}."
    )


def _table(result: ProbeResult) -> str:
    faults = [
        [_FAULTS[kind], f"{counts.found} of {counts.of}", f"found {_percent(counts.interval)}"]
        for kind, counts in result.faults.items()
    ]
    sound = [
        [_REWRITINGS[kind], f"{counts.rejected} of {counts.of}", f"rejected {_percent(counts.interval)}"]
        for kind, counts in result.sound.items()
    ]
    return "\n\n".join(
        tabulate(rows, headers=headers, tablefmt="simple", disable_numparse=True)
        for rows, headers in (
            (faults, ["planted faults", "found", "95 % interval"]),
            (sound, ["sound sentences", "rejected", "95 % interval"]),
        )
        if rows
    )


def _percent(interval: tuple[float, float]) -> str:
    low, high = interval
    return f"{100 * low:.0f}-{100 * high:.0f} %"


def _overlooked(report: ProbeReport) -> Iterator[str]:
    """One example of each of the weakest kinds, the shortest."""
    by_share = sorted(report.result.faults, key=lambda kind: report.result.faults[kind].interval)
    lines = ["Held supported, although the documents say otherwise:"]
    for kind in by_share:
        missed = [probe for probe in report.probes if probe.kind == kind and probe.is_overlooked]
        if missed and len(lines) <= _EXAMPLES:
            lines.append(_example(kind, min(missed, key=lambda probe: len(probe.text))))
    if len(lines) > 1:
        yield "\n".join(lines)


def _example(kind: FaultKind, probe: JudgedProbe) -> str:
    return (
        f'  {_FAULTS[kind]}: "{plain(probe.text, _TEXT)}"\n'
        f'    {plain(probe.document, 80)} says "{plain(probe.sentence, _TEXT)}"'
    )
