"""Tags of golden questions: gated metrics on each tag's questions, with their own noise and never in the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from faithbot.compare import Grading, compare
from faithbot.golden import Question
from faithbot.noise import compare_runs
from records import ABSTAINED, FINGERPRINT, USAGE, scored, side

if TYPE_CHECKING:
    from faithbot.judge.protocol import Judgement
    from faithbot.results import Results

TAGS = {"prices": ("a", "b", "c"), "returns": ("c", "d"), "lonely": ("e",)}
QUESTIONS = tuple(
    Question(id=name, text=f"{name}?", tags=tuple(tag for tag, names in TAGS.items() if name in names))
    for name in "abcdef"
)
BASE = {name: [scored(0.8), scored(0.9)] for name in "abcdef"}


def compared(head: dict[str, list[Judgement]], *, gate: tuple[str, ...] = ("faithfulness",)) -> Results:
    grading = Grading(questions=QUESTIONS, gate=dict.fromkeys(gate, 0.0), min_coverage=0.5, fingerprint=FINGERPRINT)
    sides = {"base": side("base", BASE), "head": side("head", BASE | head)}
    return compare(grading, sides, runs=2, changes=(), usage=USAGE)


def test_each_tag_is_compared_on_its_own_questions() -> None:
    results = compared({"a": [scored(0.2), scored(0.3)]})
    assert list(results.slices) == ["prices", "returns", "lonely"]
    prices = results.slices["prices"]["faithfulness"]
    alone = compare_runs([[0.8, 0.9]] * 3, [[0.2, 0.3], [0.8, 0.9], [0.8, 0.9]])
    assert (prices.n_questions, prices.delta) == (3, pytest.approx(-0.2))
    assert (prices.noise_band, prices.p_value) == (pytest.approx(alone.noise_band), pytest.approx(alone.p_value))
    assert results.slices["returns"]["faithfulness"].delta == pytest.approx(0)


def test_a_tag_with_one_question_is_shown_without_a_band() -> None:
    lonely = compared({"e": [scored(0.1), scored(0.2)]}).slices["lonely"]["faithfulness"]
    assert (lonely.n_questions, lonely.delta) == (1, pytest.approx(-0.7))
    assert (lonely.noise_band, lonely.p_value, lonely.smallest_detectable) == (None, None, None)


def test_a_tag_that_fell_never_turns_the_verdict_red() -> None:
    drop = {name: [scored(0.3), scored(0.4)] for name in ("c", "d")}
    rise = {name: [scored(1.0), scored(1.0)] for name in ("a", "b", "e", "f")}
    results = compared(drop | rise)
    returns = results.slices["returns"]["faithfulness"]
    assert returns.delta == pytest.approx(-0.5)
    assert not any(metric.flagged or metric.gated for tag in results.slices.values() for metric in tag.values())
    assert results.verdict == "pass"


def test_only_gated_metrics_and_scored_tags_have_a_slice() -> None:
    results = compared({"e": [ABSTAINED, ABSTAINED]}, gate=("faithfulness", "abstention_rate"))
    assert list(results.slices["prices"]) == ["faithfulness", "abstention_rate"]
    assert list(results.slices["lonely"]) == ["abstention_rate"]
    assert compared({"e": [ABSTAINED, ABSTAINED]}).slices.keys() == {"prices", "returns"}


def test_without_tags_there_are_no_slices() -> None:
    grading = Grading(
        questions=tuple(question.model_copy(update={"tags": ()}) for question in QUESTIONS),
        gate={"faithfulness": 0.0}, min_coverage=0.5, fingerprint=FINGERPRINT,
    )  # fmt: skip
    sides = {"base": side("base", BASE), "head": side("head", BASE)}
    assert compare(grading, sides, runs=2, changes=(), usage=USAGE).slices == {}
