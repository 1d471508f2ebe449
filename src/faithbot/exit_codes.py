"""What a process ends with: the same on the command line and in the action."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from faithbot.results import Results, Verdict

WRONG_USAGE = 64
FAULT = 70
INTERRUPTED = 130

_OF_VERDICT: dict[Verdict, int] = {"pass": 0, "first": 0, "regression": 1, "inconclusive": 2}
_OF_FAILURE = {"usage": WRONG_USAGE, "evaluation": 2, "fault": FAULT}


def exit_code(results: Results) -> int:
    """0 pass or first, 1 regression, 2 inconclusive or not to be done, 64 wrong usage, 70 a fault of faithbot."""
    return _OF_FAILURE[results.failure.kind] if results.failure else _OF_VERDICT[results.verdict]
