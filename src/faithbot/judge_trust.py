"""How far the judge of a comparison can be trusted: its agreement with people, where that was measured."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

from faithbot.judge.calibrated import without_calibration
from faithbot.judge.calibration import CalibrationFile, Estimate, differences, parse_calibration
from faithbot.prediction_powered import Moments, corrected_mean
from faithbot.results import CorrectedShare, JudgeAgreement, ResultWarning

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from faithbot.judge.blind_spots import ProbeResult
    from faithbot.judge.calibration import Agreement, LabelledMoments
    from faithbot.judge.files import NamedCalibration
    from faithbot.judge.protocol import JudgeFingerprint
    from faithbot.results import MeasuredOn, Side, SideName

WEAK_KAPPA = 0.3
"""Below, a judge agrees with people so little that its changes are hardly theirs."""


def find_agreement(
    fingerprint: JudgeFingerprint, calibration: NamedCalibration | None, sides: Mapping[SideName, Side]
) -> JudgeAgreement | None:
    """Of this very judge: as the team measured it, else as the package brings it along, else None."""
    judge, is_calibrated = without_calibration(fingerprint)
    if calibration and calibration.content.agreement and calibration.content.fingerprint_digest == judge.digest:
        agreement = calibration.content.agreement
        found = _agreement(agreement, "own", calibration.path, is_calibrated=is_calibrated)
        return found.model_copy(update={"corrected": _corrected(agreement.moments, sides)})
    packaged = packaged_agreement()
    if packaged.agreement and packaged.fingerprint_digest == fingerprint.digest:
        names = " and ".join(packaged.agreement.by_category)
        return _agreement(packaged.agreement, "public", names, is_calibrated=False)
    return None


def trust_warnings(
    agreement: JudgeAgreement | None, fingerprint: JudgeFingerprint, calibration: NamedCalibration | None
) -> Iterator[ResultWarning]:
    """What the reader must know of the judge: measured as another one, or hardly of people's opinion."""
    judge, _ = without_calibration(fingerprint)
    if calibration and (differing := differences(calibration.content.fingerprint, judge)):
        yield ResultWarning(
            code="not_calibrated",
            message=f"The judge is not calibrated: {calibration.path} is of another one (other "
            f"{', '.join(differing)}). `faithbot calibrate` measures this one.",
        )
    if agreement and agreement.kappa.value < WEAK_KAPPA:
        yield ResultWarning(
            code="weak_judge",
            message=f"The judge hardly agrees with people (κ {agreement.kappa.value:.2f}, below {WEAK_KAPPA} on "
            f"{agreement.n} labelled claims): a stronger one may find what it does not.",
        )


def find_blind_spots(fingerprint: JudgeFingerprint, calibration: NamedCalibration | None) -> ProbeResult | None:
    """What `faithbot probe` found of this very judge, its calibration included; None where that is not known."""
    probed = calibration.content.probe if calibration else None
    return probed if probed and probed.judge == fingerprint.digest else None


@cache
def packaged_agreement() -> CalibrationFile:
    """Agreement of the judge without a model, measured on public data sets by `scripts/measure_agreement.py`."""
    file = resources.files("faithbot.judge").joinpath("evidence_agreement.json")
    return parse_calibration(file.read_text(encoding="utf-8"), file.name)


def _agreement(agreement: Agreement, measured_on: MeasuredOn, source: str, *, is_calibrated: bool) -> JudgeAgreement:
    return JudgeAgreement(
        n=agreement.n,
        agreed=agreement.agreed,
        kappa=agreement.kappa,
        is_calibrated=is_calibrated,
        measured_on=measured_on,
        source=source,
    )


def _corrected(moments: LabelledMoments | None, sides: Mapping[SideName, Side]) -> dict[SideName, CorrectedShare]:
    if moments is None:
        return {}
    labelled = Moments(**moments.model_dump())
    shares = {name: _corrected_share(labelled, side) for name, side in sides.items()}
    return {name: share for name, share in shares.items() if share is not None}


def _corrected_share(labelled: Moments, side: Side) -> CorrectedShare | None:
    """None where the side has no claim with a support. Claims of a question, over its runs, belong together."""
    number = {question: index for index, question in enumerate({answer.question_id for answer in side.answers})}
    judged = [
        (claim.support == "supported", number[answer.question_id])
        for answer in side.answers
        if answer.judgement is not None
        for claim in answer.judgement.claims
        if claim.support is not None
    ]
    if not judged:
        return None
    supported, questions = (np.array(column) for column in zip(*judged, strict=True))
    corrected = corrected_mean(labelled, supported.astype(float), questions)
    estimate = Estimate(**corrected._asdict())
    return CorrectedShare(judged=float(supported.mean()), corrected=estimate, n_claims=len(judged))
