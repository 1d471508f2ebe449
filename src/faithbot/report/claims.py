"""Claims whose support changed, as a reader meets them: plain text, shared by the comment and the terminal."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faithbot.report.changes import setting_values
from faithbot.report.escape import NUMBER, one_line

if TYPE_CHECKING:
    from faithbot.results import ClaimChange, Results

_MOST_NUMBERS = 3
"""A passage full of other numbers explains nothing when all of them are bold."""
_RETRIEVAL = re.compile(r"(^|\.)(retrieval|chunking|documents)(\.|$)")
_RETRIEVED = {"both": "was retrieved", "head": "newly retrieved", "base": "no longer retrieved"}


@dataclass(frozen=True)
class ChangedClaim:
    """One line of a claims table."""

    question: str
    claim: str
    standing: str
    """``contradicted, in 2 of 2 runs``."""
    evidence: str | None
    document: str | None
    is_nearest: bool
    """The passage does not speak against the claim; it is only the nearest there is."""
    retrieval: str
    """``was retrieved``; empty where it is not known."""
    claim_numbers: frozenset[str]
    """Numbers of a contradicted claim that the passage does not hold."""
    evidence_numbers: frozenset[str]
    """Numbers of the passage that stand against them."""


def newly_unsupported(results: Results) -> list[ChangedClaim]:
    """Claims that head makes without support, in the order of the results."""
    questions = _questions(results)
    return [
        _changed(change, results, questions, _head_standing(change, results.runs))
        for change in results.newly_unsupported
    ]


def no_longer_unsupported(results: Results) -> list[ChangedClaim]:
    """Claims without support on base that are supported on head, or not made any more."""
    questions = _questions(results)
    return [
        _changed(change, results, questions, _base_standing(change, results.runs))
        for change in results.no_longer_unsupported
    ]


def _questions(results: Results) -> dict[str, str]:
    return {question.id: question.text for question in results.questions}


def _changed(change: ClaimChange, results: Results, questions: dict[str, str], standing: str) -> ChangedClaim:
    claim_numbers, evidence_numbers = _opposed_numbers(change)
    return ChangedClaim(
        question=questions.get(change.question_id, change.question_id),
        claim=change.claim,
        standing=standing,
        evidence=change.evidence,
        document=change.source.document if change.source else None,
        is_nearest=change.support != "contradicted",
        retrieval=_retrieval(change, results),
        claim_numbers=claim_numbers,
        evidence_numbers=evidence_numbers,
    )


def _head_standing(change: ClaimChange, runs: int) -> str:
    standing = _support(change) + _in_runs(change.head_runs, runs)
    return f"{standing} (before in {change.base_runs})" if change.base_runs else standing


def _base_standing(change: ClaimChange, runs: int) -> str:
    now = "the question is not answered any more" if change.head_abstained else "supported or not said any more"
    return f"was {_support(change)}{_in_runs(change.base_runs, runs)}; {now}"


def _support(change: ClaimChange) -> str:
    return change.support.replace("_", " ")


def _in_runs(k: int, runs: int) -> str:
    return f", in {k} of {runs} runs" if runs > 1 else ""


def _retrieval(change: ClaimChange, results: Results) -> str:
    if change.source is None:
        return ""
    text = _RETRIEVED[change.source.retrieved]
    cause = [
        f"{item.name.rpartition('.')[2]} {setting_values(item)}"
        for item in results.changes
        if item.kind == "setting" and _RETRIEVAL.search(item.name)
    ]
    return f"{text}: {', '.join(cause[:2])}" if cause and change.source.retrieved == "base" else text


def _opposed_numbers(change: ClaimChange) -> tuple[frozenset[str], frozenset[str]]:
    if change.support != "contradicted" or change.evidence is None:
        return frozenset(), frozenset()
    claimed, stated = (set(NUMBER.findall(one_line(text))) for text in (change.claim, change.evidence))
    only_claimed, only_stated = claimed - stated, stated - claimed
    explains = bool(only_claimed) and len(only_stated) <= _MOST_NUMBERS
    return frozenset(only_claimed), frozenset(only_stated if explains else ())
