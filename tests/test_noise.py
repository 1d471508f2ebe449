"""The verdict's promise: right when nothing changed, sharp when something did, and never an exception on odd data."""

from __future__ import annotations

import math
import time
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from faithbot.noise import NoiseComparison, compare_runs, difference_of_runs, noise_of_mean

NAN = math.nan
OPPOSITE = {"less": "greater", "greater": "less", "two-sided": "two-sided"}
alternatives = st.sampled_from(sorted(OPPOSITE))


# --- the mean of one side ---------------------------------------------------------------------------------------------


def test_the_noise_of_one_mean_has_its_own_degrees_of_freedom() -> None:
    found = noise_of_mean([[0.8, 1.0], [0.6, 0.4], [0.5, NAN], [NAN, NAN]])
    # variances 0.02 and 0.02; the third question takes their mean; 2.919986 is Student's 95 % quantile for 2 df
    standard_error = math.sqrt(0.02 / 2 + 0.02 / 2 + 0.02 / 1) / 3
    assert found.mean == pytest.approx((0.9 + 0.5 + 0.5) / 3)
    assert found.noise_band == pytest.approx(2.919986 * standard_error)
    assert (found.n_questions, found.measured_noise) == (3, True)


def test_one_mean_without_noise_or_without_scores() -> None:
    assert noise_of_mean([[0.5, 0.5], [1.0, 1.0]]).noise_band == 0
    assert not noise_of_mean([[0.5], [1.0]]).measured_noise
    nothing = noise_of_mean([[NAN, NAN]])
    assert math.isnan(nothing.mean)
    assert nothing.n_questions == 0


def test_two_runs_differ_on_average_by_what_the_variances_say_however_many_there_are() -> None:
    # each question's variance is 0.02, so that of a run's mean over 8 of them 0.0025
    two = [[0.8, 1.0], [0.6, 0.4]] * 4
    assert difference_of_runs(two) == pytest.approx(2 / math.sqrt(math.pi) * 0.05)
    rng = np.random.default_rng(5)
    runs = rng.normal(0.7, 0.2, (2_000, 30, 2))
    apart = np.abs(np.diff(runs.mean(axis=1), axis=1)).mean()
    assert np.mean([difference_of_runs(side) for side in runs]) == pytest.approx(apart, rel=0.05)
    more = rng.normal(0.7, 0.2, (300, 30, 6))
    assert np.mean([difference_of_runs(side) for side in more]) == pytest.approx(apart, rel=0.05)


def test_one_run_or_none_shows_no_difference() -> None:
    assert difference_of_runs([[0.5], [1.0]]) == 0
    assert difference_of_runs([[NAN, NAN]]) == 0
    assert difference_of_runs(np.empty((0, 2))) == 0


# --- examples computed by hand ---------------------------------------------------------------------------------------


def test_two_questions_with_two_runs() -> None:
    found = compare_runs([[0.8, 1.0], [0.6, 0.6]], [[0.4, 0.6], [0.6, 0.4]])
    # variances (0.02 + 0.02) / 2 and (0 + 0.02) / 2, each times 1/2 + 1/2; over two questions on 4 degrees of freedom
    standard_error = math.sqrt(0.02 + 0.01) / 2
    assert found.delta == pytest.approx((-0.4 - 0.1) / 2)
    assert (found.base_mean, found.head_mean) == pytest.approx((0.75, 0.5))
    assert found.noise_band == pytest.approx(2.131847 * standard_error)
    assert found.smallest_detectable == pytest.approx((2.131847 + 0.940965) * standard_error, rel=1e-6)
    # the lowest of 6 sums for the first question, tied in 3 of 6 for the second: half of 3/36
    assert found.p_value == pytest.approx(3 / 36 / 2)
    assert found.flagged
    # the changes -0.4 and -0.1 scatter by 0.3/sqrt(2), so their mean by 0.15; 12.7062 is Student's quantile for one df
    assert found.interval == pytest.approx((-0.25 - 12.7062 * 0.15, -0.25 + 12.7062 * 0.15), rel=1e-5)
    assert (found.n_questions, found.n_unchanged) == (2, 0)
    assert (found.method, found.measured_noise) == ("relabelling", True)


