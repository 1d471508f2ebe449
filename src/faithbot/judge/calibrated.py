"""A judge whose probabilities are corrected by what people said of other claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from faithbot.judge.protocol import SUPPORTED_FROM
from faithbot.judge.relevance import RELEVANCE_OPTION
from faithbot.platt import Platt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faithbot.judge.calibration import CalibrationFile, PlattCalibration
    from faithbot.judge.protocol import Claim, Judge, JudgeFingerprint, Judgement, Support

_OPTION = "calibration"


class CalibratedJudge:
    """Another judge, calibrated where the file was measured on that very judge; else that judge as it is."""

    def __init__(self, judge: Judge, measured: CalibrationFile) -> None:
        self._judge = judge
        self._measured = measured
        self._is_of_this_judge: bool | None = None
        """None: not known yet, the judge has to be asked."""
        self.repeats_itself = judge.repeats_itself

    async def fingerprint(self) -> JudgeFingerprint:
        """The judge's own, with the calibration among its options where it is applied."""
        calibration = await self._applied()
        fingerprint = await self._judge.fingerprint()
        if calibration is None:
            return fingerprint
        options = {**fingerprint.options, _OPTION: calibration.model_dump()}
        return fingerprint.model_copy(update={"options": options})

    def reserve(self, tokens: int) -> None:
        """Pass it on."""
        self._judge.reserve(tokens)

    async def judge(self, question: str, answer: str, contexts: Sequence[str], repeat: int = 1) -> Judgement:
        """The judge's claims with calibrated probabilities, and the faithfulness that follows from them."""
        judgement = await self._judge.judge(question, answer, contexts, repeat)
        calibration = await self._applied()
        if calibration is None or judgement.faithfulness is None:
            return judgement
        claims = tuple(_apply(calibration, claim) for claim in judgement.claims)
        scored = [claim.support == "supported" for claim in claims if claim.support is not None]
        if not scored:
            return judgement
        return judgement.model_copy(update={"claims": claims, "faithfulness": sum(scored) / len(scored)})

    async def check(self, claim: str, contexts: Sequence[str], repeat: int = 1) -> Claim:
        """The claim with its calibrated probability."""
        checked = await self._judge.check(claim, contexts, repeat)
        calibration = await self._applied()
        return checked if calibration is None else _apply(calibration, checked)

    async def _applied(self) -> PlattCalibration | None:
        if self._is_of_this_judge is None:
            self._is_of_this_judge = (await self._judge.fingerprint()).digest == self._measured.fingerprint_digest
        return self._measured.calibration if self._is_of_this_judge else None


def calibrated(claim: Claim, platt: Platt, *, decides_support: bool = True) -> Claim:
    """The claim with its calibrated probability and, where that decides, the support that follows.

    One without a score stays as it is, and so does a probability of 0: there was nothing to rest on, not a doubt. A
    claim that is not supported any more was contradicted by nothing that the judge saw: it is not found.
    """
    if claim.support is None or not claim.probability:
        return claim
    probability = float(platt.apply(np.array([claim.probability]))[0])
    support = _support(claim.support, probability) if decides_support else claim.support
    return claim.model_copy(update={"probability": probability, "support": support})


def _support(before: Support, probability: float) -> Support:
    if probability >= SUPPORTED_FROM:
        return "supported"
    return "contradicted" if before == "contradicted" else "not_found"


def _apply(calibration: PlattCalibration, claim: Claim) -> Claim:
    platt = Platt(calibration.slope, calibration.intercept)
    return calibrated(claim, platt, decides_support=calibration.decides_support)


def without_calibration(fingerprint: JudgeFingerprint) -> tuple[JudgeFingerprint, bool]:
    """The judge that was calibrated, and whether it was: what a calibration file is bound to.

    How it grades relevance is no part of that: it decides no claim.
    """
    options = {name: value for name, value in fingerprint.options.items() if name not in (_OPTION, RELEVANCE_OPTION)}
    return fingerprint.model_copy(update={"options": options}), _OPTION in fingerprint.options
