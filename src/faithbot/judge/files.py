"""The files of a team that a judge works with: read from base, like everything that grades."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from faithbot.errors import UsageError
from faithbot.judge.calibration import parse_calibration
from faithbot.text_files import read_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faithbot.config import LoadedConfig
    from faithbot.judge.calibration import CalibrationFile


@dataclass(frozen=True)
class NamedCalibration:
    """A calibration file and where it stands."""

    path: str
    """From the repository's root."""
    content: CalibrationFile


@dataclass(frozen=True)
class JudgeFiles:
    """What the configuration's `judge` names."""

    prompts: Mapping[str, str] = field(default_factory=dict)
    """Prompts in the place of packaged ones, by file name."""
    calibration: NamedCalibration | None = None


def read_judge_files(loaded: LoadedConfig, *, with_calibration: bool = True) -> JudgeFiles:
    """The files of one side; :class:`UsageError` names what is not there.

    The calibration is left out where it is about to be made.
    """
    return JudgeFiles(prompts=_prompts(loaded), calibration=_calibration(loaded) if with_calibration else None)


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


def _calibration(loaded: LoadedConfig) -> NamedCalibration | None:
    path = loaded.calibration_path
    if path is None:
        return None
    loaded.require(path, "judge", "calibration")
    content = parse_calibration(read_text(loaded.snapshot, path), f"{path} ({loaded.snapshot.label})")
    return NamedCalibration(path, content)
