"""Hit rate, precision and reciprocal rank of the passages that an answer was given."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithbot.golden import Question
from faithbot.metrics import METRICS
from faithbot.results import AnswerRecord
from faithbot.systems.protocol import Context

QUESTION = Question(id="q", text="How long?", relevant_ids=("docs/returns.md", "faq.md"))


def record(*sources: str | None, answer: str | None = "30 days.") -> AnswerRecord:
    contexts = tuple(Context(text="a passage", source=source) for source in sources)
    return AnswerRecord(question_id="q", run=1, answer=answer, contexts=contexts)


def scores(given: AnswerRecord, question: Question = QUESTION) -> tuple[float | None, ...]:
    return tuple(METRICS[name].score(given, question) for name in ("hit_rate", "precision_at_k", "mrr"))


@pytest.mark.parametrize(
    ("sources", "hit", "precision", "reciprocal_rank"),
    [
        (["docs/returns.md"], 1, 1, 1),
        (["docs/a.md", "docs/returns.md", "docs/b.md", "docs/returns.md"], 1, 1 / 2, 1 / 2),
        (["docs/a.md", None, "site/faq.md", "docs/b.md"], 1, 1 / 4, 1 / 3),
        (["other/returns.md", "docs/faq.md.bak"], 0, 0, 0),
        ([None], 0, 0, 0),
        ([], 0, 0, 0),
    ],
    ids=["first", "two of four", "by file name", "another path", "no name", "nothing found"],
)
def test_passages_count_by_the_path_or_file_name_of_their_document(
    sources: list[str | None], hit: float, precision: float, reciprocal_rank: float
) -> None:
    assert scores(record(*sources)) == (hit, precision, reciprocal_rank)


def test_nothing_is_measured_without_relevant_documents_or_an_answer() -> None:
    assert scores(record("docs/returns.md"), Question(id="q", text="How long?")) == (None, None, None)
    assert scores(record("docs/returns.md", answer=None)) == (None, None, None)


@given(st.lists(st.sampled_from(["faq.md", "a.md", None]), max_size=8))
def test_a_hit_is_whatever_has_a_precision_and_a_rank(sources: list[str | None]) -> None:
    hit, precision, reciprocal_rank = scores(record(*sources))
    assert hit == float("faq.md" in sources)
    assert (precision > 0) == (reciprocal_rank > 0) == bool(hit)
    assert 0 <= precision <= 1
    assert 0 <= reciprocal_rank <= 1