def test_an_unchanged_question_has_no_change_and_no_noise_but_counts() -> None:
    found = compare_runs([[0.8, 1.0], [0.0, 1.0]], [[0.4, 0.6], [0.0, 0.4]], unchanged=[False, True])
    assert found.delta == pytest.approx(-0.4 / 2)
    assert found.noise_band == pytest.approx(2.919986 * math.sqrt(0.02) / 2)
    assert found.p_value == pytest.approx(1 / 6 / 2)
    assert found.head_mean - found.base_mean == pytest.approx(found.delta)
    assert (found.n_questions, found.n_unchanged) == (2, 1)


def test_unscored_runs_leave_their_question_with_the_others() -> None:
    found = compare_runs([[1.0, NAN, 0.6], [NAN, NAN, NAN]], [[0.5, 0.5, 0.2], [0.1, 0.2, 0.3]])
    # one question: 2 runs, squares 0.08, against 3 runs, squares 0.06; 3 degrees of freedom; -0.4 is within the band
    assert found.n_questions == 1
    assert found.delta == pytest.approx(0.4 - 0.8)
    assert found.noise_band == pytest.approx(2.353363 * math.sqrt((0.08 + 0.06) / 3 * (1 / 2 + 1 / 3)))
    assert found.p_value == pytest.approx(1 / 10 / 2)
    assert not found.flagged
    assert found.interval is None


def test_a_question_with_one_run_on_each_side_takes_the_variance_of_the_others() -> None:
    found = compare_runs([[0.8, 1.0], [0.9, NAN]], [[0.8, 1.0], [0.9, NAN]])
    assert found.noise_band == pytest.approx(2.919986 * math.sqrt(0.02 * 1 + 0.02 * 2) / 2)


# --- no noise measured -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("runs", [1, 2, 3])
@pytest.mark.parametrize(("dropped", "p", "flagged"), [(4, 1 / 16, False), (5, 1 / 32, True)])
def test_without_measured_noise_the_signs_of_the_questions_decide(
    runs: int, dropped: int, p: float, flagged: bool
) -> None:
    head = [[0.7] * runs] * dropped + [[0.9] * runs] * (12 - dropped)
    found = compare_runs([[0.9] * runs] * 12, head)
    assert (found.method, found.measured_noise, found.noise_band) == ("sign-flip", False, 0.0)
    assert found.p_value == pytest.approx(p)
    assert found.flagged is flagged


@pytest.mark.parametrize("moved", range(4, 31))
def test_chance_alone_flags_at_most_five_of_a_hundred_equal_moves(moved: int) -> None:
    """The exact size of the test: how many falls of ``moved`` it flags, each as likely as a rise."""

    def is_flagged(falls: int) -> bool:
        return compare_runs([[0.5]] * moved, [[0.4]] * falls + [[0.6]] * (moved - falls)).flagged

    fewest = next((falls for falls in range(moved + 1) if is_flagged(falls)), moved + 1)
    assert fewest > moved / 2
    assert sum(math.comb(moved, falls) for falls in range(fewest, moved + 1)) / 2**moved <= 0.05


def test_noise_in_a_single_run_is_measured_noise() -> None:
    found = compare_runs([[1.0, 1.0], [1.0, 1.0]], [[0.5, 0.5], [0.5, 0.4]])
    assert (found.method, found.measured_noise) == ("relabelling", True)
    assert found.noise_band > 0


def test_scores_equal_but_for_rounding_are_no_noise_and_no_change() -> None:
    found = compare_runs([[0.3, 0.1 + 0.2]] * 12, [[0.1 + 0.2, 0.3]] * 12)
    assert (found.method, found.delta, found.flagged) == ("sign-flip", 0.0, False)


def test_noise_of_unchanged_questions_is_not_noise_of_the_change() -> None:
    found = compare_runs([[1.0, 0.2], [1.0, 1.0]], [[1.0, 0.2], [0.5, 0.5]], unchanged=[True, False])
    assert (found.method, found.noise_band) == ("sign-flip", 0.0)


