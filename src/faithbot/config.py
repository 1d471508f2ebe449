"""`faithbot.yaml` as types. Errors name file, line and key, and what was probably meant."""

from __future__ import annotations

import difflib
import posixpath
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
    model_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from faithbot.errors import UsageError
from faithbot.judge.protocol import Support
from faithbot.models.protocol import SamplingOptions
from faithbot.repository import join_inside
from faithbot.run_plan import RunPlan
from faithbot.text_files import read_text
from faithbot.yaml_text import YamlDocument, parse_yaml

if TYPE_CHECKING:
    from faithbot.snapshots import Snapshot

RECORDED_KEY = ("system", "recorded", "files")
DOCUMENTS_KEY = ("system", "pipeline", "documents")
MODEL_KEY = ("system", "pipeline", "model")
PROMPT_KEY = ("system", "pipeline", "prompt")

MetricName = Literal[
    "faithfulness",
    "contradiction_rate",
    "unsupported_per_answer",
    "citation_validity",
    "answer_relevance",
    "answer_correctness",
    "abstention_rate",
    "context_recall",
    "hit_rate",
    "precision_at_k",
    "mrr",
]
FurtherMetric = Literal["answer_relevance", "answer_correctness", "context_recall"]
"""Metrics that take judgements of their own: with a judge that is a model they cost calls."""
RecordedField = Literal["id", "question", "answer", "contexts"]
RecordedMetric = Literal["faithfulness", "answer_relevance"]
"""Metrics that a judge gives to a whole answer, so that they can be read out of recorded results."""
METHODS_WITH_MODEL = ("claims", "label")
"""Judges that ask a language model; the first is the one to choose."""
COUNTS = ("unsupported_per_answer",)
"""Metrics that can pass 1; the others are shares."""

_EXAMPLES = {
    "system": "system: {pipeline: {documents: docs/*.md, prompt: prompt.md, model: ollama/llama3.2:3b}}",
    "pipeline": "pipeline: {documents: docs/*.md, prompt: prompt.md, model: ollama/llama3.2:3b}",
    "chunking": "chunking: {size: 800, overlap: 100}",
    "retrieval": "retrieval: {top_k: 4}",
    "options": "options: {temperature: 0}",
    "recorded": "recorded: {files: [run1.jsonl, run2.jsonl]}",
    "fields": "fields: {answer: response}",
    "judge": "judge: {method: evidence}",
    "labels": "labels: {supported: entailment, contradicted: contradiction, not_found: neutral}",
    "scores": "scores: {faithfulness: gpt_groundedness}",
    "noise": "noise: {judge_repeats: 2}",
}
"""What each section may hold, for those who wrote something else there."""
_MOST_RUNS = 50
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_SHOWN = 60
"""Characters of a wrong value that an error repeats."""


def _one_line(text: str) -> str:
    if not text.removeprefix("!").strip() or _CONTROL.search(text):
        raise PydanticCustomError("one_line", "must be one line of text that is not empty")
    return text


Line = Annotated[str, AfterValidator(_one_line)]
"""A path, a pattern or the name of a model."""


class _Section(BaseModel):
    """A mapping of the file: unknown keys are errors, with the key that was probably meant."""

    # A part is built when the whole is: built twice, it would cost each start of a command a tenth of a second.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _only_known_keys(cls, data: Any) -> Any:
        for key in data if isinstance(data, dict) else ():
            if key not in cls.model_fields:
                message = _unknown(str(key), list(cls.model_fields))
                raise _problem_inside((str(key),), message)
        return data


def _problem_inside(path: tuple[str | int, ...], message: str) -> PydanticCustomError:
    """The error of a validator that stands at one place within the value it was given."""
    return PydanticCustomError("inside", "{message}", {"message": message, "path": path})


StrictNumber = Annotated[float, Field(strict=True, allow_inf_nan=False)]


