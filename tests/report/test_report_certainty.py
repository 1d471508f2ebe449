"""How sure is the verdict: noise, coverage, judge and cost in plain sentences."""

from __future__ import annotations

from typing import Any

import pytest

from example_results import QUESTIONS, first, inconclusive, metric, nothing_changed, regression, results, side
from faithbot.judge.calibration import Estimate
from faithbot.judge.protocol import Claim, JudgeFingerprint, Judgement
from faithbot.report.certainty import certainty
from faithbot.report.table import metric_rows
from faithbot.results import AnswerRecord, CorrectedShare, JudgeAgreement, NoiseSources, Results, Usage


def text(recorded: Results) -> str:
    return "\n".join(certainty(recorded))


def answers(*judgements: Judgement | str) -> tuple[AnswerRecord, ...]:
    """One run of as many questions; a text is the reason of a failure."""
    return tuple(
        AnswerRecord(question_id=question.id, run=1, answer=None, failure=outcome)
        if isinstance(outcome, str)
        else AnswerRecord(question_id=question.id, run=1, answer="…", judgement=outcome)
        for question, outcome in zip(QUESTIONS, judgements, strict=False)
    )


def test_noise_is_told_per_side_with_what_could_have_been_seen() -> None:
    assert certainty(regression())[0] == (
        "12 of 12 questions were compared. "
        "Mean faithfulness of each run: 0.91, 0.92 (base) and 0.78, 0.81 (this PR). "
        "p is how often noise alone would look at least this bad (just as bad counts half). "
        "A drop of 0.07 would have been seen in 8 of 10 cases. "
        "On other questions of this kind the change is likely between −0.20 and −0.04."
    )


def test_for_a_metric_that_should_stay_low_a_rise_would_have_been_seen() -> None:
    rates = {"contradiction_rate": metric(0.02, 0.03, better="lower")}
    assert "A rise of 0.07 would have been seen" in text(results(metrics=rates))


def test_what_would_have_been_seen_is_the_number_of_the_table() -> None:
    fine = results(metrics={"faithfulness": metric(0.9104, 0.9084, 0.03, smallest_detectable=0.0238)})
    assert "A drop of 0.024 would have been seen" in text(fine)
    assert metric_rows(fine)[0][0].visible_from == "0.024"


def test_one_question_was_compared() -> None:
    alone = results(questions=QUESTIONS[:1], metrics={"faithfulness": metric(0.91, 0.90, n_questions=1)})
    assert "1 of 1 question was compared." in text(alone)


def test_unchanged_questions_measure_no_noise() -> None:
    assert certainty(nothing_changed())[0] == (
        "Every question went to the model unchanged, so there is no difference and no noise."
    )
    some = results(metrics={"faithfulness": metric(0.91, 0.90, n_unchanged=5)})
    assert "12 of 12 questions were compared. 5 of them went to the model unchanged" in text(some)


def test_where_signs_are_flipped_the_whole_tail_counts() -> None:
    flipped = metric(0.91, 0.80, 0.0, p_value=0.03, method="sign-flip", measured_noise=False)
    assert "would look at least this bad." in text(results(metrics={"faithfulness": flipped}))


def test_one_run_measures_no_noise() -> None:
    assert "With one run a side the noise from run to run was not measured." in text(results(runs=1))


def test_the_first_evaluation_has_one_side() -> None:
    assert "All 24 answers were scored." in text(first())
    assert "Mean faithfulness of each run: 0.90, 0.92 (this PR)." in text(first())


def test_full_coverage_is_one_short_sentence() -> None:
    assert "All 48 answers were scored." in text(regression())


def test_failed_answers_are_named_with_their_reason_once_per_question() -> None:
    assert (
        "30 of 48 answers were scored. 18 could not be scored: the judge timed out after 60 s: "
        "“What warranty do the TrekReady boots have?” (this PR), “How do I wash the RainGuard jacket?” (this PR), "
        "“How many litres does the SummitClimber backpack hold?” (this PR), "
        "“How much weight does the BaseCamp folding table carry?” (this PR), 5 more."
    ) in text(inconclusive())


def test_abstentions_and_unscored_answers_are_kept_apart() -> None:
    mixed = answers(
        Judgement(
            claims=(Claim(text="a", support="supported"), Claim(text="b", unscored="no label")), faithfulness=1.0
        ),
        Judgement(abstained=True),
        Judgement(unscored="the reply could not be read."),
        "server error",
    )
    told = text(results(sides={"base": side("base", answers=mixed), "head": side("head", answers=())}))
    assert "1 of 4 answers were scored. 1 said that there is no answer in the sources" in told
    assert (
        "2 could not be scored: the reply could not be read: “Down to which temperature is the CozyNights sleeping bag "
        "rated?” (base); server error: “What warranty do the TrekReady boots have?” (base)."
    ) in told
    assert "1 of 2 claims could not be judged and do not count." in told


def test_the_judge_says_what_it_is_and_that_nobody_checked_it_here() -> None:
    judged = results(fingerprint=JudgeFingerprint(method="evidence", version="1"))
    digest = judged.fingerprint.digest
    assert f"Judge: evidence, no model (fingerprint {digest[:6]}). How often it agrees with people" in text(judged)


