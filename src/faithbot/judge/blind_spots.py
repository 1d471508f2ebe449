"""What a judge overlooks: how many planted faults of each kind it finds, how many sound sentences it rejects."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

FaultKind = Literal[
    "number", "date", "unit", "name", "negation", "antonym", "condition", "addition", "refusal"
]  # fmt: skip
Rewriting = Literal["verbatim", "numbers", "reordered", "joined"]
Count = Annotated[int, Field(ge=0)]
_QUANTILE = NormalDist().inv_cdf(0.975)


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Found(_Part):
    """Planted faults of one kind."""

    found: Count
    """Held unsupported, as they are."""
    of: Annotated[int, Field(ge=1)]
    """Judged."""
    interval: tuple[float, float]
    """95 %, of the share that is found."""


class Rejected(_Part):
    """Sound sentences, rewritten in one way."""

    rejected: Count
    """Held unsupported, although they are not."""
    of: Annotated[int, Field(ge=1)]
    """Judged."""
    interval: tuple[float, float]
    """95 %, of the share that is rejected."""


class ProbeResult(_Part):
    """Of one judge on one set of documents; kinds that no sentence of them allows are left out."""

    faults: dict[FaultKind, Found]
    sound: dict[Rewriting, Rejected]
    unscored: Count = 0
    """Sentences for which the judge gave no support; they count nowhere else."""


def wilson_interval(successes: int, trials: int) -> tuple[float, float]:
    """95 % interval of a share (Wilson 1927): right for few trials, and never beyond 0 and 1."""
    if not 0 <= successes <= trials or trials == 0:
        raise ValueError(f"{successes} of {trials} is no share")
    square = _QUANTILE**2
    centre = successes + square / 2
    half = _QUANTILE * math.sqrt(successes * (trials - successes) / trials + square / 4)
    low, high = ((centre + sign * half) / (trials + square) for sign in (-1, 1))
    return (0.0 if successes == 0 else low, 1.0 if successes == trials else high)
