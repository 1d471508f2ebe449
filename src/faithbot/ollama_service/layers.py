"""How much has come of what a registry sends in layers."""

from __future__ import annotations

import time

_SECONDS_BETWEEN_LINES = 5.0


class Layers:
    """The layers of one pull, and when it is time to say again how far they are."""

    def __init__(self) -> None:
        self._sizes: dict[str, tuple[int, int]] = {}
        self._last_line = time.monotonic()

    @property
    def here(self) -> int:
        """Bytes of all layers that have come."""
        return sum(here for here, _ in self._sizes.values())

    @property
    def total(self) -> int:
        """Bytes of all layers that are known of so far."""
        return sum(total for _, total in self._sizes.values())

    def take(self, layer: str, here: int, total: int) -> bool:
        """Take how many bytes of a layer are here; whether a line about it is due."""
        self._sizes[layer] = (here, total)
        is_due = self.total > 0 and time.monotonic() - self._last_line >= _SECONDS_BETWEEN_LINES
        if is_due:
            self._last_line = time.monotonic()
        return is_due
