"""The one line of a commit status."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import example_results as examples
from example_results import metric, regression, results
from faithbot.report.status import MAX_CHARACTERS, status_line


@pytest.mark.parametrize(
    ("case", "line"),
    [
        (regression(), "faithfulness 0.91 → 0.79 (−0.12, noise ±0.04)"),
        (results(), "faithfulness 0.91 → 0.90 (−0.01, noise ±0.03)"),
        (examples.first(), "First evaluation: faithfulness 0.91 ± 0.03, nothing to compare with yet"),
        (examples.no_work(), "Nothing that the answers depend on changed"),
        (examples.failed(), "Cannot tell: the evaluation could not be done"),
        (
            examples.inconclusive(),
            "Cannot tell: 9 of 12 questions could not be scored (the judge timed out after 60 s)",
        ),
    ],
    ids=["regression", "pass", "first", "no work", "failed", "inconclusive"],
)
def test_status_of_each_case(case, line) -> None:
    assert status_line(case) == line


def test_the_metric_that_turned_it_red_comes_first() -> None:
    metrics = {"faithfulness": metric(0.91, 0.90), "contradiction_rate": metric(0.02, 0.2, flagged=True)}
    assert status_line(regression(metrics=metrics)).startswith("contradiction rate 0.02 → 0.20")


def test_a_ceiling_that_turned_it_red_is_the_metric_shown() -> None:
    unanswered = metric(0.02, 0.25, better="lower", floor=0.05, floor_standing="broken")
    metrics = {"faithfulness": metric(0.91, 0.90), "abstention_rate": unanswered}
    assert status_line(regression(metrics=metrics)) == (
        "share of questions not answered 0.25, above its ceiling of 0.05"
    )


def test_one_run_has_no_noise_to_show() -> None:
    once = metric(0.91, 0.85, 0.0, measured_noise=False)
    assert status_line(results(metrics={"faithfulness": once})) == "faithfulness 0.91 → 0.85 (−0.06)"


@given(st.text(max_size=2000))
def test_it_fits_on_one_line_whatever_the_reason(reason: str) -> None:
    line = status_line(results(verdict="inconclusive", reason=reason))
    assert len(line) <= MAX_CHARACTERS
    assert "\n" not in line
