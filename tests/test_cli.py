"""The command line: help, exit codes, and one clear line for every kind of bad input."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from command import Outcome, faithbot
from faithbot.snapshots import MAX_FILE_BYTES
from git_repository import commit_all, git, make_repository, write_files
from shared_examples import make_verity

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("weights")

CONFIG = """\
golden: golden.jsonl
system:
  pipeline:
    documents: ["docs/*.md"]
    prompt: prompt.md
    model: embedded/smollm2-135m
"""
GOOD: dict[str, str | bytes | None] = {
    "faithbot.yaml": CONFIG,
    "golden.jsonl": '{"question": "What burns the stove?"}\n',
    "prompt.md": "{% for context in contexts %}{{ context.text }}{% endfor %} {{ question }}",
    "docs/stove.md": "The stove burns gas.",
}


def compare(folder: Path, *arguments: str) -> Outcome:
    return faithbot("compare", "--repo", folder, "--cache", folder.parent / "cache", *arguments)


BAD = {
    "yaml": ({"faithbot.yaml": "golden: [\n"}, "faithbot.yaml (main), line 2, column 1: not valid YAML"),
    "misspelt key": (
        {"faithbot.yaml": CONFIG.replace("prompt:", "promt:")},
        "faithbot.yaml (main), line 5, system.pipeline.promt: unknown key `promt`: did you mean `prompt`?",
    ),
    "wrong type": (
        {"faithbot.yaml": CONFIG + "runs: two\n"},
        "faithbot.yaml (main), line 7, runs: input should be a valid integer",
    ),
    "no golden set": (
        {"golden.jsonl": None},
        "faithbot.yaml (main), line 1, golden: golden.jsonl does not exist on main.",
    ),
    "empty golden set": ({"golden.jsonl": ""}, "golden.jsonl (main) holds no question"),
    "no question": ({"golden.jsonl": "{}"}, "golden.jsonl (main), line 1: `question` must be a text"),
    "same id twice": (
        {"golden.jsonl": '{"id": 1, "question": "a"}\n{"id": 1, "question": "b"}'},
        "golden.jsonl (main), line 2: this id stands in line 1 already",
    ),
    "glob": ({"docs/stove.md": None}, "system.pipeline.documents: no file on main matches 'docs/*.md'"),
    "no prompt": (
        {"prompt.md": None},
        "faithbot.yaml (main), line 5, system.pipeline.prompt: prompt.md does not exist on main.",
    ),
    "variable": ({"prompt.md": "{{ contex }}"}, "prompt.md (main): 'contex' is undefined"),
    "template": ({"prompt.md": "\n{% if %}"}, "prompt.md (main), line 2: not a valid Jinja template"),
    "huge document": (
        {"docs/huge.md": b"x" * (4 * MAX_FILE_BYTES)},
        "docs/huge.md (main) has 40 MB, the limit is 10 MB: leave it out with a `!` pattern, or split it.",
    ),
    "provider": (
        {"faithbot.yaml": CONFIG.replace("embedded/", "olama/")},
        "there is no provider 'olama': did you mean ollama/smollm2-135m?",
    ),
    "weights": (
        {"faithbot.yaml": CONFIG.replace("smollm2-135m", "smollm3")},
        "embedded/smollm3: write embedded/smollm2-135m or embedded/FILE.gguf, with FILE.gguf in",
    ),
    "leaves the repository": (
        {"faithbot.yaml": CONFIG.replace("prompt.md", "../secret.md")},
        "faithbot.yaml (main), line 5, system.pipeline.prompt: '../secret.md' leads out of the repository",
    ),
}


@pytest.mark.parametrize(("files", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_one_line_with_file_place_and_cure(
    tmp_path: Path, files: dict[str, str | bytes | None], message: str
) -> None:
    outcome = compare(make_repository(tmp_path / "repository", GOOD | files), "--base", "main", "--head", "main")
    assert outcome.code == 64
    assert message in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1
    assert outcome.stdout == ""


def test_a_base_that_is_broken_is_not_the_pull_requests_wrong_usage(tmp_path: Path) -> None:
    for number, broken in enumerate(({"golden.jsonl": ""}, {"faithbot.yaml": CONFIG + "runs: two\n"})):
        repository = make_repository(tmp_path / f"repository{number}", GOOD | broken, {"mends": GOOD})
        outcome = compare(repository, "--base", "main", "--head", "mends")
        assert outcome.code == 2
        assert outcome.stderr.startswith("faithbot: base cannot be evaluated: ")
        assert len(outcome.stderr.splitlines()) == 1


def test_a_recorded_file_without_a_row_is_an_error_of_the_side_that_has_it(tmp_path: Path) -> None:
    """Each of its questions would else fail by itself, for a reason that nobody can mend there."""
    config = "golden: golden.jsonl\nsystem:\n  recorded: {files: [runs.jsonl]}\nruns: 1\n"
    row = '{"question": "What burns the stove?", "answer": "Gas.", "contexts": ["The stove burns gas."]}\n'
    filled: dict[str, str | bytes | None] = {"faithbot.yaml": config, "golden.jsonl": GOOD["golden.jsonl"]}
    filled["runs.jsonl"] = row
    repository = make_repository(tmp_path / "repository", filled, {"emptied": {"runs.jsonl": ""}})
    on_head = compare(repository, "--base", "main", "--head", "emptied")
    assert (on_head.code, on_head.stderr) == (
        64,
        "faithbot: runs.jsonl (emptied) holds no row: record the answers of run 1 in it.\n",
    )
    on_base = compare(repository, "--base", "emptied", "--head", "main")
    assert on_base.code == 2
    assert "base cannot be evaluated: runs.jsonl (emptied) holds no row" in on_base.stderr


def test_a_base_whose_configuration_is_a_link_is_not_a_first_evaluation(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "repository", GOOD)
    write_files(repository, {"real.yaml": CONFIG, "faithbot.yaml": None})
    (repository / "faithbot.yaml").symlink_to("real.yaml")
    commit_all(repository, "link")
    write_files(repository, {"faithbot.yaml": None})
    write_files(repository, {"faithbot.yaml": CONFIG})
    outcome = compare(repository, "--base", "main")
    assert outcome.code == 2
    assert "base cannot be evaluated: faithbot.yaml" in outcome.stderr


def test_refs_and_files_that_do_not_exist_are_named(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "repository", GOOD)
    unknown = compare(repository, "--base", "nowhere")
    assert (unknown.code, unknown.stderr.count("\n")) == (64, 1)
    assert "'nowhere' is not a commit, branch or tag" in unknown.stderr
    config = compare(repository, "--base", "main", "--config", "other.yaml")
    assert config.code == 64
    assert "other.yaml does not exist on working tree" in config.stderr
    only = compare(repository, "--base", "main", "--only", "q7")
    assert only.code == 64
    assert "--only q7: no question has this id" in only.stderr
    outside = compare(tmp_path, "--base", "main")
    assert outside.code == 64
    assert "is not in a git repository" in outside.stderr


def test_a_shallow_clone_without_the_base_says_how_to_fetch_it(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "repository", GOOD, {"later": {"docs/stove.md": "The stove burns wood."}})
    base = git(repository, "rev-parse", "main")
    git(tmp_path, "clone", "--quiet", "--depth=1", "--branch=later", f"file://{repository}", "shallow")
    outcome = compare(tmp_path / "shallow", "--base", base)
    assert outcome.code == 2
    assert f"run `git fetch --depth=1 origin {base}`" in outcome.stderr


@pytest.mark.parametrize(
    "arguments",
    [("compare",), ("compare", "--base", "main", "--runs", "0"), ("compare", "--bse", "main"), ("nothing",)],
)
def test_wrong_usage_ends_with_64(arguments: tuple[str, ...]) -> None:
    outcome = faithbot(*arguments)
    assert outcome.code == 64
    assert "Usage: faithbot" in outcome.stderr


def test_help_names_every_command_and_exit_code() -> None:
    outcome = faithbot("--help")
    assert outcome.code == 0
    for words in ("compare", "judge", "demo", "0 pass, 1 regression, 2 ", "64 wrong usage", "70 a fault"):
        assert words in outcome.stdout


def test_results_go_to_a_folder_that_git_ignores_unless_named(tmp_path: Path) -> None:
    repository = make_verity(tmp_path / "repository", "embedded/smollm2-135m")
    outcome = compare(repository, "--base", "main", "--limit", "1", "--runs", "1", "--comment", str(tmp_path / "c.md"))
    assert outcome.code == 0, outcome
    assert json.loads((repository / ".faithbot" / "results.json").read_text())["verdict"] == "pass"
    assert git(repository, "status", "--porcelain") == ""
    assert (tmp_path / "c.md").read_text() == outcome.stdout.removesuffix("\n")


def test_judge_gives_one_object_a_row_in_the_order_of_the_rows(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "question": "What does it burn?", "answer": "It burns gas.", "contexts": ["The stove burns gas."]},
        {"question": "How heavy is it?", "answer": "I don't know.", "contexts": ["The stove burns gas."], "extra": 1},
        {"id": 3, "question": "How heavy is it?", "answer": None, "contexts": []},
        {"id": "d", "question": "How heavy is it?", "answer": "It weighs 90 kilograms.", "contexts": []},
    ]
    file = tmp_path / "answers.jsonl"
    file.write_text("\n".join([*map(json.dumps, rows), "{not json"]))
    outcome = faithbot("judge", file, "--cache", tmp_path / "cache")
    judged = [json.loads(line) for line in outcome.stdout.splitlines()]
    assert outcome.code == 0
    assert [row["id"] for row in judged] == ["a", None, 3, "d", None]
    assert [row["faithfulness"] for row in judged] == [1, None, None, 0, None]
    assert [row["abstained"] for row in judged] == [False, True, False, False, False]
    assert judged[0]["claims"][0] == {
        "text": "It burns gas.",
        "support": "supported",
        "probability": judged[0]["claims"][0]["probability"],
        "evidence": "The stove burns gas.",
        "source": {"context": 0, "start": 0, "end": 20},
        "numbers": None,
        "unscored": None,
    }
    assert judged[2]["unscored"].startswith("line 3: no answer: ")
    assert judged[4]["unscored"].startswith("line 5, column 2: ")
    assert outcome.stderr.endswith("faithbot: mean faithfulness 0.50 over 2 of 5 answers; 1 abstained, 2 unscored\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("missing.jsonl",), "cannot read missing.jsonl: No such file or directory.\n"),
        (("/dev/null",), "/dev/null holds no row"),
        (("/dev/null", "--method", "label"), "method `label` needs a `model`"),
        (("/dev/null", "--method", "evidence", "--model", "ollama/x"), "method `evidence` calls no model"),
    ],
)
def test_judge_says_what_is_wrong(arguments: tuple[str, ...], message: str) -> None:
    outcome = faithbot("judge", *arguments)
    assert outcome.code == 64
    assert message in outcome.stderr
