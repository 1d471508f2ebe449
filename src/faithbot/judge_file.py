"""Recorded answers in, judgements out: the judge without a comparison around it."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from faithbot.config import JudgeSettings
from faithbot.errors import UsageError
from faithbot.judge.protocol import Judgement
from faithbot.judge.registry import open_judge
from faithbot.models.pool import ModelPool

if TYPE_CHECKING:
    from pathlib import Path

    from faithbot.judge.protocol import Judge
    from faithbot.progress import Progress


class AnswerRow(BaseModel):
    """One line of the input. Other keys are welcome and ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str | int | None = None
    question: str
    answer: str
    contexts: list[str]


async def judge_file(path: Path, method: str, model: str | None, cache: Path, progress: Progress) -> list[str]:
    """One JSON object a row, in the order of the rows. A row that cannot be read is unscored; the others are judged."""
    try:
        settings = JudgeSettings.model_validate({"method": method, "model": model})
    except ValidationError as error:
        raise UsageError("; ".join(detail["msg"] for detail in error.errors())) from None
    try:
        lines = [line for line in path.read_text(encoding="utf-8-sig").split("\n") if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from None
    if not lines:
        raise UsageError(f"{path} holds no row: one JSON object a line with question, answer and contexts.")
    progress.start(len(lines))
    async with ModelPool(cache) as models:
        judge = open_judge(settings, models.open)
        slots = asyncio.Semaphore(models.parallel_calls)

        async def work(number: int, line: str) -> str:
            async with slots:
                row = await _judge_line(judge, line, number)
                progress.advance(f"row {number}")
                return json.dumps(row, ensure_ascii=False)

        return list(await asyncio.gather(*(work(number, line) for number, line in enumerate(lines, start=1))))


async def _judge_line(judge: Judge, line: str, number: int) -> dict[str, Any]:
    try:
        row = AnswerRow.model_validate_json(line)
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(map(str, problem["loc"]))
        unreadable = Judgement(unscored=f"row {number}: {place + ': ' if place else ''}{problem['msg']}")
        return _output(_id_of(line), unreadable)
    return _output(row.id, await judge.judge(row.question, row.answer, row.contexts))


def _output(identifier: Any, judgement: Judgement) -> dict[str, Any]:
    """The quote as plain text, and beside it where it stands."""
    output = {"id": identifier, **judgement.model_dump(exclude={"claims"}), "claims": []}
    for claim in judgement.claims:
        source = claim.evidence.model_dump(exclude={"quote"}) if claim.evidence else None
        quote = claim.evidence.quote if claim.evidence else None
        output["claims"].append({**claim.model_dump(), "evidence": quote, "source": source})
    return output


def _id_of(line: str) -> Any:
    """Id of a row that is not valid as a whole."""
    try:
        row = json.loads(line)
    except json.JSONDecodeError:
        return None
    return row.get("id") if isinstance(row, dict) else None
