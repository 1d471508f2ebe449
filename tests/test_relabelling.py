"""The relabelling test is exact: against plain enumeration, by every one of its ways of computing."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from faithbot import relabelling
from faithbot.relabelling import relabelling_p, smallest_p

NAN = math.nan
Rows = list[list[float]]


def enumerated_p(base: Rows, head: Rows, *, two_sided: bool) -> float:
    """The definition: every relabelling of every question, one by one."""

    def change(of_base: list[float], of_head: list[float]) -> float:
        return sum(of_head) / len(of_head) - sum(of_base) / len(of_base)

    per_question, observed = [], 0.0
    for base_row, head_row in zip(base, head, strict=True):
        of_base, of_head = [x for x in base_row if x == x], [x for x in head_row if x == x]
        observed += change(of_base, of_head)
        runs = of_base + of_head
        per_question.append(
            [
                change([runs[i] for i in range(len(runs)) if i not in chosen], [runs[i] for i in chosen])
                for chosen in itertools.combinations(range(len(runs)), len(of_head))
            ]
        )
    totals = np.array([sum(changes) for changes in itertools.product(*per_question)])
    if two_sided:
        totals, observed = -np.abs(totals), -abs(observed)
    return float(np.mean(totals < observed - 1e-9) + np.mean(np.abs(totals - observed) <= 1e-9) / 2)


SHARES = st.sampled_from([k / n for n in (1, 2, 3, 5, 7) for k in range(n + 1)])
TENTHS_AND_MORE = st.integers(0, 10**6).map(lambda k: k * math.pi / 10**6)


@st.composite
def sides(draw: st.DrawFn, score: st.SearchStrategy[float], most_questions: int = 3) -> tuple[Rows, Rows]:
    def question(runs: int) -> st.SearchStrategy[list[float]]:
        return st.tuples(score, st.lists(score | st.just(NAN), min_size=runs - 1, max_size=runs - 1)).map(
            lambda scores: [scores[0], *scores[1]]
        )

    n = draw(st.integers(1, most_questions))
    runs_of_base, runs_of_head = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    base = draw(st.lists(question(runs_of_base), min_size=n, max_size=n))
    return base, draw(st.lists(question(runs_of_head), min_size=n, max_size=n))


@settings(deadline=None)
@given(sides(SHARES) | sides(TENTHS_AND_MORE), st.booleans())
@example(runs=([[0.0, 0.0]], [[0.0, 0.0, 1.0]]), two_sided=True)  # a drop of 1/2 is no tie with a rise of 1/3
def test_p_is_that_of_plain_enumeration(runs: tuple[Rows, Rows], two_sided: bool) -> None:
    base, head = runs
    p = relabelling_p(np.array(base), np.array(head), two_sided=two_sided)
    assert p == pytest.approx(enumerated_p(base, head, two_sided=two_sided), abs=1e-12)


@settings(deadline=None)
@given(sides(SHARES, most_questions=12))
def test_drop_and_rise_share_one_probability(runs: tuple[Rows, Rows]) -> None:
    base, head = np.array(runs[0]), np.array(runs[1])
    assert relabelling_p(base, head) + relabelling_p(head, base) == pytest.approx(1)


def shares(seed: int, questions: int, runs: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    claims = rng.integers(2, 8, questions)[:, np.newaxis]
    return rng.binomial(claims, 0.85, (questions, runs)) / claims, rng.binomial(claims, 0.8, (questions, runs)) / claims


@pytest.mark.parametrize("two_sided", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_convolution_and_enumeration_agree(monkeypatch: pytest.MonkeyPatch, seed: int, two_sided: bool) -> None:
    base, head = shares(seed, questions=7, runs=2)
    convolved = relabelling_p(base, head, two_sided=two_sided)
    monkeypatch.setattr(relabelling, "_MAX_ADDITIONS", 0)
    assert relabelling_p(base, head, two_sided=two_sided) == pytest.approx(convolved, abs=1e-9)


@pytest.mark.parametrize("labellings", [relabelling._MAX_LABELLINGS, 1])
@pytest.mark.parametrize("seed", range(3))
def test_sampling_comes_close_to_the_exact_p(monkeypatch: pytest.MonkeyPatch, seed: int, labellings: int) -> None:
    base, head = shares(seed, questions=20, runs=2)
    head[0, 0] = NAN
    exact = relabelling_p(base, head)
    monkeypatch.setattr(relabelling, "_MAX_ADDITIONS", 0)
    monkeypatch.setattr(relabelling, "_MAX_LABELLINGS", labellings)
    four_standard_errors = 4 * math.sqrt(exact * (1 - exact) / relabelling._MAX_SAMPLES)
    assert relabelling_p(base, head) == pytest.approx(exact, abs=four_standard_errors)


def test_a_sampled_p_does_not_depend_on_the_order_of_questions_runs_or_sides() -> None:
    rng = np.random.default_rng(3)
    base, head = rng.random((40, 2)), rng.random((40, 3))
    p = relabelling_p(base, head)
    order = rng.permutation(40)
    assert relabelling_p(base[order][:, ::-1], head[order][:, [2, 0, 1]]) == p
    either = relabelling_p(base, head, two_sided=True)
    assert relabelling_p(head, base, two_sided=True) == either


def test_a_tiny_p_is_exact_and_not_zero() -> None:
    base, head = np.ones((30, 2)), np.zeros((30, 2))
    assert relabelling_p(base, head) == pytest.approx(0.5 / 6**30, rel=1e-9)


def test_equal_scores_computed_in_different_ways_are_ties() -> None:
    base, head = np.array([[0.1 + 0.2, 0.6]]), np.array([[0.3, 0.2 * 3]])
    assert relabelling_p(base, head) == pytest.approx(enumerated_p([[0.3, 0.6]], [[0.3, 0.6]], two_sided=False))


def test_nothing_at_stake_says_nothing() -> None:
    assert relabelling_p(np.ones((3, 2)), np.ones((3, 2))) == 0.5


def test_a_huge_score_among_ordinary_ones_decides() -> None:
    base = np.array([[1e15, 1e15], [0.5, 0.7]])
    head = np.array([[0.0, 0.0], [0.9, 0.8]])
    assert relabelling_p(base, head) == pytest.approx(
        enumerated_p([[1e15, 1e15], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]], two_sided=False)
    )


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=4))
def test_smallest_p_is_reached_when_every_run_of_head_is_below_every_run_of_base(counts: list[tuple[int, int]]) -> None:
    base = np.array([[1.0] * b + [NAN] * (4 - b) for b, _ in counts])
    head = np.array([[0.0] * h + [NAN] * (4 - h) for _, h in counts])
    reached = smallest_p(np.array([b for b, _ in counts]), np.array([h for _, h in counts]))
    assert relabelling_p(base, head) == pytest.approx(reached)
