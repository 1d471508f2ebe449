"""How good is a level by itself, whatever the change? Bands of faithfulness, and floors that a team sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from faithbot.noise import noise_of_mean

if TYPE_CHECKING:
    from faithbot.metrics import Metric
    from faithbot.relabelling import Floats

Reading = Literal["good", "room", "often_invents", "broken"]
FloorStanding = Literal["kept", "within_noise", "below_before", "broken"]

BANDS: tuple[tuple[float, Reading], ...] = ((0.85, "good"), (0.65, "room"), (0.50, "often_invents"))
"""Where each reading of faithfulness begins; below the last it is `broken`."""
_ROUNDING = 1e-9


def read_level(metric: str, mean: float | None) -> Reading | None:
    """What a mean faithfulness says; nothing of other metrics, which depend too much on what is asked."""
    if metric != "faithfulness" or mean is None:
        return None
    return next((reading for lowest, reading in BANDS if mean >= lowest), "broken")


def floor_standing(metric: Metric, floor: float, base: Floats | None, head: Floats, alpha: float) -> FloorStanding:
    """Whether head's mean keeps to the floor; for metrics that are better when lower, the floor is a ceiling.

    Scores of shape (questions, runs), of the compared questions. ``within_noise``: head is on the wrong side, by less
    than the noise of its own mean, or by any distance where one run a question tells nothing of the noise.
    ``below_before``: base's mean was there already. ``broken``: this change led there.
    """
    sign = 1 if metric.better == "higher" else -1
    now = noise_of_mean(head, alpha=alpha)
    if not now.n_questions or sign * (floor - now.mean) <= _ROUNDING:
        return "kept"
    if base is not None and sign * (floor - noise_of_mean(base, alpha=alpha).mean) > _ROUNDING:
        return "below_before"
    knows_noise = bool((np.isfinite(head).sum(axis=1) > 1).any())
    return "broken" if knows_noise and sign * (floor - now.mean) > now.noise_band else "within_noise"