def _unknown(word: str, known: list[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1)
    meant = f"did you mean `{close[0]}`?" if close else f"known are {', '.join(known)}."
    return f"unknown key `{word}`: {meant}"


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


class Chunking(_Section):
    """How documents are cut, in characters."""

    size: int = Field(default=800, ge=50, le=100_000, strict=True)
    overlap: int = Field(default=100, ge=0, strict=True)

    @model_validator(mode="after")
    def _overlap_fits(self) -> Chunking:
        if self.overlap >= self.size:
            raise PydanticCustomError("overlap", "overlap must be smaller than size")
        return self


class Retrieval(_Section):
    """How passages are found for a question."""

    method: Literal["bm25"] = "bm25"
    top_k: int = Field(default=4, ge=1, le=1000, strict=True)


class Pipeline(_Section):
    """The built-in RAG: documents, chunks, contexts, prompt, answer."""

    documents: Annotated[list[Line], BeforeValidator(_as_list), Field(min_length=1)]
    chunking: Chunking = Chunking()
    retrieval: Retrieval = Retrieval()
    prompt: Line
    model: Line
    options: SamplingOptions = SamplingOptions()


class Recorded(_Section):
    """Answers that some RAG gave earlier, with the passages that it was given."""

    files: Annotated[list[Line], BeforeValidator(_as_list), Field(min_length=1)]
    """One file a run: the r-th is run r."""
    fields: dict[RecordedField, Line] = {}
    """Columns, where they have names that faithbot does not know."""


class System(_Section):
    """The thing on trial. Each side brings its own."""

    pipeline: Pipeline | None = None
    recorded: Recorded | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> System:
        if (self.pipeline is None) == (self.recorded is None):
            raise PydanticCustomError("kind", "name one system, `pipeline` or `recorded`")
        return self


class JudgeSettings(_Section):
    """Who decides which claims are supported. Always base's."""

    method: Literal["claims", "label", "evidence", "classifier", "recorded"]
    """Where it is not given: `claims` with a model, else `evidence`."""
    model: Line | None = None
    """``provider/name`` of a language model; for `classifier` a folder, or ``org/name@COMMIT`` of Hugging Face."""
    labels: dict[Support, Line] = {}
    """For `classifier`: which of the model's labels mean what, where their names do not say it."""
    prompts: Line | None = None
    """Folder of prompts in the place of packaged ones of the same name."""
    calibration: Line | None = None
    """File that `faithbot calibrate` and `faithbot probe` wrote about this judge."""
    batch: bool | None = Field(default=None, strict=True)
    """For `claims`: all claims of an answer in one call, or a call of one token each. None: as suits the backend."""
    scores: dict[RecordedMetric, Line] = {}
    """For `recorded`: the column that holds each metric."""
    scale: tuple[StrictNumber, StrictNumber] = (0, 1)
    """For `recorded`: the scores that are worst and best."""

    @model_validator(mode="before")
    @classmethod
    def _choose_method(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("method") is None:
            return {**data, "method": METHODS_WITH_MODEL[0] if data.get("model") else "evidence"}
        return data

    @property
    def language_model(self) -> str | None:
        """``provider/name`` of the model that it asks; None where it asks none."""
        return self.model if self.method in METHODS_WITH_MODEL else None

    @model_validator(mode="after")
    def _model_fits(self) -> JudgeSettings:
        asks_model = self.method in METHODS_WITH_MODEL
        if self.model is None and (asks_model or self.method == "classifier"):
            raise PydanticCustomError(
                "model",
                "method `{method}` needs a `model`, such as {example}",
                {"method": self.method, "example": "ollama/qwen2.5:7b" if asks_model else "~/models/nli"},
            )
        unused = {"prompts": self.prompts, "model": None if self.method == "classifier" else self.model}
        for key, value in unused.items():
            if value is not None and not asks_model:
                raise PydanticCustomError(
                    "model",
                    "method `{method}` calls no model: remove `{key}`, or choose `{other}`",
                    {"method": self.method, "key": key, "other": METHODS_WITH_MODEL[0]},
                )
        if self.batch is not None and self.method != "claims":
            raise _problem_inside(("batch",), f"only method `claims` asks in batches: remove it from `{self.method}`")
        return self

    @model_validator(mode="after")
    def _labels_fit(self) -> JudgeSettings:
        if self.labels and self.method != "classifier":
            raise _problem_inside(("labels",), f"only method `classifier` has labels: remove them from `{self.method}`")
        if self.labels and "supported" not in self.labels:
            raise _problem_inside(("labels",), "say which label means `supported`, such as {supported: entailment}")
        if len(set(self.labels.values())) < len(self.labels):
            raise _problem_inside(("labels",), "a label means one support only: name another for each")
        return self

    @model_validator(mode="after")
    def _scores_fit(self) -> JudgeSettings:
        if (self.method == "recorded") != bool(self.scores):
            raise PydanticCustomError(
                "scores", "`scores` and method `recorded` go together, such as {faithfulness: gpt_groundedness}"
            )
        if self.method == "recorded" and self.calibration is not None:
            raise _problem_inside(
                ("calibration",), "nothing is known of who gave the scores that `recorded` reads: remove it"
            )
        if self.scale[0] == self.scale[1]:
            raise _problem_inside(("scale",), "the worst and the best score must differ")
        return self


class NoiseSettings(_Section):
    """How closely the noise is looked at."""

    judge_repeats: int = Field(default=1, ge=1, le=10, strict=True)
    """Judgements of each answer; from 2 on, the judge's part of the noise is known."""


class MetricGate(_Section):
    """When a metric turns the verdict red."""

    min_effect: float = Field(default=0.0, ge=0.0, strict=True, allow_inf_nan=False)
    """Changes up to this size never do, in the metric's unit."""
    floor: float | None = Field(default=None, ge=0.0, strict=True, allow_inf_nan=False)
    """The worst level that is allowed, whatever base's is; a ceiling where lower is better."""


def _gate_from_names(value: Any) -> Any:
    """`gate: [faithfulness]` and `gate: {faithfulness:}` are short for `gate: {faithfulness: {}}`."""
    if isinstance(value, list):
        for index, name in enumerate(value):
            if not isinstance(name, str):
                raise _problem_inside((index,), "expected the name of a metric; settings need `gate: {name: {...}}`")
        return {name: {} for name in value}
    if isinstance(value, dict):
        return {name: {} if settings is None else settings for name, settings in value.items()}
    return value


def _shares_stay_below_one(gate: dict[MetricName, MetricGate]) -> dict[MetricName, MetricGate]:
    for name, settings in gate.items():
        for key, value, example in (("min_effect", settings.min_effect, 0.02), ("floor", settings.floor, 0.65)):
            if name not in COUNTS and value is not None and value >= 1:
                message = f"{name} is a share: use a number below 1, such as {example}, found {value}"
                raise _problem_inside((name, key), message)
    return gate


Gate = Annotated[
    dict[MetricName, MetricGate],
    BeforeValidator(_gate_from_names),
    AfterValidator(_shares_stay_below_one),
    Field(min_length=1),
]


class Runs(_Section):
    """Runs of each side: `min` always, up to `max` while they can still change the verdict. A plain number is both."""

    min: int = Field(ge=1, le=_MOST_RUNS, strict=True)
    max: int = Field(ge=1, le=_MOST_RUNS, strict=True)

    @model_validator(mode="after")
    def _range_fits(self) -> Runs:
        if self.max < self.min:
            raise PydanticCustomError("runs", "max must not be smaller than min")
        if self.max > self.min == 1:
            raise PydanticCustomError("runs", "min must be 2 or more: one run measures no noise to decide by")
        return self

    @model_serializer(mode="wrap")
    def _as_written(self, whole: SerializerFunctionWrapHandler) -> Any:
        return self.min if self.min == self.max else whole(self)

    @property
    def plan(self) -> RunPlan:
        """For the statistics."""
        return RunPlan(self.min, self.max)


def _runs_from_number(value: Any) -> Any:
    if isinstance(value, dict | Runs):
        return value
    if not isinstance(value, int) or isinstance(value, bool):
        raise PydanticCustomError("runs", "input should be a valid integer, or a range such as {min: 2, max: 6}")
    if not 1 <= value <= _MOST_RUNS:
        raise PydanticCustomError("runs", f"must lie between 1 and {_MOST_RUNS}")
    return {"min": value, "max": value}


class Config(_Section):
    """A whole `faithbot.yaml`."""

    golden: Line
    system: System
    judge: JudgeSettings = Field(default_factory=lambda: JudgeSettings(method="evidence"))
    gate: Gate = {"faithfulness": MetricGate()}
    min_coverage: float = Field(default=0.9, gt=0.0, le=1.0, strict=True)
    """Smallest share of the golden set that must have been judged on both sides."""
    runs: Annotated[Runs, BeforeValidator(_runs_from_number)] = Runs(min=2, max=2)
    noise: NoiseSettings = NoiseSettings()
    measure: Annotated[list[FurtherMetric], BeforeValidator(_as_list)] = []
    """Metrics that cost calls and are wanted though they are not gated."""
    triggers: Annotated[list[Line], BeforeValidator(_as_list)] = []
    """Further files whose change makes an evaluation, as glob patterns."""
    accepted: Line | None = None
    """File of the unsupported claims that the team accepts."""


@dataclass(frozen=True)
class LoadedConfig:
    """A configuration, where it was read, and the text that says so in errors."""

    config: Config
    path: str
    """From the repository's root."""
    snapshot: Snapshot
    document: YamlDocument

    def place(self, *key: str | int) -> str:
        """`faithbot.yaml (main), line 7, system.pipeline.prompt`: how errors name a setting."""
        return _place(self.path, self.snapshot.label, self.document, key)

    @property
    def pipeline(self) -> Pipeline:
        """Settings of the built-in pipeline; ValueError where the system is another one."""
        if self.config.system.pipeline is None:
            raise ValueError(f"{self.path} configures no pipeline")
        return self.config.system.pipeline

    @property
    def answered_by(self) -> str:
        """Who answers: the pipeline's model, or the records that hold the answers."""
        if not self.recorded_paths:
            return self.pipeline.model
        first, *others = self.recorded_paths
        return f"records in {first}" + (f" and {len(others)} more" if others else "")

    @property
    def golden_path(self) -> str:
        """Golden set, from the repository's root."""
        return self._resolve(self.config.golden, "golden")

    @property
    def accepted_path(self) -> str | None:
        """Accepted claims, from the repository's root."""
        return None if self.config.accepted is None else self._resolve(self.config.accepted, "accepted")

    @property
    def judge_prompts_path(self) -> str | None:
        """Folder of the judge's own prompts, from the repository's root."""
        folder = self.config.judge.prompts
        return None if folder is None else self._resolve(folder, "judge", "prompts")

    @property
    def calibration_path(self) -> str | None:
        """What is known of the judge, from the repository's root."""
        calibration = self.config.judge.calibration
        return None if calibration is None else self._resolve(calibration, "judge", "calibration")

    @property
    def prompt_path(self) -> str:
        """Prompt template, from the repository's root."""
        return self._resolve(self.pipeline.prompt, *PROMPT_KEY)

    @property
    def document_patterns(self) -> list[str]:
        """Glob patterns from the repository's root; those that leave files out still start with ``!``."""
        return self._patterns(self.pipeline.documents, *DOCUMENTS_KEY)

    @property
    def trigger_patterns(self) -> list[str]:
        """As `document_patterns`, for the files that `triggers` names."""
        return self._patterns(self.config.triggers, "triggers")

    @property
    def recorded_paths(self) -> list[str]:
        """Files of recorded answers, from the repository's root; empty where the system is another one."""
        files = self.config.system.recorded.files if self.config.system.recorded else []
        return [self._resolve(path, *RECORDED_KEY, index) for index, path in enumerate(files)]

    def require(self, path: str, *key: str | int) -> None:
        """:class:`UsageError` with the setting that names the file, where it is not there."""
        if not self.snapshot.has(path):
            raise UsageError(f"{self.place(*key)}: {path} does not exist on {self.snapshot.label}.")

    def _patterns(self, patterns: list[str], *key: str | int) -> list[str]:
        return [
            "!" * pattern.startswith("!") + self._resolve(pattern.removeprefix("!"), *key, index)
            for index, pattern in enumerate(patterns)
        ]

    def _resolve(self, path: str, *key: str | int) -> str:
        return join_inside(posixpath.dirname(self.path), path, self.place(*key))


def load_config(snapshot: Snapshot, path: str) -> LoadedConfig:
    """Read and check the configuration of one side."""
    document = parse_yaml(read_text(snapshot, path), f"{path} ({snapshot.label})")
    if not isinstance(document.value, dict):
        raise UsageError(f"{path} ({snapshot.label}): expected keys such as `golden` and `system`, found none.")
    try:
        config = Config.model_validate(document.value)
    except ValidationError as error:
        problems = [_describe(detail, path, snapshot.label, document) for detail in error.errors()]
        raise UsageError("\n".join(dict.fromkeys(problems))) from None
    return LoadedConfig(config, path, snapshot, document)


def _place(path: str, label: str, document: YamlDocument, key: tuple[str | int, ...]) -> str:
    dotted = ".".join(str(part) for part in key)
    return f"{path} ({label}), line {document.line(key)}" + (f", {dotted}" if dotted else "")


def _describe(error: ErrorDetails, path: str, label: str, document: YamlDocument) -> str:
    """One line for one problem that pydantic found."""
    key = tuple(part for part in error["loc"] if part != "[key]")
    context = error.get("ctx", {})
    message = error["msg"]
    if error["type"] == "inside":
        key = (*key, *context["path"])
    elif error["type"] == "extra_forbidden":  # of the options, which the models' room defines
        message = _unknown(str(key[-1]), list(SamplingOptions.model_fields))
    elif error["type"] == "missing":
        message = "this key is required"
    elif error["type"] == "literal_error":
        message = unknown_word(error, list(get_args(MetricName)) if key[0] == "gate" else None)
    elif error["type"] in ("model_type", "dict_type"):
        found = "nothing" if error["input"] is None else _shown(error["input"])
        message = f"expected settings, such as `{_example(key)}`, found {found}"
    elif error["type"] == "too_short":
        message = "must hold at least one"
    else:
        shown = f", found {_shown(error['input'])}" if isinstance(error["input"], str | int | float) else ""
        message = message[0].lower() + message[1:] + shown
    return f"{_place(path, label, document, key)}: {message}"


def unknown_word(error: ErrorDetails, known: list[str] | None = None) -> str:
    """What is wrong with a word that is none of the ``known`` ones, by default those that the error names."""
    known, written = known or _quoted_words(str(error["ctx"]["expected"])), error["input"]
    listed = ", ".join(known)
    if error["loc"][:1] == ("measure",) and written in get_args(MetricName):
        return f"{written} is always measured: remove it, `measure` names what costs calls of its own ({listed})"
    close = difflib.get_close_matches(str(written), known, n=1)
    cure = f"did you mean {close[0]!r}?" if close else f"use {'one of ' * (len(known) > 1)}{listed}"
    return f"{_shown(written)} is not known: {cure}"


def _example(key: tuple[str | int, ...]) -> str:
    """What to write where a value stands that should be a section."""
    if key[0] == "gate":
        return f"gate: {{{key[1] if len(key) > 1 else 'faithfulness'}: {{floor: 0.65}}}}"
    return _EXAMPLES[str(key[-1])]


def _shown(value: object) -> str:
    return repr(value)[:_SHOWN]


def _quoted_words(text: str) -> list[str]:
    """``'a', 'b' or 'c'`` as pydantic writes it."""
    return text.split("'")[1::2]
