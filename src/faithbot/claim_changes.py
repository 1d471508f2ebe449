"""Which claims changed their support between the sides: matched within a question across runs, whatever the wording."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from faithbot.accepted import AcceptedClaims
from faithbot.claim_chance import RARE, ChanceLevel, binomial_tail
from faithbot.claim_reasons import find_origin
from faithbot.claim_statements import find_statements
from faithbot.judge.number_guard import check_numbers
from faithbot.metrics import is_judged
from faithbot.results import AcceptedClaim, AnswerRecord, ClaimChange
from faithbot.side_table import same_requests

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from faithbot.accepted import AcceptedEntry
    from faithbot.claim_statements import Statement
    from faithbot.golden import Question
    from faithbot.judge.protocol import NumberCheck
    from faithbot.results import SideName

    Sides = Mapping[SideName, Sequence[AnswerRecord]]

_SIDES: tuple[SideName, ...] = ("base", "head")
_FEWEST_RUNS = 2
"""Judged runs of a side that say what "every run" says, where as many were asked."""
_NUMBERS: tuple[NumberCheck | None, ...] = ("conflict", "missing", "agree", None)
"""The claim's numbers beside its nearest passage, the most telling first; what has none is often filler."""


class ClaimChanges(NamedTuple):
    """The claims that a reader of the comparison should see."""

    newly_unsupported: tuple[ClaimChange, ...]
    no_longer_unsupported: tuple[ClaimChange, ...]
    sporadic: tuple[ClaimChange, ...]
    expected_by_chance: float | None
    accepted: tuple[AcceptedClaim, ...]
    stale: tuple[AcceptedEntry, ...]


@dataclass
class _OneSided:
    """Claims that only one side's runs hold unsupported, and what the other side's runs say about chance."""

    side: SideName
    got_worse: bool = False
    """It is known that this side's claims are worse: chance does not explain those of some runs away."""
    level: ChanceLevel = field(default_factory=ChanceLevel)
    changes: dict[int, list[ClaimChange]] = field(default_factory=lambda: defaultdict(list))
    """By how many of the side's runs they are missing from."""
    of_one_judged_run: list[ClaimChange] = field(default_factory=list)
    """Of questions that more runs asked: what the only judged one says is no word of every run."""

    def add_question(
        self, statements: Sequence[Statement], question: Question, sides: Sides, asked: Mapping[SideName, int]
    ) -> None:
        other = _other(self.side)
        held = [(statement.unsupported_runs(self.side), statement.unsupported_runs(other)) for statement in statements]
        runs = len(sides[self.side])
        is_enough = runs >= min(_FEWEST_RUNS, asked[self.side])
        if is_enough:
            self.level.add_question(len(sides[other]), runs, [others for _, others in held])
        for statement, (own, others) in zip(statements, held, strict=True):
            if own and not others:
                found = self.changes[runs - own] if is_enough else self.of_one_judged_run
                found.append(_change(question, statement, self.side, sides))

    def is_news(self, missing: int) -> bool:
        """Claims of every run are news; those of some runs only where there are more of them than chance gives."""
        return missing == 0 or self.got_worse or self.level.is_exceeded(missing, len(self.changes[missing]))

    def news(self) -> list[ClaimChange]:
        return [change for missing in self.changes if self.is_news(missing) for change in self.changes[missing]]

    def sporadic(self) -> list[ClaimChange]:
        some_runs = [missing for missing in self.changes if not self.is_news(missing)]
        return [*(change for missing in some_runs for change in self.changes[missing]), *self.of_one_judged_run]

    def expected_by_chance(self) -> float | None:
        """How many of the news, or of claims in every run where there are none, would be there had nothing changed."""
        levels = [self.level.expected(missing) for missing in {0, *self.changes} if self.is_news(missing)]
        known = [level for level in levels if level is not None]
        return sum(known) if known else None


@dataclass
class _BothSided:
    """Claims that both sides hold unsupported, in different shares of their runs.

    Had nothing changed, as many questions would have more of them on one side as on the other. The question is the
    unit, as all claims of a run come and go with its answer.
    """

    changes: dict[SideName, list[ClaimChange]] = field(default_factory=lambda: {side: [] for side in _SIDES})
    """By the side that holds them in more of its runs."""
    questions: Counter[SideName] = field(default_factory=Counter)
    """With as many judged runs on both sides, by the side that holds more claims more often."""

    def add_question(self, statements: Sequence[Statement], question: Question, sides: Sides) -> None:
        found: Counter[SideName] = Counter()
        for statement in statements:
            shares = {side: statement.unsupported_runs(side) / len(sides[side]) for side in _SIDES}
            if all(shares.values()) and shares["base"] != shares["head"]:
                side: SideName = "head" if shares["head"] > shares["base"] else "base"
                found[side] += 1
                self.changes[side].append(_change(question, statement, side, sides))
        if found["base"] != found["head"] and len(sides["base"]) == len(sides["head"]):
            self.questions["head" if found["head"] > found["base"] else "base"] += 1

    def is_news(self, side: SideName) -> bool:
        """The sign test over questions."""
        return binomial_tail(self.questions[side], self.questions.total(), 0.5) <= RARE

    def news(self, side: SideName) -> list[ClaimChange]:
        return self.changes[side] if self.is_news(side) else []

    def sporadic(self, side: SideName) -> list[ClaimChange]:
        return [] if self.is_news(side) else self.changes[side]

    def expected_by_chance(self, side: SideName) -> float:
        """Of the news of a side: as many as the other side holds more often."""
        return len(self.changes[_other(side)]) if self.is_news(side) else 0.0


