"""Looking at the verdict after every run, without more false alarms than looking once."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faithbot.run_plan import RunPlan
from faithbot.stopping import GIVE_UP_BELOW, chance_of_flag, detectable_factor, look_level, spent_alpha

NORMAL = NormalDist()
PLAN = RunPlan(2, 6)
plans = st.tuples(st.integers(1, 8), st.integers(0, 8)).map(lambda both: RunPlan(both[0], both[0] + both[1]))


def test_the_boundaries_are_those_of_the_published_table() -> None:
    """Lan and DeMets (1983), five equal looks, one-sided 0.025, the spending function like Pocock's."""
    levels = [look_level(RunPlan(1, 5), runs, 0.025) for runs in range(1, 6)]
    assert [NORMAL.inv_cdf(1 - level) for level in levels] == pytest.approx(
        [2.438, 2.427, 2.410, 2.397, 2.386], abs=1e-3
    )


def test_a_fixed_number_of_runs_is_looked_at_once_with_the_whole_of_alpha() -> None:
    fixed = RunPlan(4, 4)
    assert look_level(fixed, 4, 0.05) == 0.05
    assert spent_alpha(fixed, 4, 0.05) == pytest.approx(0.05)
    assert detectable_factor(fixed, 4, 0.05) == 1


def random_walks(n: int, drift: float = 0.0) -> np.ndarray:
    """Standardised sums after 2 to 6 runs, shape (walks, looks)."""
    steps = np.random.default_rng(7).normal(drift, 1, (n, PLAN.most))
    return (steps.cumsum(axis=1) / np.sqrt(np.arange(1, PLAN.most + 1)))[:, PLAN.fewest - 1 :]


def first_stops(walks: np.ndarray, *, give_up: bool) -> np.ndarray:
    """Whether each walk is flagged."""
    flagged = np.zeros(len(walks), dtype=bool)
    going = ~flagged
    for place, runs in enumerate(PLAN.looks):
        tails = np.array([NORMAL.cdf(-z) for z in walks[:, place]])
        now = going & (tails <= look_level(PLAN, runs, 0.05))
        flagged |= now
        going &= ~now
        if give_up and runs < PLAN.most:
            going &= np.array([chance_of_flag(PLAN, runs, tail, 0.05) >= GIVE_UP_BELOW for tail in tails])
    return flagged


def test_all_looks_together_raise_as_many_false_alarms_as_alpha_and_giving_up_only_fewer() -> None:
    walks = random_walks(20_000)
    without, with_giving_up = (first_stops(walks, give_up=give_up) for give_up in (False, True))
    assert without.mean() == pytest.approx(0.05, abs=0.005)
    assert with_giving_up.mean() < without.mean()
    assert not (with_giving_up & ~without).any()


def test_the_smallest_detectable_change_is_flagged_in_8_of_10_cases() -> None:
    """At the last look, a change is seen at level + 80 % quantile standard errors; the factor leads to the plan's."""
    at_last_look = (NORMAL.inv_cdf(1 - look_level(PLAN, 6, 0.05)) + NORMAL.inv_cdf(0.8)) / math.sqrt(6)
    drift = at_last_look * detectable_factor(PLAN, 6, 0.05)
    assert first_stops(random_walks(20_000, drift), give_up=True).mean() == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize("runs", PLAN.looks)
def test_the_smallest_detectable_change_is_that_of_the_plan_wherever_it_stopped(runs: int) -> None:
    seen = [
        (NORMAL.inv_cdf(1 - look_level(PLAN, at, 0.05)) + NORMAL.inv_cdf(0.8))
        / math.sqrt(at)
        * detectable_factor(PLAN, at, 0.05)
        for at in (runs, PLAN.most)
    ]
    assert seen[0] == pytest.approx(seen[1])


def test_the_chance_to_be_flagged_later() -> None:
    """By hand: z = 1 after 2 runs is expected to be sqrt(3) after 6, give or take sqrt(2)."""
    needed = NORMAL.inv_cdf(1 - look_level(PLAN, 6, 0.05))
    by_hand = 1 - NORMAL.cdf((needed - math.sqrt(3)) / math.sqrt(2))
    assert chance_of_flag(PLAN, 2, NORMAL.cdf(-1), 0.05) == pytest.approx(by_hand)
    assert chance_of_flag(PLAN, 2, NORMAL.cdf(-1), 0.05, min_effect=5.0) < 0.01
    assert chance_of_flag(PLAN, 2, 1.0, 0.05) == 0
    assert chance_of_flag(PLAN, 6, 0.06, 0.05) == 0


@settings(deadline=None, max_examples=30)
@given(plans, st.sampled_from([0.05, 0.025, 0.01]))
def test_alpha_is_spent_bit_by_bit_and_no_look_is_laxer_than_looking_once(plan: RunPlan, alpha: float) -> None:
    levels = [look_level(plan, runs, alpha) for runs in plan.looks]
    spent = [spent_alpha(plan, runs, alpha) for runs in plan.looks]
    assert all(0 < level <= alpha for level in levels)
    assert spent == sorted(spent)
    assert spent[-1] == pytest.approx(alpha)
    assert sum(levels) >= alpha * (1 - 1e-6)  # looks share their runs, so their levels need not add up to alpha


@settings(deadline=None, max_examples=30)
@given(plans, st.data())
def test_worse_evidence_makes_a_flag_likelier(plan: RunPlan, data: st.DataObject) -> None:
    runs = data.draw(st.sampled_from(plan.looks))
    p, q = sorted(data.draw(st.tuples(st.floats(0.0, 1.0), st.floats(0.0, 1.0))))
    assert 0 <= chance_of_flag(plan, runs, q, 0.05) <= chance_of_flag(plan, runs, p, 0.05) <= 1


@pytest.mark.parametrize(("fewest", "most"), [(0, 2), (3, 2), (-1, -1)])
def test_an_impossible_plan_is_refused(fewest: int, most: int) -> None:
    with pytest.raises(ValueError, match="fewest <= most"):
        RunPlan(fewest, most)
