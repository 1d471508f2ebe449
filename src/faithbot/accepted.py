"""Unsupported claims that the team accepts, each with its written reason: read from base, counted apart from news."""

from __future__ import annotations

from collections import defaultdict
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from faithbot.errors import UsageError
from faithbot.golden import question_key, shown_id
from faithbot.plain_text import visible
from faithbot.results import AcceptedClaim, ResultWarning
from faithbot.text_files import read_text
from faithbot.yaml_text import parse_yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from faithbot.claim_statements import Statement
    from faithbot.golden import Question
    from faithbot.snapshots import Snapshot

REQUIRED = ("question", "claim", "reason")
OPTIONAL = ("by", "date")
_MOST_NAMED = 3


class AcceptedEntry(NamedTuple):
    """One entry of the file."""

    question_id: str | None
    """None: the golden set holds no such question."""
    claim: str
    reason: str
    by: str | None
    date: str | None
    """ISO 8601."""
    place: str
    """``evals/accepted.yaml (main), line 3``."""


def load_accepted(snapshot: Snapshot, path: str, golden: Iterable[Question]) -> tuple[AcceptedEntry, ...]:
    """Read the file, a list of entries; every error names file and line. A question is named by its id or its words."""
    name = f"{path} ({snapshot.label})"
    document = parse_yaml(read_text(snapshot, path), name)
    rows = [] if document.value is None else document.value
    if not isinstance(rows, list):
        raise UsageError(f"{name}, line 1: expected a list of entries, each with {', '.join(REQUIRED)}.")
    ids = _ids(golden)

    def place(*key: int | str) -> str:
        return f"{name}, line {document.line(key)}"

    return tuple(_entry(row, ids, partial(place, index)) for index, row in enumerate(rows))


def _ids(golden: Iterable[Question]) -> dict[str, str]:
    """Ids of questions by their ids and by the keys of their words, both without invisible characters."""
    questions = list(golden)
    by_words = {question_key(visible(question.text)): question.id for question in questions}
    return by_words | {shown_id(question.id): question.id for question in questions}


def _entry(row: object, ids: Mapping[str, str], place: Callable[..., str]) -> AcceptedEntry:
    """``place``: of the entry, or of one of its keys."""
    if not isinstance(row, dict):
        raise UsageError(f"{place()}: expected an entry with {', '.join(REQUIRED)}.")
    for key in row:
        if key not in (*REQUIRED, *OPTIONAL):
            known = ", ".join((*REQUIRED, *OPTIONAL))
            raise UsageError(f"{place(key)}: unknown key `{key}`: known are {known}.")
    question = row.get("question")
    if isinstance(question, int) and not isinstance(question, bool):
        row = {**row, "question": str(question)}  # an id without its quotes
    texts = {key: _text(row.get(key), key, place(key)) for key in REQUIRED}
    named = shown_id(texts["question"])
    return AcceptedEntry(
        question_id=ids.get(named, ids.get(question_key(named))),
        claim=texts["claim"],
        reason=texts["reason"],
        by=_text(row["by"], "by", place("by")) if "by" in row else None,
        date=_date(row["date"], place("date")) if "date" in row else None,
        place=place(),
    )


def _text(value: object, key: str, place: str) -> str:
    if not isinstance(value, str) or not value.strip():
        cure = "write why the claim is accepted" if key == "reason" else "write a text that is not empty"
        raise UsageError(f"{place}: `{key}` is missing or no text: {cure}.")
    return value.strip()


def _date(value: object, place: str) -> str:
    try:
        return date.fromisoformat(str(value)).isoformat()
    except ValueError:
        raise UsageError(f"{place}: `date` must be a day such as 2025-11-03.") from None


class AcceptedClaims:
    """The entries laid beside what a comparison found."""

    def __init__(self, entries: Sequence[AcceptedEntry]) -> None:
        self._by_question: dict[str | None, list[AcceptedEntry]] = defaultdict(list)
        for entry in entries:
            self._by_question[entry.question_id].append(entry)
        self._found: list[AcceptedClaim] = []
        self._stale: list[AcceptedEntry] = list(self._by_question[None])

    def concerns(self, question: Question) -> bool:
        """Whether an entry belongs to a question."""
        return question.id in self._by_question

    def set_aside(self, question: Question, statements: list[Statement]) -> list[Statement]:
        """The statements of a question that no entry accepts."""
        from faithbot.judge.matching import ClaimSignature  # slow, and reading entries needs none

        rest = statements
        for entry in self._by_question.get(question.id, ()):
            signature = ClaimSignature.of(entry.claim)
            matching = [found for found in statements if found.says(signature)]
            runs = [sum(found.unsupported_runs(side) for found in matching) for side in ("head", "base")]
            if not any(runs):
                self._stale.append(entry)
                continue
            rest = [statement for statement in rest if statement not in matching]
            self._found.append(self._counted(entry, question, matching))
        return rest

    @staticmethod
    def _counted(entry: AcceptedEntry, question: Question, matching: Sequence[Statement]) -> AcceptedClaim:
        return AcceptedClaim(
            question_id=question.id,
            claim=entry.claim,
            reason=entry.reason,
            by=entry.by,
            date=entry.date,
            head_runs=max(found.unsupported_runs("head") for found in matching),
            base_runs=max(found.unsupported_runs("base") for found in matching),
        )

    def found(self) -> tuple[AcceptedClaim, ...]:
        """Entries that answers of either side still make without support."""
        return tuple(self._found)

    def stale(self) -> tuple[AcceptedEntry, ...]:
        """Entries of compared questions that match no unsupported claim, and of questions that are gone."""
        return tuple(self._stale)


def stale_warning(stale: Sequence[AcceptedEntry]) -> Iterator[ResultWarning]:
    """One warning for all entries that match nothing any more."""
    if not stale:
        return
    named = [f"{entry.place} (“{entry.claim}”)" for entry in stale[:_MOST_NAMED]]
    more = [f"{len(stale) - _MOST_NAMED} more"] if len(stale) > _MOST_NAMED else []
    yield ResultWarning(
        code="stale_accepted",
        message="No unsupported claim of either side matches what was accepted: "
        f"{'; '.join(named + more)}. Remove what is settled.",
    )
