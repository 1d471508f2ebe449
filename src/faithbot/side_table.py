"""A side's recorded answers by question and run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from faithbot.metrics import Metric, is_judged

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from faithbot.golden import Question
    from faithbot.results import AnswerRecord, Side, SideName


class SideTable:
    """A side's records by question and run.

    A question may have fewer runs than others: one that is known to be unchanged is not asked again.
    """

    def __init__(self, questions: Sequence[Question], answers: Iterable[AnswerRecord], runs: int) -> None:
        self.questions = questions
        by_place = {(record.question_id, record.run): record for record in answers}
        self.runs = runs
        self.rows = [
            [by_place[question.id, run] for run in range(1, runs + 1) if (question.id, run) in by_place]
            for question in questions
        ]

    def scores(self, metric: Metric) -> NDArray[np.float64]:
        """Shape (questions, runs); NaN where the metric says nothing."""
        values = np.full((len(self.rows), self.runs), np.nan)
        for scores, question, row in zip(values, self.questions, self.rows, strict=True):
            for record in row:
                score = metric.score(record, question)
                scores[record.run - 1] = np.nan if score is None else score
        return values

    def repeated_scores(self, metric: Metric) -> NDArray[np.float64]:
        """Shape (questions, runs, judgements of the same answer); NaN where the metric says nothing."""
        most = max((len(record.judged_again) for row in self.rows for record in row), default=0)
        scores = np.full((len(self.rows), self.runs, 1 + most), np.nan)
        for of_question, question, row in zip(scores, self.questions, self.rows, strict=True):
            for record in row:
                for repeat, judgement in enumerate((record.judgement, *record.judged_again)):
                    score = metric.score(record.model_copy(update={"judgement": judgement}), question)
                    of_question[record.run - 1, repeat] = np.nan if score is None else score
        return scores

    def judged(self) -> NDArray[np.bool_]:
        """Per question: at least one run has a score or is an abstention."""
        return np.array([any(is_judged(record) for record in row) for row in self.rows])

    def failures(self) -> list[str]:
        """Reasons of all runs that have neither."""
        return [record.failure for row in self.rows for record in row if record.failure]


def same_requests(base: Sequence[AnswerRecord], head: Sequence[AnswerRecord]) -> bool:
    """Whether the runs of a question are known to be the same requests on both sides, run by run."""
    keys = [record.request_key for record in base]
    return bool(keys) and None not in keys and keys == [record.request_key for record in head]


def in_halves(side: Side, runs: int) -> dict[SideName, Side]:
    """Runs 1 to ``runs`` of a side as base and the next ``runs`` of them as head: the two halves of an A/A run."""
    firsts: dict[SideName, int] = {"base": 1, "head": runs + 1}
    return {name: _half(side, name, range(first, first + runs)) for name, first in firsts.items()}


def _half(side: Side, name: SideName, runs: range) -> Side:
    answers = tuple(
        record.model_copy(update={"run": record.run - runs.start + 1}) for record in side.answers if record.run in runs
    )
    numbers = f"runs {runs[0]} to {runs[-1]}" if len(runs) > 1 else f"run {runs[0]}"
    return side.model_copy(update={"name": name, "label": f"{side.label}, {numbers}", "answers": answers})
