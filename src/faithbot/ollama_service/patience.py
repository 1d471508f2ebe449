"""How often a registry is asked again, for an image as for a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import stamina

if TYPE_CHECKING:
    from collections.abc import Iterable

TRIES = 5
FIRST_WAIT = 1.0
"""Seconds before the second try; doubled before each further one."""


def tries(on: type[Exception] | tuple[type[Exception], ...], first_wait: float) -> Iterable[stamina.Attempt]:
    """One attempt after another until a block succeeds. The last error is raised, and any other than ``on`` at once."""
    return stamina.retry_context(
        on=on,
        attempts=TRIES,
        timeout=None,  # a large file may rightly take minutes: only the tries are bounded
        wait_initial=first_wait,
        wait_max=60 * first_wait,
        wait_jitter=first_wait,
    )
