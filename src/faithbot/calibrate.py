"""`faithbot calibrate`: the judge over claims that people have labelled, and what it tells written into a file."""

from __future__ import annotations

import asyncio
import posixpath
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from faithbot.config import JudgeSettings, load_config
from faithbot.errors import UsageError
from faithbot.judge.calibrated import CalibratedJudge
from faithbot.judge.calibration import continue_calibration, write_calibration
from faithbot.judge.files import JudgeFiles, read_judge_files
from faithbot.judge.registry import open_judge
from faithbot.judge_file import judge_settings
from faithbot.labelled_claims import LabelledClaims, read_labelled_claims
from faithbot.measure_agreement import Measured, measure_agreement, require_both_kinds
from faithbot.models.pool import ModelPool
from faithbot.models.tokens import estimate_tokens
from faithbot.output_files import OutputFile
from faithbot.repository import config_path, find_root, open_snapshot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faithbot.config import LoadedConfig
    from faithbot.judge.calibration import CalibrationFile
    from faithbot.judge.protocol import Claim, Judge, JudgeFingerprint
    from faithbot.labelled_claims import LabelledClaim
    from faithbot.progress import Progress

DEFAULT_CONFIG = "faithbot.yaml"
_DEFAULT_FILE = "judge-calibration.json"


@dataclass(frozen=True)
class CalibrateRequest:
    """What the user asked for."""

    labels: Path
    cache: Path
    method: str | None = None
    """With ``model``: another judge than the configured one."""
    model: str | None = None
    config: str = DEFAULT_CONFIG
    """Path of `faithbot.yaml` from the repository's root, in the working tree."""
    output: Path | None = None
    """None: the file that `judge.calibration` names, else one beside the configuration."""


@dataclass(frozen=True)
class Calibrated:
    """What was measured and where it was written."""

    measured: Measured
    fingerprint: JudgeFingerprint
    settings: JudgeSettings
    labelled: LabelledClaims
    path: Path
    setting: str
    """The file as `judge.calibration` names it."""
    given_up: str | None
    """What was replaced with it; None where nothing is lost."""


@dataclass(frozen=True)
class ConfiguredJudge:
    """The judge to measure, as it is without any calibration, and where to keep what is known of it."""

    settings: JudgeSettings
    files: JudgeFiles
    folder: Path
    """Of the configuration, which names files from there; the current one where there is none."""
    file: str
    """Where the calibration belongs, from that folder."""


async def calibrate(request: CalibrateRequest, progress: Progress) -> Calibrated:
    """Judge all labelled claims, measure, and write the file."""
    labelled = read_labelled_claims(request.labels)
    require_both_kinds(labelled.claims)
    configured = find_judge(request.config, request.method, request.model)
    path = request.output or configured.folder / configured.file
    output = OutputFile(path)
    async with ModelPool(request.cache) as models:
        judge = open_judge(configured.settings, models.open, configured.files, request.cache)
        fingerprint = await judge.fingerprint()
        file, given_up = continue_calibration(path, fingerprint)
        claims = await _check_all(judge, labelled.claims, models, progress)
    measured = measure_agreement(labelled.claims, claims, fingerprint.method)
    parts = {"calibration": measured.calibration, "agreement": measured.agreement}
    file, outdated = await _without_outdated_probe(file.model_copy(update=parts), judge)
    write_calibration(output, file)
    setting = posixpath.relpath(path.resolve().as_posix(), configured.folder.resolve().as_posix())
    return Calibrated(measured, fingerprint, configured.settings, labelled, path, setting, given_up or outdated)


async def _without_outdated_probe(file: CalibrationFile, judge: Judge) -> tuple[CalibrationFile, str | None]:
    """Blind spots are those of one calibration: without them where it is another now, and a word that says so."""
    fingerprint = await CalibratedJudge(judge, file).fingerprint()
    if file.probe is None or file.probe.judge == fingerprint.digest:
        return file, None
    word = "What `faithbot probe` found was of this judge with another calibration: it is left out, probe again."
    return file.model_copy(update={"probe": None}), word


def find_judge(config: str, method: str | None, model: str | None) -> ConfiguredJudge:
    """The judge that the working tree's configuration names, or another with its prompts.

    Without a configuration, and where neither ``method`` nor ``model`` is given, the judge without a model.
    """
    loaded = _load(config)
    other = None if method is None and model is None else judge_settings(method, model)
    if loaded is None:
        return ConfiguredJudge(other or judge_settings(None, None), JudgeFiles(), Path(), _DEFAULT_FILE)
    configured = loaded.config.judge
    return ConfiguredJudge(
        settings=(other or configured).model_copy(update={"calibration": None}),
        files=read_judge_files(loaded, with_calibration=False),
        folder=find_root(Path()) / posixpath.dirname(loaded.path),
        file=(None if other else configured.calibration) or _DEFAULT_FILE,
    )


def _load(config: str) -> LoadedConfig | None:
    """The working tree's configuration; None where the default one is not there, or not even a repository."""
    try:
        root = find_root(Path())
    except UsageError:
        if config != DEFAULT_CONFIG:
            raise
        return None
    path, snapshot = config_path(root, Path(), config), open_snapshot(root, None)
    if snapshot.has(path):
        return load_config(snapshot, path)
    if config != DEFAULT_CONFIG:
        raise UsageError(f"{path} does not exist in the working tree: write it or `git add` it, or leave --config out.")
    return None


async def _check_all(
    judge: Judge, labelled: Sequence[LabelledClaim], models: ModelPool, progress: Progress
) -> list[Claim]:
    """All claims judged, in their order."""
    judge.reserve(max(sum(map(estimate_tokens, (row.claim, *row.contexts))) for row in labelled))
    progress.start(len(labelled))
    slots = asyncio.Semaphore(models.parallel_calls)

    async def check(number: int, row: LabelledClaim) -> Claim:
        async with slots:
            claim = await judge.check(row.claim, row.contexts)
            progress.advance(f"claim {number}")
            return claim

    return list(await asyncio.gather(*(check(number, row) for number, row in enumerate(labelled, start=1))))
