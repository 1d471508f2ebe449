"""What a judge overlooks: how many planted faults of each kind it finds, how many sound sentences it rejects."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from faithbot.intervals import share

FaultKind = Literal[
    "number", "date", "unit", "name", "negation", "antonym", "condition", "addition", "refusal"
]  # fmt: skip
Rewriting = Literal["verbatim", "numbers", "reordered", "joined"]
Count = Annotated[int, Field(ge=0)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Found(_Part):
    """Planted faults of one kind."""

    found: Count
    """Held unsupported, as they are."""
    of: Annotated[int, Field(ge=1)]
    """Judged."""
    interval: tuple[float, float]
    """95 %, Wilson's, of the share that is found."""


class Rejected(_Part):
    """Sound sentences, rewritten in one way."""

    rejected: Count
    """Held unsupported, although they are not."""
    of: Annotated[int, Field(ge=1)]
    """Judged."""
    interval: tuple[float, float]
    """95 %, Wilson's, of the share that is rejected."""


class ProbeResult(_Part):
    """Of one judge on one set of documents; kinds that no sentence of them allows are left out."""

    judge: str
    """Digest of the fingerprint of the judge as it was asked, with its calibration where it has one."""
    faults: dict[FaultKind, Found]
    sound: dict[Rewriting, Rejected]
    unscored: Count = 0
    """Sentences for which the judge gave no support; they count nowhere else."""


def found(successes: int, of: int) -> Found:
    """Counts with their interval."""
    return Found(found=successes, of=of, interval=_interval(successes, of))


def rejected(failures: int, of: int) -> Rejected:
    """Counts with their interval."""
    return Rejected(rejected=failures, of=of, interval=_interval(failures, of))


def _interval(successes: int, of: int) -> tuple[float, float]:
    _, low, high = share(successes, of)
    return low, high
