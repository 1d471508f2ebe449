"""What a level says by itself."""

from __future__ import annotations

import numpy as np
import pytest

from faithbot.levels import floor_standing, read_level
from faithbot.metrics import METRICS
from faithbot.noise import compare_runs

FAITHFULNESS, CONTRADICTIONS = METRICS["faithfulness"], METRICS["contradiction_rate"]


def side(level: float, spread: float = 0.05) -> np.ndarray:
    """Eight questions whose two runs lie ``spread`` on either side of ``level``: a band of 0.031 at 0.05."""
    return np.array([[level - spread, level + spread]] * 8)


def test_bands_begin_at_their_lower_border() -> None:
    means = (1.0, 0.85, 0.8499, 0.65, 0.6499, 0.5, 0.4999, 0.0, None)
    bands = ["good", "good", "room", "room", "often_invents", "often_invents", "broken", "broken", None]
    assert [read_level("faithfulness", mean) for mean in means] == bands
    assert read_level("hit_rate", 0.3) is None


@pytest.mark.parametrize(
    ("base", "head", "standing"),
    [
        (0.80, 0.70, "kept"),
        (0.80, 0.65, "kept"),
        (0.80, 0.64, "within_noise"),
        (0.80, 0.60, "broken"),
        (0.65, 0.60, "broken"),
        (0.64, 0.50, "below_before"),
        (0.50, 0.60, "below_before"),
        (0.50, 0.70, "kept"),
    ],
)
def test_a_floor_is_broken_by_the_change_that_leads_below_it_beyond_the_noise(
    base: float, head: float, standing: str
) -> None:
    assert floor_standing(FAITHFULNESS, 0.65, side(base), side(head), 0.05) == standing
    mirrored = floor_standing(CONTRADICTIONS, 1 - 0.65, 1 - side(base), 1 - side(head), 0.05)
    assert mirrored == standing


def test_without_noise_or_without_a_base_the_mean_decides() -> None:
    assert floor_standing(FAITHFULNESS, 0.65, side(0.8, 0), side(0.649, 0), 0.05) == "broken"
    assert floor_standing(FAITHFULNESS, 0.65, None, side(0.5), 0.05) == "broken"
    assert floor_standing(FAITHFULNESS, 0.65, None, np.full((3, 2), np.nan), 0.05) == "kept"


def test_one_run_tells_nothing_of_the_noise_so_a_crossing_is_never_certain() -> None:
    assert floor_standing(FAITHFULNESS, 0.65, np.full((8, 1), 0.9), np.full((8, 1), 0.3), 0.05) == "within_noise"
    unscored = np.array([[0.3, np.nan], [np.nan, 0.3]] * 4)
    assert floor_standing(FAITHFULNESS, 0.65, None, unscored, 0.05) == "within_noise"


def test_a_mean_on_the_floor_but_for_rounding_keeps_it() -> None:
    tenths = np.array([[0.1 + 0.2], [0.3 - 1e-17], [0.1 * 3]])
    assert floor_standing(FAITHFULNESS, 0.3, None, tenths, 0.05) == "kept"
    assert floor_standing(CONTRADICTIONS, 0.3, None, tenths, 0.05) == "kept"


@pytest.mark.parametrize("distance", [0.0, 0.01, 0.02])
def test_where_base_stands_on_the_floor_it_adds_few_false_alarms(distance: float) -> None:
    """Fewer than 2 of 100 unchanged pull requests turn red by the floor alone."""
    rng = np.random.default_rng(3)
    by_floor_alone = 0
    for _ in range(600):
        base, head = rng.normal(0.65 + distance, 0.1, (2, 20, 2)).round(1)
        if floor_standing(FAITHFULNESS, 0.65, base, head, 0.05) == "broken":
            by_floor_alone += not compare_runs(base, head).flagged
    assert by_floor_alone / 600 < 0.02
