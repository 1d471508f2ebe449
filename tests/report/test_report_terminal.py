"""The summary in a terminal: verdict, table and the first claims as plain text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from test_report_comment import CASES, MANY_METRICS, hostile, written_by_others

import example_results as examples
from faithbot.report.terminal import render_summary


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_summary_of_each_case(case, snapshot) -> None:
    assert render_summary(case()) == snapshot


def test_only_three_claims_are_shown() -> None:
    summary = render_summary(examples.regression())
    assert "6 claims became unsupported (chance alone would give about 0.4), the first 3:" in summary
    assert summary.count("now says:") == 3


def test_metrics_that_did_not_move_are_counted_and_of_a_side_alone_all_are_shown() -> None:
    both = render_summary(examples.results(metrics=MANY_METRICS))
    assert "context recall" in both
    assert "\n3 more metrics, none clearly more than chance\n" in both
    alone = render_summary(examples.first().model_copy(update={"metrics": MANY_METRICS}))
    assert "answer correctness" in alone
    assert "more metrics" not in alone


@settings(max_examples=60)
@given(hostile)
def test_no_control_character_reaches_the_terminal(text: str) -> None:
    summary = render_summary(written_by_others(text))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", summary)
    assert len(summary.splitlines()) == len(render_summary(written_by_others("word")).splitlines())
