"""What labelled claims tell about a judge: how far it agrees with people, and how to calibrate it."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from faithbot.agreement import area_under_curve, balanced_accuracy, cohens_kappa
from faithbot.claim_chance import binomial_tail
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
    from faithbot.intervals import Interval
    from faithbot.judge.calibration import PeopleLabel
    from faithbot.judge.protocol import Claim, Support
    from faithbot.labelled_claims import LabelledClaim

_FOLDS = 10
_SEED = 2026
SURE = 0.05
"""Chance, at most, that a limit that is no better than the judge's own takes its place."""


class Limits(NamedTuple):
    """The judge's own limit against a calibrated P of 0.5, on the claims of which only one of them is right.

    McNemar's exact test, one-sided (*Psychometrika* 12, 1947, 153-157), tells a better limit from a lucky one.
    """

    differ: int
    calibrated_right: int
    """Of these, those on which people agree with the calibrated 0.5."""

    @property
    def p_value(self) -> float:
        """Chance that the calibrated limit wins at least so often though it is no better; 1 where none differs."""
        return min(1.0, binomial_tail(self.calibrated_right, self.differ, 0.5))


class Measured(NamedTuple):
    """A judge against people."""

    as_it_is: Agreement
    calibrated: Agreement | None
    """Supported from a calibrated P of 0.5; each claim by a calibration that was fitted on the others."""
    calibration: PlattCalibration | None
    """Fitted on all claims."""
    why_not: str | None
    """Why there is no calibration, as the end of a sentence."""
    limits: Limits | None = None
    """None where nothing was calibrated."""

    @property
    def decides_support(self) -> bool:
        """Whether the calibrated 0.5 takes the place of the judge's own limit."""
        return self.calibration is not None and self.calibration.decides_support

    @property
    def agreement(self) -> Agreement:
        """Of the judge as it will be used."""
        return self.calibrated if self.decides_support and self.calibrated is not None else self.as_it_is


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
    """Another limit moves every level that was seen before, so that it takes the place of the judge's own only where it
    is clearly better: a higher κ, and right where the two differ more often than chance would have it."""
    if not _probabilities(claims).any():
        return Measured(as_it_is, None, None, "no claim has a probability above 0")
    platt = _fit(claims, truth)
    if platt.slope <= 0:
        return Measured(as_it_is, None, None, "claims with a higher probability are not supported more often")
    by_others = _calibrated_by_others(claims, truth)
    after = _agreement(labels, by_others, as_it_is.unscored, has_probabilities=True)
    after = after.model_copy(update={"auc": as_it_is.auc})  # folds differ, one calibration keeps the order
    limits = _compare_limits(truth, _supported(claims), _supported(by_others))
    decides = after.kappa.value > as_it_is.kappa.value and limits.p_value <= SURE
    calibration = PlattCalibration(slope=platt.slope, intercept=platt.intercept, decides_support=decides)
    return Measured(as_it_is, after, calibration, None, limits)


def _compare_limits(truth: Flags, own: Flags, other: Flags) -> Limits:
    differ = own != other
    return Limits(int(differ.sum()), int((other == truth)[differ].sum()))


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


def _supported(claims: Sequence[Claim]) -> Flags:
    return np.array([claim.support == "supported" for claim in claims])


def _agreement(
    labels: Sequence[LabelledClaim], claims: Sequence[Claim], unscored: int, *, has_probabilities: bool
) -> Agreement:
    truth = _truth(labels)
    judged = _supported(claims)
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
