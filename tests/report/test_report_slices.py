"""The table of tags: in the golden set's order, few in the open, many folded, the most telling where not all fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markdown_reader import shown

from example_results import metric, regression
from faithbot.report.comment import MAX_CHARACTERS, render_comment
from faithbot.report.escape import BREAK
from faithbot.report.slices import n_slices, slice_rows

if TYPE_CHECKING:
    from faithbot.results import MetricComparison, Results


def with_slices(**slices: MetricComparison) -> Results:
    return regression(slices={tag: {"faithfulness": value} for tag, value in slices.items()})


def piece(delta: float, noise: float | None, **changes: Any) -> MetricComparison:
    return metric(0.9, 0.9 + delta, noise, gated=False, n_questions=4, **changes)


def test_rows_stand_in_the_order_of_the_golden_set_and_those_that_moved_least_beyond_their_noise_go_first() -> None:
    found = with_slices(
        calm=piece(-0.01, 0.05),
        one_question=piece(-0.4, None),
        noisy=piece(-0.20, 0.20),
        clear=piece(-0.10, 0.02),
        risen=piece(0.08, 0.02),
        unmeasured=piece(-0.5, 0.0, measured_noise=False),
    )
    tags = [[row.tag for row in slice_rows(found, limit)] for limit in (100, 5, 4, 3, 1, 0)]
    assert tags == [
        ["calm", "one_question", "noisy", "clear", "risen", "unmeasured"],
        ["calm", "noisy", "clear", "risen", "unmeasured"],
        ["calm", "noisy", "clear", "risen"],
        ["noisy", "clear", "risen"],
        ["clear"],
        [],
    ]
    assert n_slices(found) == 6


def test_all_rows_have_the_same_decimals() -> None:
    fine, coarse = slice_rows(with_slices(fine=piece(-0.042, 0.038), coarse=piece(-0.1, 0.04)), 2)
    assert (fine.change, fine.noise) == ("−0.042", "±0.038")
    assert (coarse.base, coarse.head, coarse.change, coarse.noise) == ("0.900", "0.800", "−0.100", "±0.040")


def test_a_row_says_how_much_was_measured() -> None:
    (row,) = slice_rows(with_slices(prices=piece(-0.1, 0.04)), 1)
    assert row == ("prices", "faithfulness", "4", "0.90", "0.80", "−0.10", "±0.04")
    (row,) = slice_rows(with_slices(prices=piece(-0.1, None)), 1)
    assert row.noise == ""


def test_few_tags_stand_in_the_open_without_empty_columns() -> None:
    comment = render_comment(with_slices(prices=piece(-0.1, 0.04), returns=piece(0.0, 0.04)))
    assert "By tag, in the golden set's order, for reading only:\n\n| tag " in comment
    assert "| metric" not in comment
    assert "| noise" not in render_comment(with_slices(a=piece(-0.1, None))).split("By tag")[1].split("\n\n")[1]


def test_many_tags_are_folded_and_cut() -> None:
    many = with_slices(**{f"tag{number}": piece(-0.001 * number, 0.02) for number in range(40)})
    comment = render_comment(many)
    assert "<details><summary>By tag, in the golden set's order, for reading only: 40 rows</summary>" in comment
    assert "| tag39 " in comment
    assert "| tag27 " not in comment
    assert "28 more rows, moved less, in `results.json`" in comment


def test_several_gated_metrics_have_a_column() -> None:
    both = {"faithfulness": piece(-0.1, 0.04), "abstention_rate": piece(0.1, 0.04, better="lower")}
    comment = render_comment(regression(slices={"prices": both}))
    assert "| metric " in comment
    assert "share of questions not answered" in comment.split("By tag")[1]


def test_a_hostile_tag_is_only_a_word() -> None:
    name = "@everyone | <img src=x> </details>"
    comment = render_comment(regression(slices={name: {"faithfulness": piece(-0.1, 0.04)}}))
    assert "@everyone" not in comment
    assert "<img" not in comment
    assert name in shown(comment).replace(BREAK, "")
    assert len(comment) <= MAX_CHARACTERS


def test_without_tags_the_comment_is_as_before() -> None:
    assert "By tag" not in render_comment(regression())
