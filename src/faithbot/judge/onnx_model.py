"""A classifier of text pairs as an ONNX graph: how likely each label is for a premise and a hypothesis.

Needs ``faithbot[classifier]``: onnxruntime runs the graph, tokenizers makes its input. Neither can run code that comes
with a model.
"""

from __future__ import annotations

import hashlib
import importlib
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from faithbot.errors import CallError, UsageError
from faithbot.json_text import parse_json
from faithbot.judge.classifier_files import CONFIG, TOKENIZER_CONFIG
from faithbot.text_files import decode

if TYPE_CHECKING:
    import numpy.typing as npt

    from faithbot.judge.classifier_files import ClassifierFiles

LARGEST_WINDOW = 1024
"""Tokens of one input, at most, whatever the model could read: it was hardly trained on longer pairs."""

_USUAL_WINDOW = 512
"""For a model that does not say."""
_SMALLEST_WINDOW = 128
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_INTEGERS = {"tensor(int64)": "int64", "tensor(int32)": "int32"}
# Positions of these begin after the padding's own, as in fairseq, where RoBERTa comes from.
_SHIFTED_POSITIONS = {"roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "longformer", "mpnet", "data2vec-text"}
_LOGITS_DIMENSIONS = 2
_FATAL = 4


class PairClassifier:
    """One model, loaded. Nothing is ever cut: a pair that is too long is an error.

    Pairs are run one by one. On a CPU a batch of long inputs gains little, and in a quantised graph the other inputs of
    a batch change the result.
    """

    def __init__(self, files: ClassifierFiles, name: str) -> None:
        """:class:`UsageError` with ``name`` where the files are no classifier of pairs."""
        self._name = name
        config = self._parse(files.config, CONFIG)
        self._tokenizer = self._open_tokenizer(files.tokenizer)
        self._errors, self._session = self._open_session(files.graph)
        self._inputs = self._checked_inputs()
        tokenizer_config = self._parse(files.tokenizer_config or b"{}", TOKENIZER_CONFIG)
        self._specials: int = self._tokenizer.num_special_tokens_to_add(is_pair=True)
        self.room: int = _window(config, tokenizer_config) - self._specials
        """Tokens of a premise and a hypothesis together, at most."""
        if self.room < _SMALLEST_WINDOW:
            raise self._unusable(f"it reads {self.room} tokens at once, too few for a passage")
        self.labels = _labels(config, self._count_outputs())
        """Of each output, as the model's settings name them."""
        self.digest = _digest(files)
        """SHA-256 of the files' contents."""

    def count(self, text: str) -> int:
        """Tokens of a text."""
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return len(ids)

    def probabilities(self, premise: str, hypothesis: str) -> tuple[float, ...]:
        """Of each label; of the only one where there is one. :class:`CallError` where the model gives none."""
        try:
            logits = self._run(premise, hypothesis)[0]
        except self._errors as error:
            raise CallError(f"the classifier failed: {_first_line(error)}") from error
        if not np.isfinite(logits).all():
            raise CallError("the classifier gave something else than numbers")
        if logits.size == 1:
            return (float(1.0 / (1.0 + np.exp(-logits[0]))),)
        odds = np.exp(logits - logits.max())
        return tuple(map(float, odds / odds.sum()))

    def _run(self, premise: str, hypothesis: str) -> npt.NDArray[np.float64]:
        """Logits of shape (1, labels)."""
        encoded = self._tokenizer.encode(premise, hypothesis)
        if len(encoded.ids) > self.room + self._specials:
            raise CallError(f"{len(encoded.ids)} tokens are too many for the classifier: it reads {self.room} at once")
        rows = {
            "input_ids": encoded.ids,
            "attention_mask": encoded.attention_mask,
            "token_type_ids": encoded.type_ids,
        }
        feed = {name: np.array([rows[name]], dtype=kind) for name, kind in self._inputs.items()}
        return np.asarray(self._session.run(None, feed)[0], dtype=np.float64)

    def _count_outputs(self) -> int:
        """Number of labels, by a trial."""
        try:
            logits = self._run("A trial.", "A trial.")
        except self._errors as error:
            raise self._unusable(f"its graph cannot be run: {_first_line(error)}") from error
        if logits.ndim != _LOGITS_DIMENSIONS:
            raise self._unusable("its graph gives no single number for each label")
        return logits.size

    def _open_tokenizer(self, content: bytes) -> Any:
        try:
            tokenizer = _engine("tokenizers").Tokenizer.from_buffer(content)
        except Exception as error:  # the library raises nothing narrower
            if isinstance(error, UsageError):
                raise
            raise self._unusable(f"its tokenizer cannot be read: {_first_line(error)}") from error
        tokenizer.no_truncation()  # files keep the settings of training: they would cut inputs silently
        tokenizer.no_padding()
        tokenizer.encode_special_tokens = True  # "[SEP]" in a claim is text: it does not begin another one
        return tokenizer

    def _open_session(self, graph: bytes) -> tuple[tuple[type[Exception], ...], Any]:
        """The library's own errors, and the graph ready to run."""
        engine = _engine("onnxruntime")
        raised = vars(importlib.import_module("onnxruntime.capi.onnxruntime_pybind11_state")).values()
        errors = tuple(kind for kind in raised if isinstance(kind, type) and issubclass(kind, Exception))
        options = engine.SessionOptions()
        options.intra_op_num_threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0
        options.log_severity_level = _FATAL
        # Threads that spin while they wait would take the cores from a model that answers at the same time.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        # Weights in files beside the graph are refused: they could lie anywhere, and the digest would not know them.
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", os.devnull)
        try:
            return errors, engine.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        except errors as error:
            raise self._unusable(
                f"its graph cannot be loaded: {_first_line(error)}. It must be one file, weights included"
            ) from error

    def _checked_inputs(self) -> dict[str, str]:
        """Type of each input of the graph, as numpy names it."""
        inputs = {entry.name: entry.type for entry in self._session.get_inputs()}
        known = {name: _INTEGERS[kind] for name, kind in inputs.items() if name in _INPUTS and kind in _INTEGERS}
        if len(known) < len(inputs) or "input_ids" not in known:
            raise self._unusable(f"its graph takes {', '.join(inputs)[:200]}: expected {', '.join(_INPUTS)}")
        return known

    def _parse(self, content: bytes, file: str) -> dict[str, Any]:
        value = parse_json(decode(content, file, self._name), f"{file} ({self._name})")
        if not isinstance(value, dict):
            raise self._unusable(f"{file} is no JSON object")
        return value

    def _unusable(self, reason: str) -> UsageError:
        return UsageError(f"classifier {self._name}: {reason}. Export another one, or name another model.")


def require_engine() -> None:
    """:class:`UsageError` with the cure where the extra is not installed."""
    for name in ("onnxruntime", "tokenizers"):
        _engine(name)


def _engine(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise UsageError(
            f"the judge `classifier` needs an extra: pip install 'faithbot[classifier]' ({error}). The GitHub Action's "
            "image is without it: install faithbot in a step of the workflow, or take another judge there."
        ) from error


def _window(config: dict[str, Any], tokenizer_config: dict[str, Any]) -> int:
    """Tokens that the model reads at once, special ones included."""
    positions = _positive(config.get("max_position_embeddings")) or _positive(config.get("n_positions"))
    if positions and config.get("model_type") in _SHIFTED_POSITIONS:
        padding = config.get("pad_token_id")
        positions -= 1 + (padding if isinstance(padding, int) else 1)
    # Tokenizers without a limit name a number of 30 digits.
    known = [limit for limit in (positions, _positive(tokenizer_config.get("model_max_length"))) if limit]
    return min([LARGEST_WINDOW, *(known or [_USUAL_WINDOW])])


def _positive(value: Any) -> int | None:
    return int(value) if isinstance(value, int | float) and value > 0 else None


def _labels(config: dict[str, Any], outputs: int) -> tuple[str, ...]:
    """Names of the outputs; where the settings name others, or none, those that Hugging Face gives by default."""
    named = config.get("id2label")
    numbers = [str(number) for number in range(outputs)]
    if isinstance(named, dict) and set(named) == set(numbers):
        return tuple(str(named[number]) for number in numbers)
    return tuple(f"LABEL_{number}" for number in numbers)


def _digest(files: ClassifierFiles) -> str:
    parts = [hashlib.sha256(content or b"").hexdigest() for content in files]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)[:300]
