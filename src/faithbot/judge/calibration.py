"""The file that says how far one judge can be trusted: its agreement with people, its calibration, its blind spots.

It is bound to the fingerprint of the judge as it is without the calibration. `faithbot calibrate` and `faithbot probe`
write a part each; of another judge's file nothing is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from faithbot.errors import UsageError
from faithbot.json_text import parse_json
from faithbot.judge.blind_spots import ProbeResult
from faithbot.judge.protocol import JudgeFingerprint, Support
from faithbot.text_files import decode

if TYPE_CHECKING:
    from pathlib import Path

    from faithbot.output_files import OutputFile

SCHEMA_VERSION: Literal[1] = 1
FEWEST_TO_CORRECT = 30
"""Labelled claims from which on the judge is calibrated and its mean corrected."""

PeopleLabel = Literal["supported", "contradicted", "not_found", "unsupported"]
"""What people say of a claim; `unsupported` where they do not tell contradicted from not found."""
Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class Estimate(_Part):
    """A figure and its 95 % interval."""

    value: float
    low: float
    high: float


class PlattCalibration(_Part):
    """Calibrated P(supported) = sigmoid(slope × logit(P) + intercept)."""

    slope: Annotated[float, Field(gt=0)]
    intercept: float
    decides_support: bool
    """A claim is supported from a calibrated P of 0.5. False: that is not clearly better than the judge's own limit."""


class LabelledMoments(_Part):
    """What prediction-powered inference needs of the labelled claims: their label (1 supported, 0 not) and what the
    judge predicted (the same), as moments, so that no text has to be kept. Variances have n - 1 below."""

    n: Annotated[int, Field(ge=2)]
    mean_label: Share
    mean_prediction: Share
    variance_label: Annotated[float, Field(ge=0)]
    variance_prediction: Annotated[float, Field(ge=0)]
    covariance: float


class CategoryAgreement(_Part):
    """Agreement on the claims of one category, such as a kind of fault."""

    n: Annotated[int, Field(ge=1)]
    agreed: Count
    """Claims that both hold supported, or both not."""


class Agreement(_Part):
    """How far the judge and people agree on claims. Where the calibration decides the support, of the judge so
    calibrated: each claim by a calibration that was fitted on the others."""

    n: Annotated[int, Field(ge=1)]
    """Claims that both labelled."""
    unscored: Count = 0
    """Labelled claims that the judge could not score."""
    balanced_accuracy: Estimate
    """Mean of the shares found among supported and among other claims, 0 to 1; chance is 0.5."""
    auc: Estimate | None
    """Chance that a supported claim has a higher P(supported) than another; None where the judge gives no P."""
    kappa: Estimate
    """Cohen's kappa of supported or not: 0 is chance, 1 is perfect."""
    confusion: dict[PeopleLabel, dict[Support, Count]]
    """Claims by people's label, then by the judge's support."""
    by_category: dict[str, CategoryAgreement] = {}
    moments: LabelledMoments | None = None
    """None with fewer than 30 claims: too few to correct a mean."""

    @property
    def judged_supported(self) -> int:
        """Claims that the judge holds supported."""
        return sum(row.get("supported", 0) for row in self.confusion.values())

    @property
    def agreed(self) -> int:
        """Claims that both hold supported, or both not."""
        return sum(
            number
            for people, row in self.confusion.items()
            for support, number in row.items()
            if (people == "supported") == (support == "supported")
        )


class CalibrationFile(_Part):
    """The whole file."""

    schema_version: Literal[1] = SCHEMA_VERSION
    fingerprint: JudgeFingerprint
    """The judge that was measured, without any calibration."""
    fingerprint_digest: str
    calibration: PlattCalibration | None = None
    agreement: Agreement | None = None
    probe: ProbeResult | None = None

    @model_validator(mode="after")
    def _digest_fits(self) -> CalibrationFile:
        if self.fingerprint_digest != self.fingerprint.digest:
            raise PydanticCustomError("digest", "fingerprint_digest is not that of the fingerprint: it was edited")
        return self

    @classmethod
    def blank(cls, fingerprint: JudgeFingerprint) -> CalibrationFile:
        """A file of a judge of which nothing was measured yet."""
        return cls(fingerprint=fingerprint, fingerprint_digest=fingerprint.digest)


def parse_calibration(text: str, place: str) -> CalibrationFile:
    """The file's text as its type; :class:`UsageError` with ``place`` where it is broken or of another version."""
    cure = "remove it, and write it anew with `faithbot calibrate` or `faithbot probe --output`"
    value = parse_json(text, place)
    if not isinstance(value, dict):
        raise UsageError(f"{place}: no calibration: {cure}.")
    if value.get("schema_version") != SCHEMA_VERSION:
        raise UsageError(f"{place}: not of this version of faithbot (schema_version {SCHEMA_VERSION}): {cure}.")
    try:
        return CalibrationFile.model_validate(value)
    except ValidationError as error:
        problem = error.errors(include_input=False)[0]
        key = ".".join(map(str, problem["loc"]))
        raise UsageError(f"{place}: {key + ': ' if key else ''}{problem['msg']}: {cure}.") from None


def read_calibration(path: Path) -> CalibrationFile:
    """The file at ``path``; :class:`UsageError` where it is missing or broken."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}.") from None
    return parse_calibration(decode(content, str(path), "calibration"), str(path))


def find_calibration(path: Path) -> CalibrationFile | None:
    """The file at ``path``, to be asked before any work; None where there is none yet.

    :class:`UsageError` where what stands there is no such file.
    """
    return read_calibration(path) if path.exists() else None


def continue_calibration(
    found: CalibrationFile | None, judge: JudgeFingerprint, path: Path
) -> tuple[CalibrationFile, str | None]:
    """The file that was found at ``path``, to write another part into, or a blank one.

    With a word where a file of another judge is given up for it.
    """
    if found is None:
        return CalibrationFile.blank(judge), None
    if differing := differences(found.fingerprint, judge):
        word = f"{path} was of another judge (other {', '.join(differing)}): it is replaced, nothing of it is kept."
        return CalibrationFile.blank(judge), word
    return found, None


def write_calibration(output: OutputFile, calibration: CalibrationFile) -> None:
    """Put the file in place, whole or not at all."""
    output.write(calibration.model_dump_json(indent=1) + "\n")


def differences(measured: JudgeFingerprint, now: JudgeFingerprint) -> tuple[str, ...]:
    """What tells two judges apart, in plain words; empty where they are the same."""
    spoken = {
        "method": "method",
        "model": "model",
        "model_digest": "weights of the model",
        "prompts_digest": "prompts",
        "options": "options",
        "version": "version of the method",
    }
    before, after = measured.model_dump(mode="json"), now.model_dump(mode="json")
    return tuple(word for name, word in spoken.items() if before[name] != after[name])
