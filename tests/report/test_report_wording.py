"""Numbers that agree with the sentence around them, and the sentence of each verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import example_results as examples
from example_results import metric, results
from faithbot.report import wording
from faithbot.results import ResultWarning

if TYPE_CHECKING:
    from faithbot.results import MetricComparison

shares = st.floats(min_value=0, max_value=1)
fractions = st.builds(lambda n, d: min(n, d) / d, st.integers(0, 300), st.integers(1, 300))
levels = st.one_of(shares, fractions)


@pytest.mark.parametrize(
    ("value", "decimals", "expected"),
    [
        (0.914, 2, "0.91"),
        (-0.12, 2, "−0.12"),
        (0.0, 2, "0"),
        (-0.0, 2, "0"),
        (1e-12, 2, "0"),
        (0.004, 2, "0.004"),
        (-0.0004, 2, "−0.0004"),
        (1.0, 2, "1.00"),
        (12.5, 3, "12.500"),
    ],
)
def test_numbers_use_a_true_minus_and_only_nothing_looks_like_0(value: float, decimals: int, expected: str) -> None:
    assert wording.number(value, decimals) == expected


@pytest.mark.parametrize(
    ("value", "decimals", "expected"),
    [(0.0238, 3, "0.024"), (0.0241, 3, "0.025"), (0.07, 2, "0.07"), (0.0701, 2, "0.08"), (0.0004, 2, "0.0004")],
)
def test_what_can_be_seen_is_rounded_up(value: float, decimals: int, expected: str) -> None:
    assert wording.at_least(value, decimals) == expected


def test_changes_have_a_sign() -> None:
    assert [wording.signed(value) for value in (0.02, -0.12, 0.0)] == ["+0.02", "−0.12", "0"]


@pytest.mark.parametrize(
    ("p", "expected"),
    [
        (0.0, "p < 0.001"),
        (0.0009, "p < 0.001"),
        (0.0042, "p = 0.004"),
        (0.0496, "p = 0.050"),
        (0.312, "p = 0.31"),
        (1.0, "p > 0.99"),
    ],
)
def test_p_values_are_never_0_or_1(p: float, expected: str) -> None:
    assert wording.p_text(p) == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0.25, "0.2 s"), (4.2, "4.2 s"), (42.4, "42 s"), (59.7, "1 min 0 s"), (190, "3 min 10 s"), (3725, "1 h 2 min")],
)
def test_durations_are_read_at_a_glance(seconds: float, expected: str) -> None:
    assert wording.duration(seconds) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("contradiction_rate", "contradiction rate"),
        ("unsupported_per_answer", "claims without support per answer"),
        ("hit_rate", "right document retrieved"),
        ("my_own_metric", "my own metric"),
        ("_", "unnamed metric"),
    ],
)
def test_metrics_have_plain_names(name: str, expected: str) -> None:
    assert wording.label(name) == expected


# Rounding


def as_number(text: str) -> float:
    return float(text.replace("−", "-").replace("±", ""))


@given(levels, levels, st.floats(min_value=0, max_value=0.3))
def test_rounded_numbers_never_contradict_the_verdict(base: float, head: float, noise: float) -> None:
    compared = metric(base, head, noise)
    change = abs(head - base)
    for decimals in (wording.decimals_for(compared), wording.table_decimals_for(compared)):
        shown_change = as_number(wording.number(change, decimals))
        shown_noise = as_number(wording.number(noise, decimals))
        if change - noise > 1e-5:
            assert shown_change > shown_noise
        if change <= noise:
            assert shown_change <= shown_noise
        if change > 1e-6:
            assert shown_change > 0


@given(levels, levels)
def test_rounded_levels_and_change_are_at_most_one_last_digit_apart(base: float, head: float) -> None:
    decimals = wording.table_decimals_for(metric(base, head, None))
    shown = [float(f"{value:.{decimals}f}") for value in (base, head, head - base)]
    assert abs(shown[0] + shown[2] - shown[1]) < 1.5 * 10.0**-decimals


@pytest.mark.parametrize(
    ("base", "head", "noise", "decimals", "in_table"),
    [
        (0.91, 0.79, 0.04, 2, 2),
        (0.912, 0.870, 0.038, 3, 3),  # 0.04 against ±0.04 would look like noise
        (0.9104, 0.9084, 0.03, 3, 3),  # would look like no change at all
        (0.914, 0.786, 0.04, 2, 3),  # 0.91 − 0.13 is not 0.79
        (0.5314, 0.9752, 0.07, 2, 3),  # 0.53 + 0.44 is not 0.98, and 0.531 + 0.444 is 0.975
        (0.5314, 0.9756, 0.07, 2, 3),  # 0.531 + 0.444 is not 0.976 either, but nearly
    ],
)
def test_decimals_are_as_few_as_the_numbers_allow(
    base: float, head: float, noise: float, decimals: int, in_table: int
) -> None:
    assert wording.decimals_for(metric(base, head, noise)) == decimals
    assert wording.table_decimals_for(metric(base, head, noise)) == in_table


def test_one_table_has_the_decimals_that_its_most_demanding_row_needs() -> None:
    coarse, fine = metric(0.91, 0.79, 0.04), metric(0.912, 0.870, 0.038)
    assert wording.common_decimals([coarse, coarse]) == 2
    assert wording.common_decimals([coarse, fine]) == 3
    assert wording.common_decimals([]) == 2


@given(st.lists(st.builds(metric, levels, levels, st.floats(min_value=0, max_value=0.3)), max_size=4))
def test_the_decimals_of_a_table_contradict_no_row(rows: list[MetricComparison]) -> None:
    decimals = wording.common_decimals(rows)
    for row in rows:
        change, noise = abs(row.delta or 0.0), row.noise_band or 0.0
        shown_change, shown_noise = (as_number(wording.number(value, decimals)) for value in (change, noise))
        if change - noise > 1e-5:
            assert shown_change > shown_noise
        if change <= noise:
            assert shown_change <= shown_noise


# Sentences


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        (examples.regression, "Faithfulness fell by 0.12, noise is ±0.04"),
        (
            examples.two_regressions,
            "Faithfulness fell by 0.12, noise is ±0.04; contradiction rate rose by 0.08 (±0.03)",
        ),
        (examples.results, "No change in faithfulness beyond noise: 0.91 → 0.90, noise ±0.03"),
        (examples.improvement, "Faithfulness rose by 0.06, noise ±0.03, but 2 more questions are not answered"),
        (examples.nothing_changed, "Nothing that the answers depend on changed"),
        (
            examples.inconclusive,
            "Cannot tell: 9 of 12 questions could not be scored (the judge timed out after 60 s)",
        ),
        (examples.first, "First evaluation: faithfulness 0.91 ± 0.03, nothing to compare with yet"),
    ],
)
def test_each_verdict_is_one_sentence(case, expected: str) -> None:
    assert wording.headline(case()) == expected


def test_a_side_that_was_wanted_alone_lacks_no_other() -> None:
    assert wording.headline(examples.first(), measured_alone=True) == "Faithfulness 0.91 ± 0.03"
    assert wording.headline(examples.regression(), measured_alone=True).startswith("Faithfulness fell")


@pytest.mark.parametrize(
    ("compared", "expected"),
    [
        (metric(0.91, 0.91, 0.03), "No change in faithfulness: 0.91 → 0.91, noise ±0.03"),
        (
            metric(0.91, 0.90, 0.005, min_effect=0.02),
            "No change in faithfulness that counts: 0.910 → 0.900, noise ±0.005",
        ),
        (
            metric(0.91, 0.85, 0.03, p_value=0.07),
            "No clear change in faithfulness (p = 0.070): 0.91 → 0.85, noise ±0.03",
        ),
        (metric(0.91, 0.90, 0.0, p_value=0.5), "No clear change in faithfulness (p = 0.50): 0.91 → 0.90"),
    ],
)
def test_a_pass_never_calls_a_change_noise_that_is_above_it(compared: MetricComparison, expected: str) -> None:
    assert wording.headline(results(metrics={"faithfulness": compared})) == expected


def test_a_second_gated_metric_follows_shortly() -> None:
    metrics = {
        "faithfulness": metric(0.91, 0.90, 0.03),
        "contradiction_rate": metric(0.02, 0.03, 0.02, better="lower"),
    }
    assert wording.headline(results(metrics=metrics)) == (
        "No change in faithfulness beyond noise: 0.91 → 0.90, noise ±0.03; contradiction rate 0.02 → 0.03 (±0.02)"
    )


def unanswered(share: float, noise: float | None, **fields: Any) -> dict[str, MetricComparison]:
    shift = metric(0.0, share, noise, **({"better": "lower", "gated": False} | fields))
    return {"faithfulness": metric(0.91, 0.79, flagged=True), "abstention_rate": shift}


@pytest.mark.parametrize(
    ("metrics", "end"),
    [
        (unanswered(1 / 12, 0.05), ", and 1 more question is not answered"),
        (unanswered(4 / 12, 0.05), ", and 4 more questions are not answered"),
        (unanswered(4 / 12, None), ", and 4 more questions are not answered"),
        (unanswered(1 / 12, 0.1), "noise is ±0.04"),  # within the noise
        (unanswered(1 / 40, 0.0), "noise is ±0.04"),  # a third of a question
        (unanswered(-4 / 12, 0.05), "noise is ±0.04"),
        (unanswered(4 / 12, 0.05, gated=True), "noise is ±0.04"),  # a gated metric speaks for itself
    ],
)
def test_questions_that_are_not_answered_any_more_stand_beside_the_headline_number(
    metrics: dict[str, MetricComparison], end: str
) -> None:
    headline = wording.headline(examples.regression(metrics=metrics))
    assert headline.startswith("Faithfulness fell by 0.12")
    assert headline.endswith(end)


def failing(n: int) -> tuple[ResultWarning, ...]:
    ids = tuple(question.id for question in examples.QUESTIONS[:n])
    return (ResultWarning(code="head_failed", message="They fail on this pull request only.", question_ids=ids),)


def test_a_question_that_fails_on_head_only_stands_in_the_headline() -> None:
    assert wording.headline(results(warnings=failing(1))).endswith("noise ±0.03, but 1 question fails")
    assert wording.headline(examples.regression(warnings=failing(2))).endswith("noise is ±0.04, and 2 questions fail")
    both = examples.regression(metrics=unanswered(4 / 12, 0.05), warnings=failing(1))
    assert wording.headline(both).endswith(", and 1 question fails and 4 more questions are not answered")


def test_questions_of_every_reason_stand_in_the_headline() -> None:
    assert wording.headline(results(warnings=failing(2) + failing(3))).endswith("but 5 questions fail")


def more_abstain(n: int) -> ResultWarning:
    return ResultWarning(
        code="more_abstentions",
        message=f"{n} more questions are not answered. That does not count in the faithfulness.",
    )


def test_what_the_headline_says_of_a_note_is_not_said_twice() -> None:
    cut = ResultWarning(code="answers_cut", message="Answers were cut off.")
    both = examples.regression(metrics=unanswered(4 / 12, 0.05), warnings=(more_abstain(4), cut))
    rest = ResultWarning(code="more_abstentions", message="That does not count in the faithfulness.")
    assert wording.notes(both) == [rest, cut]
    within_noise = examples.regression(metrics=unanswered(4 / 12, 0.5), warnings=(more_abstain(4), cut))
    assert wording.notes(within_noise) == [more_abstain(4), cut]


def test_that_too_few_are_answered_on_both_sides_is_not_said_twice() -> None:
    counted = "nly 5 of 12 questions have a score for faithfulness on both sides"
    note = ResultWarning(code="answered_on_one_side", message=f"O{counted}; the others are not in its mean.")
    cannot_tell = results(
        verdict="inconclusive", reason=f"O{counted}: the others are answered on one side only.", warnings=(note,)
    )
    assert wording.headline(cannot_tell).startswith(f"Cannot tell: O{counted}")
    assert wording.notes(cannot_tell) == []
    assert wording.notes(results(warnings=(note,))) == [note]


def test_a_drop_without_measured_noise_rests_on_its_p_value() -> None:
    dropped = metric(0.91, 0.79, 0.0, p_value=0.004, flagged=True, method="sign-flip", measured_noise=False)
    assert wording.headline(examples.regression(metrics={"faithfulness": dropped})) == (
        "Faithfulness fell by 0.12, unlikely to be chance (p = 0.004)"
    )


@pytest.mark.parametrize(
    ("compared", "expected"),
    [
        (metric(0.91, 0.79, flagged=True, p_value=0.004), "larger than noise (p = 0.004)"),
        (metric(0.84, 0.90, improved=True, p_value=0.997), "larger than noise"),
        (metric(0.91, 0.90), "within noise (p = 0.31)"),
        (metric(0.90, 0.91), "within noise"),
        (metric(0.91, 0.91), "no change"),
        (metric(0.91, 0.91, 0.0, n_unchanged=12), "unchanged"),
        (metric(0.91, 0.85, p_value=0.07), "above its noise, but may be chance (p = 0.070)"),
        (metric(0.91, 0.85, p_value=0.01, min_effect=0.1), "too small to count (p = 0.010)"),
        (metric(0.91, 0.85, p_value=0.01, gated=False, worsened=True), "larger than noise (p = 0.010)"),
        (
            metric(0.91, 0.85, p_value=0.03, gated=False),
            "above its own noise, but may be chance among several metrics (p = 0.030)",
        ),
        (metric(0.91, 0.85, 0.0, p_value=0.2, measured_noise=False), "not clearly more than chance (p = 0.20)"),
        (metric(None, 0.85), ""),
        (metric(None, 0.60, floor=0.65, floor_standing="broken"), "below its floor of 0.65"),
        (metric(0.66, 0.60, 0.07, floor=0.65, floor_standing="broken"), "below its floor of 0.65"),
        (metric(0.02, 0.3, 0.4, better="lower", floor=0.1, floor_standing="broken"), "above its ceiling of 0.10"),
        (
            metric(0.91, 0.60, flagged=True, p_value=0.004, floor=0.65, floor_standing="broken"),
            "larger than noise (p = 0.004), below its floor of 0.65",
        ),
    ],
)
def test_a_change_has_a_plain_word(compared: MetricComparison, expected: str) -> None:
    assert wording.meaning(compared) == expected
