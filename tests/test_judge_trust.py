"""What a report says of its judge: the right figures, of the very judge that was used."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from measure_agreement import measure

from faithbot.judge.calibration import Agreement, CalibrationFile, Estimate, LabelledMoments
from faithbot.judge.evidence import EvidenceJudge
from faithbot.judge.files import NamedCalibration
from faithbot.judge.protocol import JudgeFingerprint
from faithbot.judge_trust import find_agreement, packaged_agreement, trust_warnings
from records import answered, claim, side
from shared_examples import SHARED

if TYPE_CHECKING:
    from faithbot.results import JudgeAgreement, ResultWarning

CLAIMS = JudgeFingerprint(method="claims", model="ollama/a", model_digest="d1", version="1")
EVIDENCE = asyncio.run(EvidenceJudge().fingerprint())
SIDES = {"head": side("head", {})}


def measured(fingerprint: JudgeFingerprint, kappa: float = 0.41) -> NamedCalibration:
    agreement = Agreement(
        n=300,
        balanced_accuracy=Estimate(value=0.7, low=0.6, high=0.8),
        auc=None,
        kappa=Estimate(value=kappa, low=kappa - 0.1, high=kappa + 0.1),
        confusion={"supported": {"supported": 150, "not_found": 50}, "unsupported": {"supported": 40, "not_found": 60}},
    )
    file = CalibrationFile.blank(fingerprint).model_copy(update={"agreement": agreement})
    return NamedCalibration("evals/judge.json", file)


def warnings(fingerprint: JudgeFingerprint, calibration: NamedCalibration | None) -> list[ResultWarning]:
    return list(trust_warnings(find_agreement(fingerprint, calibration, SIDES), fingerprint, calibration))


def test_the_teams_own_figures_come_before_the_packages() -> None:
    own = find_agreement(EVIDENCE, measured(EVIDENCE), SIDES)
    assert own is not None
    assert (own.measured_on, own.source, own.n, own.agreed) == ("own", "evals/judge.json", 300, 210)
    packaged = find_agreement(EVIDENCE, None, SIDES)
    assert packaged is not None
    assert (packaged.measured_on, packaged.source) == ("public", "DialFact and Q²")


def test_of_a_judge_that_nobody_measured_nothing_is_said() -> None:
    assert find_agreement(CLAIMS, None, SIDES) is None
    assert warnings(CLAIMS, None) == []


def test_figures_of_another_judge_are_not_said_and_why_is() -> None:
    newer = CLAIMS.model_copy(update={"model_digest": "d2", "prompts_digest": "p"})
    assert find_agreement(newer, measured(CLAIMS), SIDES) is None
    (warning,) = warnings(newer, measured(CLAIMS))
    assert warning.code == "not_calibrated"
    assert warning.message == (
        "The judge is not calibrated: evals/judge.json is of another one (other weights of the model, prompts). "
        "`faithbot calibrate` measures this one."
    )


def test_a_calibrated_judge_is_found_under_the_fingerprint_that_it_had_before() -> None:
    options = {"calibration": {"slope": 1.0, "intercept": 0.5, "decides_support": True}}
    found = find_agreement(CLAIMS.model_copy(update={"options": options}), measured(CLAIMS), SIDES)
    assert found is not None
    assert found.is_calibrated


@pytest.mark.parametrize(("kappa", "codes"), [(0.29, ["weak_judge"]), (0.3, [])])
def test_a_judge_that_hardly_agrees_with_people_is_warned_about(kappa: float, codes: list[str]) -> None:
    assert [warning.code for warning in warnings(CLAIMS, measured(CLAIMS, kappa))] == codes


def test_that_warning_writes_a_figure_below_0_as_reports_do() -> None:
    (warning,) = warnings(CLAIMS, measured(CLAIMS, -0.111))
    assert "(κ −0.11, below 0.3 on 300 labelled claims)" in warning.message
    (warning,) = warnings(CLAIMS, measured(CLAIMS, -0.001))
    assert "(κ 0.00, below 0.3" in warning.message


def with_moments(kappa: float = 0.6) -> NamedCalibration:
    """190 of 300 labelled claims are supported, the judge says."""
    named = measured(CLAIMS, kappa)
    assert named.content.agreement is not None
    moments = LabelledMoments(
        n=300, mean_label=0.67, mean_prediction=0.63, variance_label=0.22, variance_prediction=0.23, covariance=0.1
    )
    agreement = named.content.agreement.model_copy(update={"moments": moments})
    return NamedCalibration(named.path, named.content.model_copy(update={"agreement": agreement}))


def found(calibration: NamedCalibration, supported: int, of: int = 40) -> JudgeAgreement:
    """For answers to so many questions, a claim each."""
    claims = [claim("a", "supported" if number < supported else "not_found") for number in range(of)]
    head = side("head", {f"q{number}": [answered(one)] for number, one in enumerate(claims)})
    agreement = find_agreement(CLAIMS, calibration, {"head": head})
    assert agreement is not None
    return agreement


@pytest.mark.parametrize(("supported", "is_alike"), [(26, True), (22, True), (30, True), (39, False), (12, False)])
def test_a_share_is_corrected_where_the_judge_says_the_like_of_the_labelled_claims(
    supported: int, is_alike: bool
) -> None:
    agreement = found(with_moments(), supported)
    assert agreement.labelled_share == pytest.approx(190 / 300)
    assert agreement.corrected["head"].judged == supported / 40
    assert (agreement.corrected["head"].corrected is not None) == is_alike
    assert agreement.not_corrected == (None if is_alike else "unlike")


def test_a_difference_that_is_sure_but_small_is_no_reason() -> None:
    assert found(with_moments(), supported=1440, of=2000).not_corrected is None


def test_few_questions_never_tell_that_they_are_unlike() -> None:
    assert found(with_moments(), supported=1, of=1).not_corrected is None


@pytest.mark.parametrize(("kappa", "reason"), [(0.2, "weak"), (0.39, "weak"), (0.41, None)])
def test_a_judge_whose_kappa_may_be_weak_corrects_nothing(kappa: float, reason: str | None) -> None:
    """Its interval reaches 0.1 below it."""
    agreement = found(with_moments(kappa), 26)
    assert agreement.not_corrected == reason
    assert (agreement.corrected["head"].corrected is None) == (reason is not None)


def test_the_packaged_figures_are_of_the_packaged_judge() -> None:
    """Where this fails, the judge changed: run `python scripts/measure_agreement.py`."""
    packaged, now = packaged_agreement(), asyncio.run(measure(SHARED.parent / "judging"))
    assert packaged.fingerprint == now.fingerprint
    assert packaged.agreement is not None
    assert now.agreement is not None
    assert packaged.agreement.confusion == now.agreement.confusion
    assert packaged.agreement.by_category == now.agreement.by_category
    assert packaged.agreement.kappa.value == pytest.approx(now.agreement.kappa.value)
