"""`faithbot calibrate`: the judge over claims that people have labelled, and what it tells written into a file."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from faithbot.config import JudgeSettings, load_config
from faithbot.errors import UsageError
from faithbot.judge.calibrated import CalibratedJudge
from faithbot.judge.calibration import continue_calibration, find_calibration, write_calibration
from faithbot.judge.files import JudgeFiles, read_judge_files
from faithbot.judge.registry import open_judge
from faithbot.judge_file import chosen_judge, judge_settings
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
    setting: str | None
    """The file as `judge.calibration` names it; None where it cannot, outside the repository."""
    given_up: str | None
    """What was replaced with it; None where nothing is lost."""


@dataclass(frozen=True)
class ConfiguredJudge:
    """The judge to measure, as it is without any calibration, and where to keep what is known of it."""

    settings: JudgeSettings
    files: JudgeFiles
    root: Path | None
    """Of the repository; None where there is none."""
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
    found = find_calibration(path)
    async with ModelPool(request.cache) as models:
        judge = open_judge(configured.settings, models.open, configured.files, request.cache)
        fingerprint = await judge.fingerprint()
        file, given_up = continue_calibration(found, fingerprint, path)
        claims = await _check_all(judge, labelled.claims, models, progress)
    measured = measure_agreement(labelled.claims, claims, fingerprint.method)
    parts = {"calibration": measured.calibration, "agreement": measured.agreement}
    file, outdated = await _without_outdated_probe(file.model_copy(update=parts), judge)
    write_calibration(output, file)
    word = given_up or outdated
    return Calibrated(measured, fingerprint, configured.settings, labelled, path, _setting(path, configured), word)


async def _without_outdated_probe(file: CalibrationFile, judge: Judge) -> tuple[CalibrationFile, str | None]:
    """Blind spots are those of one calibration: without them where it is another now, and a word that says so."""
    fingerprint = await CalibratedJudge(judge, file).fingerprint()
    if file.probe is None or file.probe.judge == fingerprint.digest:
        return file, None
    word = "What `faithbot probe` found was of this judge with another calibration: it is left out, probe again."
    return file.model_copy(update={"probe": None}), word


def _setting(path: Path, configured: ConfiguredJudge) -> str | None:
    root = configured.root or configured.folder
    if not path.resolve().is_relative_to(root.resolve()):
        return None
    return posixpath.relpath(path.resolve().as_posix(), configured.folder.resolve().as_posix())


def find_judge(config: str, method: str | None, model: str | None) -> ConfiguredJudge:
    """The judge that the working tree's configuration names, or another with its prompts.

    Without a configuration, and where neither ``method`` nor ``model`` is given, the judge without a model.
    """
    root = _root(config)
    loaded = None if root is None else _load(root, config)
    if root is None or loaded is None:
        return ConfiguredJudge(judge_settings(method, model), JudgeFiles(), root, Path(), _DEFAULT_FILE)
    is_other = method is not None or model is not None
    return ConfiguredJudge(
        settings=chosen_judge(loaded, method, model).model_copy(update={"calibration": None}),
        files=read_judge_files(loaded, with_calibration=False),
        root=root,
        folder=root / posixpath.dirname(loaded.path),
        file=(None if is_other else loaded.config.judge.calibration) or _DEFAULT_FILE,
    )


def _root(config: str) -> Path | None:
    """The repository; None where there is none and no configuration in it was asked for."""
    try:
        return find_root(Path())
    except UsageError:
        if config != DEFAULT_CONFIG:
            raise
        return None


def _load(root: Path, config: str) -> LoadedConfig | None:
    """The working tree's configuration; None where the default one is not there."""
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
    progress.start(len(labelled), "claims")

    async def check(numbered: tuple[int, LabelledClaim]) -> Claim:
        number, row = numbered
        claim = await judge.check(row.claim, row.contexts)
        progress.advance(f"claim {number}")
        return claim

    return await models.work_on(enumerate(labelled, start=1), check)
