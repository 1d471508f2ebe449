"""How many runs of each side there are to be."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RunPlan:
    """Runs of each side: ``fewest`` always, up to ``most`` while they can still change the verdict."""

    fewest: int
    most: int

    def __post_init__(self) -> None:
        if not 1 <= self.fewest <= self.most:
            raise ValueError(f"1 <= fewest <= most must hold, not {self.fewest} and {self.most}")

    @property
    def looks(self) -> range:
        """Numbers of runs after which the verdict is looked at."""
        return range(self.fewest, self.most + 1)
