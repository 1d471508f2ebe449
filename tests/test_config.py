"""`faithbot.yaml`: what it may hold, and errors that name file, line, key and what was probably meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from faithbot.config import LoadedConfig, load_config
from faithbot.errors import UsageError
from faithbot.repository import open_snapshot
from git_repository import make_repository

if TYPE_CHECKING:
    from pathlib import Path

MINIMAL = """\
golden: evals/golden.jsonl
system:
  pipeline:
    documents: docs/*.md
    prompt: prompts/answer.md
    model: ollama/llama3.2:3b
"""


def load(folder: Path, text: str, path: str = "faithbot.yaml") -> LoadedConfig:
    repository = make_repository(folder / "repo", {path: text})
    return load_config(open_snapshot(repository, "main"), path)


def test_what_is_not_written_has_a_default(tmp_path: Path) -> None:
    config = load(tmp_path, MINIMAL).config
    assert config.system.pipeline.documents == ["docs/*.md"]
    assert (config.system.pipeline.chunking.size, config.system.pipeline.chunking.overlap) == (800, 100)
    assert (config.system.pipeline.retrieval.method, config.system.pipeline.retrieval.top_k) == ("bm25", 4)
    assert config.judge.method == "evidence"
    assert list(config.gate) == ["faithfulness"]
    assert config.gate["faithfulness"].min_effect == 0
    assert (config.runs, config.min_coverage) == (2, 0.9)


def test_everything_can_be_written(tmp_path: Path) -> None:
    config = load(
        tmp_path,
        MINIMAL
        + """\
    chunking: {size: 500, overlap: 0}
    retrieval: {method: bm25, top_k: 2}
    options: {temperature: 0.2, max_tokens: 99, top_p: 0.9, top_k: 20, repeat_penalty: 1.1}
judge: {method: label, model: "ollama/qwen2.5:7b"}
gate: {faithfulness: {min_effect: 0.02}, contradiction_rate: }
min_coverage: 0.8
runs: 3
""",
    ).config
    assert config.system.pipeline.options.max_tokens == 99
    assert config.judge.model == "ollama/qwen2.5:7b"
    assert {name: gate.min_effect for name, gate in config.gate.items()} == {
        "faithfulness": 0.02,
        "contradiction_rate": 0,
    }


def test_a_gate_may_be_a_list_of_names(tmp_path: Path) -> None:
    assert list(load(tmp_path, MINIMAL + "gate: [contradiction_rate, faithfulness]\n").config.gate) == [
        "contradiction_rate",
        "faithfulness",
    ]


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    loaded = load(tmp_path, MINIMAL.replace("docs/*.md", '["../docs/*.md", "!../docs/old.md"]'), "rag/faithbot.yaml")
    assert loaded.golden_path == "rag/evals/golden.jsonl"
    assert loaded.prompt_path == "rag/prompts/answer.md"
    assert loaded.document_patterns == ["docs/*.md", "!docs/old.md"]


BAD = {
    "syntax": (MINIMAL + "judge: {method: label", r"line 7, column 22: not valid YAML: .*expected ',' or '}'"),
    "tab": (MINIMAL.replace("  pipeline", "\tpipeline"), r"line 3, column 1: not valid YAML: .*cannot start any token"),
    "empty": ("", r"faithbot\.yaml \(main\): expected keys such as `golden` and `system`, found none"),
    "not a mapping": ("- a\n- b\n", r"expected keys such as `golden`"),
    "twice": (MINIMAL + "golden: other.jsonl\n", r"line 7: `golden` stands twice, first in line 1"),
    "misspelt": (MINIMAL + "jugde: {}\n", r"line 7, jugde: unknown key `jugde`: did you mean `judge`\?"),
    "misspelt deep": (
        MINIMAL.replace("prompt:", "promt:"),
        r"line 5, system\.pipeline\.promt: unknown key `promt`: did you mean `prompt`\?",
    ),
    "unknown": (MINIMAL + "zzz: 1\n", r"line 7, zzz: unknown key `zzz`: known are golden, system, judge"),
    "unknown option": (
        MINIMAL + "    options: {temprature: 1}\n",
        r"line 7, system\.pipeline\.options\.temprature: unknown key `temprature`: did you mean `temperature`\?",
    ),
    "missing": (MINIMAL.replace("golden: evals/golden.jsonl\n", ""), r"line 1, golden: this key is required"),
    "wrong type": (MINIMAL + "runs: many\n", r"line 7, runs: input should be a valid integer.*, found 'many'"),
    "out of range": (MINIMAL + "runs: 0\n", r"line 7, runs: input should be greater than or equal to 1, found 0"),
    "no document": (MINIMAL.replace("docs/*.md", "[]"), r"line 4, system\.pipeline\.documents: must hold at least one"),
    "overlap": (MINIMAL + "    chunking: {size: 100, overlap: 100}\n", r"line 7, .*chunking: overlap must be smaller"),
    "method": (
        MINIMAL + "judge: {method: evidense}\n",
        r"judge\.method: 'evidense' is not known: did you mean 'evidence'\?",
    ),
    "label without model": (MINIMAL + "judge: {method: label}\n", r"line 7, judge: method `label` needs a `model`"),
    "evidence with model": (MINIMAL + "judge: {model: a/b}\n", r"line 7, judge: method `evidence` calls no model"),
    "metric": (MINIMAL + "gate: [faithfullness]\n", r"line 7, .*did you mean 'faithfulness'\?"),
    "no metric": (MINIMAL + "gate: {}\n", r"line 7, gate: must hold at least one"),
}


@pytest.mark.parametrize(("text", "message"), BAD.values(), ids=BAD)
def test_an_error_names_the_place_and_the_cure(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        load(tmp_path, text)
    assert str(caught.value).startswith("faithbot.yaml (main)")
    assert caught.value.exit_code == 64


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        load(tmp_path, MINIMAL + "runs: 0\nmin_coverage: 2\n")
    assert len(str(caught.value).splitlines()) == 2