def estimate(value: float) -> Estimate:
    return Estimate(value=value, low=value - 0.06, high=value + 0.06)


def agreement(**changes: Any) -> JudgeAgreement:
    known = {
        "n": 300,
        "agreed": 210,
        "kappa": estimate(0.41),
        "is_calibrated": False,
        "measured_on": "own",
        "source": "evals/judge.json",
    }
    return JudgeAgreement.model_validate(known | changes)


def test_what_the_team_measured_of_its_judge_is_told() -> None:
    told = text(results(agreement=agreement()))
    assert (
        "It agrees with people in 7 of 10 claims (κ 0.41, likely 0.35 to 0.47, n = 300), as evals/judge.json says. "
        "κ is how far they agree beyond chance: 0 is chance, 1 is always."
    ) in told
    calibrated = text(results(agreement=agreement(is_calibrated=True)))
    assert "as evals/judge.json says, and its probabilities are calibrated by them." in calibrated


def test_what_was_measured_on_other_claims_is_not_said_of_the_teams() -> None:
    told = text(results(agreement=agreement(measured_on="public", source="DialFact and Q²")))
    assert "in 7 of 10 claims of public data sets (κ 0.41, likely 0.35 to 0.47, n = 300): DialFact and Q²." in told
    assert "How it is on yours, `faithbot calibrate` measures." in told


@pytest.mark.parametrize(("agreed", "words"), [(300, "10 of 10"), (299, "9 of 10"), (1, "1 of 10"), (0, "0 of 10")])
def test_only_a_judge_that_always_agrees_agrees_in_all(agreed: int, words: str) -> None:
    assert f"It agrees with people in {words} claims" in text(results(agreement=agreement(agreed=agreed)))


def test_the_share_of_supported_claims_is_told_as_people_would_see_it() -> None:
    corrected = {
        "head": CorrectedShare(judged=0.71, corrected=estimate(0.64), n_claims=90),
        "base": CorrectedShare(judged=0.74, corrected=estimate(0.66), n_claims=88),
    }
    assert (
        "Claim by claim (the table averages over questions) it holds 0.74 (base) and 0.71 (this PR) supported; "
        "corrected by the labelled ones it is 0.66 (between 0.60 and 0.72) and 0.64 (between 0.58 and 0.70), if those "
        "are like these."
    ) in text(results(agreement=agreement(corrected=corrected)))


def test_figures_below_0_have_a_minus_and_as_many_decimals_as_the_others() -> None:
    chance = Estimate(value=-0.111, low=-0.4, high=0.0)
    assert "(κ −0.11, likely −0.40 to 0.00, n = 300)" in text(results(agreement=agreement(kappa=chance)))


def test_why_nothing_is_corrected_is_one_plain_sentence() -> None:
    head = {"head": CorrectedShare(judged=0.98, corrected=None, n_claims=90)}
    unlike = text(results(agreement=agreement(corrected=head, not_corrected="unlike", labelled_share=0.53)))
    assert (
        "it holds 0.98 (this PR) supported. Not corrected: the judge holds 53 % of the labelled claims supported and "
        "98 % of these, so they are not alike."
    ) in unlike
    both = {"base": CorrectedShare(judged=0.6, corrected=None, n_claims=80), **head}
    assert "and 60 % (base) and 98 % (this PR) of these, so they are not alike." in text(
        results(agreement=agreement(corrected=both, not_corrected="unlike", labelled_share=0.53))
    )
    weak = agreement(corrected=head, not_corrected="weak", labelled_share=0.53, kappa=estimate(0.3))
    assert "Not corrected: κ may be as low as 0.24, and a judge that hardly agrees" in text(results(agreement=weak))


def test_the_cost_is_told_in_one_sentence() -> None:
    assert certainty(results())[-1] == (
        "Answers by ollama/llama3.2:3b (a80c4f). 48 answers, 212 model calls, 30 more from the cache, 3 min 10 s; "
        "a model was at work 97% of that time."
    )
    free = results(usage=Usage(answers=48, model_calls=0, cached_calls=0, seconds=2.0, busy_share=None))
    assert certainty(free)[-1].endswith("48 answers, 0 model calls, 2.0 s.")


def test_sides_with_different_weights_under_one_name_are_told_apart() -> None:
    renewed = results(sides={"base": side("base"), "head": side("head", model_digest="sha256:0f1e2d3c")})
    assert "Answers by ollama/llama3.2:3b (a80c4f) and ollama/llama3.2:3b (0f1e2d)." in text(renewed)


@pytest.mark.parametrize(
    ("generator", "judge", "sentence"),
    [
        (0.01, 0.0, "All of the noise comes from answering anew: the judge gave the same answer the same score."),
        (0.01, 0.02, "About two thirds of the noise is the judge's: a stronger judge helps more than more questions."),
        (0.03, 0.01, "About a quarter of the noise is the judge's: more questions help most."),
        (0.1, 0.001, "Almost nothing of the noise is the judge's: more questions help most."),
    ],
)
def test_the_source_of_the_noise_and_what_helps(generator: float, judge: float, sentence: str) -> None:
    sources = {"faithfulness": NoiseSources(generator=generator, judge=judge)}
    assert sentence in certainty(regression(noise_sources=sources))[0]
    assert "of the noise" not in certainty(regression())[0]
