"""What a classifier's files may hold, and what is said of files that cannot be used."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import onnx
import pytest
from onnx.external_data_helper import convert_model_to_external_data

from faithbot.errors import CallError, UsageError
from faithbot.judge.classifier_files import read_classifier
from faithbot.judge.onnx_model import PairClassifier
from tiny_classifier import NLI, POSITIONS, make_graph, write_classifier

if TYPE_CHECKING:
    from pathlib import Path

SPECIAL_TOKENS = 3


def load(folder: Path) -> PairClassifier:
    return PairClassifier(read_classifier(str(folder)), "it")


def test_probabilities_sum_to_one_and_follow_the_order_of_the_labels(tmp_path: Path) -> None:
    classifier = load(write_classifier(tmp_path))

    probabilities = classifier.probabilities("The stove is red.", "The stove is not red.")

    assert classifier.labels == ("entailment", "neutral", "contradiction")
    assert sum(probabilities) == pytest.approx(1)
    assert probabilities.index(max(probabilities)) == 2


def test_a_pair_is_never_cut_though_the_tokenizer_was_saved_with_a_limit(tmp_path: Path) -> None:
    classifier = load(write_classifier(tmp_path))
    premise = "Bread is sold. " * 20

    assert json.loads((tmp_path / "tokenizer.json").read_text())["truncation"]["max_length"] == 16
    assert classifier.count(premise) == 80
    assert classifier.probabilities(f"{premise}The stove is red.", "The stove is red.")[0] > 0.9
    with pytest.raises(CallError, match="too many for the classifier: it reads 157 at once"):
        classifier.probabilities(premise * 2, "The stove is red.")


def test_a_special_token_that_a_claim_spells_out_is_text(tmp_path: Path) -> None:
    classifier = load(write_classifier(tmp_path))
    assert classifier.count("[SEP]") == len(["[", "sep", "]"])


@pytest.mark.parametrize(
    ("config", "tokenizer_config", "window"),
    [
        ({}, {}, POSITIONS),
        ({"model_type": "roberta", "pad_token_id": 1}, {}, POSITIONS - 2),
        ({"model_type": "mpnet"}, {}, POSITIONS - 2),
        ({}, {"model_max_length": 140}, 140),
        ({}, {"model_max_length": 10**30}, POSITIONS),
        ({"max_position_embeddings": None}, {}, 512),
        ({"max_position_embeddings": -1}, {"model_max_length": 1e30}, 1024),
        ({"max_position_embeddings": 8192}, {}, 1024),
    ],
)
def test_the_window_is_what_the_models_files_say(
    tmp_path: Path, config: dict[str, object], tokenizer_config: dict[str, object], window: int
) -> None:
    write_classifier(tmp_path, **config)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(tokenizer_config))

    assert load(tmp_path).room == window - SPECIAL_TOKENS


@pytest.mark.parametrize("labels", [{}, {"0": "a"}, {"0": "a", "1": "b", "2": "c", "3": "d"}, {"x": "a"}])
def test_labels_that_do_not_fit_the_outputs_are_numbered(tmp_path: Path, labels: dict[str, str]) -> None:
    assert load(write_classifier(tmp_path, labels=labels)).labels == ("LABEL_0", "LABEL_1", "LABEL_2")


def test_an_input_that_the_graph_does_not_take_is_not_given(tmp_path: Path) -> None:
    graph = make_graph(NLI)
    del graph.graph.input[2]
    second = onnx.helper.make_node("Sub", ["input_ids", "input_ids"], ["token_type_ids"])
    graph.graph.node.insert(0, second)
    write_classifier(tmp_path)
    (tmp_path / "model.onnx").write_bytes(graph.SerializeToString())

    assert len(load(tmp_path).probabilities("The stove is red.", "The stove is red.")) == 3


def test_weights_in_files_beside_the_graph_are_refused(tmp_path: Path) -> None:
    graph = make_graph(NLI)
    convert_model_to_external_data(graph, location="weights.bin", size_threshold=0)
    write_classifier(tmp_path)
    onnx.save_model(graph, str(tmp_path / "model.onnx"))

    assert (tmp_path / "weights.bin").exists()
    with pytest.raises(UsageError, match=r"cannot be loaded: .*must be one file, weights included"):
        load(tmp_path)


def test_a_graph_with_other_inputs_is_refused(tmp_path: Path) -> None:
    graph = make_graph(NLI)
    graph.graph.input.append(onnx.helper.make_tensor_value_info("pixels", onnx.TensorProto.FLOAT, [1]))
    write_classifier(tmp_path)
    (tmp_path / "model.onnx").write_bytes(graph.SerializeToString())

    with pytest.raises(UsageError, match="takes input_ids, attention_mask, token_type_ids, pixels: expected input_ids"):
        load(tmp_path)


def test_a_graph_that_gives_a_number_a_token_is_refused(tmp_path: Path) -> None:
    graph = make_graph(NLI)
    graph.graph.output[0].CopyFrom(onnx.helper.make_tensor_value_info("words", onnx.TensorProto.FLOAT, None))
    write_classifier(tmp_path)
    (tmp_path / "model.onnx").write_bytes(graph.SerializeToString())

    with pytest.raises(UsageError, match="gives no single number for each label"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("file", "content", "reason"),
    [
        ("model.onnx", b"junk", "graph cannot be loaded"),
        ("tokenizer.json", b"{}", "tokenizer cannot be read"),
        ("tokenizer.json", b"\xff", "tokenizer cannot be read"),
        ("config.json", b"[]", "config.json is no JSON object"),
        ("config.json", b"{", r"config.json \(it\), column 2: not valid JSON"),
        ("config.json", b'{"max_position_embeddings": 20}', "reads 17 tokens at once, too few"),
    ],
)
def test_files_that_are_no_classifier_are_refused(tmp_path: Path, file: str, content: bytes, reason: str) -> None:
    write_classifier(tmp_path)
    (tmp_path / file).write_bytes(content)

    with pytest.raises(UsageError, match=reason):
        load(tmp_path)


def test_a_graph_that_gives_no_numbers_leaves_the_pair_unscored(tmp_path: Path) -> None:
    classifier = load(write_classifier(tmp_path, {**NLI, "neutral": (0, float("nan"), 0)}))

    with pytest.raises(CallError, match="something else than numbers"):
        classifier.probabilities("The stove is red.", "The stove is red.")
