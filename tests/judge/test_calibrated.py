"""A calibrated judge: the same claims, with probabilities that people would agree with."""

from __future__ import annotations

import asyncio
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithbot.judge.calibrated import CalibratedJudge, calibrated, without_calibration
from faithbot.judge.calibration import CalibrationFile, PlattCalibration
from faithbot.judge.evidence import EvidenceJudge
from faithbot.judge.protocol import Claim, JudgeFingerprint, Support
from faithbot.judge.relevance import RELEVANCE_OPTION
from faithbot.platt import Platt

CONTEXTS = ["The stove burns gas. It weighs 90 kilograms and comes with a two-year warranty."]
ANSWER = "The stove burns gas. It weighs 90 kilograms. Dragons sell it on Mondays."
FINGERPRINT = asyncio.run(EvidenceJudge().fingerprint())


def judge(calibration: PlattCalibration | None, fingerprint: JudgeFingerprint = FINGERPRINT) -> CalibratedJudge:
    file = CalibrationFile.blank(fingerprint).model_copy(update={"calibration": calibration})
    return CalibratedJudge(EvidenceJudge(), file)


STRICT = PlattCalibration(slope=1, intercept=-20, decides_support=True)


def test_claims_supports_and_faithfulness_follow_from_the_calibrated_probability() -> None:
    before = asyncio.run(EvidenceJudge().judge("", ANSWER, CONTEXTS))
    after = asyncio.run(judge(STRICT).judge("", ANSWER, CONTEXTS))
    assert before.faithfulness == pytest.approx(2 / 3)
    assert after.faithfulness == 0
    assert [claim.text for claim in after.claims] == [claim.text for claim in before.claims]
    assert {claim.support for claim in after.claims} == {"not_found"}
    assert asyncio.run(judge(STRICT).check("The stove burns gas.", CONTEXTS)).support == "not_found"


def test_the_judges_own_limit_stays_where_it_agrees_better() -> None:
    own = PlattCalibration(slope=1, intercept=-20, decides_support=False)
    after = asyncio.run(judge(own).judge("", ANSWER, CONTEXTS))
    assert after.faithfulness == pytest.approx(2 / 3)
    assert all((claim.probability or 0) < 0.01 for claim in after.claims)


def test_abstentions_and_what_could_not_be_judged_stay_as_they_are() -> None:
    for answer in ("I don't know.", ""):
        before = asyncio.run(EvidenceJudge().judge("", answer, CONTEXTS))
        assert asyncio.run(judge(STRICT).judge("", answer, CONTEXTS)) == before


def test_an_answer_out_of_nothing_stays_unsupported_however_lenient_the_calibration() -> None:
    lenient = PlattCalibration(slope=1, intercept=20, decides_support=True)
    assert asyncio.run(judge(lenient).judge("", "The stove burns gas.", [])).faithfulness == 0


def test_a_calibrated_judge_is_another_judge_than_the_uncalibrated_one() -> None:
    fingerprint = asyncio.run(judge(STRICT).fingerprint())
    other = asyncio.run(judge(STRICT.model_copy(update={"intercept": 1.0})).fingerprint())
    assert len({fingerprint.digest, other.digest, FINGERPRINT.digest}) == 3
    assert without_calibration(fingerprint) == (FINGERPRINT, True)
    assert without_calibration(FINGERPRINT) == (FINGERPRINT, False)


def test_a_calibration_stays_that_of_the_judge_where_it_grades_relevance_as_well() -> None:
    graded = FINGERPRINT.model_copy(update={"options": {RELEVANCE_OPTION: "1-abc"}})
    assert graded.digest != FINGERPRINT.digest
    assert without_calibration(graded) == (FINGERPRINT, False)


def test_a_file_of_another_judge_calibrates_nothing() -> None:
    older = FINGERPRINT.model_copy(update={"version": "0"})
    for unfit in (judge(STRICT, older), judge(None)):
        assert asyncio.run(unfit.fingerprint()) == FINGERPRINT
        assert asyncio.run(unfit.judge("", ANSWER, CONTEXTS)).faithfulness == pytest.approx(2 / 3)


@given(
    st.sampled_from(["supported", "contradicted", "not_found"]),
    st.floats(0, 1),
    st.floats(0.01, 10),
    st.floats(-10, 10),
)
def test_a_claim_is_supported_from_one_half_on(
    support: Support, probability: float, slope: float, intercept: float
) -> None:
    claim = Claim(text="It burns gas.", support=support, probability=probability)
    after = calibrated(claim, Platt(slope, intercept))
    assert after.probability is not None
    assert 0 <= after.probability <= 1
    if probability == 0:
        assert after == claim
    elif not math.isclose(after.probability, 0.5):
        assert (after.support == "supported") == (after.probability > 0.5)
        assert after.support in ("supported", "not_found" if support == "supported" else support)


def test_a_claim_without_a_score_has_none_afterwards() -> None:
    for claim in (Claim(text="a", unscored="no reply"), Claim(text="a", support="supported")):
        assert calibrated(claim, Platt(1, 0)) == claim
