"""The files of a team that a judge works with: read from base, like everything that grades."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from faithbot.errors import UsageError
from faithbot.text_files import read_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faithbot.config import LoadedConfig


@dataclass(frozen=True)
class JudgeFiles:
    """What the configuration's `judge` names, as text."""

    prompts: Mapping[str, str] = field(default_factory=dict)
    """Prompts in the place of packaged ones, by file name."""


def read_judge_files(loaded: LoadedConfig) -> JudgeFiles:
    """The files of one side; :class:`UsageError` names what is not there."""
    return JudgeFiles(prompts=_prompts(loaded))


def _prompts(loaded: LoadedConfig) -> dict[str, str]:
    folder = loaded.judge_prompts_path
    if folder is None:
        return {}
    paths = [path for path in loaded.snapshot.paths() if posixpath.dirname(path) == folder]
    if not paths:
        raise UsageError(
            f"{loaded.place('judge', 'prompts')}: there is no file in {folder} on {loaded.snapshot.label}."
        )
    return {posixpath.basename(path): read_text(loaded.snapshot, path) for path in paths}
