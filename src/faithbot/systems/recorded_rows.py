"""One row of recorded results: which columns hold the question, the answer and the passages, whoever wrote them."""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from faithbot.errors import UsageError
from faithbot.json_text import parse_json
from faithbot.rows import csv_rows, json_rows
from faithbot.systems.protocol import Context

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from faithbot.config import RecordedField

# Names that tools give it. Case, spaces and underscores do not matter.
COLUMNS: dict[RecordedField, tuple[str, ...]] = {
    "id": ("id",),
    "question": ("question", "query", "user_input", "input"),
    "answer": ("answer", "response", "actual_output", "output", "result"),
    "contexts": (
        "contexts", "context", "retrieved_contexts", "retrieval_context", "retrieved_documents", "source_documents",
        "documents",
    ),
}  # fmt: skip
_EXPECTED = "an object with question, answer and contexts"
_TEXT_ROLES: tuple[RecordedField, ...] = ("id", "question", "answer")
_TEXTS = ("text", "content", "page_content", "pageContent", "passage_text", "document")
_SOURCES = ("source", "filename", "file", "path", "title", "id")
_FILE = r"[\w./]\S*\.[a-zA-Z]\w{1,4}(?:#page=\d+)?"
_HEADING = re.compile(rf"(?P<source>{_FILE}):\s+")
_NEXT_HEADING = re.compile(rf"\n\n(?={_FILE}:\s)")
"""`benefits.pdf#page=4:  `, which Azure's samples put before each passage of a list or of one long text."""


class RecordedRow(NamedTuple):
    """An answer as it was recorded; None is what the row does not tell."""

    place: str
    id: str | None
    question: str | None
    answer: str | None
    contexts: tuple[Context, ...] | None
    columns: Mapping[str, Any]
    """The whole row, for recorded scores."""


def read_recorded(text: str, path: str, label: str, fields: Mapping[RecordedField, str]) -> Iterator[RecordedRow]:
    """Rows of one recorded run: JSON lines, a JSON list, or CSV where ``path`` ends so; ``label`` names the snapshot.

    ``fields`` names the column of a role where it is not one of :data:`COLUMNS`. :class:`UsageError` names file and row
    where a column is missing, where two could be meant, or where a cell cannot be read.
    """
    name = f"{path} ({label})"
    is_table = path.casefold().endswith(".csv")
    rows = csv_rows(text, name) if is_table else json_rows(text, name, _EXPECTED, nan_is_missing=True)
    for place, row in rows:
        found = recorded_row(row, f"{name}, {place}", fields)
        if found.question is None and found.id is None:
            known = " ".join(", ".join(row).split())[:80] or "nothing"
            raise UsageError(
                f"{found.place}: no question (this row has {known}): name its column with `fields: {{question: ...}}`."
            )
        yield found


def recorded_row(row: Mapping[str, Any], where: str, fields: Mapping[RecordedField, str]) -> RecordedRow:
    """One row by its columns; :class:`UsageError` begins with ``where``, the place of the row."""
    cells = {role: _cell(row, role, fields, where) for role in COLUMNS}
    identifier, question, answer = (_text(cells[role], role, where) for role in _TEXT_ROLES)
    contexts = None if cells["contexts"] is None else tuple(_contexts(cells["contexts"], where))
    return RecordedRow(where, identifier, question, answer, contexts, row)


def is_left_empty(row: Mapping[str, Any], role: RecordedField) -> bool:
    """Whether a column of the role is there and its text is empty, as where a system answered with nothing."""
    return any(value == "" and _plain(column) in map(_plain, COLUMNS[role]) for column, value in row.items())


def _cell(row: Mapping[str, Any], role: RecordedField, fields: Mapping[RecordedField, str], where: str) -> Any:
    """Value of the column that has the role; None where it is missing or empty."""
    if role in fields:
        if fields[role] not in row:
            raise UsageError(f"{where}: there is no column `{fields[role]}`, which `fields.{role}` names.")
        return row[fields[role]]
    wanted = {_plain(name) for name in COLUMNS[role]}
    filled = {column: value for column, value in row.items() if _plain(column) in wanted and value not in (None, "")}
    if len(filled) > 1:
        raise UsageError(
            f"{where}: {' and '.join(f'`{column}`' for column in filled)} may each be the {role}: "
            f"keep one, or name the right column with `fields: {{{role}: ...}}`."
        )
    return next(iter(filled.values()), None)


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name).casefold()


def _text(value: Any, role: str, where: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if role == "id" and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise UsageError(f"{where}: the {role} must be a text, found {json.dumps(value)[:60]}.")


def _contexts(value: Any, where: str) -> Iterable[Context]:
    """Passages from a list, from a list or an object written into a text, or from one text."""
    if isinstance(value, str):
        value = _unpacked(value.strip(), where)
    if isinstance(value, str):
        return _passages_of_text(value)
    if isinstance(value, dict):
        return [_passage(item, where, source) for source, item in value.items()]
    if isinstance(value, list):
        return [_passage(item, where) for item in value]
    raise UsageError(f"{where}: the contexts must be a list of texts, found {json.dumps(value)[:60]}.")


def _unpacked(text: str, where: str) -> Any:
    """What a cell that looks like a list or an object holds: JSON, or Python's way of writing it."""
    if (text[:1], text[-1:]) not in {("[", "]"), ("{", "}")}:
        return text
    try:
        return parse_json(text, where)
    except UsageError:
        pass
    try:
        if not _is_numpy_text(text):
            return parse_json(json.dumps(ast.literal_eval(text)), where)  # checks what Python lets through
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError, tokenize.TokenError):
        pass
    raise UsageError(f"{where}: the contexts look like a list that cannot be read ({text[:40]}…): write it as JSON.")


def _is_numpy_text(text: str) -> bool:
    """Whether texts follow each other without a comma: Python would join them to one, without an error."""
    kinds = [token.type for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type != tokenize.NL]
    return (tokenize.STRING, tokenize.STRING) in pairwise(kinds)


def _passages_of_text(text: str) -> Iterator[Context]:
    """One passage, or several where each starts with the name of its document."""
    for part in _NEXT_HEADING.split(text) if _HEADING.match(text) else [text]:
        if part:
            yield _under_heading(part)


def _under_heading(text: str) -> Context:
    """A passage, without the name of the file that it may start with. "Note: " is no file: it has no extension."""
    heading = _HEADING.match(text)
    return Context(text=text[heading.end() :], source=heading["source"]) if heading else Context(text=text)


def _passage(item: Any, where: str, source: str | None = None) -> Context:
    if isinstance(item, str):
        return _under_heading(item) if source is None else Context(text=item, source=source)
    if not isinstance(item, dict):
        raise UsageError(f"{where}: a context must be a text or an object with a `text`, found {str(item)[:60]}.")
    text = next((item[name] for name in _TEXTS if isinstance(item.get(name), str)), None)
    if text is None and source is None:
        has = ", ".join(map(str, item))[:60] or "nothing"
        raise UsageError(f"{where}: a context has no text: expected as {', '.join(_TEXTS)}, found {has}.")
    named = next((item[name] for name in _SOURCES if isinstance(item.get(name), str)), source)
    return Context(text=json.dumps(item, ensure_ascii=False) if text is None else text, source=named)