def test_a_change_without_measured_noise_is_seen_only_from_five_questions_on() -> None:
    moved = compare_runs([[0.9, 0.9]] * 12, [[0.9, 0.9]] * 10 + [[0.8, 0.8], [0.9, 0.9]])
    assert moved.smallest_detectable >= 5 * 0.1 / 12 - 1e-9
    still = compare_runs([[0.9, 0.9]] * 12, [[0.9, 0.9]] * 12)
    assert still.smallest_detectable == pytest.approx(5 * 0.9 / 12)
    zeros = compare_runs([[0.0, 0.0]] * 12, [[0.0, 0.0]] * 12, alternative="greater")
    assert zeros.smallest_detectable == pytest.approx(5 * 1.0 / 12)
    either = compare_runs([[0.9, 0.9]] * 12, [[0.9, 0.9]] * 12, alternative="two-sided")
    assert either.smallest_detectable == pytest.approx(6 * 0.9 / 12)


# --- nothing to flag -------------------------------------------------------------------------------------------------


def test_all_questions_unchanged() -> None:
    found = compare_runs([[0.5, 0.9], [1.0, 1.0]], [[0.5, 0.9], [1.0, 1.0]], unchanged=[True, True])
    assert (found.delta, found.noise_band, found.p_value, found.flagged) == (0.0, 0.0, 1.0, False)
    assert (found.n_questions, found.n_unchanged, found.method, found.measured_noise) == (2, 2, "unchanged", True)
    assert (found.smallest_detectable, found.interval) == (0.0, (0.0, 0.0))


@pytest.mark.parametrize(
    ("base", "head"),
    [
        ([], []),
        (np.empty((0, 2)), np.empty((0, 5))),
        ([[], []], [[], []]),
        ([[NAN, NAN]], [[0.5, 0.5]]),
        ([[0.5, NAN], [NAN, NAN]], [[NAN, NAN], [0.5, NAN]]),
        ([[math.inf]], [[0.5]]),
    ],
)
def test_no_question_scored_on_both_sides(base: object, head: object) -> None:
    found = compare_runs(base, head)
    assert all(math.isnan(x) for x in (found.delta, found.noise_band, found.base_mean, found.head_mean))
    assert (found.p_value, found.flagged, found.n_questions, found.interval) == (1.0, False, 0, None)
    assert (found.method, found.smallest_detectable) == ("none", math.inf)


def test_two_runs_of_one_question_can_never_be_flagged_and_say_so() -> None:
    found = compare_runs([[1.0, 0.9]], [[0.1, 0.0]])
    assert (found.p_value, found.flagged, found.smallest_detectable) == (pytest.approx(1 / 12), False, math.inf)
    assert compare_runs([[1.0, 0.9, 1.0]], [[0.1, 0.0, 0.1]]).flagged


# --- what a flag takes -----------------------------------------------------------------------------------------------

DROP = [[0.9, 0.8], [1.0, 0.9], [0.7, 0.8]], [[0.5, 0.6], [0.6, 0.6], [0.5, 0.4]]


def test_only_the_tested_direction_is_flagged() -> None:
    assert compare_runs(*DROP).flagged
    assert not compare_runs(*DROP, alternative="greater").flagged
    assert compare_runs(*DROP, alternative="two-sided").flagged


def test_a_change_must_exceed_min_effect() -> None:
    drop = -compare_runs(*DROP).delta
    assert compare_runs(*DROP, min_effect=drop - 0.01).flagged
    found = compare_runs(*DROP, min_effect=drop + 0.01)
    assert not found.flagged
    assert found.smallest_detectable > drop + 0.01


def test_a_stricter_alpha_widens_the_band() -> None:
    assert compare_runs(*DROP, alpha=0.01).noise_band > compare_runs(*DROP).noise_band
    assert compare_runs(*DROP, alternative="two-sided").noise_band > compare_runs(*DROP).noise_band
    assert not compare_runs(*DROP, alpha=0.001).flagged


def test_a_p_value_of_exactly_alpha_is_reached() -> None:
    found = compare_runs([[1.0, 0.9]], [[0.1, 0.0, 0.1]])
    assert found.p_value == pytest.approx(0.05)
    assert found.flagged


def test_the_result_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        compare_runs(*DROP).delta = 0.0  # type: ignore[misc]


