"""What a report says of its judge: the right figures, of the very judge that was used."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from measure_agreement import measure

from faithbot.judge.calibration import Agreement, CalibrationFile, Estimate
from faithbot.judge.evidence import EvidenceJudge
from faithbot.judge.files import NamedCalibration
from faithbot.judge.protocol import JudgeFingerprint
from faithbot.judge_trust import find_agreement, packaged_agreement, trust_warnings
from records import side
from shared_examples import SHARED

if TYPE_CHECKING:
    from faithbot.results import ResultWarning

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


def test_the_packaged_figures_are_of_the_packaged_judge() -> None:
    """Where this fails, the judge changed: run `python scripts/measure_agreement.py`."""
    packaged, now = packaged_agreement(), asyncio.run(measure(SHARED.parent / "judging"))
    assert packaged.fingerprint == now.fingerprint
    assert packaged.agreement is not None
    assert now.agreement is not None
    assert packaged.agreement.confusion == now.agreement.confusion
    assert packaged.agreement.by_category == now.agreement.by_category
    assert packaged.agreement.kappa.value == pytest.approx(now.agreement.kappa.value)
