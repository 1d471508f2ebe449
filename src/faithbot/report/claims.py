"""Claims whose support changed, as a reader meets them: plain text, shared by the comment and the terminal."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from faithbot.plain_text import count, one_line
from faithbot.report.changes import setting_values
from faithbot.report.escape import NUMBER
from faithbot.report.wording import number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from faithbot.results import ClaimChange, Reason, Results

_MOST_NUMBERS = 3
"""A passage full of other numbers explains nothing when all of them are bold."""
_RETRIEVAL = re.compile(r"(^|\.)(retrieval|chunking|documents)(\.|$)")
_IN_SUMMARY: dict[Reason, str] = {
    "retrieval": "because their passage is no longer retrieved",
    "generation": "although it still is",
    "new_passage": "beside a passage that only this PR retrieved",
    "no_passage": "that no passage supports or denies",
}
_ONE_REASON: dict[Reason, str] = {
    "retrieval": "Its passage is no longer retrieved.",
    "generation": "Its passage is still retrieved.",
    "new_passage": "The nearest passage is one that only this PR retrieved.",
    "no_passage": "No passage supports or denies it.",
}
_SAME_REASON: dict[Reason, str] = {
    "retrieval": "None of their passages is retrieved any more.",
    "generation": "Their passages are still retrieved.",
    "new_passage": "The nearest passages are ones that only this PR retrieved.",
    "no_passage": "No passage supports or denies any of them.",
}
_OF_PASSAGE: dict[Reason, str] = {
    "retrieval": "no longer retrieved",
    "generation": "was retrieved",
    "new_passage": "newly retrieved",
    "no_passage": "no passage says so",
}


@dataclass(frozen=True)
class ChangedClaim:
    """One line of a claims table: a claim that one question's answers make, or that several make alike."""

    questions: int
    """How many make it; question and passage are those of the first."""
    question: str
    claim: str
    standing: str
    """``contradicted, in 2 of 2 runs``."""
    evidence: str | None
    document: str | None
    is_nearest: bool
    """The passage does not speak against the claim; it is only the nearest there is."""
    reason: str
    """``was retrieved``; empty where it is not known, or told of all claims at once."""
    claim_numbers: frozenset[str]
    """Numbers of a contradicted claim that the passage does not hold."""
    evidence_numbers: frozenset[str]
    """Numbers of the passage that stand against them."""

    @property
    def shared_by(self) -> str:
        """``in 14 questions, first: ``, to stand before the question; empty where it is the only one."""
        return f"in {self.questions} questions, first: " if self.questions > 1 else ""


def newly_unsupported(results: Results) -> list[ChangedClaim]:
    """Claims that head makes without support, in the order of the results, equal ones in one line.

    A reason that all of them share is left to `reasons`; only a passage that is gone names a setting beside it.
    """
    lines = _lines(results.newly_unsupported, results, _head_standing)
    if _shared_reason(results) in (None, "retrieval"):
        return lines
    return [replace(line, reason="") for line in lines]


def no_longer_unsupported(results: Results) -> list[ChangedClaim]:
    """Claims without support on base that are supported on head, or not made any more; equal ones in one line."""
    return _lines(results.no_longer_unsupported, results, _base_standing)


def n_claims(lines: Iterable[ChangedClaim]) -> int:
    """How many claims the lines stand for."""
    return sum(line.questions for line in lines)


def chance(results: Results) -> str:
    """``chance alone would give about 0.4``, and whether that is all of it: beside how many became unsupported."""
    expected = results.expected_by_chance
    if expected is None:
        return "how many chance alone would give takes two runs a side to tell"
    told = f"chance alone would give about {number(expected, 1 if expected < 10 else 0)}"
    return f"{told}, so this is no more than chance" if len(results.newly_unsupported) <= expected else told


def reasons(results: Results) -> str:
    """``4 of 7 because their passage is no longer retrieved, 3 although it still is.`` Empty without reasons."""
    changes = results.newly_unsupported
    if shared := _shared_reason(results):
        return (_ONE_REASON if len(changes) == 1 else _SAME_REASON)[shared]
    counts = Counter(change.reason for change in changes if change.reason)
    clauses = [f"{counts[reason]} {clause}" for reason, clause in _IN_SUMMARY.items() if counts[reason]]
    if not clauses:
        return ""
    if not counts["retrieval"]:
        clauses[0] = clauses[0].replace("although it still is", "although their passage is still retrieved")
    first, _, rest = clauses[0].partition(" ")
    clauses[0] = f"{first} of {len(changes)} {rest}"
    return f"{', '.join(clauses)}."


