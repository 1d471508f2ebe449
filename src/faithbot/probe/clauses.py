"""Sentences of two clauses: what holds, and under which condition."""

from __future__ import annotations

import re
from typing import NamedTuple

_CUE = r"(?:if|unless|when|as long as|provided that|in case of|only if|only when|except for|except)"
_LEADING = re.compile(
    r"^(?P<condition>(?:If|Unless|When|As long as|Provided that|In case of|Only if)\b[^,;:]+), "
    r"(?P<main>[^;:]+?)(?P<end>[.!])$"
)
_TRAILING = re.compile(rf"^(?P<main>[^;:]+?),? (?P<condition>{_CUE}\b [^,;:]+)(?P<end>[.!])$")
# "see if", "even when", "if applicable", "if you have questions": no condition of what is stated.
_NO_CONDITION = re.compile(
    r"\b(?:see|check|know|ask|tell|even|what|as|determine|sure|especially|particularly|times) (?:if|when)\b"
    r"|\b(?:if|when) (?:applicable|necessary|needed|possible|desired|required|any|properly|used|in doubt|not in use)\b"
    r"|\b(?:if|when) (?:[a-z]+ing|it comes to)\b|\bquestions?\b|\bassistance\b|\bhelp\b",
    re.IGNORECASE,
)
_ANY_CUE = re.compile(rf"\b{_CUE}\b", re.IGNORECASE)
_FEWEST_WORDS = 3


class Clauses(NamedTuple):
    """The parts of a sentence; ``condition`` begins with its conjunction, in lower case."""

    main: str
    condition: str
    leads: bool
    """Whether the condition stands first."""
    end: str
    """The mark at the end."""


def split_condition(sentence: str) -> Clauses | None:
    """The clauses of a sentence with one condition; None without one, or where its reach is not clear."""
    if _NO_CONDITION.search(sentence) or len(_ANY_CUE.findall(sentence)) != 1:
        return None
    for pattern, leads in ((_LEADING, True), (_TRAILING, False)):
        match = pattern.match(sentence)
        if match and min(len(match[part].split()) for part in ("main", "condition")) >= _FEWEST_WORDS:
            condition = match["condition"]
            return Clauses(match["main"], condition[0].lower() + condition[1:], leads, match["end"])
    return None


def capitalised(text: str) -> str:
    """With a capital at the start."""
    return text[:1].upper() + text[1:]
