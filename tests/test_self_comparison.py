"""A configuration against itself: false alarms over relabellings, flips, and the noisiest questions."""

from __future__ import annotations

import numpy as np
import pytest

from faithbot.errors import EvaluationError
from faithbot.report.noise import render_noise
from faithbot.self_comparison import count_false_alarms, describe_noise, flip_rate
from records import noisy_results


def test_the_runs_of_both_halves_are_looked_at_together() -> None:
    noise = describe_noise(noisy_results([(0.8, 0.6), (1.0, 1.0), (0.5, 0.5), (0.2, 0.8)]))
    assert (noise.metric, noise.runs, noise.n_questions, noise.relabellings) == ("faithfulness", 2, 4, 400)
    assert noise.mean == pytest.approx(np.mean([0.7, 1.0, 0.5, 0.5]))
    assert [(question.question_id, question.scores) for question in noise.questions] == [
        ("q3", (0.2, 0.8, 0.2, 0.8)),
        ("q0", (0.8, 0.6, 0.8, 0.6)),
    ]
    assert noise.questions[0].spread == pytest.approx(np.std([0.2, 0.8, 0.2, 0.8], ddof=1))
    assert noise.flip_rate == pytest.approx((4 / 6 + 4 / 6) / 4)
    assert noise.sources is not None
    assert noise.sources.judge == 0


@pytest.mark.parametrize(
    ("runs", "rate"),
    [
        ([[1, 1], [0, 0]], 0),
        ([[1, 0]], 1),
        ([[1, 1, 0, 0]], 4 / 6),
        ([[1, 0, np.nan]], 1),
        ([[1, 0], [1, 1]], 0.5),
    ],
)
def test_a_flip_is_a_pair_of_runs_that_disagrees(runs: list[list[float]], rate: float) -> None:
    assert flip_rate(np.array(runs)) == pytest.approx(rate)


@pytest.mark.parametrize("noise", [0.02, 0.2])
def test_dealt_by_chance_few_halves_are_flagged_however_noisy_they_are(noise: float) -> None:
    """5 % is the rule's promise; 200 relabellings may wander by three standard errors, 4.6 points."""
    runs = np.random.default_rng(3).normal(0.8, noise, (30, 4))
    assert 0 < count_false_alarms({"faithfulness": runs}, 2, {"faithfulness": 0.0}, 200) <= 19


def test_a_smallest_effect_keeps_small_halves_from_being_flagged() -> None:
    runs = np.random.default_rng(3).normal(0.8, 0.02, (30, 4))
    assert count_false_alarms({"faithfulness": runs}, 2, {"faithfulness": 0.5}, 50) == 0


def test_a_real_difference_between_the_halves_is_no_false_alarm_of_others() -> None:
    """Runs whose second half is lower: dealt anew, half of the runs fall on either side of the comparison."""
    runs = np.random.default_rng(3).normal([0.8, 0.8, 0.6, 0.6], 0.02, (30, 4))
    assert count_false_alarms({"faithfulness": runs}, 2, {"faithfulness": 0.0}, 200) <= 19


def test_the_report_says_what_was_tested_and_what_is_never_flagged() -> None:
    results = noisy_results()
    gated = {
        name: metric.model_copy(update={"gated": True, "min_effect": 0.02}) for name, metric in results.metrics.items()
    }
    text = render_noise(describe_noise(results.model_copy(update={"metrics": gated})))
    assert (
        "- Tested: faithfulness for a drop (min_effect hides those up to 0.02), contradiction rate for a rise" in text
    )
    assert "; all but the false alarms below is about faithfulness.\n" in text
    assert "- Tested: faithfulness for a drop.\n" in render_noise(describe_noise(results))


def test_false_alarms_are_those_of_the_whole_gate() -> None:
    """A first metric without noise gives none; the second shares the 5 % with it by Holm's rule."""
    scores = {
        "faithfulness": np.ones((12, 4)),
        "contradiction_rate": np.random.default_rng(3).normal(0.2, 0.1, (12, 4)),
    }
    assert 0 < count_false_alarms(scores, 2, dict.fromkeys(scores, 0.0), 100) <= 11


def test_runs_that_all_agree_have_nothing_to_list() -> None:
    noise = describe_noise(noisy_results([(0.8, 0.8), (1.0, 1.0)]))
    assert (noise.questions, noise.flip_rate, noise.false_alarms, noise.noise_band) == ((), 0, 0, None)
    assert "The noisiest" not in render_noise(noise)


def test_without_a_second_scored_run_there_is_no_noise_to_look_at() -> None:
    results = noisy_results([(0.8,), (1.0,)])
    alone = results.sides["head"].model_copy(update={"answers": results.sides["head"].answers})
    failed = results.sides["base"].model_copy(
        update={
            "answers": tuple(record.model_copy(update={"judgement": None}) for record in results.sides["base"].answers)
        }
    )
    with pytest.raises(EvaluationError, match="no question has faithfulness in two runs"):
        describe_noise(results.model_copy(update={"sides": {"base": failed, "head": alone}}))


def test_the_report_says_it_in_words() -> None:
    text = render_noise(describe_noise(noisy_results([(0.8, 0.6), (1.0, 1.0), (0.5, 0.5), (0.2, 0.8)])))
    assert text.startswith(
        "The same configuration against itself, 4 questions × 2 runs in each half: mean faithfulness 0.68; "
        "the second half differs by 0, noise ±"
    )
    assert "It passes, as it should." in text
    assert "2 of 4 questions got different scores; two runs of a question disagree in 33% of the cases." in text
    assert "Source: All of the noise comes from answering anew" in text
    assert "0.35      0.20 0.80 0.20 0.80  What is q3?" in text
