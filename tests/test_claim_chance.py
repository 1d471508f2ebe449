"""How many claims one side would hold alone by chance: hand-computed, and bounded whatever the claims' chances."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithbot.claim_chance import ChanceLevel, expected_per_flicker, largest_per_flicker


def level(*questions: tuple[int, int, list[int]]) -> ChanceLevel:
    made = ChanceLevel()
    for question in questions:
        made.add_question(*question)
    return made


@pytest.mark.parametrize(
    ("reference", "other", "runs", "expected", "largest"),
    [
        (2, 2, 1, 1 / 2, 1),  # 2p(1-p)³ of 2p(1-p), largest for the rarest claims
        (2, 2, 2, 1 / 12, 1 / 8),  # p²(1-p)² of 2p(1-p), largest for p = ½
        (3, 3, 3, 1 / 60 / 1.5, 1 / 48),  # p³(1-p)³ of 3p(1-p)
        (2, 1, 1, 1 / 3, 1 / 2),  # p(1-p)² of 2p(1-p)
        (5, 5, 1, 1 / 2 / (25 / 12), 1),
    ],
)
def test_claims_of_the_other_side_alone_for_each_that_flickers(
    reference: int, other: int, runs: int, expected: float, largest: float
) -> None:
    assert expected_per_flicker(reference, other, runs) == pytest.approx(expected)
    assert largest_per_flicker(reference, other, runs) == pytest.approx(largest, rel=1e-4)


@given(st.integers(2, 6), st.integers(1, 6), st.data(), st.floats(0.01, 0.99))
def test_no_chance_of_a_claim_gives_more_than_the_largest(
    reference: int, other: int, data: st.DataObject, p: float
) -> None:
    runs = data.draw(st.integers(1, other))
    alone = math.comb(other, runs) * p**runs * (1 - p) ** (reference + other - runs)
    flickers = 1 - p**reference - (1 - p) ** reference
    largest = largest_per_flicker(reference, other, runs)
    assert alone / flickers <= largest * 1.001
    assert expected_per_flicker(reference, other, runs) <= largest * 1.001


def test_only_what_flickers_counts() -> None:
    """What no run of base holds and what all of them hold is no accident of a run."""
    made = level((2, 2, [0, 1, 2, 2]), (2, 2, [1]))
    assert made.flickers == 2
    assert made.expected(0) == pytest.approx(2 / 12)
    assert made.expected(1) == pytest.approx(2 / 2)


def test_questions_with_a_single_reference_run_are_taken_to_be_like_the_others() -> None:
    made = level((2, 2, [1]), (1, 2, [1]))
    assert made.expected(0) == pytest.approx(2 / 12)


def test_without_a_second_run_nothing_is_known() -> None:
    assert level((1, 1, [1])).expected(0) is None
    assert not level((1, 2, [0])).is_exceeded(1, found=100)
    assert level().expected(0) == 0


@pytest.mark.parametrize(
    ("flickers", "found", "exceeded"),
    [
        (0, 0, False),
        (0, 4, False),  # ½⁴ = 0.063: base could as well have had them
        (0, 5, True),  # ½⁵ = 0.031
        (1, 7, True),  # 9 of 2⁸
        (1, 6, False),  # 8 of 2⁷
        (500, 500, False),
        (500, 560, True),
        (500, 540, False),
    ],
)
def test_more_claims_of_some_runs_than_chance_gives(flickers: int, found: int, exceeded: bool) -> None:
    assert level((2, 2, [1] * flickers)).is_exceeded(1, found) == exceeded
