"""Which claims changed their support between the sides: matched within a question across runs, whatever the wording."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from faithbot.judge.evidence import nearest_passage
from faithbot.judge.matching import SAME_CLAIM, ClaimSignature, match_score
from faithbot.results import AnswerRecord, ClaimChange, ClaimSource
from faithbot.side_table import same_requests

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faithbot.golden import Question
    from faithbot.judge.protocol import Claim
    from faithbot.results import SideName
    from faithbot.systems.protocol import Context


class ClaimChanges(NamedTuple):
    """The claims that a reader of the comparison should see."""

    newly_unsupported: tuple[ClaimChange, ...]
    no_longer_unsupported: tuple[ClaimChange, ...]
    expected_by_chance: float | None


class _Sighting(NamedTuple):
    side: SideName
    run: int
    claim: Claim


@dataclass
class _Statement:
    """One statement in all the words that the runs found for it."""

    signature: ClaimSignature
    sightings: list[_Sighting] = field(default_factory=list)

    def unsupported_runs(self, side: SideName) -> set[int]:
        return {
            sighting.run
            for sighting in self.sightings
            if sighting.side == side and sighting.claim.support in ("contradicted", "not_found")
        }

    def example(self, side: SideName) -> Claim:
        """The first unsupported wording on a side."""
        return next(
            sighting.claim
            for sighting in self.sightings
            if sighting.side == side and sighting.claim.support in ("contradicted", "not_found")
        )


def find_claim_changes(
    questions: Sequence[Question], base: Sequence[AnswerRecord], head: Sequence[AnswerRecord]
) -> ClaimChanges:
    """Claims that only head's runs hold unsupported, and those that only base's do.

    ``expected_by_chance``: how many would be newly unsupported had nothing changed. Base's own runs tell: what one of
    them says and no other does is what each of head's runs would bring as well. None where base has a single run.
    """
    records: dict[str, dict[SideName, list[AnswerRecord]]] = defaultdict(lambda: {"base": [], "head": []})
    for record in base:
        records[record.question_id]["base"].append(record)
    for record in head:
        records[record.question_id]["head"].append(record)
    new: list[ClaimChange] = []
    gone: list[ClaimChange] = []
    by_chance: float | None = 0.0
    for question in questions:
        sides = records[question.id]
        if same_requests(sides["base"], sides["head"]):
            continue
        for statement in _statements(sides):
            head_runs, base_runs = (len(statement.unsupported_runs(side)) for side in ("head", "base"))
            if len(sides["base"]) == 1:
                by_chance = None
            elif by_chance is not None and base_runs == 1:
                by_chance += len(sides["head"]) / len(sides["base"])
            if head_runs and not base_runs:
                new.append(_change(question, statement, "head", sides))
            elif base_runs and not head_runs:
                gone.append(_change(question, statement, "base", sides))
    return ClaimChanges(_most_telling_first(new, "head"), _most_telling_first(gone, "base"), by_chance)


def _most_telling_first(changes: Sequence[ClaimChange], side: SideName) -> tuple[ClaimChange, ...]:
    """In all runs before in some, contradicted before not found, with a passage before without; then one a question.

    A reader sees the first few only: they should not all belong to the question that comes first in the golden set.
    """

    def telling(change: ClaimChange) -> tuple[int, bool, bool]:
        runs = change.head_runs if side == "head" else change.base_runs
        return -runs, change.support != "contradicted", change.evidence is None

    seen: Counter[tuple[str, int]] = Counter()
    ranked: list[tuple[int, int, tuple[int, bool, bool], ClaimChange]] = []
    for change in sorted(changes, key=telling):
        runs = telling(change)[0]
        ranked.append((runs, seen[change.question_id, runs], telling(change), change))
        seen[change.question_id, runs] += 1
    return tuple(change for *_, change in sorted(ranked, key=lambda entry: entry[:3]))


def _statements(sides: dict[SideName, list[AnswerRecord]]) -> list[_Statement]:
    """Claims of all runs grouped by meaning."""
    statements: list[_Statement] = []
    for side, records in sides.items():
        for record in records:
            for claim in record.judgement.claims if record.judgement else ():
                _statement_of(claim, statements).sightings.append(_Sighting(side, record.run, claim))
    return statements


def _statement_of(claim: Claim, statements: list[_Statement]) -> _Statement:
    """The statement that a claim repeats best, by the first wording of each; a new one where it repeats none."""
    signature = ClaimSignature.of(claim.text)
    best = max(statements, key=lambda known: match_score(known.signature, signature), default=None)
    if best is None or match_score(best.signature, signature) < SAME_CLAIM:
        best = _Statement(signature)
        statements.append(best)
    return best


def _change(
    question: Question, statement: _Statement, side: SideName, sides: dict[SideName, list[AnswerRecord]]
) -> ClaimChange:
    claim = statement.example(side)
    evidence, source = _nearest(claim.text, sides)
    head_answers = [record.judgement for record in sides["head"] if record.judgement]
    return ClaimChange(
        question_id=question.id,
        claim=claim.text,
        support="contradicted" if claim.support == "contradicted" else "not_found",
        head_runs=len(statement.unsupported_runs("head")),
        base_runs=len(statement.unsupported_runs("base")),
        evidence=evidence,
        source=source,
        head_abstained=bool(head_answers) and all(judgement.abstained for judgement in head_answers),
    )


def _nearest(claim: str, sides: dict[SideName, list[AnswerRecord]]) -> tuple[str | None, ClaimSource | None]:
    """The passage nearest to a claim among all that either side retrieved for the question, and who retrieved it."""
    contexts = {side: _distinct_contexts(records) for side, records in sides.items()}
    pool = list({**contexts["head"], **contexts["base"]}.values())
    found = nearest_passage(claim, [context.text for context in pool])
    if found is None:
        return None, None
    evidence, _ = found
    context = pool[evidence.context]
    # By the quote, not by the chunk: where only the chunking changed, the passage is still there.
    on_head, on_base = (any(evidence.quote in text for text in contexts[side]) for side in ("head", "base"))
    return evidence.quote, ClaimSource(
        document=context.source,
        start=None if context.start is None else context.start + evidence.start,
        retrieved="both" if on_head and on_base else "head" if on_head else "base",
    )


def _distinct_contexts(records: Sequence[AnswerRecord]) -> dict[str, Context]:
    return {context.text: context for record in records for context in record.contexts}