def _shared_reason(results: Results) -> Reason | None:
    """The reason of every newly unsupported claim; None where they differ or one is not known."""
    found = {change.reason for change in results.newly_unsupported}
    return found.pop() if len(found) == 1 else None


def not_listed(results: Results) -> str:
    """``Not listed: 9 claims of some runs only, no more than chance gives; 2 accepted claims.`` Empty without any."""
    some_runs = sum(change.head_runs > 0 and not change.base_runs for change in results.sporadic)
    more_runs = sum(change.head_runs > change.base_runs > 0 for change in results.sporadic)
    parts = [f"{count(some_runs, 'claim')} of some runs only, no more than chance gives"] if some_runs else []
    if more_runs:
        parts.append(f"{count(more_runs, 'claim')} of more runs than before, no more than chance gives")
    if results.accepted:
        parts.append(count(len(results.accepted), "accepted claim"))
    return f"Not listed: {'; '.join(parts)}." if parts else ""


def _lines(
    changes: Iterable[ClaimChange], results: Results, standing_of: Callable[[ClaimChange, int], str]
) -> list[ChangedClaim]:
    """One invented sentence that many answers share is one thing to read: the same words, standing and reason."""
    alike: dict[tuple[str, str, Reason | None], list[ClaimChange]] = defaultdict(list)
    for change in changes:
        words = one_line(change.claim).casefold()
        alike[words, standing_of(change, results.runs), change.reason].append(change)
    return [_line(group, results, standing) for (_, standing, _), group in alike.items()]


def _line(group: Sequence[ClaimChange], results: Results, standing: str) -> ChangedClaim:
    change = group[0]
    claim_numbers, evidence_numbers = _opposed_numbers(change)
    asked = (question.text for question in results.questions if question.id == change.question_id)
    return ChangedClaim(
        questions=len(group),
        question=next(asked, change.question_id),
        claim=change.claim,
        standing=standing,
        evidence=change.evidence,
        document=change.source.document if change.source else None,
        is_nearest=change.support != "contradicted" or change.reason == "no_passage",
        reason=_reason(change, results),
        claim_numbers=claim_numbers,
        evidence_numbers=evidence_numbers,
    )


def _head_standing(change: ClaimChange, runs: int) -> str:
    standing = _support(change) + _in_runs(change.head_runs, runs)
    return f"{standing} (before in {change.base_runs})" if change.base_runs else standing


def _base_standing(change: ClaimChange, runs: int) -> str:
    now = "the question is not answered any more" if change.head_abstained else "supported or not said any more"
    if change.head_runs:
        now = f"now in {change.head_runs}"
    return f"was {_support(change)}{_in_runs(change.base_runs, runs)}; {now}"


def _support(change: ClaimChange) -> str:
    """A claim that is contradicted shows its numbers in bold; of one that is not found it is told."""
    support = change.support.replace("_", " ")
    return f"number {support}" if change.support == "not_found" and change.numbers == "missing" else support


def _in_runs(k: int, runs: int) -> str:
    return f", in {k} of {runs} runs" if runs > 1 else ""


def _reason(change: ClaimChange, results: Results) -> str:
    if change.reason is None:
        return ""
    cause = [
        f"{item.name.rpartition('.')[2]} {setting_values(item)}"
        for item in results.changes
        if item.kind == "setting" and _RETRIEVAL.search(item.name)
    ]
    text = _OF_PASSAGE[change.reason]
    return f"{text}: {', '.join(cause[:2])}" if cause and change.reason == "retrieval" else text


def _opposed_numbers(change: ClaimChange) -> tuple[frozenset[str], frozenset[str]]:
    if change.support != "contradicted" or change.evidence is None:
        return frozenset(), frozenset()
    claimed, stated = (set(NUMBER.findall(one_line(text))) for text in (change.claim, change.evidence))
    only_claimed, only_stated = claimed - stated, stated - claimed
    explains = bool(only_claimed) and len(only_stated) <= _MOST_NUMBERS
    return frozenset(only_claimed), frozenset(only_stated if explains else ())
