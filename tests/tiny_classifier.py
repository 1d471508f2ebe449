"""A classifier of text pairs small enough to build in a test, and real: an ONNX graph and a tokenizer as files.

It knows a few words. How much of the hypothesis the premise holds decides between entailment and neutral; a "not" that
only one of them has makes a contradiction. Like a transformer it has a table of positions, and fails beyond its end.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

if TYPE_CHECKING:
    from pathlib import Path

    from onnx import ModelProto, NodeProto

POSITIONS = 160
SPECIAL = ("[PAD]", "[CLS]", "[SEP]", "[UNK]")
TEXT = (
    "the a and is are not in of for it pass costs dollars valid year stove burns gas red bikes locked at night bread "
    "sold every morning by baker 60 80 . , :"
)
VOCABULARY = {word: number for number, word in enumerate((*SPECIAL, *TEXT.split()))}
Heads = dict[str, tuple[float, float, float]]
# Weight of the covered share, of a "not" on one side, and a constant: a column a label.
NLI: Heads = {"entailment": (16, -12, -11), "neutral": (0, 0, 0), "contradiction": (16, 12, -20)}
TWO_WAY: Heads = {"unsupported": (0, 0, 0), "supported": (16, -12, -11)}
ONE_WAY: Heads = {"consistent": (16, -12, -11)}
ALL_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def write_classifier(folder: Path, heads: Heads = NLI, *, labels: dict[str, str] | None = None, **config: Any) -> Path:
    """The folder, with a classifier in it; ``labels`` replaces the id2label of its settings."""
    folder.mkdir(parents=True, exist_ok=True)
    id2label = labels if labels is not None else {str(number): name for number, name in enumerate(heads)}
    settings = {"model_type": "bert", "max_position_embeddings": POSITIONS, "id2label": id2label, **config}
    (folder / "config.json").write_text(json.dumps(settings))
    make_tokenizer().save(str(folder / "tokenizer.json"))
    (folder / "model.onnx").write_bytes(make_graph(heads).SerializeToString())
    return folder


def make_tokenizer() -> Tokenizer:
    """Words in lower case; truncation is left on, as in the files that training leaves behind."""
    tokenizer = Tokenizer(models.WordLevel(VOCABULARY, unk_token=SPECIAL[3]))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, VOCABULARY[token]) for token in ("[CLS]", "[SEP]")],
    )
    tokenizer.add_special_tokens(list(SPECIAL))
    tokenizer.enable_truncation(max_length=16)
    tokenizer.enable_padding(length=16)
    return tokenizer


def make_graph(heads: Heads) -> ModelProto:
    """Logits of shape (pairs, labels)."""
    content = np.array([word not in SPECIAL[:3] for word in VOCABULARY], np.float32)
    known = np.array([word not in SPECIAL for word in VOCABULARY], np.float32)
    weights = np.array(list(heads.values()), np.float32).T
    constants = {
        "size": np.array(len(VOCABULARY), np.int64),
        "off_on": np.array([0, 1], np.float32),
        "one": np.array(1, np.float32),
        "one_id": np.array([1], np.int64),
        "last": np.array([-1], np.int64),
        "sequence": np.array([1], np.int64),
        "content": content[:, None],
        "known": known[:, None],
        "is_not": np.array([word == "not" for word in VOCABULARY], np.float32)[:, None],
        "weights": weights[:2],
        "bias": weights[2],
        "positions": np.zeros((POSITIONS, 1), np.float32),
    }
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["pairs", "tokens"]) for name in ALL_INPUTS]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["pairs", len(heads)])
    tensors = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(_nodes(), "overlap", inputs, [output], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def _nodes() -> list[NodeProto]:
    node = helper.make_node
    return [
        node("OneHot", ["input_ids", "size", "off_on"], ["words"], axis=-1),
        node("Cast", ["attention_mask"], ["read"], to=TensorProto.FLOAT),
        node("Cast", ["token_type_ids"], ["second"], to=TensorProto.FLOAT),
        node("Sub", ["one", "second"], ["first"]),
        *_bag("first", "premise"),
        *_bag("second", "hypothesis"),
        node("Mul", ["premise", "hypothesis"], ["shared"]),
        node("MatMul", ["shared", "known"], ["found"]),
        node("MatMul", ["hypothesis", "content"], ["wanted"]),
        node("Max", ["wanted", "one"], ["at_least_one"]),
        node("Div", ["found", "at_least_one"], ["share"]),
        node("Sub", ["premise", "hypothesis"], ["difference"]),
        node("MatMul", ["difference", "is_not"], ["signed"]),
        node("Abs", ["signed"], ["negated"]),
        node("Concat", ["share", "negated"], ["features"], axis=1),
        node("MatMul", ["features", "weights"], ["weighed"]),
        node("Add", ["weighed", "bias"], ["without_positions"]),
        node("CumSum", ["attention_mask", "one_id"], ["counted"]),
        node("Sub", ["counted", "one_id"], ["places"]),
        node("Gather", ["positions", "places"], ["placed"]),
        node("ReduceSum", ["placed", "sequence"], ["place"], keepdims=0),
        node("Add", ["without_positions", "place"], ["logits"]),
    ]


def _bag(side: str, name: str) -> list[NodeProto]:
    """Which words one of the two texts has."""
    return [
        helper.make_node("Mul", [side, "read"], [f"{name}_tokens"]),
        helper.make_node("Unsqueeze", [f"{name}_tokens", "last"], [f"{name}_mask"]),
        helper.make_node("Mul", ["words", f"{name}_mask"], [f"{name}_words"]),
        helper.make_node("ReduceMax", [f"{name}_words"], [name], axes=[1], keepdims=0),
    ]
