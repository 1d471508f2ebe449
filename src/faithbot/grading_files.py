"""The files that grade: golden set and accepted claims, as a configuration names them, and whether they can be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithbot.accepted import load_accepted
from faithbot.errors import UsageError
from faithbot.golden import load_golden_set
from faithbot.judge.files import read_judge_files
from faithbot.judge.measured import require_measured
from faithbot.results import ResultWarning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faithbot.accepted import AcceptedEntry
    from faithbot.config import LoadedConfig
    from faithbot.golden import Question


def read_golden_set(loaded: LoadedConfig) -> tuple[Question, ...]:
    """The golden set of one side."""
    loaded.require(loaded.golden_path, "golden")
    return load_golden_set(loaded.snapshot, loaded.golden_path)


def read_accepted(loaded: LoadedConfig, golden: Sequence[Question]) -> tuple[AcceptedEntry, ...]:
    """The claims that one side accepts; none where it names no file of them."""
    if loaded.accepted_path is None:
        return ()
    loaded.require(loaded.accepted_path, "accepted")
    return tuple(load_accepted(loaded.snapshot, loaded.accepted_path, golden))


def find_broken_grading(head: LoadedConfig) -> list[ResultWarning]:
    """One warning where head's golden set, accepted claims or gate would end every comparison after its merge."""
    try:
        read_accepted(head, read_golden_set(head))
        require_measured(head, head.config.judge)
        read_judge_files(head)
    except UsageError as error:
        first, *_ = str(error).splitlines()
        return [
            ResultWarning(
                code="broken_grading",
                message=f"After this merge no pull request could be evaluated any more: {first}",
            )
        ]
    return []
