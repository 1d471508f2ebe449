"""How far the judge of a comparison can be trusted: its agreement with people, where that was measured."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from faithbot.intervals import difference, share
from faithbot.judge.calibrated import without_calibration
from faithbot.judge.calibration import CalibrationFile, Estimate, differences, parse_calibration
from faithbot.plain_text import two_decimals
from faithbot.prediction_powered import Moments, corrected_mean
from faithbot.results import CorrectedShare, JudgeAgreement, ResultWarning

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from faithbot.judge.blind_spots import ProbeResult
    from faithbot.judge.calibration import Agreement, LabelledMoments
    from faithbot.judge.files import NamedCalibration
    from faithbot.judge.protocol import JudgeFingerprint
    from faithbot.results import MeasuredOn, NotCorrected, Side, SideName

WEAK_KAPPA = 0.3
"""Below, a judge agrees with people so little that its changes are hardly theirs."""
_ALIKE_WITHIN = 0.1
"""A smaller difference between two shares spoils no correction: its own interval is hardly ever narrower."""


def find_agreement(
    fingerprint: JudgeFingerprint, calibration: NamedCalibration | None, sides: Mapping[SideName, Side]
) -> JudgeAgreement | None:
    """Of this very judge: as the team measured it, else as the package brings it along, else None."""
    judge, is_calibrated = without_calibration(fingerprint)
    if calibration and calibration.content.agreement and calibration.content.fingerprint_digest == judge.digest:
        agreement = calibration.content.agreement
        found = _agreement(agreement, "own", calibration.path, is_calibrated=is_calibrated)
        return found if agreement.moments is None else _corrected(found, agreement, agreement.moments, sides)
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
            message=f"The judge hardly agrees with people (κ {two_decimals(agreement.kappa.value)}, below {WEAK_KAPPA} "
            f"on {agreement.n} labelled claims): a stronger one may find what it does not.",
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


def may_be_weak(kappa: Estimate) -> bool:
    """Whether κ may lie where judge and people hardly agree: such a judge corrects nothing."""
    return kappa.low < WEAK_KAPPA


def _corrected(
    found: JudgeAgreement, agreement: Agreement, labelled: LabelledMoments, sides: Mapping[SideName, Side]
) -> JudgeAgreement:
    """With the share of each side that has claims, corrected where the labelled claims can tell anything of them."""
    judged = {name: claims for name, side in sides.items() if (claims := _claims(side)) is not None}
    why_not = _not_corrected(agreement, judged.values())
    moments = Moments(**labelled.model_dump())
    shares = {}
    for name, claims in judged.items():
        estimate = None if why_not else Estimate(**corrected_mean(moments, claims.supported, claims.question)._asdict())
        shares[name] = CorrectedShare(judged=claims.share, corrected=estimate, n_claims=len(claims.supported))
    return found.model_copy(
        update={
            "corrected": shares,
            "not_corrected": why_not,
            "labelled_share": agreement.judged_supported / agreement.n,
        }
    )


class _Claims(NamedTuple):
    """All judged claims of a side; shapes (claims,)."""

    supported: NDArray[np.float64]
    """1 where the judge holds it supported, else 0."""
    question: NDArray[np.int64]
    """Number of its question: claims of a question, over its runs, belong together."""

    @property
    def share(self) -> float:
        """Of those that are supported."""
        return float(self.supported.mean())


def _claims(side: Side) -> _Claims | None:
    """None where the side has no claim with a support."""
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
    return _Claims(supported.astype(float), questions)


def _not_corrected(agreement: Agreement, judged: Iterable[_Claims]) -> NotCorrected | None:
    if may_be_weak(agreement.kappa):
        return "weak"
    return None if all(_is_like(agreement, claims) for claims in judged) else "unlike"


def _is_like(agreement: Agreement, claims: _Claims) -> bool:
    """Whether the judge's share on these claims and on the labelled ones may be the same, as far as that can be seen.

    They differ clearly where the 95 % interval of their difference leaves out 0 and the difference is not small. A
    question counts as one claim in it: its claims, over its runs, say much the same.
    """
    questions = len(np.unique(claims.question))
    here = share(claims.share * questions, questions)
    apart = difference(here, share(agreement.judged_supported, agreement.n))
    return abs(apart.value) < _ALIKE_WITHIN or apart.low <= 0 <= apart.high
