"""The whole job through a real Ollama, on Contoso's manuals, questions and prompt."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from command import Outcome, faithbot, start
from ollama_process import ollama_program, provide_model, running
from shared_examples import make_contoso

if TYPE_CHECKING:
    from pathlib import Path

LIMIT = ("--limit", "4")
ANSWERS = 16


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("contoso")


@pytest.fixture(scope="module")
def repository(folder: Path, smollm2: str) -> Path:
    return make_contoso(folder / "repository", f"ollama/{smollm2}", max_tokens=40)


def compare(repository: Path, cache: Path, *arguments: str, **environment: str) -> tuple[Outcome, dict[str, Any]]:
    file = cache.parent / "results.json"
    file.unlink(missing_ok=True)
    outcome = faithbot(
        "compare", "--repo", repository, "--cache", cache, "--json", file, "--base", "main", *arguments, **environment
    )
    return outcome, json.loads(file.read_text()) if file.exists() else {}


def test_a_change_of_prompt_and_retrieval_gets_a_verdict(repository: Path, folder: Path, ollama_url: str) -> None:
    outcome, results = compare(repository, folder / "cache", "--head", "ungrounded", *LIMIT, OLLAMA_HOST=ollama_url)
    assert outcome.code == {"pass": 0, "regression": 1, "inconclusive": 2}[results["verdict"]], outcome
    assert results["usage"]["model_calls"] == ANSWERS
    assert results["usage"]["busy_share"] > 0.8
    assert {change["name"] for change in results["changes"]} == {"retrieval.top_k", "prompts/answer.md"}
    contexts = {side: len(data["answers"][0]["contexts"]) for side, data in results["sides"].items()}
    assert contexts == {"base": 4, "head": 1}

    again, repeated = compare(repository, folder / "cache", "--head", "ungrounded", *LIMIT, OLLAMA_HOST=ollama_url)
    assert (again.code, repeated["usage"]["model_calls"]) == (outcome.code, 0)
    assert repeated["metrics"] == results["metrics"]

    same, unchanged = compare(repository, folder / "cache", "--head", "main", *LIMIT, OLLAMA_HOST=ollama_url)
    assert (same.code, unchanged["verdict"]) == (0, "pass")
    metric = unchanged["metrics"]["faithfulness"]
    assert metric["delta"] == (0 if metric["n_questions"] else None)  # so small a model may state no fact at all


def test_the_label_judge_judges_through_ollama(folder: Path, smollm2: str, ollama_url: str) -> None:
    repository = make_contoso(
        folder / "label", f"openai/{smollm2}", judge=f'label, model: "ollama/{smollm2}"', max_tokens=16
    )
    outcome, results = compare(
        repository,
        folder / "label-cache",
        *("--head", "main", "--limit", "1", "--runs", "1"),
        OLLAMA_HOST=ollama_url,
        OPENAI_BASE_URL=f"{ollama_url}/v1",
    )
    assert outcome.code == 0, outcome
    (answer,) = results["sides"]["base"]["answers"]
    assert answer["judgement"]["unscored"] is None
    assert answer["judgement"]["faithfulness"] in (0, 0.5, 1)
    assert results["fingerprint"]["method"] == "label"


def test_a_server_that_dies_in_the_middle_costs_no_finished_answer(weights: Path, tmp_path: Path) -> None:
    with running(ollama_program(), tmp_path / "serve.log") as server:
        provide_model(server.url, weights)
        repository = make_contoso(tmp_path / "repository", "ollama/smollm2:135m", max_tokens=16)
        cache, file = tmp_path / "cache", tmp_path / "results.json"
        arguments = ("compare", "--repo", repository, "--cache", cache, "--json", file, "--base", "main")
        arguments += ("--head", "ungrounded", "--limit", "1")
        process = start(*arguments, OLLAMA_HOST=server.url)
        while len(list(cache.glob("calls/*/*.json"))) < 2:
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        server.kill()
        _, stderr = process.communicate(timeout=120)
        assert process.returncode == 2
        assert all(line.startswith("faithbot: ") for line in stderr.splitlines()), stderr
        error, computed = stderr.splitlines()[-2:]
        assert "answers were judged before that" in computed
        assert server.url in error
        assert "Finished answers are kept" in error
        assert not file.exists()

        kept = len(list(cache.glob("calls/*/*.json")))
        server.start()
        outcome = faithbot(*arguments, OLLAMA_HOST=server.url)
        assert outcome.code in (0, 1, 2), outcome  # one question may be too few for a verdict
        usage = json.loads(file.read_text())["usage"]
        assert (usage["model_calls"], usage["cached_calls"]) == (4 - kept, kept)


def test_a_model_that_the_server_does_not_have_is_named_with_the_cure(folder: Path, ollama_url: str) -> None:
    repository = make_contoso(folder / "missing", "ollama/smolm2:135m")
    outcome, _ = compare(repository, folder / "missing-cache", "--head", "main", OLLAMA_HOST=ollama_url)
    assert outcome.code == 64
    assert "model 'smolm2:135m' is not on the server" in outcome.stderr
    assert "ollama pull smolm2:135m" in outcome.stderr


def test_a_server_that_is_not_there_is_named_with_the_cure(folder: Path) -> None:
    repository = make_contoso(folder / "dead", "ollama/smollm2:135m")
    outcome, _ = compare(repository, folder / "dead-cache", "--head", "main", OLLAMA_HOST="127.0.0.1:9")
    assert outcome.code == 2
    assert "http://127.0.0.1:9" in outcome.stderr
    assert "ollama serve" in outcome.stderr
    assert len(outcome.stderr.strip().splitlines()) == 1
