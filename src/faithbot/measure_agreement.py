"""What labelled claims tell about a judge: how far it agrees with people, and how to calibrate it."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from faithbot.agreement import Interval, area_under_curve, balanced_accuracy, cohens_kappa
from faithbot.errors import UsageError
from faithbot.judge.calibrated import calibrated
from faithbot.judge.calibration import (
    FEWEST_TO_CORRECT,
    Agreement,
    CategoryAgreement,
    Estimate,
    LabelledMoments,
    PlattCalibration,
)
from faithbot.judge.measured import WITHOUT_CLAIMS
from faithbot.platt import Platt, fit_platt
from faithbot.prediction_powered import labelled_moments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from faithbot.agreement import Flags
    from faithbot.judge.calibration import PeopleLabel
    from faithbot.judge.protocol import Claim, Support
    from faithbot.labelled_claims import LabelledClaim

_FOLDS = 10
_SEED = 2026


class Measured(NamedTuple):
    """A judge against people."""

    as_it_is: Agreement
    calibrated: Agreement | None
    """Supported from a calibrated P of 0.5; each claim by a calibration that was fitted on the others."""
    calibration: PlattCalibration | None
    """Fitted on all claims."""
    why_not: str | None
    """Why there is no calibration, as the end of a sentence."""

    @property
    def agreement(self) -> Agreement:
        """Of the judge as it will be used."""
        decides = self.calibration is not None and self.calibration.decides_support
        return self.calibrated if decides and self.calibrated is not None else self.as_it_is


def measure_agreement(labelled: Sequence[LabelledClaim], judged: Sequence[Claim], method: str) -> Measured:
    """Agreement of the judge of this ``method``; both sequences in the same order.

    :class:`UsageError` where the claims that were scored are all of one kind: then there is nothing to tell apart.
    """
    pairs = [(people, claim) for people, claim in zip(labelled, judged, strict=True) if claim.support is not None]
    if not pairs:
        raise UsageError(f"the judge could score none of the claims; the first: {judged[0].unscored}.")
    labels, claims = [people for people, _ in pairs], [claim for _, claim in pairs]
    require_both_kinds(labels)
    truth = _truth(labels)
    has_probabilities = method not in WITHOUT_CLAIMS and all(claim.probability is not None for claim in claims)
    unscored = len(judged) - len(claims)
    as_it_is = _agreement(labels, claims, unscored, has_probabilities=has_probabilities)
    if not has_probabilities:
        return Measured(as_it_is, None, None, f"`{method}` gives no probability to calibrate here")
    if len(claims) < FEWEST_TO_CORRECT:
        return Measured(as_it_is, None, None, f"that takes {FEWEST_TO_CORRECT} labelled claims")
    return _calibrate(as_it_is, labels, claims, truth)


def require_both_kinds(labelled: Sequence[LabelledClaim]) -> None:
    """:class:`UsageError` where all claims are labelled supported, or none."""
    truth = _truth(labelled)
    if truth.all() or not truth.any():
        kind, other = ("supported", "unsupported") if truth.all() else ("unsupported", "supported")
        raise UsageError(f"all {len(labelled)} claims are labelled {kind}: add some that are {other}.")


def _truth(labelled: Sequence[LabelledClaim]) -> Flags:
    return np.array([people.label == "supported" for people in labelled])


def _calibrate(as_it_is: Agreement, labels: Sequence[LabelledClaim], claims: Sequence[Claim], truth: Flags) -> Measured:
    platt = _fit(claims, truth)
    if platt.slope <= 0:
        return Measured(as_it_is, None, None, "claims with a higher probability are not supported more often")
    after = _agreement(labels, _calibrated_by_others(claims, truth), as_it_is.unscored, has_probabilities=True)
    after = after.model_copy(update={"auc": as_it_is.auc})  # folds differ, one calibration keeps the order
    decides = after.kappa.value >= as_it_is.kappa.value
    calibration = PlattCalibration(slope=platt.slope, intercept=platt.intercept, decides_support=decides)
    return Measured(as_it_is, after, calibration, None)


def _calibrated_by_others(claims: Sequence[Claim], truth: Flags) -> list[Claim]:
    """Each claim by a calibration fitted on nine tenths that it is not among: else it would flatter the judge."""
    fold = np.random.default_rng(_SEED).permutation(len(claims)) % _FOLDS
    by_fold = []
    for held_out in range(_FOLDS):
        others = np.flatnonzero(fold != held_out).tolist()
        by_fold.append(_fit([claims[row] for row in others], truth[others]))
    return [calibrated(claim, by_fold[of]) for claim, of in zip(claims, fold, strict=True)]


def _fit(claims: Sequence[Claim], truth: Flags) -> Platt:
    probabilities = _probabilities(claims)
    doubtful = probabilities > 0  # the others are not calibrated
    return fit_platt(truth[doubtful], probabilities[doubtful])


def _probabilities(claims: Sequence[Claim]) -> NDArray[np.float64]:
    return np.array([claim.probability or 0.0 for claim in claims])


def _agreement(
    labels: Sequence[LabelledClaim], claims: Sequence[Claim], unscored: int, *, has_probabilities: bool
) -> Agreement:
    truth = _truth(labels)
    judged = np.array([claim.support == "supported" for claim in claims])
    moments = labelled_moments(truth.astype(float), judged.astype(float))
    return Agreement(
        n=len(claims),
        unscored=unscored,
        balanced_accuracy=_estimate(balanced_accuracy(truth, judged)),
        auc=_estimate(area_under_curve(truth, _probabilities(claims))) if has_probabilities else None,
        kappa=_estimate(cohens_kappa(truth, judged)),
        confusion=_confusion(labels, claims),
        by_category=_by_category(labels, truth == judged),
        moments=LabelledMoments(**moments._asdict()) if len(claims) >= FEWEST_TO_CORRECT else None,
    )


def _confusion(labels: Sequence[LabelledClaim], claims: Sequence[Claim]) -> dict[PeopleLabel, dict[Support, int]]:
    counts = Counter((people.label, claim.support) for people, claim in zip(labels, claims, strict=True))
    table: dict[PeopleLabel, dict[Support, int]] = defaultdict(dict)
    for (label, support), number in sorted(counts.items(), key=str):
        if support is not None:
            table[label][support] = number
    return dict(table)


def _by_category(labels: Sequence[LabelledClaim], agrees: Flags) -> dict[str, CategoryAgreement]:
    of_category: dict[str, list[bool]] = defaultdict(list)
    for people, agreed in zip(labels, agrees, strict=True):
        if people.category is not None:
            of_category[people.category].append(bool(agreed))
    return {name: CategoryAgreement(n=len(agreed), agreed=sum(agreed)) for name, agreed in sorted(of_category.items())}


def _estimate(interval: Interval) -> Estimate:
    return Estimate(**interval._asdict())
