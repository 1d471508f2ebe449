"""Golden sets: the questions, with reference answers and relevant documents where known."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from faithbot.errors import UsageError
from faithbot.plain_text import visible
from faithbot.rows import json_rows
from faithbot.text_files import read_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faithbot.snapshots import Snapshot

# Role of a field: the names that people give it, first match wins.
FIELD_NAMES: dict[str, tuple[str, ...]] = {
    "id": ("id",),
    "text": ("question",),
    "reference": ("ground_truth", "reference", "truth", "answer"),
    "relevant_ids": ("relevant_ids",),
    "tags": ("tags",),
    "answerable": ("answerable",),
}


class Question(BaseModel):
    """One golden question."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    text: str
    reference: str | None = None
    relevant_ids: tuple[str, ...] = ()
    """Documents that answer it, by path or file name."""
    tags: tuple[str, ...] = ()
    answerable: bool | None = None
    """False: the right answer is that the sources do not say. None: not known."""


def load_golden_set(snapshot: Snapshot, path: str) -> tuple[Question, ...]:
    """Read a golden set; every error names the file and the line or item."""
    name = f"{path} ({snapshot.label})"
    questions: dict[str, Question] = {}
    places: dict[str, str] = {}
    for place, row in golden_rows(snapshot, path):
        question = _question(row, f"{name}, {place}")
        if question.id in questions:
            what = "id" if row.get("id") is not None else "question"
            raise UsageError(
                f"{name}, {place}: this {what} stands in {places[question.id]} already: give it its own id."
            )
        questions[question.id] = question
        places[question.id] = place
    if not questions:
        raise UsageError(f'{name} holds no question: add lines such as {{"question": "How long is the warranty?"}}.')
    return tuple(questions.values())


def golden_rows(snapshot: Snapshot, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Places and rows of a golden set as they are written."""
    return json_rows(read_text(snapshot, path), f"{path} ({snapshot.label})", "an object with a `question`")


def select(questions: tuple[Question, ...], only: tuple[str, ...], limit: int | None) -> tuple[Question, ...]:
    """The questions asked for with `--only` and `--limit`."""
    known = {shown_id(question.id) for question in questions}
    wanted = list(map(shown_id, only))
    if unknown := [name for name in wanted if name not in known]:
        raise UsageError(f"--only {unknown[0]}: no question has this id; there are {', '.join(sorted(known)[:10])}.")
    chosen = tuple(question for question in questions if not only or shown_id(question.id) in wanted)
    return chosen[:limit]


def shown_id(identifier: str) -> str:
    """An id as people see it. What is copied out of a comment on GitHub holds zero-width spaces (report/escape.py)."""
    return visible(identifier).strip()


def _question(row: dict[str, Any], place: str) -> Question:
    fields = {role: _first(row, names) for role, names in FIELD_NAMES.items()}
    text = fields["text"]
    if not isinstance(text, str) or not text.strip():
        known = " ".join(", ".join(row).split())[:60] or "nothing"
        raise UsageError(f"{place}: `question` must be a text that is not empty (this row has {known}).")
    identifier = fields["id"]
    if identifier is not None and not (_is_text_or_number(identifier) and str(identifier).strip()):
        raise UsageError(f"{place}: `id` must be a text that is not empty or a whole number.")
    answerable = fields["answerable"]
    if answerable is not None and not isinstance(answerable, bool):
        raise UsageError(f"{place}: `answerable` must be true or false.")
    return Question(
        id=question_key(text) if identifier is None else str(identifier),
        text=text.strip(),
        reference=_optional_text(fields["reference"], "reference", place),
        relevant_ids=_texts(fields["relevant_ids"], "relevant_ids", place),
        tags=_texts(fields["tags"], "tags", place),
        answerable=answerable,
    )


def _first(row: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((row[name] for name in names if row.get(name) is not None), None)


def _is_text_or_number(value: Any) -> bool:
    """Python counts true and false among the whole numbers, people do not."""
    return isinstance(value, str | int) and not isinstance(value, bool)


def question_key(text: str) -> str:
    """Id of a question that has none: the same words give the same id wherever the question stands in the file."""
    normalised = " ".join(text.casefold().split())
    return "q-" + hashlib.sha256(normalised.encode()).hexdigest()[:8]


def _optional_text(value: Any, role: str, place: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise UsageError(f"{place}: the {role} must be a text, found {json.dumps(value)[:60]}.")


def _texts(value: Any, name: str, place: str) -> tuple[str, ...]:
    if value is None:
        return ()
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or not all(map(_is_text_or_number, values)):
        raise UsageError(f"{place}: `{name}` must be a list of texts, found {json.dumps(value)[:60]}.")
    return tuple(str(item) for item in values)
