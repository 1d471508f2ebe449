"""Claims that people have labelled, as they write them down: one JSON object a line."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from faithbot.errors import UsageError
from faithbot.json_text import parse_json
from faithbot.judge.calibration import PeopleLabel
from faithbot.text_files import decode

if TYPE_CHECKING:
    from pathlib import Path

EXPECTED = "one JSON object a line with claim, contexts (a list of texts) and label"
_CLAIM = ("claim", "answer", "response", "statement")
_CONTEXTS = ("contexts", "context", "retrieved_contexts", "evidence")
_LABEL = ("label",)
_CATEGORY_LENGTH = 60
# As people and data sets write it; case, spaces, dashes and underscores do not matter.
_WRITTEN: dict[PeopleLabel, tuple[str, ...]] = {
    "supported": ("supported", "supports", "entailed", "entailment", "faithful", "grounded", "true", "yes", "1"),
    "contradicted": ("contradicted", "contradicts", "contradiction", "refuted", "refutes"),
    "not_found": ("not found", "not enough info", "not enough information", "nei", "neutral"),
    "unsupported": (
        "unsupported", "not supported", "partially supported", "not entailed", "unfaithful", "hallucinated",
        "hallucination", "false", "no", "0",
    ),
}  # fmt: skip
_MEANING = {written: label for label, forms in _WRITTEN.items() for written in forms}


@dataclass(frozen=True)
class LabelledClaim:
    """A claim, the contexts that it is held against, and what people say of it."""

    claim: str
    contexts: tuple[str, ...]
    label: PeopleLabel
    category: str | None = None


@dataclass(frozen=True)
class LabelledClaims:
    """What a file holds."""

    claims: tuple[LabelledClaim, ...]
    problems: tuple[str, ...]
    """A line for each row that cannot be used: where and why."""


def read_labelled_claims(path: Path) -> LabelledClaims:
    """All rows of a file; :class:`UsageError` where none of them can be used."""
    try:
        text = decode(path.read_bytes(), str(path), "labels")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}.") from None
    claims: list[LabelledClaim] = []
    problems: list[str] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                claims.append(_read_row(line, f"line {number}"))
            except UsageError as error:
                problems.append(str(error))
    if not claims:
        first = f"; {problems[0].rstrip('.')}" if problems else ""
        raise UsageError(f"{path} holds no labelled claim: expected {EXPECTED}{first}.")
    return LabelledClaims(tuple(claims), tuple(problems))


def _read_row(line: str, place: str) -> LabelledClaim:
    row = parse_json(line, place)
    if not isinstance(row, dict):
        raise UsageError(f"{place}: expected an object, found {json.dumps(row)[:60]}.")
    claim = _cell(row, _CLAIM, place)
    if not isinstance(claim, str) or not claim.strip():
        raise UsageError(f"{place}: the claim must be a text that is not empty, found {_shown(claim)}.")
    return LabelledClaim(claim, _contexts(row, place), _label(row, place), _category(row, place))


def _cell(row: dict[str, Any], names: tuple[str, ...], place: str) -> Any:
    name = next((name for name in names if name in row), None)
    if name is None:
        raise UsageError(f"{place}: `{names[0]}` is missing.")
    return row[name]


def _contexts(row: dict[str, Any], place: str) -> tuple[str, ...]:
    contexts = _cell(row, _CONTEXTS, place)
    if isinstance(contexts, str):
        return (contexts,)
    if isinstance(contexts, list) and all(isinstance(context, str) for context in contexts):
        return tuple(contexts)
    raise UsageError(f"{place}: the contexts must be a list of texts, found {_shown(contexts)}.")


def _label(row: dict[str, Any], place: str) -> PeopleLabel:
    written = _cell(row, _LABEL, place)
    if isinstance(written, bool | int | float):
        words = str(int(written)) if written in (0, 1) else ""
    else:
        words = " ".join(str(written).casefold().replace("-", " ").replace("_", " ").split())
    if words not in _MEANING:
        raise UsageError(
            f"{place}: the label {_shown(written)} is not known: write {', '.join(get_args(PeopleLabel))}, "
            "or 1 (supported) and 0."
        )
    return _MEANING[words]


def _category(row: dict[str, Any], place: str) -> str | None:
    category = row.get("category")
    if category is None:
        return None
    if not isinstance(category, str) or not category.strip() or len(category) > _CATEGORY_LENGTH:
        raise UsageError(
            f"{place}: the category must be a text of at most {_CATEGORY_LENGTH} characters, found {_shown(category)}."
        )
    return category.strip()


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:60]
