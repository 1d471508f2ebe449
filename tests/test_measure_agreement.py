"""From labelled and judged claims to what the calibration file holds."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import binomtest

from faithbot.errors import UsageError
from faithbot.judge.calibration import CategoryAgreement
from faithbot.judge.evidence import EvidenceJudge
from faithbot.judge.protocol import Claim
from faithbot.labelled_claims import LabelledClaim, read_labelled_claims
from faithbot.measure_agreement import Limits, measure_agreement
from shared_examples import SHARED

if TYPE_CHECKING:
    from faithbot.judge.calibration import PeopleLabel
    from faithbot.judge.protocol import Support


def labelled(label: PeopleLabel, category: str | None = None) -> LabelledClaim:
    return LabelledClaim("It burns gas.", (), label, category)


def judged(support: Support, probability: float = 0.5) -> Claim:
    return Claim(text="It burns gas.", support=support, probability=probability)


FOUR = (
    (labelled("supported", "number"), judged("supported", 0.9)),
    (labelled("contradicted", "number"), judged("supported", 0.8)),
    (labelled("contradicted", "negation"), judged("contradicted", 0.2)),
    (labelled("unsupported"), judged("not_found", 0.1)),
)


def test_claims_are_counted_by_what_people_and_the_judge_say_and_by_category() -> None:
    measured = measure_agreement(*zip(*FOUR, strict=True), "evidence")
    agreement = measured.agreement
    assert agreement.confusion == {
        "supported": {"supported": 1},
        "contradicted": {"supported": 1, "contradicted": 1},
        "unsupported": {"not_found": 1},
    }
    assert (agreement.n, agreement.agreed, agreement.unscored) == (4, 3, 0)
    assert agreement.by_category == {
        "negation": CategoryAgreement(n=1, agreed=1),
        "number": CategoryAgreement(n=2, agreed=1),
    }
    assert agreement.balanced_accuracy.value == pytest.approx((1 + 2 / 3) / 2)
    assert agreement.auc is not None
    assert agreement.auc.value == 1


def test_few_claims_tell_the_agreement_but_correct_nothing() -> None:
    few = measure_agreement(*zip(*FOUR, strict=True), "evidence")
    assert (few.calibration, few.why_not) == (None, "that takes 30 labelled claims")
    assert few.agreement.moments is None
    enough = measure_agreement(*zip(*FOUR * 8, strict=True), "evidence")
    assert enough.calibration is not None
    assert enough.agreement.moments is not None
    assert enough.agreement.moments.n == 32


def test_a_claim_that_the_judge_could_not_score_is_counted_apart() -> None:
    rows = (*FOUR, (labelled("supported"), Claim(text="a", unscored="the reply broke off")))
    agreement = measure_agreement(*zip(*rows, strict=True), "evidence").agreement
    assert (agreement.n, agreement.unscored) == (4, 1)


def test_claims_of_one_kind_or_without_any_score_are_an_error() -> None:
    with pytest.raises(UsageError, match=r"^all 2 claims are labelled unsupported: add some that are supported\.$"):
        measure_agreement(*zip(FOUR[1], FOUR[3], strict=True), "evidence")
    with pytest.raises(UsageError, match=r"could score none of the claims; the first: no server"):
        measure_agreement([labelled("supported")], [Claim(text="a", unscored="no server")], "claims")


@pytest.mark.parametrize("method", ["label", "claims"])
def test_a_judge_without_probabilities_is_measured_but_not_calibrated(method: str) -> None:
    """`label` has one for each label only, others have none where their server tells no log-probabilities."""
    without = {} if method == "label" else {"probability": None}
    rows = [(people, claim.model_copy(update=without)) for people, claim in FOUR * 10]
    measured = measure_agreement(*zip(*rows, strict=True), method)
    assert (measured.calibration, measured.calibrated, measured.agreement.auc) == (None, None, None)
    assert measured.why_not == f"`{method}` gives no probability to calibrate here"
    assert measured.agreement.moments is not None


def noisy_judge(n: int, limit: float, seed: int = 5) -> tuple[list[LabelledClaim], list[Claim]]:
    """A judge whose P is right, but that calls a claim supported only from ``limit`` on."""
    rng = np.random.default_rng(seed)
    probabilities = rng.uniform(0.02, 0.98, n)
    truth = rng.random(n) < probabilities
    return (
        [labelled("supported" if supported else "unsupported") for supported in truth],
        [judged("supported" if p >= limit else "not_found", float(p)) for p in probabilities],
    )


def test_a_judge_that_is_too_strict_agrees_better_once_it_is_calibrated() -> None:
    measured = measure_agreement(*noisy_judge(400, limit=0.9), "claims")
    assert measured.calibration is not None
    assert measured.calibration.decides_support
    assert measured.calibration.slope == pytest.approx(1, abs=0.25)
    assert measured.agreement.kappa.value > measured.as_it_is.kappa.value + 0.1


def test_a_limit_that_is_no_better_changes_nothing() -> None:
    """P is right and the judge's own limit the best there is: what 36 labels say besides is luck."""
    measured = [measure_agreement(*noisy_judge(36, limit=0.5, seed=seed), "claims") for seed in range(100)]
    assert sum(one.decides_support for one in measured) <= 5
    for one in measured:
        if not one.decides_support:
            assert one.agreement == one.as_it_is


def test_the_chance_of_such_luck_is_mcnemars() -> None:
    expected = binomtest(9, 10, 0.5, alternative="greater").pvalue
    assert Limits(differ=10, calibrated_right=9).p_value == pytest.approx(expected)
    assert Limits(differ=0, calibrated_right=0).p_value == 1


def test_where_no_claim_has_a_probability_above_0_nothing_is_calibrated() -> None:
    rows = [(people, judged(claim.support, 0.0)) for people, claim in FOUR * 10]
    measured = measure_agreement(*zip(*rows, strict=True), "evidence")
    assert (measured.calibration, measured.why_not) == (None, "no claim has a probability above 0")
    assert measured.agreement == measured.as_it_is


def test_probabilities_that_rank_the_wrong_way_round_calibrate_nothing() -> None:
    rows = [(people, judged(claim.support, 1 - claim.probability)) for people, claim in FOUR * 10]
    measured = measure_agreement(*zip(*rows, strict=True), "claims")
    assert measured.calibration is None
    assert measured.why_not == "claims with a higher probability are not supported more often"


def test_the_figure_of_a_calibrated_judge_does_not_flatter_it() -> None:
    """A P that says nothing: whatever the fit, people and judge agree by chance."""
    rng = np.random.default_rng(6)
    people = [labelled("supported" if supported else "unsupported") for supported in rng.random(300) < 0.5]
    claims = [judged("supported", float(p)) for p in rng.uniform(0.02, 0.98, 300)]
    measured = measure_agreement(people, claims, "claims")
    assert measured.agreement.kappa.low < 0 < measured.agreement.kappa.high or measured.agreement.kappa.value <= 0


def test_on_real_labels_the_judge_without_a_model_beats_chance() -> None:
    people = read_labelled_claims(SHARED.parent / "judging" / "wice_claim_dev.jsonl").claims
    judge = EvidenceJudge()

    async def check_all() -> list[Claim]:
        return [await judge.check(row.claim, row.contexts) for row in people]

    agreement = measure_agreement(people, asyncio.run(check_all()), "evidence").agreement
    assert agreement.n + agreement.unscored == 349
    assert agreement.kappa.low > 0
    assert agreement.auc is not None
    assert agreement.auc.low > 0.5