# --- wrong use -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "head", "options", "message"),
    [
        ([[1.0]], [[1.0], [0.5]], {}, "same questions"),
        ([[1.0]], [[0.5]], {"unchanged": [True, False]}, "same questions"),
        ([1.0, 0.5], [[1.0], [0.5]], {}, r"base must have the shape \(questions, runs\)"),
        ([[1.0]], [[[0.5]]], {}, r"head must have the shape \(questions, runs\)"),
        ([[1.0]], [[0.5]], {"alternative": "lower"}, "alternative must be one of less, greater, two-sided"),
        ([[1.0]], [[0.5]], {"alpha": 0.0}, "alpha"),
        ([[1.0]], [[0.5]], {"alpha": 5}, "alpha"),
    ],
)
def test_wrong_use_is_refused_with_a_reason(base: object, head: object, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare_runs(base, head, **options)


# --- properties ------------------------------------------------------------------------------------------------------

SHARES = st.sampled_from([k / n for n in (1, 2, 3, 4, 5, 7) for k in range(n + 1)])
GAPPY_SHARES = SHARES | st.just(NAN)


@st.composite
def pulls(draw: st.DrawFn, score: st.SearchStrategy[float] = GAPPY_SHARES, most: int = 10) -> tuple[np.ndarray, ...]:
    """Base, head and the mask of unchanged questions, whose runs are the same on both sides."""
    n, runs = draw(st.integers(1, most)), draw(st.integers(1, 3))
    row = st.lists(score, min_size=runs, max_size=runs)
    base = np.array(draw(st.lists(row, min_size=n, max_size=n)))
    head = np.array(draw(st.lists(row, min_size=n, max_size=n)))
    unchanged = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    head[unchanged] = base[unchanged]
    return base, head, unchanged


def compare(pull: tuple[np.ndarray, ...], alternative: str = "less", **options: float) -> NoiseComparison:
    base, head, unchanged = pull
    return compare_runs(base, head, unchanged=unchanged, alternative=alternative, **options)


@settings(deadline=None, max_examples=60)
@given(pulls(), alternatives)
def test_swapping_sides_and_direction_negates_delta_and_keeps_the_rest(
    pull: tuple[np.ndarray, ...], alternative: str
) -> None:
    base, head, unchanged = pull
    one, other = compare(pull, alternative), compare((head, base, unchanged), OPPOSITE[alternative])
    assert other.delta == pytest.approx(-one.delta, abs=1e-12, nan_ok=True)
    assert other.p_value == pytest.approx(one.p_value, abs=1e-12)
    assert other.noise_band == pytest.approx(one.noise_band, nan_ok=True)
    assert other.smallest_detectable == pytest.approx(one.smallest_detectable)
    assert other.flagged == one.flagged


@settings(deadline=None, max_examples=60)
@given(pulls(), alternatives, st.randoms(use_true_random=False))
def test_the_order_of_questions_and_runs_changes_nothing(
    pull: tuple[np.ndarray, ...], alternative: str, random: object
) -> None:
    base, head, unchanged = pull
    questions = random.sample(range(len(base)), len(base))
    runs = random.sample(range(base.shape[1]), base.shape[1])
    shuffled = base[questions][:, runs], head[questions][:, runs[::-1]], unchanged[questions]
    one, other = compare(pull, alternative), compare(shuffled, alternative)
    for field in ("delta", "noise_band", "p_value", "smallest_detectable", "interval"):
        assert getattr(other, field) == pytest.approx(getattr(one, field), abs=1e-12, nan_ok=True)
    assert other.flagged == one.flagged


@settings(deadline=None, max_examples=60)
@given(pulls(), alternatives, GAPPY_SHARES, st.sampled_from([0.0, 0.05]))
def test_adding_an_unchanged_question_never_makes_a_flag_out_of_none(
    pull: tuple[np.ndarray, ...], alternative: str, score: float, min_effect: float
) -> None:
    row = np.full((1, pull[0].shape[1]), score)
    wider = np.vstack([pull[0], row]), np.vstack([pull[1], row]), np.append(pull[2], True)
    before, after = (compare(x, alternative, min_effect=min_effect) for x in (pull, wider))
    assert before.flagged or not after.flagged
    if before.n_questions > before.n_unchanged:
        assert after.p_value == before.p_value


@settings(deadline=None, max_examples=60)
@given(pulls(), alternatives, st.floats(1e-6, 1e6))
def test_scaling_the_metric_scales_the_result(pull: tuple[np.ndarray, ...], alternative: str, factor: float) -> None:
    base, head, unchanged = pull
    one, scaled = compare(pull, alternative), compare((base * factor, head * factor, unchanged), alternative)
    assert scaled.p_value == pytest.approx(one.p_value, abs=1e-9)
    assert scaled.delta == pytest.approx(one.delta * factor, abs=1e-9 * factor, nan_ok=True)
    assert scaled.noise_band == pytest.approx(one.noise_band * factor, abs=1e-9 * factor, nan_ok=True)
    assert scaled.flagged == one.flagged


@settings(deadline=None, max_examples=60)
@given(pulls(), st.floats(-10, 10))
def test_moving_all_scores_alike_changes_no_verdict(pull: tuple[np.ndarray, ...], shift: float) -> None:
    base, head, unchanged = pull
    one, moved = compare(pull), compare((base + shift, head + shift, unchanged))
    assert moved.p_value == pytest.approx(one.p_value, abs=1e-9)
    assert moved.delta == pytest.approx(one.delta, abs=1e-9, nan_ok=True)


ANY_FLOAT = st.floats(allow_nan=True, allow_infinity=True, width=64)


@settings(deadline=None, max_examples=60)
@given(pulls(ANY_FLOAT, most=5), alternatives)
def test_any_numbers_give_a_result(pull: tuple[np.ndarray, ...], alternative: str) -> None:
    found = compare(pull, alternative)
    assert 0 <= found.p_value <= 1
    assert found.noise_band >= 0 or found.n_questions == 0
    assert found.smallest_detectable >= 0
    assert found.n_unchanged <= found.n_questions <= len(pull[0])
    assert not (found.flagged and found.p_value > 0.05 + 1e-9)


@settings(deadline=None, max_examples=60)
@given(pulls(), alternatives)
def test_means_interval_and_flag_agree_with_delta(pull: tuple[np.ndarray, ...], alternative: str) -> None:
    found = compare(pull, alternative)
    assume(found.n_questions > 0)
    assert found.head_mean - found.base_mean == pytest.approx(found.delta, abs=1e-12)
    if found.interval:
        low, high = found.interval
        assert low - 1e-12 <= found.delta <= high + 1e-12
    if found.flagged:
        worse = {"less": -found.delta, "greater": found.delta, "two-sided": abs(found.delta)}[alternative]
        assert worse > found.noise_band


# --- in the long run -------------------------------------------------------------------------------------------------


def judged_shares(rng: np.random.Generator, claims: np.ndarray, support: np.ndarray, runs: int) -> np.ndarray:
    return rng.binomial(claims[:, np.newaxis], support[:, np.newaxis], (len(claims), runs)) / claims[:, np.newaxis]


@pytest.mark.parametrize("runs", [1, 2])
def test_few_false_alarms_and_real_losses_are_seen(runs: int) -> None:
    rng = np.random.default_rng(5)
    alarms = seen = 0
    for _ in range(200):
        claims, support = rng.integers(2, 8, 20), rng.beta(6, 1.5, 20)
        base = judged_shares(rng, claims, support, runs)
        alarms += compare_runs(base, judged_shares(rng, claims, support, runs)).flagged
        seen += compare_runs(base, judged_shares(rng, claims, support * 0.75, runs)).flagged
    assert alarms <= 20  # 10 expected, three standard errors are 9.2
    assert seen >= 130


@pytest.mark.parametrize(("runs_of_base", "runs_of_head"), [(2, 2), (3, 2), (1, 1)])
def test_the_smallest_detectable_change_is_flagged_in_8_of_10(runs_of_base: int, runs_of_head: int) -> None:
    rng = np.random.default_rng(8)

    def flagged(drop: float) -> NoiseComparison:
        base = rng.normal(0.8, 0.1, (10, runs_of_base)).round(2)
        head = rng.normal(0.8 - drop, 0.1, (10, runs_of_head)).round(2)
        return compare_runs(base, head)

    smallest = np.median([flagged(0.0).smallest_detectable for _ in range(100)])
    assert 0.7 <= np.mean([flagged(smallest).flagged for _ in range(200)]) <= 0.9


def test_ten_thousand_questions_with_five_runs_take_less_than_a_second() -> None:
    rng = np.random.default_rng(9)
    base, head = rng.random((10_000, 5)), rng.random((10_000, 5))
    start = time.process_time()
    compare_runs(base, head)
    assert time.process_time() - start < 1
