"""`faithbot.yaml`: what it may hold, and errors that name file, line, key and what was probably meant."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithbot.config import LoadedConfig, load_config
from faithbot.errors import UsageError
from faithbot.repository import open_snapshot
from faithbot.run_plan import RunPlan
from faithbot.yaml_text import parse_yaml
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
    assert (config.runs.plan, config.min_coverage) == (RunPlan(2, 2), 0.9)


def test_runs_can_be_a_range_and_a_gate_can_have_a_floor(tmp_path: Path) -> None:
    config = load(tmp_path, MINIMAL + "runs: {min: 2, max: 6}\ngate: {faithfulness: {floor: 0.65}}\n").config
    assert config.runs.plan == RunPlan(2, 6)
    assert config.model_dump(mode="json")["runs"] == {"min": 2, "max": 6}
    assert config.gate["faithfulness"].floor == 0.65
    assert load(tmp_path, MINIMAL + "runs: 3\n").config.model_dump(mode="json")["runs"] == 3


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


def test_metrics_that_cost_calls_are_measured_where_they_are_named(tmp_path: Path) -> None:
    assert load(tmp_path / "none", MINIMAL).config.measure == []
    assert load(tmp_path / "one", MINIMAL + "measure: context_recall\n").config.measure == ["context_recall"]


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    loaded = load(tmp_path, MINIMAL.replace("docs/*.md", '["../docs/*.md", "!../docs/old.md"]'), "rag/faithbot.yaml")
    assert loaded.golden_path == "rag/evals/golden.jsonl"
    assert loaded.prompt_path == "rag/prompts/answer.md"
    assert loaded.document_patterns == ["docs/*.md", "!docs/old.md"]


RECORDED = "golden: g.jsonl\nsystem:\n  recorded: {files: run.jsonl}\n"


def test_recorded_answers_are_a_system(tmp_path: Path) -> None:
    judge = "judge: {method: recorded, scores: {faithfulness: gpt_groundedness}, scale: [1, 5]}\n"
    loaded = load(tmp_path, RECORDED + judge, "rag/faithbot.yaml")
    assert loaded.recorded_paths == ["rag/run.jsonl"]
    assert loaded.config.judge.scores == {"faithfulness": "gpt_groundedness"}
    assert loaded.config.judge.scale == (1, 5)


BAD = {
    "no system": ("golden: g\nsystem: {}\n", r"line 2, system: name one system, `pipeline` or `recorded`"),
    "two systems": (MINIMAL + "  recorded: {files: a}\n", r"line 2, system: name one system, `pipeline` or `recorded`"),
    "recorded without scores": (
        RECORDED + "judge: {method: recorded}\n",
        r"line 4, judge: `scores` and method `recorded` go together, such as \{faithfulness: gpt_groundedness\}$",
    ),
    "scores for a judge": (RECORDED + "judge: {scores: {faithfulness: a}}\n", r"line 4, judge: `scores` and method"),
    "no scale": (
        RECORDED + "judge: {method: recorded, scores: {faithfulness: a}, scale: [1, 1]}\n",
        r"line 4, judge\.scale: the worst and the best score must differ",
    ),
    "calibrated scores": (
        RECORDED + "judge: {method: recorded, scores: {faithfulness: a}, calibration: judge.json}\n",
        r"line 4, judge\.calibration: nothing is known of who gave the scores that `recorded` reads: remove it",
    ),
    "unknown score": (
        RECORDED + "judge: {method: recorded, scores: {groundedness: a}}\n",
        r"line 4, judge\.scores\.groundedness: 'groundedness' is not known: use",
    ),
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
    "runs from one on": (MINIMAL + "runs: {min: 1, max: 3}\n", r"line 7, runs: min must be 2 or more"),
    "runs the wrong way": (MINIMAL + "runs: {min: 4, max: 3}\n", r"line 7, runs: max must not be smaller than min"),
    "floor of a share": (
        MINIMAL + "gate: {faithfulness: {floor: 65}}\n",
        r"faithfulness.floor: .* below 1, such as 0.65",
    ),
    "out of range": (MINIMAL + "runs: 0\n", r"line 7, runs: must lie between 1 and 50, found 0"),
    "no document": (MINIMAL.replace("docs/*.md", "[]"), r"line 4, system\.pipeline\.documents: must hold at least one"),
    "overlap": (MINIMAL + "    chunking: {size: 100, overlap: 100}\n", r"line 7, .*chunking: overlap must be smaller"),
    "method": (
        MINIMAL + "judge: {method: evidense}\n",
        r"judge\.method: 'evidense' is not known: did you mean 'evidence'\?",
    ),
    "label without model": (MINIMAL + "judge: {method: label}\n", r"line 7, judge: method `label` needs a `model`"),
    "classifier without model": (
        MINIMAL + "judge: {method: classifier}\n",
        r"line 7, judge: method `classifier` needs a `model`, such as ~/models/nli",
    ),
    "labels for another judge": (
        MINIMAL + "judge: {labels: {supported: entailment}}\n",
        r"line 7, judge\.labels: only method `classifier` has labels: remove them from `evidence`",
    ),
    "no label of what is supported": (
        MINIMAL + "judge: {method: classifier, model: /nli, labels: {not_found: neutral}}\n",
        r"line 7, judge\.labels: say which label means `supported`, such as \{supported: entailment\}",
    ),
    "one label for two supports": (
        MINIMAL + "judge: {method: classifier, model: /nli, labels: {supported: a, not_found: a}}\n",
        r"line 7, judge\.labels: a label means one support only",
    ),
    "label of an unknown support": (
        MINIMAL + "judge: {method: classifier, model: /nli, labels: {suported: a}}\n",
        r"line 7, judge\.labels\.suported: 'suported' is not known: did you mean 'supported'",
    ),
    "prompts for a classifier": (
        MINIMAL + "judge: {method: classifier, model: /nli, prompts: p}\n",
        r"line 7, judge: method `classifier` calls no model: remove `prompts`",
    ),
    "evidence with model": (
        MINIMAL + "judge: {method: evidence, model: a/b}\n",
        r"line 7, judge: method `evidence` calls no model: remove `model`",
    ),
    "prompts without model": (
        MINIMAL + "judge: {prompts: evals/prompts}\n",
        r"line 7, judge: method `evidence` calls no model: remove `prompts`",
    ),
    "metric": (MINIMAL + "gate: [faithfullness]\n", r"line 7, .*did you mean 'faithfulness'\?"),
    "measure": (MINIMAL + "measure: [context_recal]\n", r"line 7, measure\.0: .*did you mean 'context_recall'\?"),
    "measured anyway": (
        MINIMAL + "measure: [faithfulness]\n",
        r"line 7, measure\.0: faithfulness is always measured: remove it, `measure` names what costs calls of its own "
        r"\(answer_relevance, answer_correctness, context_recall\)$",
    ),
    "unknown measure": (
        MINIMAL + "measure: [zzz]\n",
        r"line 7, measure\.0: 'zzz' is not known: use one of answer_relevance, answer_correctness, context_recall$",
    ),
    "no metric": (MINIMAL + "gate: {}\n", r"line 7, gate: must hold at least one"),
    "unquoted template": (
        MINIMAL.replace("ollama/llama3.2:3b", "{{ MODEL }}"),
        r"line 6, column 13: a mapping cannot be a key: a value such as `\{\{ NAME \}\}` needs quotes",
    ),
    "unquoted template and more": (
        MINIMAL.replace("ollama/", "{{ PROVIDER }}/"),
        r"line 6, column 13: a mapping cannot",
    ),
    "list as key": ("[a, b]: x\n", r"line 1, column 1: a list cannot be a key"),
    "number as key": (MINIMAL + "5: x\n", r"line 7, column 1: a key must be a text: `5` is read as a number"),
    "two lines in a key": (
        MINIMAL + '"a\\nb": x\n',
        r"line 7, column 1: a key must be one line of at most 100 characters",
    ),
    "unquoted exclusion": (
        MINIMAL.replace("docs/*.md", "!docs/old.md"),
        r"line 4, column 16: tags are not read: a value that starts with `!` needs quotes",
    ),
    "unquoted glob": (
        MINIMAL.replace("docs/*.md", "*.md"),
        r"line 4, column 17: not valid YAML: .*\. A value that starts with `\*` needs quotes",
    ),
    "built-in tag": (MINIMAL + "runs: !!timestamp x\n", r"line 7, column 7: tags are not read"),
    "anchor": (MINIMAL + "judge: &a [*a]\n", r"line 7, column 8: anchors and aliases are not read"),
    "nested": (MINIMAL + "runs: " + 3000 * "[", r"line 7, column 26: nested more than 20 levels deep"),
    "long number": (MINIMAL + f"runs: {'1' * 5000}\n", r"line 7, column 7: this number is longer than 100 characters"),
    "no digits": (MINIMAL + "runs: 0x_\n", r"line 7, column 7: '0x_' is not a number: a text needs quotes"),
    "no such character": (MINIMAL + 'judge: "\\UFFFFFFFF"\n', r"line 7, column \d+: not valid YAML: .* out of range"),
    "half a character": (MINIMAL + 'judge: "\\ud800"\n', r"line 7, column 8: an escape writes half a character"),
    "control character": (MINIMAL + "judge: \a\n", r"line 7: the character U\+0007 is not allowed here"),
    "list in the gate": (MINIMAL + "gate:\n- faithfulness\n- [a]\n", r"line 9, gate\.1: expected the name of a metric"),
    "mapping in the gate": (MINIMAL + "gate: [{faithfulness: 1}]\n", r"line 7, gate\.0: expected the name of a metric"),
    "effect without end": (
        MINIMAL + "gate: {unsupported_per_answer: {min_effect: .inf}}\n",
        r"line 7, gate\.unsupported_per_answer\.min_effect: input should be a finite number, found inf",
    ),
    "effect of a share": (
        MINIMAL + "gate:\n  hit_rate:\n    min_effect: 1.5\n",
        r"line 9, gate\.hit_rate\.min_effect: hit_rate is a share: use a number below 1, such as 0\.02, found 1\.5",
    ),
    "size without end": (
        MINIMAL + "    chunking: {size: 99999999999999999999999}\n",
        r"line 7, system\.pipeline\.chunking\.size: input should be less than or equal to 100000, found 9+$",
    ),
    "too many passages": (
        MINIMAL + "    retrieval: {top_k: 1001}\n",
        r"retrieval\.top_k: .* less than or equal to 1000,",
    ),
    "too many tokens": (MINIMAL + "    options: {max_tokens: 100001}\n", r"options\.max_tokens: .* less than or equal"),
    "yes as a number": (MINIMAL + "    options: {temperature: yes}\n", r"temperature: .* valid number, found True"),
    "not a number": (MINIMAL + "    options: {top_p: .nan}\n", r"top_p: input should be .*, found nan"),
    "true as a number": (MINIMAL + "runs: true\n", r"line 7, runs: input should be a valid integer.*, found True"),
    "empty path": (MINIMAL.replace("prompts/answer.md", '""'), r"line 5, system\.pipeline\.prompt: must be one line"),
    "empty model": (MINIMAL.replace("ollama/llama3.2:3b", '" "'), r"line 6, system\.pipeline\.model: must be one line"),
    "list as method": (MINIMAL + "judge: {method: [a]}\n", r"line 7, judge\.method: \['a'\] is not known: use"),
    "number as gate": (
        MINIMAL + "gate: 5\n",
        r"line 7, gate: expected settings, such as `gate: \{faithfulness: \{floor: 0\.65\}\}`, found 5",
    ),
    "nothing as judge": (
        MINIMAL + "judge:\n",
        r"line 7, judge: expected settings, such as `judge: \{method: evidence\}`, found nothing",
    ),
    "number as a metric's gate": (
        MINIMAL + "gate: {faithfulness: 0.6}\n",
        r"line 7, gate\.faithfulness: expected settings, such as `gate: \{faithfulness: \{floor: 0\.65\}\}`, found 0\.",
    ),
    "number as noise": (
        MINIMAL + "noise: 2\n",
        r"line 7, noise: expected settings, such as `noise: \{judge_repeats: 2\}`, found 2",
    ),
    "empty pattern": (
        MINIMAL.replace("docs/*.md", '[a, "!"]'),
        r"line 4, system\.pipeline\.documents\.1: must be one line",
    ),
    "two lines": (MINIMAL.replace("evals/golden.jsonl", '"a\\nb"'), r"line 1, golden: must be one line"),
}


@pytest.mark.parametrize(("text", "message"), BAD.values(), ids=BAD)
def test_an_error_names_the_place_and_the_cure(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        load(tmp_path, text)
    assert str(caught.value).startswith("faithbot.yaml (main)")
    assert len(str(caught.value).splitlines()) == 1
    assert caught.value.exit_code == 64


SECTIONS = [
    ("system",),
    ("system", "pipeline"),
    ("system", "pipeline", "chunking"),
    ("system", "pipeline", "retrieval"),
    ("system", "pipeline", "options"),
    ("system", "recorded"),
    ("system", "recorded", "fields"),
    ("judge",),
    ("judge", "scores"),
    ("noise",),
]


@pytest.mark.parametrize("key", SECTIONS, ids=".".join)
def test_what_a_section_should_hold_is_shown_without_the_names_of_types(tmp_path: Path, key: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as caught:
        load(tmp_path, "golden: g\n" + "".join(f"{'  ' * depth}{part}:\n" for depth, part in enumerate(key[:-1]))
             + f"{'  ' * (len(key) - 1)}{key[-1]}: 7\n")  # fmt: skip
    (problem,) = [line for line in str(caught.value).splitlines() if ".".join(key) + ": expected settings" in line]
    assert f"such as `{key[-1]}: {{" in problem
    assert "found 7" in problem
    assert "instance of" not in str(caught.value)


def test_aliases_cannot_blow_a_small_file_up(tmp_path: Path) -> None:
    levels = [f"l{n}: &l{n} [{', '.join(9 * [f'*l{n - 1}'])}]" for n in range(1, 10)]
    with pytest.raises(UsageError, match=r"line 1, column 5: anchors and aliases are not read"):
        load(tmp_path, "\n".join(["l0: &l0 [x]", *levels]))


def test_a_date_is_a_file_name(tmp_path: Path) -> None:
    assert load(tmp_path, MINIMAL.replace("evals/golden.jsonl", "2024-13-45")).golden_path == "2024-13-45"


def test_a_count_may_grow_by_more_than_one(tmp_path: Path) -> None:
    gate = load(tmp_path, MINIMAL + "gate: {unsupported_per_answer: {min_effect: 1.5}}\n").config.gate
    assert gate["unsupported_per_answer"].min_effect == 1.5


@given(st.text(st.sampled_from("ab01_.:-?,[]{}&*!<=|>%@`'\"\\# \n\tuUx\a\x85\u2028") | st.characters(), max_size=40))
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    refusal = "f.yaml, line "
    try:
        json.dumps(parse_yaml(text, "f.yaml").value, ensure_ascii=False).encode()
    except UsageError as error:
        refusal = str(error)
    assert refusal.startswith("f.yaml, line ")
    assert len(refusal.splitlines()) == 1


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        load(tmp_path, MINIMAL + "runs: 0\nmin_coverage: 2\n")
    assert len(str(caught.value).splitlines()) == 2