def find_claim_changes(
    questions: Sequence[Question],
    base: Sequence[AnswerRecord],
    head: Sequence[AnswerRecord],
    accepted: Sequence[AcceptedEntry] = (),
    *,
    got_worse: bool = False,
) -> ClaimChanges:
    """Claims that head's runs hold unsupported and base's do not, or in fewer runs, and the other way round.

    News is what every run of a side holds and none of the other; of what some of its runs hold, or the other side holds
    in fewer, only where such claims are more than chance gives; the rest is ``sporadic``. Where head ``got_worse``, as
    a gated mean of its claims tells, those of some of its runs are news as well: they are what it fell by.
    ``expected_by_chance``: how many of the newly unsupported ones would be there had nothing changed; None where base
    has a single run. Claims that ``accepted`` names are counted apart.
    """
    records: dict[SideName, dict[str, list[AnswerRecord]]] = {"base": _by_question(base), "head": _by_question(head)}
    appeared, vanished, both = _OneSided("head", got_worse), _OneSided("base"), _BothSided()
    acceptance = AcceptedClaims(accepted)
    for question in questions:
        asked = {side: records[side][question.id] for side in _SIDES}
        is_unchanged = same_requests(asked["base"], asked["head"])
        if is_unchanged and not acceptance.concerns(question):
            continue
        sides: Sides = {side: [record for record in asked[side] if is_judged(record)] for side in _SIDES}
        if not all(sides.values()):
            continue
        statements = acceptance.set_aside(question, find_statements(sides))
        if not is_unchanged:
            runs = {side: len(asked[side]) for side in _SIDES}
            appeared.add_question(statements, question, sides, runs)
            vanished.add_question(statements, question, sides, runs)
            both.add_question(statements, question, sides)
    expected = appeared.expected_by_chance()
    return ClaimChanges(
        newly_unsupported=_most_telling_first([*appeared.news(), *both.news("head")], "head"),
        no_longer_unsupported=_most_telling_first([*vanished.news(), *both.news("base")], "base"),
        sporadic=tuple(
            change for own in (appeared, vanished) for change in (*own.sporadic(), *both.sporadic(own.side))
        ),
        expected_by_chance=None if expected is None else expected + both.expected_by_chance("head"),
        accepted=acceptance.found(),
        stale=acceptance.stale(),
    )


def _other(side: SideName) -> SideName:
    return "base" if side == "head" else "head"


def _by_question(records: Sequence[AnswerRecord]) -> dict[str, list[AnswerRecord]]:
    by_question: dict[str, list[AnswerRecord]] = defaultdict(list)
    for record in records:
        by_question[record.question_id].append(record)
    return by_question


class _Rank(NamedTuple):
    """Where a claim stands in its list: the smallest first, compared field by field."""

    is_not_contradicted: bool
    numbers: int
    """Place in `_NUMBERS`."""
    fewer_runs: int
    """Minus the runs that the side has it in more of than the other side."""
    has_no_passage: bool

    @classmethod
    def of(cls, change: ClaimChange, side: SideName) -> _Rank:
        more = change.head_runs - change.base_runs
        passage = () if change.evidence is None else (change.evidence,)
        return cls(
            is_not_contradicted=change.support != "contradicted",
            numbers=_NUMBERS.index(check_numbers(change.claim, passage)),
            fewer_runs=-more if side == "head" else more,
            has_no_passage=change.evidence is None,
        )


def _most_telling_first(changes: Sequence[ClaimChange], side: SideName) -> tuple[ClaimChange, ...]:
    """Contradicted first, then other numbers than the nearest passage's, then in more runs, then with a passage.

    Among equals one a question, in the order of the golden set: a reader sees the first few only, and they should not
    all belong to the question that comes first.
    """
    seen: Counter[tuple[str, _Rank]] = Counter()
    ranked: list[tuple[_Rank, int, ClaimChange]] = []
    for change in changes:
        rank = _Rank.of(change, side)
        ranked.append((rank, seen[change.question_id, rank], change))
        seen[change.question_id, rank] += 1
    return tuple(change for *_, change in sorted(ranked, key=lambda entry: entry[:2]))


def _change(question: Question, statement: Statement, side: SideName, sides: Sides) -> ClaimChange:
    claim = statement.unsupported(side)[0].claim
    origin = find_origin(statement, side, sides)
    return ClaimChange(
        question_id=question.id,
        claim=claim.text,
        support="contradicted" if claim.support == "contradicted" else "not_found",
        head_runs=statement.unsupported_runs("head"),
        base_runs=statement.unsupported_runs("base"),
        evidence=origin.evidence,
        source=origin.source,
        numbers=claim.numbers,
        reason=origin.reason if side == "head" else None,
        head_abstained=all(record.judgement is not None and record.judgement.abstained for record in sides["head"]),
    )
