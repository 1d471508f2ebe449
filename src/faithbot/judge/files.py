"""The files of a team that a judge works with: read from base, like everything that grades."""

from __future__ import annotations

import difflib
import posixpath
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

from faithbot.errors import UsageError
from faithbot.judge.calibration import parse_calibration
from faithbot.text_files import read_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from faithbot.config import LoadedConfig
    from faithbot.judge.calibration import CalibrationFile

PACKAGED_PROMPTS = resources.files("faithbot.judge").joinpath("prompts")
"""Folder of the prompts that come with faithbot."""


class PromptFile(NamedTuple):
    """A prompt of a team."""

    text: str
    shown: str
    """How errors call it: its path and whose it is."""


@dataclass(frozen=True)
class NamedCalibration:
    """A calibration file and where it stands."""

    path: str
    """From the repository's root."""
    content: CalibrationFile


@dataclass(frozen=True)
class JudgeFiles:
    """What the configuration's `judge` names."""

    prompts: Mapping[str, PromptFile] = field(default_factory=dict)
    """In the place of packaged ones, by file name; each was rendered once."""
    calibration: NamedCalibration | None = None


def read_judge_files(loaded: LoadedConfig, *, with_calibration: bool = True) -> JudgeFiles:
    """The files of one side; :class:`UsageError` names what is not there.

    The calibration is left out where it is about to be made.
    """
    return JudgeFiles(prompts=_prompts(loaded), calibration=_calibration(loaded) if with_calibration else None)


def _prompts(loaded: LoadedConfig) -> dict[str, PromptFile]:
    folder = loaded.judge_prompts_path
    if folder is None:
        return {}
    from faithbot.judge.prompt_templates import check_prompts  # slow, and mostly there is no folder

    packaged = {entry.name: entry.read_text(encoding="utf-8") for entry in PACKAGED_PROMPTS.iterdir()}
    label = loaded.snapshot.label
    paths = [path for path in loaded.snapshot.paths() if posixpath.dirname(path) == folder]
    own = {}
    for path in paths:
        name = posixpath.basename(path)
        if name in packaged:
            own[name] = PromptFile(read_text(loaded.snapshot, path), f"{path} ({label})")
        elif _looks_like_prompt(name, packaged):
            raise UsageError(f"{loaded.place('judge', 'prompts')}: {path} {_replaces_nothing(name, packaged)}")
    if not own:
        raise UsageError(
            f"{loaded.place('judge', 'prompts')}: there is no prompt in {folder} on {label}: "
            f"name one as {', '.join(sorted(packaged))}."
        )
    check_prompts(packaged, own)
    return own


def _looks_like_prompt(name: str, packaged: Iterable[str]) -> bool:
    """A note about the folder, or what an editor or git needs there, is no mistaken prompt."""
    stem, extension = posixpath.splitext(name.casefold())
    if stem == "readme":
        return False
    return extension == ".md" or stem in {posixpath.splitext(known)[0] for known in packaged}


def _replaces_nothing(name: str, packaged: Iterable[str]) -> str:
    known = sorted(packaged)
    close = difflib.get_close_matches(name, known, n=1)
    cure = f"did you mean {close[0]}?" if close else f"name it as one of {', '.join(known)}, or move it elsewhere."
    return f"replaces no prompt: {cure}"


def _calibration(loaded: LoadedConfig) -> NamedCalibration | None:
    path = loaded.calibration_path
    if path is None:
        return None
    loaded.require(path, "judge", "calibration")
    content = parse_calibration(read_text(loaded.snapshot, path), f"{path} ({loaded.snapshot.label})")
    return NamedCalibration(path, content)
