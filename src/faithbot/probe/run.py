"""`faithbot probe`: a judge over probes made of the configured documents, and what it overlooked."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from faithbot.config import load_config
from faithbot.errors import EvaluationError, UsageError
from faithbot.judge import blind_spots
from faithbot.judge.blind_spots import FaultKind, ProbeResult, Rewriting
from faithbot.judge.calibrated import without_calibration
from faithbot.judge.calibration import CalibrationFile, continue_calibration, find_calibration, write_calibration
from faithbot.judge.files import JudgeFiles, NamedCalibration, read_judge_files
from faithbot.judge.protocol import JudgeFingerprint, Support
from faithbot.judge.registry import open_judge
from faithbot.judge_file import chosen_judge
from faithbot.models.pool import ModelPool
from faithbot.models.tokens import estimate_tokens
from faithbot.output_files import OutputFile
from faithbot.plain_text import count
from faithbot.probe.passages import sentences_of
from faithbot.probe.probes import make_probes
from faithbot.repository import config_path, find_root, open_snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from faithbot.config import LoadedConfig
    from faithbot.judge.protocol import Claim, Judge
    from faithbot.probe.probes import Probe
    from faithbot.progress import Progress

PER_KIND = 30
"""Probes of each kind, where nobody asks for another number: an interval of about ±17 points."""


@dataclass(frozen=True)
class ProbeRequest:
    """What the user asked for."""

    repository: Path
    config: str
    """Path of `faithbot.yaml` from the repository's root, in the working tree."""
    cache: Path
    method: str | None = None
    """With ``model``: another judge than the configured one."""
    model: str | None = None
    per_kind: int = PER_KIND
    output: Path | None = None
    """Calibration file to write the result into; None: it is only shown."""


class JudgedProbe(BaseModel):
    """A claim of which it is known whether the passages support it, and what the judge says."""

    model_config = ConfigDict(frozen=True)

    kind: FaultKind | Rewriting
    is_sound: bool
    text: str
    sentence: str
    """What it was made of, as the document says it."""
    document: str
    support: Support | None
    """None where the judge gave none."""
    probability: float | None
    unscored: str | None

    @property
    def is_overlooked(self) -> bool:
        """A planted fault that the judge holds supported."""
        return not self.is_sound and self.support == "supported"


class ProbeReport(BaseModel):
    """Everything that was judged, and its counts."""

    model_config = ConfigDict(frozen=True)

    fingerprint: JudgeFingerprint
    result: ProbeResult
    probes: tuple[JudgedProbe, ...]
    per_kind: int
    """At most so many were made of each kind."""
    passages: str
    """What a sentence was held against, in words: other chunks make other passages, and other counts."""
    given_up: str | None = None
    """What of the calibration file was replaced; None where nothing is lost."""


async def probe(request: ProbeRequest, progress: Progress) -> ProbeReport:
    """Make the probes, judge them, count, and write the file if there is one to write."""
    root = find_root(request.repository)
    loaded = _load(root, request)
    settings = chosen_judge(loaded, request.method, request.model)
    output = OutputFile(request.output) if request.output else None
    known = find_calibration(request.output) if request.output else None
    probes = make_probes(sentences_of(loaded), request.per_kind)
    progress.say(f"{count(len(probes), 'sentence')} to judge, sound ones and planted faults")
    files = _judge_files(loaded, request.output, known)
    async with ModelPool(request.cache) as models:
        judge = open_judge(settings, models.open, files, request.cache)
        fingerprint = await judge.fingerprint()
        judged = await _check_all(judge, probes, models, progress)
    result = count_found(judged, fingerprint)
    given_up = None
    if output is not None and request.output is not None:
        file, given_up = continue_calibration(known, without_calibration(fingerprint)[0], request.output)
        write_calibration(output, file.model_copy(update={"probe": result}))
    return ProbeReport(
        fingerprint=fingerprint,
        result=result,
        probes=judged,
        per_kind=request.per_kind,
        passages=_passages(loaded),
        given_up=given_up,
    )


def _judge_files(loaded: LoadedConfig, output: Path | None, known: CalibrationFile | None) -> JudgeFiles:
    """The configuration's; where the result goes into a calibration file, the judge is as that file calibrates it.

    The file may not be named by the configuration yet; once it is, what was found is what its judge overlooks.
    """
    if output is None:
        return read_judge_files(loaded)
    files = read_judge_files(loaded, with_calibration=False)
    return files if known is None else replace(files, calibration=NamedCalibration(str(output), known))


def _passages(loaded: LoadedConfig) -> str:
    pipeline = loaded.config.system.pipeline
    if pipeline is None:
        return "with the passages that were recorded with each"
    size, overlap = pipeline.chunking.size, pipeline.chunking.overlap
    return f"with {count(pipeline.retrieval.top_k, 'passage')} each, of {size} characters and {overlap} overlap"


def _load(root: Path, request: ProbeRequest) -> LoadedConfig:
    path, snapshot = config_path(root, request.repository, request.config), open_snapshot(root, None)
    if not snapshot.has(path):
        raise UsageError(
            f"{path} does not exist in the working tree: write it or `git add` it, or name yours with --config."
        )
    return load_config(snapshot, path)


async def _check_all(
    judge: Judge, probes: Sequence[Probe], models: ModelPool, progress: Progress
) -> tuple[JudgedProbe, ...]:
    """All probes judged, in their order."""
    judge.reserve(max(sum(map(estimate_tokens, (probe.text, *probe.contexts))) for probe in probes))
    progress.start(len(probes), "sentences")

    async def check(probe: Probe) -> JudgedProbe:
        judged = _judged(probe, await judge.check(probe.text, probe.contexts))
        progress.advance(probe.kind)
        return judged

    # Those with the same passages one after another: they share the longest part of their prompt.
    in_turn = sorted(probes, key=lambda probe: probe.contexts)
    judged = dict(zip(in_turn, await models.work_on(in_turn, check), strict=True))
    return tuple(judged[probe] for probe in probes)


def _judged(probe: Probe, claim: Claim) -> JudgedProbe:
    return JudgedProbe(
        kind=probe.kind,
        is_sound=probe.is_sound,
        text=probe.text,
        sentence=probe.sentence,
        document=probe.document,
        support=claim.support,
        probability=claim.probability,
        unscored=claim.unscored,
    )


def count_found(probes: Iterable[JudgedProbe], fingerprint: JudgeFingerprint) -> ProbeResult:
    """Counts by kind; :class:`EvaluationError` where the judge gave no support at all."""
    unsupported: dict[tuple[bool, str], list[bool]] = defaultdict(list)
    reasons = []
    for judged in probes:
        if judged.support is None:
            reasons.append(judged.unscored)
        else:
            unsupported[judged.is_sound, judged.kind].append(judged.support != "supported")
    if not unsupported:
        raise EvaluationError(f"the judge could not judge one of {len(reasons)} sentences: {reasons[0]}")
    counts = {key: (sum(flags), len(flags)) for key, flags in unsupported.items()}
    return ProbeResult.model_validate(
        {
            "judge": fingerprint.digest,
            "faults": {kind: blind_spots.found(*pair) for (sound, kind), pair in counts.items() if not sound},
            "sound": {kind: blind_spots.rejected(*pair) for (sound, kind), pair in counts.items() if sound},
            "unscored": len(reasons),
        }
    )
