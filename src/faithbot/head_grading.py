"""How a pull request would have everybody graded after its merge: read now only to see whether it can be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithbot.accepted import load_accepted
from faithbot.errors import UsageError
from faithbot.golden import load_golden_set
from faithbot.judge.measured import require_measured
from faithbot.results import ResultWarning

if TYPE_CHECKING:
    from faithbot.config import LoadedConfig


def find_broken_grading(head: LoadedConfig) -> list[ResultWarning]:
    """One warning where head's golden set, accepted claims or gate would end every comparison with an error."""
    try:
        head.require(head.golden_path, "golden")
        golden = load_golden_set(head.snapshot, head.golden_path)
        if head.accepted_path is not None:
            head.require(head.accepted_path, "accepted")
            load_accepted(head.snapshot, head.accepted_path, golden)
        require_measured(head, head.config.judge)
    except UsageError as error:
        first, *_ = str(error).splitlines()
        return [
            ResultWarning(
                code="broken_grading",
                message=f"Mend this before the merge, or no pull request can be evaluated after it: {first}",
            )
        ]
    return []
