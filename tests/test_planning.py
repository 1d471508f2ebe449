"""From recorded noise to a plan: what it takes to see a drop, as numbers and as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from faithbot.errors import EvaluationError, UsageError
from faithbot.planning import plan_for
from faithbot.report.plan import render_plan
from faithbot.results_file import read_results
from faithbot.sample_size import questions_for, smallest_drop
from records import noisy_results

if TYPE_CHECKING:
    from pathlib import Path

    from faithbot.results import Results


def test_a_plan_rests_on_the_noise_within_the_sides() -> None:
    plan = plan_for(noisy_results([(0.8, 0.6), (1.0, 1.0)]), 0.05)
    assert (plan.metric, plan.n_questions) == ("faithfulness", 2)
    assert plan.variance == pytest.approx(0.01)  # 0.02 in one question, 0 in the other
    for option in plan.options:
        assert option.questions == questions_for(0.05, plan.variance, option.runs)
        assert option.answers == 2 * option.runs * (option.questions or 0)
        assert option.seen == {
            size: pytest.approx(smallest_drop(plan.variance, size, option.runs))
            for size in (6, 10, 20, 26, 30, 50, 75, 100)
        }


def with_min_effect(results: Results, min_effect: float) -> Results:
    metrics = {
        name: metric.model_copy(update={"min_effect": min_effect, "gated": True})
        for name, metric in results.metrics.items()
    }
    return results.model_copy(update={"metrics": metrics})


def test_what_the_gate_ignores_takes_more_questions() -> None:
    results = noisy_results([(0.8, 0.6), (1.0, 1.0)])
    plan = plan_for(with_min_effect(results, 0.04), 0.05)
    assert [option.questions for option in plan.options] == [
        questions_for(0.05, plan.variance, option.runs, min_effect=0.04) for option in plan.options
    ]
    assert (plan.options[0].questions or 0) > 2 * (plan_for(results, 0.05).options[0].questions or 0)
    assert "the gate ignores up to 0.04" in render_plan(plan)


@pytest.mark.parametrize(
    ("drop", "reason"),
    [
        (0.04, "lets a drop of 0.04 in faithfulness pass.*min_effect is 0.04: plan for a larger drop"),
        (1.0, "faithfulness is a share: plan for a drop below 1"),
    ],
)
def test_a_drop_that_cannot_be_or_is_never_flagged_is_refused(drop: float, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        plan_for(with_min_effect(noisy_results(), 0.04), drop)


def test_no_plan_has_fewer_questions_than_a_verdict_takes() -> None:
    plan = plan_for(noisy_results([(0.8, 0.6), (1.0, 1.0)]), 0.9)
    assert [option.questions for option in plan.options] == [6] * 4
    assert min(plan.options[0].seen) == 6


def test_the_curve_lies_around_what_it_takes_and_shows_the_golden_sets_own_number() -> None:
    many = noisy_results([(0.8, 0.6), (1.0, 1.0)] * 150)
    assert list(plan_for(many, 0.05).options[0].seen) == [6, 10, 20, 26, 30, 50, 75, 100, 300]


def test_a_drop_too_small_to_see_has_no_plan() -> None:
    plan = plan_for(noisy_results(), 1e-5)
    assert {option.questions for option in plan.options} == {None}
    assert "too many" in render_plan(plan)


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        ([(0.8,), (0.9,)], "no question has faithfulness in two runs, so no noise: compare with --runs 2"),
        ([(0.8, 0.8), (1.0, 1.0)], "all runs of a question came out the same.*moves 5 questions or more"),
    ],
)
def test_without_noise_there_is_nothing_to_plan_with(scores: list[tuple[float, ...]], reason: str) -> None:
    with pytest.raises(EvaluationError, match=reason):
        plan_for(noisy_results(scores), 0.05)


def test_results_without_answers_cannot_be_planned_with() -> None:
    results = noisy_results()
    empty = {name: side.model_copy(update={"answers": ()}) for name, side in results.sides.items()}
    with pytest.raises(EvaluationError, match="hold no scores"):
        plan_for(results.model_copy(update={"sides": empty}), 0.05)


def test_the_report_is_a_table_and_a_curve() -> None:
    lines = render_plan(plan_for(noisy_results([(0.8, 0.6), (1.0, 1.0)]), 0.05)).splitlines()
    assert lines[0].startswith(
        "To see faithfulness change by 0.05 for the worse in 8 of 10 comparisons, if it is spread"
    )
    needed = questions_for(0.05, 0.01, 2)
    assert lines[4].split() == ["2", str(needed), str(4 * (needed or 0)), "nothing"]  # a verdict takes 6
    curve = [line for line in lines if "█" in line]
    assert [line.split()[0] for line in curve] == ["6", "10", "20", str(needed), "30", "50", "75", "100"]
    assert [line.count("█") for line in curve] == sorted((line.count("█") for line in curve), reverse=True)
    assert [line.endswith("sees 0.05") for line in curve] == [False] * 3 + [True] * 5
    assert lines[-1] == "This is for the judge `evidence`: another has its own noise."


def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    file.write_text(noisy_results().model_dump_json())
    assert read_results(file) == noisy_results()


@pytest.mark.parametrize("content", ["", "[]", '{"schema_version": 2}', "\0"])
def test_another_file_is_refused_in_one_line(tmp_path: Path, content: str) -> None:
    file = tmp_path / "results.json"
    file.write_text(content)
    with pytest.raises(UsageError, match=r"results\.json is not a results\.json of this version of faithbot"):
        read_results(file)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read .*none\.json: No such file"):
        read_results(tmp_path / "none.json")
