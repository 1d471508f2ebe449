"""Which of the passages that an answer was given come from a relevant document of its question."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from faithbot.golden import Question
    from faithbot.results import AnswerRecord


def relevant_passages(record: AnswerRecord, question: Question) -> tuple[bool, ...] | None:
    """One a passage, best rank first, by the document's path or file name.

    None without `relevant_ids`, and where the system failed.
    """
    if not question.relevant_ids or record.answer is None:
        return None
    return tuple(is_named(context.source, question.relevant_ids) for context in record.contexts)


def is_named(source: str | None, relevant_ids: tuple[str, ...]) -> bool:
    """Whether one of the ids is the document's path or file name."""
    return source is not None and (source in relevant_ids or PurePosixPath(source).name in relevant_ids)
