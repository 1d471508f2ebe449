"""Two recorded runs compared: 198 questions to a real RAG, recorded twice with each of two prompts (Northwind)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from command import faithbot
from git_repository import make_repository
from shared_examples import make_northwind
from tiny_classifier import write_classifier

if TYPE_CHECKING:
    from pathlib import Path

RECORDED = """\
{method: recorded, scores: {faithfulness: gpt_groundedness, answer_relevance: gpt_relevance}, scale: [1, 5]}
"""


def replay(folder: Path, judge: str, base: str, head: str) -> tuple[int, str, dict[str, Any]]:
    """Exit code, comment and results."""
    repository = make_northwind(folder / "repository", judge)
    file = folder / "results.json"
    outcome = faithbot("compare", "--repo", repository, "--base", base, "--head", head, "--json", file)
    return outcome.code, outcome.stdout, json.loads(file.read_text()) if file.exists() else {}


def test_another_prompt_is_compared_by_the_evidence_judge(tmp_path: Path) -> None:
    code, comment, results = replay(tmp_path, "{method: evidence}", "main", "nomarkdown")
    metric = results["metrics"]["faithfulness"]
    assert (code, results["verdict"]) == (0, "pass")
    assert (metric["n_questions"], metric["n_unchanged"], metric["method"]) == (196, 0, "relabelling")
    assert abs(metric["delta"]) < metric["noise_band"] < metric["smallest_detectable"] < 0.025
    assert "No change in faithfulness beyond noise" in comment
    assert any(claim["source"]["document"].startswith("Northwind") for claim in results["newly_unsupported"])


def test_another_prompt_is_compared_by_the_scores_that_were_recorded(tmp_path: Path) -> None:
    code, comment, results = replay(tmp_path, RECORDED, "main", "nomarkdown")
    assert (code, results["verdict"]) == (0, "pass")
    assert list(results["metrics"]) == ["faithfulness", "citation_validity", "answer_relevance", "abstention_rate"]
    assert results["metrics"]["faithfulness"]["base"] == pytest.approx(0.980, abs=0.001)
    assert "gpt_groundedness as faithfulness and gpt_relevance as answer relevance (1 to 5 is 0 to 1)" in (
        comment.replace("&#95;", "_")
    )


def test_the_noise_of_recorded_scores_is_told(tmp_path: Path) -> None:
    repository = make_northwind(tmp_path / "repository", RECORDED)
    file = tmp_path / "noise.json"
    outcome = faithbot("noise", "--repo", repository, "--head", "main", "--runs", 1, "--json", file)
    assert outcome.code == 0, outcome
    assert "Flips: 4 of 196 questions got different scores" in outcome.stdout
    assert json.loads(file.read_text())["flip_rate"] == pytest.approx(4 / 196)


@pytest.mark.parametrize(
    ("judge", "base", "head"), [("{method: evidence}", "first", "second"), (RECORDED, "second", "first")]
)
def test_a_system_against_itself_passes(tmp_path: Path, judge: str, base: str, head: str) -> None:
    """In the direction in which chance lowered the faithfulness."""
    code, _, results = replay(tmp_path, judge, base, head)
    assert (code, results["verdict"]) == (0, "pass")
    metric = results["metrics"]["faithfulness"]
    assert -0.02 < metric["delta"] < 0
    assert metric["n_unchanged"] == 0


def recorded_answer(answer: str) -> str:
    rows = [
        {"question": f"Question {number}?", "answer": answer, "contexts": ["The stove burns gas. The stove is red."]}
        for number in range(8)
    ]
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def test_a_classifier_judges_a_comparison(tmp_path: Path) -> None:
    model = write_classifier(tmp_path / "nli")
    golden = "".join(json.dumps({"question": f"Question {number}?"}) + "\n" for number in range(8))
    config = (
        "golden: golden.jsonl\nsystem: {recorded: {files: [1.jsonl, 2.jsonl]}}\n"
        f"judge: {{method: classifier, model: {model}}}\n"
    )
    true, false = recorded_answer("The stove burns gas."), recorded_answer("The stove is not red.")
    main = {"faithbot.yaml": config, "golden.jsonl": golden, "1.jsonl": true, "2.jsonl": true}
    repository = make_repository(tmp_path / "repository", main, {"head": {"1.jsonl": false, "2.jsonl": false}})
    file = tmp_path / "results.json"

    outcome = faithbot("compare", "--repo", repository, "--base", "main", "--head", "head", "--json", file)

    results = json.loads(file.read_text())
    assert (outcome.code, results["verdict"]) == (1, "regression"), outcome
    assert (results["metrics"]["faithfulness"]["base"], results["metrics"]["faithfulness"]["head"]) == (1, 0)
    assert results["metrics"]["contradiction_rate"]["head"] == 1
    assert {claim["support"] for claim in results["newly_unsupported"]} == {"contradicted"}
    assert (results["fingerprint"]["method"], results["fingerprint"]["model"]) == ("classifier", "nli")
    assert results["usage"]["model_calls"] == 0
