"""What is measured of an answer's text and judgement, and what all metrics have in common."""

from __future__ import annotations

import re
from importlib import import_module
from typing import get_args

import pytest

from faithbot.config import COUNTS, FurtherMetric, MetricName
from faithbot.golden import Question
from faithbot.judge.protocol import STATES_NO_FACT, Judgement
from faithbot.metrics import METRICS, label
from faithbot.results import AnswerRecord
from faithbot.systems.protocol import Context
from records import ABSTAINED, UNREADABLE, answered, claim

QUESTION = Question(id="q", text="How long can I return it?")
UNANSWERABLE = QUESTION.model_copy(update={"answerable": False})
MIXED = answered(claim("a"), claim("b", "contradicted"), claim("c", "not_found"), claim("d"))


def score(name: MetricName, judgement: Judgement | None = None, question: Question = QUESTION, **fields: object):
    record = AnswerRecord(question_id="q", run=1, **({"answer": "30 days.", "judgement": judgement} | fields))
    return METRICS[name].score(record, question)


@pytest.mark.parametrize(
    ("judgement", "faithfulness", "contradiction_rate", "unsupported", "abstention"),
    [
        (MIXED, 1 / 2, 1 / 4, 2, 0),
        (ABSTAINED, None, None, 0, 1),
        (Judgement(unscored=STATES_NO_FACT), None, None, 0, 0),
        (UNREADABLE, None, None, None, None),
        (None, None, None, None, None),
    ],
    ids=["four claims", "abstained", "states no fact", "not judged", "not answered"],
)
def test_each_judgement_has_its_scores(
    judgement: Judgement | None, faithfulness: float, contradiction_rate: float, unsupported: float, abstention: float
) -> None:
    names: tuple[MetricName, ...] = ("faithfulness", "contradiction_rate", "unsupported_per_answer", "abstention_rate")
    assert [score(name, judgement) for name in names] == [faithfulness, contradiction_rate, unsupported, abstention]


def test_abstaining_where_the_sources_hold_no_answer_is_not_counted_as_not_answered() -> None:
    assert score("abstention_rate", ABSTAINED, UNANSWERABLE) is None
    assert score("abstention_rate", MIXED, UNANSWERABLE) is None


@pytest.mark.parametrize(
    ("answer", "share"),
    [
        ("30 days [returns.md].", 1),
        ("30 days [1], or 60 [7].", 1 / 2),
        ("30 days [doc9].", 0),
        ("30 days.", None),
        (None, None),
    ],
)
def test_citations_are_valid_where_they_name_a_passage_that_was_given(answer: str | None, share: float | None) -> None:
    contexts = (Context(text="30 days.", source="returns.md"), Context(text="The stove burns gas.", source="stove.md"))
    assert score("citation_validity", answer=answer, contexts=contexts) == share


def test_further_scores_are_those_that_were_recorded() -> None:
    assert score("answer_relevance", Judgement(faithfulness=1.0, relevance=0.75)) == 0.75
    assert score("answer_correctness", correctness=0.5) == 0.5
    assert score("context_recall", context_recall=0.25) == 0.25
    further: tuple[MetricName, ...] = get_args(FurtherMetric)
    assert [score(name, MIXED) for name in further] == [None, None, None]


def test_every_metric_that_can_be_gated_exists_once_and_has_its_own_words() -> None:
    assert tuple(METRICS) == get_args(MetricName)
    labels = [metric.label for metric in METRICS.values()]
    assert len(set(labels)) == len(labels)
    assert all(label(metric.name) == metric.label for metric in METRICS.values())


@pytest.mark.parametrize("name", get_args(MetricName))
def test_every_metric_tells_its_definition_its_source_and_its_limits(name: str) -> None:
    page = " ".join((import_module(f"faithbot.metrics.{name}").__doc__ or "").split())
    assert re.search(r" 0 and up\.| 0 to 1|\b1 (where|for) ", page) or name in COUNTS
    assert " Source: " in page
    assert re.search(r"[Dd]oes not|Looks at .* alone|falls where|Counts passages", page)


def test_a_metric_of_another_version_is_called_by_its_name() -> None:
    assert label("answer_style") == "answer style"
    assert label("_") == "unnamed metric"
