"""The whole job with real weights in this process: two refs in, comment, results.json and exit code out."""

from __future__ import annotations

import json
import os
import signal
import time
from importlib import resources
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from command import Outcome, faithbot, start
from git_repository import git, write_files
from shared_examples import make_verity

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("weights")

MODEL = "embedded/smollm2-135m"
QUESTIONS, RUNS, SIDES = 10, 2, 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("verity")


@pytest.fixture(scope="module")
def repository(folder: Path) -> Path:
    return make_verity(folder / "repository", MODEL)


def compare(repository: Path, cache: Path, *arguments: str) -> tuple[Outcome, dict[str, Any]]:
    """Outcome and results."""
    file = cache.parent / "results.json"
    file.unlink(missing_ok=True)
    outcome = faithbot("compare", "--repo", repository, "--cache", cache, "--json", file, *arguments)
    return outcome, json.loads(file.read_text()) if file.exists() else {}


@pytest.fixture(scope="module")
def stories(repository: Path, folder: Path) -> tuple[Outcome, dict[str, Any]]:
    """The comparison that every test below looks at: the prompt asks for surprising facts of the model's own."""
    return compare(repository, folder / "cache", "--base", "main", "--head", "stories")


def test_a_change_that_invents_facts_is_a_regression(stories: tuple[Outcome, dict[str, Any]]) -> None:
    outcome, results = stories
    assert outcome.code == 1, outcome
    assert results["verdict"] == "regression"
    metric = results["metrics"]["faithfulness"]
    assert metric["flagged"]
    assert metric["delta"] < -metric["noise_band"] < 0
    assert metric["n_questions"] >= 9
    assert "❌ Faithfulness fell by" in outcome.stdout
    assert results["newly_unsupported"]


def test_results_follow_the_published_schema(stories: tuple[Outcome, dict[str, Any]]) -> None:
    schema = json.loads(resources.files("faithbot").joinpath("results.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(stories[1], schema)


def test_evidence_stands_word_for_word_in_a_document(stories: tuple[Outcome, dict[str, Any]], repository: Path) -> None:
    quoted = [claim for claim in stories[1]["newly_unsupported"] if claim["evidence"]]
    assert quoted
    for claim in quoted:
        text = (repository / claim["source"]["document"]).read_text(encoding="utf-8")
        start = claim["source"]["start"]
        assert text[start : start + len(claim["evidence"])] == claim["evidence"]


def test_the_comment_shows_what_changed(stories: tuple[Outcome, dict[str, Any]]) -> None:
    comment = stories[0].stdout
    assert "What changed: prompts/answer.md" in comment
    assert "-Answer in one sentence, in the words of the text above: {{ question }}" in comment
    assert "+Tell a lively story with surprising facts of your own: {{ question }}" in comment


def test_progress_goes_to_standard_error(stories: tuple[Outcome, dict[str, Any]]) -> None:
    assert "faithbot: 10 questions × 2 runs on base and head, answered by embedded/smollm2-135m" in stories[0].stderr
    assert "faithbot: 40 of 40 answers judged after" in stories[0].stderr
    assert stories[0].stdout.startswith("<!-- faithbot -->\n")


def test_a_repeated_comparison_makes_no_call_and_says_the_same(
    stories: tuple[Outcome, dict[str, Any]], repository: Path, folder: Path
) -> None:
    outcome, results = compare(repository, folder / "cache", "--base", "main", "--head", "stories")
    assert outcome.code == 1
    assert (results["usage"]["model_calls"], results["usage"]["cached_calls"]) == (0, QUESTIONS * RUNS * SIDES)
    for key in ("verdict", "metrics", "newly_unsupported", "no_longer_unsupported", "warnings"):
        assert results[key] == stories[1][key]


def test_a_commit_compared_with_itself_passes_with_a_change_of_exactly_zero(repository: Path, folder: Path) -> None:
    outcome, results = compare(repository, folder / "cache", "--base", "main", "--head", "main")
    metric = results["metrics"]["faithfulness"]
    assert (outcome.code, results["verdict"]) == (0, "pass")
    assert (metric["delta"], metric["noise_band"], metric["n_unchanged"]) == (0, 0, metric["n_questions"])
    assert "✅ Nothing that the answers depend on changed" in outcome.stdout


def test_the_working_tree_is_on_trial_where_no_head_is_named(repository: Path, folder: Path) -> None:
    write_files(repository, {"notes.txt": "nothing that answers depend on"})
    outcome, results = compare(repository, folder / "cache", "--base", "main")
    (repository / "notes.txt").unlink()
    assert (outcome.code, results["sides"]["head"]["label"]) == (0, "working tree")
    assert results["usage"]["model_calls"] == 0


def test_a_change_of_the_golden_set_is_announced_and_not_used(repository: Path, folder: Path) -> None:
    git(repository, "checkout", "--quiet", "-b", "easier")
    write_files(repository, {"evals/golden.jsonl": '{"question": "Is water wet?"}\n'})
    git(repository, "commit", "--quiet", "--all", "--message", "easier")
    git(repository, "checkout", "--quiet", "main")
    outcome, results = compare(repository, folder / "cache", "--base", "main", "--head", "easier")
    assert (outcome.code, len(results["questions"])) == (0, QUESTIONS)
    assert "⚠️ This pull request changes how it is graded" in outcome.stdout
    assert "evals/golden.jsonl" in outcome.stdout


def test_the_pull_request_that_introduces_faithbot_is_measured_alone(folder: Path) -> None:
    repository = make_verity(folder / "first", MODEL)
    git(repository, "checkout", "--quiet", "-b", "introduces")
    git(repository, "branch", "--quiet", "--force", "main", "main")
    git(repository, "checkout", "--quiet", "main")
    git(repository, "rm", "--quiet", "faithbot.yaml")
    git(repository, "commit", "--quiet", "--message", "before faithbot")
    outcome, results = compare(repository, folder / "cache", "--base", "main", "--head", "introduces")
    assert (outcome.code, results["verdict"], list(results["sides"])) == (0, "first", ["head"])
    assert "⚪ First evaluation: faithfulness" in outcome.stdout


def test_nothing_that_was_answered_is_lost_when_the_process_is_killed(repository: Path, folder: Path) -> None:
    cache = folder / "killed"
    arguments = (
        "compare",
        "--repo",
        repository,
        "--cache",
        cache,
        "--base",
        "main",
        "--head",
        "stories",
        "--limit",
        "3",
    )
    process = start(*arguments, "--json", folder / "killed.json")
    while len(list(cache.glob("calls/*/*.json"))) < 3:
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    kept = len(list(cache.glob("calls/*/*.json")))
    outcome = faithbot(*arguments, "--json", folder / "killed.json")
    usage = json.loads((folder / "killed.json").read_text())["usage"]
    assert outcome.code in (0, 1, 2), outcome  # three questions may be too few for a verdict
    assert 3 <= kept < 12
    assert (usage["model_calls"], usage["cached_calls"]) == (12 - kept, kept)
