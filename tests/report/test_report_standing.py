"""The two sentences on how good a level is and why there were so many runs."""

from __future__ import annotations

import pytest

from example_results import metric, no_work, results, stopped_early
from faithbot.report.standing import reading, stopping
from faithbot.report.wording import headline


@pytest.mark.parametrize(
    ("level", "says"),
    [
        (0.97, "A faithfulness of 0.97 is good."),
        (0.85, "A faithfulness of 0.85 is good."),
        (0.849, "A faithfulness of 0.849 leaves room for improvement (0.85 and more is good)."),
        (0.65, "A faithfulness of 0.65 leaves room for improvement (0.85 and more is good)."),
        (0.5, "A faithfulness of 0.50 means that it often invents (0.85 and more is good)."),
        (0.2, "A faithfulness of 0.20 means that something is broken (0.85 and more is good)."),
    ],
)
def test_a_level_is_read_in_plain_words(level: float, says: str) -> None:
    assert reading(results(metrics={"faithfulness": metric(0.9, level)})) == says


def test_a_floor_that_no_headline_speaks_of_stands_beside_the_level() -> None:
    below = metric(None, 0.60, p_value=None, floor=0.65, floor_standing="broken")
    above = metric(None, 0.25, p_value=None, better="lower", floor=0.05, floor_standing="broken")
    first = results(verdict="first", metrics={"faithfulness": below, "abstention_rate": above})
    assert reading(first) == (
        "A faithfulness of 0.60 means that it often invents (0.85 and more is good). "
        "Faithfulness 0.60 is below its floor of 0.65. "
        "Share of questions not answered 0.25 is above its ceiling of 0.05."
    )
    assert "floor" not in (reading(results(verdict="regression", metrics={"faithfulness": below})) or "")


def test_a_level_close_to_its_floor_does_not_look_like_it() -> None:
    close = metric(None, 0.6496, p_value=None, floor=0.65, floor_standing="broken")
    assert "Faithfulness 0.6496 is below its floor of 0.65." in (
        reading(results(verdict="first", metrics={"faithfulness": close})) or ""
    )


def test_other_metrics_and_no_level_are_not_read() -> None:
    assert reading(results(metrics={"hit_rate": metric(0.9, 0.9)})) is None
    assert reading(no_work()) is None


@pytest.mark.parametrize(
    ("reason", "says"),
    [
        ("unlikely", "3: by what was seen so far, more would have turned the verdict red in about 8 of 100 cases."),
        ("worse", "3: the change for the worse is clear."),
        ("unchanged", "3: every question went to the model unchanged."),
        ("no_noise", "3: the runs of a side came out the same, and more would do so, too."),
        ("all_runs", "All of at most 6 runs were made: the verdict was open until the last."),
    ],
)  # fmt: skip
def test_the_number_of_runs_is_explained(reason: str, says: str) -> None:
    stopped = stopped_early()
    assert stopped.stopping is not None
    plan = stopped.stopping.model_copy(update={"reason": reason})
    says = says.replace("3: ", "Stopped after 3 of at most 6 runs: ")
    assert stopping(stopped.model_copy(update={"stopping": plan})) == says


def test_a_fixed_number_of_runs_needs_no_explanation() -> None:
    assert stopping(results()) is None


def test_where_there_is_no_verdict_nothing_settled_it() -> None:
    assert stopping(stopped_early().model_copy(update={"verdict": "inconclusive"})) is None


def test_a_broken_floor_is_a_reason_of_its_own() -> None:
    fell = metric(0.80, 0.60, 0.07, p_value=0.001, flagged=True, floor=0.65, floor_standing="broken")
    crossed = metric(0.66, 0.60, 0.07, floor=0.65, floor_standing="broken")
    rose = metric(0.05, 0.20, 0.2, better="lower", floor=0.1, floor_standing="broken")
    assert headline(results(verdict="regression", metrics={"faithfulness": crossed})) == (
        "Faithfulness 0.60 is below its floor of 0.65"
    )
    assert headline(results(verdict="regression", metrics={"faithfulness": fell, "contradiction_rate": rose})) == (
        "Faithfulness fell by 0.20, noise is ±0.07; faithfulness 0.60 is below its floor of 0.65; "
        "contradiction rate 0.20 is above its ceiling of 0.10"
    )
