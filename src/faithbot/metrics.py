"""What is measured of each answer: one number, or nothing where the metric does not apply."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal

from faithbot.judge.protocol import STATES_NO_FACT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from faithbot.config import MetricName
    from faithbot.golden import Question
    from faithbot.judge.protocol import Judgement
    from faithbot.results import AnswerRecord, MetricComparison


@dataclass(frozen=True)
class Metric:
    """A number per answer; a question's value is the mean over its runs, a side's the mean over questions."""

    name: MetricName
    better: Literal["higher", "lower"]
    score: Callable[[AnswerRecord, Question], float | None]
    needs_claims: bool = False
    """Says nothing with a judge that gives one label to a whole answer."""


def faithfulness(record: AnswerRecord, _question: Question) -> float | None:
    """Supported claims over scored claims, 0 to 1 (the definition of Ragas, Es et al. 2023).

    Says whether the answer keeps to its contexts; not whether they are right, nor whether it leaves something out.
    """
    return record.judgement.faithfulness if record.judgement else None


def contradiction_rate(record: AnswerRecord, _question: Question) -> float | None:
    """Contradicted claims over scored claims, 0 to 1. Claims that no passage mentions do not count here."""
    supports = [claim.support for claim in record.judgement.claims if claim.support] if record.judgement else []
    return supports.count("contradicted") / len(supports) if supports else None


def unsupported_per_answer(record: AnswerRecord, _question: Question) -> float | None:
    """Claims that are contradicted or not found. Grows with the length of the answers; 0 for an abstention."""
    judgement = _judged(record)
    if judgement is None:
        return None
    return float(sum(claim.support in ("contradicted", "not_found") for claim in judgement.claims))


def answer_relevance(record: AnswerRecord, _question: Question) -> float | None:
    """How well the answer meets the question, 0 to 1, where the judge says so."""
    return record.judgement.relevance if record.judgement else None


def abstention_rate(record: AnswerRecord, question: Question) -> float | None:
    """1 where the answer says that it cannot answer. Questions that have no answer in the sources are left out."""
    judgement = _judged(record)
    if judgement is None or question.answerable is False:
        return None
    return float(judgement.abstained)


def hit_rate(record: AnswerRecord, question: Question) -> float | None:
    """1 where a relevant document is among the contexts, by path or by file name."""
    if not question.relevant_ids or record.answer is None:
        return None
    sources = {context.source for context in record.contexts if context.source}
    names = sources | {PurePosixPath(source).name for source in sources}
    return float(any(relevant in names for relevant in question.relevant_ids))


def questions_moved(metric: MetricComparison) -> int:
    """By how many questions a share of questions moved, rounded; 0 where it was not compared."""
    return round((metric.delta or 0.0) * metric.n_questions)


def is_judged(record: AnswerRecord) -> bool:
    """The answer has a score, abstains or states no fact: it counts for the coverage."""
    return _judged(record) is not None


def _judged(record: AnswerRecord) -> Judgement | None:
    judgement = record.judgement
    return judgement if judgement and judgement.unscored in (None, STATES_NO_FACT) else None


METRICS: dict[MetricName, Metric] = {
    metric.name: metric
    for metric in (
        Metric("faithfulness", "higher", faithfulness),
        Metric("contradiction_rate", "lower", contradiction_rate, needs_claims=True),
        Metric("unsupported_per_answer", "lower", unsupported_per_answer, needs_claims=True),
        Metric("answer_relevance", "higher", answer_relevance),
        Metric("abstention_rate", "lower", abstention_rate),
        Metric("hit_rate", "higher", hit_rate),
    )
}


def first_gated(compared: Mapping[str, MetricComparison]) -> Metric | None:
    """The metric that noise is looked at for; None where no gated one was measured."""
    return next((metric for name, metric in METRICS.items() if name in compared and compared[name].gated), None)
