"""Recorded answers in, judgements out: the judge without a comparison around it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError

from faithbot.config import JudgeSettings, unknown_word
from faithbot.errors import UsageError
from faithbot.json_text import parse_json
from faithbot.judge.citations import check_citations
from faithbot.judge.protocol import Judgement
from faithbot.judge.registry import open_judge
from faithbot.models.pool import ModelPool
from faithbot.models.tokens import estimate_tokens
from faithbot.plain_text import count
from faithbot.rows import csv_rows
from faithbot.systems.recorded_rows import COLUMNS, is_left_empty, recorded_row
from faithbot.text_files import decode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pydantic_core import ErrorDetails

    from faithbot.config import LoadedConfig, RecordedField
    from faithbot.judge.protocol import Judge
    from faithbot.progress import Progress
    from faithbot.systems.protocol import Context

_NEEDED: tuple[RecordedField, ...] = ("question", "answer", "contexts")
_NO_JUDGE = "`recorded` reads scores, it cannot judge: name a judge"
_EXPECTED = "one JSON object a line, a JSON list or a .csv table, with question, answer and contexts"


@dataclass(frozen=True)
class AnswerRow:
    """One row of the input."""

    id: str | int | None
    question: str
    answer: str
    contexts: tuple[Context, ...]

    @property
    def passages(self) -> list[str]:
        """Texts of the contexts."""
        return [context.text for context in self.contexts]


@dataclass(frozen=True)
class UnreadableRow:
    """A row that is not an answer with its question and contexts, and why."""

    id: str | int | None
    reason: str


class JudgedFile(NamedTuple):
    """What the judge says of all rows."""

    lines: list[str]
    """One JSON object a row."""
    summary: str


async def judge_file(path: Path, method: str | None, model: str | None, cache: Path, progress: Progress) -> JudgedFile:
    """One JSON object a row, in the order of the rows; without a method, a model means `claims`.

    A row that cannot be read is unscored; the others are judged.
    """
    settings = judge_settings(method, model)
    rows = read_rows(path)
    progress.start(len(rows))
    async with ModelPool(cache) as models:
        judge = open_judge(settings, models.open, cache=cache)
        judge.reserve(max(_tokens(row) for row in rows.values() if isinstance(row, AnswerRow)))

        async def work(placed: tuple[str, AnswerRow | UnreadableRow]) -> Judgement:
            judged = await _judge_row(judge, placed[1])
            progress.advance(placed[0])
            return judged

        judgements = await models.work_on(rows.items(), work)
    lines = [_output(row.id, judgement) for row, judgement in zip(rows.values(), judgements, strict=True)]
    return JudgedFile(lines, summary(judgements))


def summary(judgements: Sequence[Judgement]) -> str:
    """One line: the mean over the answers that have a score, and how many have none, and why."""
    scores = [judged.faithfulness for judged in judgements if judged.faithfulness is not None]
    abstained = sum(judged.abstained for judged in judgements)
    unscored = sum(judged.unscored is not None for judged in judgements)
    mean = f"mean faithfulness {fmean(scores):.2f} over" if scores else "no faithfulness:"
    scored = f"{len(scores)} of {count(len(judgements), 'answer')}" + ("" if scores else " scored")
    return f"{mean} {scored}; {abstained} abstained, {unscored} unscored"


def judge_settings(method: str | None, model: str | None) -> JudgeSettings:
    """What the options of a command mean; :class:`UsageError` where they do not fit together.

    A classifier's folder may be any, relative ones included: who types a command names files of their own.
    """
    if model is not None and method == "classifier" and Path(model).is_dir():
        model = str(Path(model).absolute())
    if method == "recorded":
        raise UsageError(f"--method recorded: {_NO_JUDGE}, such as `evidence`.")
    try:
        return JudgeSettings.model_validate({"method": method, "model": model})
    except ValidationError as error:
        raise UsageError("; ".join(map(_problem, error.errors()))) from None


def chosen_judge(loaded: LoadedConfig, method: str | None, model: str | None) -> JudgeSettings:
    """The judge that the options of a command name, else the configured one; :class:`UsageError` where it is none."""
    if method is not None or model is not None:
        return judge_settings(method, model)
    if loaded.config.judge.method == "recorded":
        raise UsageError(f"{loaded.place('judge', 'method')}: {_NO_JUDGE} with --method.")
    return loaded.config.judge


def _problem(detail: ErrorDetails) -> str:
    message = unknown_word(detail) if detail["type"] == "literal_error" else detail["msg"]
    return ": ".join((*map(str, detail["loc"]), message))


def _tokens(row: AnswerRow) -> int:
    return sum(map(estimate_tokens, (row.question, row.answer, *row.passages)))


def read_rows(path: Path) -> dict[str, AnswerRow | UnreadableRow]:
    """Rows by their place in the file, `line 3` or `item 3`; :class:`UsageError` where none of them could be read."""
    try:
        text = decode(path.read_bytes(), str(path), "answers")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}.") from None
    rows = dict(_rows_of_table(text, path) if path.suffix.casefold() == ".csv" else _rows_of_json(text, path))
    if not rows:
        raise UsageError(f"{path} holds no row: expected {_EXPECTED}.")
    first = next(iter(rows.values()))
    if isinstance(first, UnreadableRow) and all(isinstance(row, UnreadableRow) for row in rows.values()):
        raise UsageError(f"{path} holds no row that can be read: expected {_EXPECTED}; {first.reason.rstrip('.')}.")
    return rows


def _rows_of_table(text: str, path: Path) -> Iterator[tuple[str, AnswerRow | UnreadableRow]]:
    for place, row in csv_rows(text, str(path)):
        yield place, _row({column: "" if cell is None else cell for column, cell in row.items()}, place)


def _rows_of_json(text: str, path: Path) -> Iterator[tuple[str, AnswerRow | UnreadableRow]]:
    """Of a list, where the first character begins one, else of lines: a broken one costs no other."""
    if text.lstrip().startswith("["):
        for number, item in enumerate(parse_json(text, str(path), nan_is_missing=True), start=1):
            yield f"item {number}", _row(item, f"item {number}")
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield f"line {number}", _row_of_line(line, f"line {number}")


def _row_of_line(line: str, place: str) -> AnswerRow | UnreadableRow:
    try:
        return _row(parse_json(line, place, nan_is_missing=True), place)
    except UsageError as error:
        return UnreadableRow(None, str(error))


def _row(row: Any, place: str) -> AnswerRow | UnreadableRow:
    """A row by the column names that tools give it, those of recorded runs."""
    if not isinstance(row, dict):
        return UnreadableRow(None, f"{place}: expected an object, found {json.dumps(row)[:60]}.")
    identifier = _usable_id(row.get("id"))
    try:
        found = recorded_row(row, place, {})
    except UsageError as error:
        return UnreadableRow(identifier, str(error))
    answer = "" if found.answer is None and is_left_empty(row, "answer") else found.answer
    if found.question is None or answer is None or found.contexts is None:
        given = {"question": found.question, "answer": answer, "contexts": found.contexts}
        missing = next(role for role in _NEEDED if given[role] is None)
        return UnreadableRow(identifier, f"{place}: no {missing}: expected as {', '.join(COLUMNS[missing])}.")
    return AnswerRow(identifier, found.question, answer, found.contexts)


def _usable_id(value: Any) -> str | int | None:
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None


async def _judge_row(judge: Judge, row: AnswerRow | UnreadableRow) -> Judgement:
    if isinstance(row, UnreadableRow):
        return Judgement(unscored=row.reason)
    judgement = await judge.judge(row.question, row.answer, row.passages)
    cited = check_citations(row.answer, [context.source for context in row.contexts], row.passages)
    return judgement.model_copy(update={"fabricated_citations": cited.fabricated})


def _output(identifier: str | int | None, judgement: Judgement) -> str:
    """As JSON: the quote as plain text, and beside it where it stands."""
    output = {"id": identifier, **judgement.model_dump(exclude={"claims", "relevance"}), "claims": []}
    for claim in judgement.claims:
        source = claim.evidence.model_dump(exclude={"quote"}) if claim.evidence else None
        quote = claim.evidence.quote if claim.evidence else None
        output["claims"].append({**claim.model_dump(), "evidence": quote, "source": source})
    return json.dumps(output, ensure_ascii=False, allow_nan=False)
