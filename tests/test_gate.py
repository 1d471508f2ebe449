"""The gate after each run: red, open, or settled."""

from __future__ import annotations

import math

import numpy as np
import pytest

from faithbot.gate import GateLook, look_at
from faithbot.run_plan import RunPlan
from faithbot.stopping import look_level

N = 12
PLAN = RunPlan(2, 6)
GATE = {"faithfulness": 0.0}
ALTERNATING = np.array([[0.0, 0.1] * 3, [0.1, 0.0] * 3] * (N // 2))


def scores(level: float) -> np.ndarray:
    """Six runs of twelve questions around ``level`` that differ by a tenth from run to run."""
    return level + ALTERNATING


def look(base: np.ndarray, head: np.ndarray, runs: int = 2, **options: object) -> GateLook:
    given = {"unchanged": np.zeros(len(base), dtype=bool), "gate": GATE, "plan": PLAN} | options
    return look_at({"faithfulness": (base, head)}, runs=runs, **given)


def test_a_clear_drop_stops_at_the_first_look() -> None:
    found = look(scores(0.8), scores(0.5))
    assert (found.stop, found.flagged) == ("worse", {"faithfulness"})
    assert found.level == look_level(PLAN, 2, 0.05) < 0.05
    assert found.comparisons["faithfulness"].delta == pytest.approx(-0.3)


def test_no_change_and_a_rise_stop_at_the_first_look() -> None:
    for level in (0.8, 0.9):
        found = look(scores(0.8), scores(level))
        assert (found.stop, found.flagged) == ("unlikely", frozenset())
        assert found.chances["faithfulness"] < 0.2


def test_a_drop_near_the_noise_asks_for_more_runs_until_there_are_no_more() -> None:
    """A drop of p = 0.03: enough for one look, not for the first of five."""
    head = scores(0.8)
    head[:2] -= 0.2
    head[2:4, ::2] -= 0.1
    first = look(scores(0.8), head)
    assert first.stop is None
    assert first.level < first.comparisons["faithfulness"].p_value < 0.05
    assert 0.2 <= first.chances["faithfulness"] < 1
    last = look(scores(0.8), head, runs=6)
    assert last.stop in ("worse", "all_runs")
    assert last.chances["faithfulness"] == 0


def test_only_the_first_runs_are_looked_at() -> None:
    head = scores(0.8)
    head[:, 2:] = 0.0
    assert look(scores(0.8), head).comparisons["faithfulness"].delta == pytest.approx(0)


def test_unchanged_questions_alone_settle_it() -> None:
    found = look(scores(0.8), scores(0.8), unchanged=np.ones(N, dtype=bool))
    assert found.stop == "unchanged"


def test_a_drop_below_min_effect_is_not_worth_more_runs() -> None:
    found = look(scores(0.8), scores(0.7), gate={"faithfulness": 0.3})
    assert (found.stop, found.flagged) == ("unlikely", frozenset())


@pytest.mark.parametrize(("dropped", "stop"), [(4, "no_noise"), (5, "worse")])
def test_runs_without_any_noise_are_looked_at_once_with_the_whole_of_alpha(dropped: int, stop: str) -> None:
    base, head = np.full((N, 2), 0.8), np.full((N, 2), 0.8)
    head[:dropped] = 0.6
    found = look(base, head)
    assert (found.stop, found.level, found.alpha_spent) == (stop, 0.05, pytest.approx(0.05))


def test_a_metric_without_noise_does_not_ask_for_runs_that_would_be_the_same() -> None:
    """Retrieval lost the right document in three questions of twelve; that will not change."""
    hits = np.ones((N, 6)), np.ones((N, 6))
    hits[1][:3] = 0
    pairs = {"faithfulness": (scores(0.8), scores(0.8)), "hit_rate": hits}
    found = look_at(pairs, np.zeros(N, dtype=bool), dict.fromkeys(pairs, 0.0), PLAN, 2)
    assert found.comparisons["hit_rate"].p_value == pytest.approx(1 / 8)
    assert (found.chances["hit_rate"], found.stop) == (0, "unlikely")


@pytest.mark.parametrize("metrics", [1, 2, 3, 4])
@pytest.mark.parametrize("plan", [RunPlan(1, 1), RunPlan(2, 6)])
def test_runs_without_noise_keep_to_the_five_percent_with_several_gates(metrics: int, plan: RunPlan) -> None:
    """Independent metrics whose questions move by the same amount, up or down by chance: the exact size of the gate."""
    names = ("faithfulness", "hit_rate", "answer_relevance", "abstention_rate")[:metrics]
    moved = 7

    def is_red(falls: int, others: int) -> bool:
        pairs = {}
        for name in names:
            head = np.full((moved, plan.fewest), 0.6)
            head[: falls if name == names[0] else others] = 0.4
            pairs[name] = np.full((moved, plan.fewest), 0.5), head if name != "abstention_rate" else 1 - head
        found = look_at(pairs, np.zeros(moved, dtype=bool), dict.fromkeys(pairs, 0.0), plan, plan.fewest)
        return bool(found.flagged)

    harmless = moved // 2
    fewest = next((falls for falls in range(moved + 1) if is_red(falls, harmless)), moved + 1)
    alone = sum(math.comb(moved, falls) for falls in range(fewest, moved + 1)) / 2**moved
    assert 1 - (1 - alone) ** metrics <= 0.05


def test_a_fixed_number_of_runs_is_one_look() -> None:
    found = look(scores(0.8), scores(0.75), plan=RunPlan(2, 2))
    assert (found.level, found.detectable_factor) == (0.05, 1)
    assert found.stop in ("all_runs", "worse")


def test_several_metrics_share_alpha_from_the_smallest_p_on() -> None:
    """Holm: p = 0.019 flags one metric alone, but as the smallest of three it does not."""
    base, weak, strong = scores(0.8), scores(0.8), scores(0.5)
    weak[:5] = [[0.7, 0.8] * 3] * 5

    def flagged(*heads: np.ndarray) -> set[str]:
        pairs = {
            name: (base, head)
            for name, head in zip(("faithfulness", "hit_rate", "abstention_rate"), heads, strict=False)
        }
        found = look_at(pairs, np.zeros(N, dtype=bool), dict.fromkeys(pairs, 0.0), RunPlan(2, 2), 2)
        return set(found.flagged)

    assert 0.05 / 3 < look(base, weak, plan=RunPlan(2, 2)).comparisons["faithfulness"].p_value < 0.05 / 2
    assert flagged(weak) == {"faithfulness"}
    assert flagged(weak, base, base) == set()
    assert flagged(weak, strong) == {"faithfulness", "hit_rate"}
    assert flagged(weak, strong, base) == {"faithfulness", "hit_rate"}
