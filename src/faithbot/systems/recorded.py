"""Recorded answers as a system: a RAG that ran elsewhere, one file a run."""

from __future__ import annotations

import hashlib
import logging
from typing import TYPE_CHECKING

from faithbot.config import RECORDED_KEY
from faithbot.errors import CallError, UsageError
from faithbot.golden import question_key
from faithbot.judge.abstention import is_abstention
from faithbot.judge.protocol import Judgement
from faithbot.judge.recorded import recorded_judgement
from faithbot.models.tokens import estimate_tokens
from faithbot.systems.protocol import Answer
from faithbot.systems.recorded_rows import RecordedRow, read_recorded
from faithbot.text_files import read_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from faithbot.config import JudgeSettings, LoadedConfig, Recorded
    from faithbot.golden import Question

_log = logging.getLogger(__name__)

NO_CONTEXTS = "no passages are recorded with this answer: faithfulness needs what the model was given"


class RecordedSystem:
    """One side's records. Answers have no request, so a question never counts as known to be unchanged."""

    def __init__(self, loaded: LoadedConfig, settings: Recorded, judge: JudgeSettings, runs: int) -> None:
        """Read the files of all runs.

        :class:`UsageError` where there are fewer files than runs, or a file holds no row or lacks a column that the
        judge reads.
        """
        self._paths = loaded.recorded_paths[:runs]
        self._name = loaded.answered_by
        self._judge = judge
        if len(self._paths) < runs:
            raise UsageError(
                f"{loaded.place(*RECORDED_KEY)}: only {len(self._paths)} of {runs} runs have a file: "
                f"name {runs} files, or ask for fewer `runs`."
            )
        digest = hashlib.sha256()
        self._runs: list[dict[str, RecordedRow]] = []
        for index, path in enumerate(self._paths):
            loaded.require(path, *RECORDED_KEY, index)
            text = read_text(loaded.snapshot, path)
            digest.update(text.encode())
            rows = _by_question(path, read_recorded(text, path, loaded.snapshot.label, settings.fields))
            if not rows:
                raise UsageError(
                    f"{path} ({loaded.snapshot.label}) holds no row: record the answers of run {index + 1} in it."
                )
            _require_scores(judge, rows.values(), f"{path} ({loaded.snapshot.label})")
            self._runs.append(rows)
        self._digest = digest.hexdigest()
        self._rows: dict[str, list[RecordedRow | None]] = {}
        self.longest_call = 0
        """Tokens, at most, of the longest question with its answer and passages."""

    def prepare(self, questions: Sequence[Question]) -> None:
        """Find each question's row in every run, by its words, or by its id where a row has no question."""
        for question in questions:
            keys = (question_key(question.text), question.id)
            rows = [next((run[key] for key in keys if key in run), None) for run in self._runs]
            self._rows[question.text] = rows
            self.longest_call = max(self.longest_call, *(_tokens(question, row) for row in rows))

    async def describe(self) -> tuple[str, str]:
        """The files, and a digest of what they hold."""
        return self._name, self._digest

    async def answer(self, question: str, run: int) -> Answer:
        """What was recorded; its judgement comes along where it is recorded too, or where nobody can give one."""
        row = self._rows[question][run - 1]
        if row is None:
            raise CallError(f"{self._paths[run - 1]} has no row for this question")
        if row.answer is None:
            raise CallError(f"{row.place}: no answer is recorded")
        return Answer(text=row.answer, contexts=row.contexts or (), judgement=self._judgement(row, row.answer))

    def _judgement(self, row: RecordedRow, answer: str) -> Judgement | None:
        if self._judge.method == "recorded":
            return recorded_judgement(self._judge, answer, row.columns)
        if row.contexts is None and not is_abstention(answer):
            return Judgement(unscored=NO_CONTEXTS)
        return None


def _by_question(path: str, rows: Iterable[RecordedRow]) -> dict[str, RecordedRow]:
    """Rows by the key of their question, or by their id; of those that share one, the first."""
    found: dict[str, RecordedRow] = {}
    repeated = 0
    for row in rows:
        first = found.setdefault(question_key(row.question) if row.question else str(row.id), row)
        repeated += first is not row
    if repeated:
        _log.info("%s: %d rows repeat a question of an earlier row and are left out.", path, repeated)
    return found


def _require_scores(judge: JudgeSettings, rows: Collection[RecordedRow], place: str) -> None:
    """:class:`UsageError` where not one row has the column of a score; a single row without it fails by itself."""
    for metric, column in judge.scores.items():
        if not any(column in row.columns for row in rows):
            raise UsageError(f"{place}: no row has a column {column!r}, which `judge.scores.{metric}` names.")


def _tokens(question: Question, row: RecordedRow | None) -> int:
    if row is None:
        return 0
    texts = [question.text, row.answer or "", *(context.text for context in row.contexts or ())]
    return sum(map(estimate_tokens, texts))
