"""What `faithbot calibrate` says of a judge: which limit is used, why, and what follows."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from faithbot.calibrate import Calibrated
from faithbot.config import JudgeSettings
from faithbot.judge.protocol import Claim
from faithbot.labelled_claims import LabelledClaim, LabelledClaims
from faithbot.measure_agreement import measure_agreement
from faithbot.report.agreement import render_agreement
from records import FINGERPRINT


def told(limit: float, n: int = 400) -> str:
    """Of a judge whose P is right, but that calls a claim supported only from ``limit`` on."""
    rng = np.random.default_rng(5)
    probabilities = rng.uniform(0.02, 0.98, n)
    labelled = [
        LabelledClaim("It burns gas.", (), "supported" if supported else "unsupported")
        for supported in rng.random(n) < probabilities
    ]
    judged = [
        Claim(text="It burns gas.", support="supported" if p >= limit else "not_found", probability=float(p))
        for p in probabilities
    ]
    measured = measure_agreement(labelled, judged, "claims")
    settings = JudgeSettings(method="claims", model="ollama/a")
    claims = LabelledClaims(tuple(labelled), ())
    return render_agreement(Calibrated(measured, FINGERPRINT, settings, claims, Path("j.json"), "j.json", None))


def test_a_limit_that_takes_the_place_of_the_judges_own_moves_levels_and_says_so() -> None:
    text = told(limit=0.9)
    assert "its own limit (not used)" in text
    assert "calibrated 0.5 (used)" in text
    assert "From a calibrated 0.5 on a claim is supported: the two decide " in text
    assert "(p < 0.001). Levels will move with that limit, so look at floors anew." in text


def test_the_judges_own_limit_stays_where_another_is_not_clearly_better() -> None:
    text = told(limit=0.5)
    assert "its own limit (used)" in text
    assert "calibrated 0.5 (not used)" in text
    assert "The judge's own limit stays: the two decide " in text
    assert "0.5 takes its place only with a higher κ and p up to 0.05." in text
    assert "Levels will move" not in text


def test_a_judge_whose_agreement_may_be_weak_is_said_to_correct_nothing() -> None:
    assert "Reports do not correct the share of supported claims: κ may be as low as 0." in told(limit=0.5, n=60)
    assert "Reports correct the share of supported claims by them" in told(limit=0.5)
