"""What there is to do is known from git alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from faithbot.config import JudgeSettings
from faithbot.errors import EvaluationError, UsageError
from faithbot.job import pass_without_work
from faithbot.plan import CompareRequest, Plan, make_plan
from faithbot.run_plan import RunPlan
from git_repository import make_repository

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

CONFIG = """\
golden: golden.jsonl
triggers: ["app/*.py", "!app/test_*.py"]
system:
  pipeline:
    documents: docs/*.md
    prompt: prompt.md
    model: ollama/a
judge: {method: label, model: ollama/judge}
"""
MAIN: dict[str, str | bytes | None] = {
    "faithbot.yaml": CONFIG,
    "golden.jsonl": '{"question": "A?"}\n{"question": "B?"}\n',
    "prompt.md": "{{ question }}\n",
    "docs/a.md": "a\n",
    "app/rag.py": "1\n",
    "app/test_rag.py": "1\n",
    "README.md": "1\n",
}


def plan_for(folder: Path, head: Mapping[str, str | bytes | None], **options: Any) -> Plan:
    repository = make_repository(folder / "repo", MAIN, {"head": head})
    fields: dict[str, Any] = {"base": "main", "head": "head", "config": "faithbot.yaml", "cache": folder / "cache"}
    return make_plan(CompareRequest(repository=repository, **(fields | options)))


@pytest.mark.parametrize(
    ("head", "has_work"),
    [
        ({"README.md": "2\n"}, False),
        ({"golden.jsonl": '{"question": "Easier?"}\n'}, False),
        ({"app/test_rag.py": "2\n"}, False),
        ({"app/rag.py": "2\n"}, True),
        ({"app/new.py": "2\n"}, True),
        ({"app/rag.py": None}, True),
        ({"prompt.md": "Be nice. {{ question }}\n"}, True),
        ({"docs/b.md": "b\n"}, True),
        ({"faithbot.yaml": CONFIG.replace("ollama/a", "ollama/b")}, True),
        ({"faithbot.yaml": CONFIG.replace("ollama/judge", "ollama/kinder")}, False),
        ({"faithbot.yaml": CONFIG.replace("app/", "nothing/"), "app/rag.py": "2\n"}, True),
    ],
    ids=["elsewhere", "golden set", "left out", "trigger", "new trigger", "deleted trigger", "prompt", "document",
         "setting", "judge", "base's triggers count"],
)  # fmt: skip
def test_there_is_work_where_something_that_answers_depend_on_changed(
    tmp_path: Path, head: dict[str, str | bytes | None], has_work: bool
) -> None:
    assert plan_for(tmp_path, head).has_work == has_work


def test_without_work_the_change_is_exactly_zero_and_nothing_was_asked(tmp_path: Path) -> None:
    results = pass_without_work(plan_for(tmp_path, {"README.md": "2\n"}))
    metric = results.metrics["faithfulness"]
    assert (results.verdict, results.reason) == ("pass", "Nothing that the answers depend on changed.")
    assert (metric.delta, metric.noise_band, metric.n_unchanged, metric.n_questions) == (0, 0, 2, 2)
    assert (results.usage.model_calls, results.fingerprint) == (0, None)


def test_the_models_of_both_sides_and_the_judge_are_known_beforehand(tmp_path: Path) -> None:
    plan = plan_for(tmp_path, {"faithbot.yaml": CONFIG.replace("ollama/a", "ollama/b")})
    assert set(plan.models) == {"ollama/a", "ollama/b", "ollama/judge"}


def test_a_classifier_is_no_model_to_pull(tmp_path: Path) -> None:
    config = CONFIG.replace("judge: {method: label, model: ollama/judge}\n", CLASSIFIER)
    plan = plan_for(tmp_path, {"faithbot.yaml": config}, graded_by="head")
    assert plan.judge.model == "/models/nli"
    assert plan.models == ("ollama/a",)


def test_a_pull_request_cannot_make_a_model_trusted(tmp_path: Path) -> None:
    other = CONFIG.replace("ollama/a", "ollama/http://a.example/x/a").replace("ollama/judge", "ollama/b.example/x/b")
    by_base = plan_for(tmp_path / "1", {"faithbot.yaml": other})
    by_head = plan_for(tmp_path / "2", {"faithbot.yaml": other}, graded_by="head")
    assert by_base.trusted_models == by_head.trusted_models == {"ollama/a", "ollama/judge"}


def test_the_judge_that_the_caller_names_is_trusted(tmp_path: Path) -> None:
    judge = JudgeSettings(method="label", model="ollama/hf.co/x/larger")
    assert plan_for(tmp_path, {}, judge=judge).trusted_models == {"ollama/a", "ollama/judge", "ollama/hf.co/x/larger"}


def test_at_the_first_introduction_no_model_is_trusted_but_the_callers(tmp_path: Path) -> None:
    new = {f"rag/{name}": content for name, content in MAIN.items()}
    judge = JudgeSettings(method="label", model="ollama/hf.co/x/larger")
    assert plan_for(tmp_path / "1", new, config="rag/faithbot.yaml").trusted_models == frozenset()
    assert plan_for(tmp_path / "2", new, config="rag/faithbot.yaml", judge=judge).trusted_models == {judge.model}


def test_what_is_measured_alone_on_the_default_branch_is_trusted(tmp_path: Path) -> None:
    plan = plan_for(tmp_path, {}, base=None)
    assert plan.trusted_models == {"ollama/a", "ollama/judge"}


def test_the_first_evaluation_and_a_side_alone_always_have_work(tmp_path: Path) -> None:
    assert plan_for(tmp_path, {}, base=None).has_work


def test_the_pull_requests_own_grading_is_used_only_when_asked(tmp_path: Path) -> None:
    harsher = {"faithbot.yaml": CONFIG.replace("ollama/judge", "ollama/harsher") + "runs: 3\n"}
    by_base = plan_for(tmp_path / "a", harsher)
    by_head = plan_for(tmp_path / "b", harsher, graded_by="head")
    assert (by_base.judge.model, by_base.runs) == ("ollama/judge", RunPlan(2, 2))
    assert (by_head.judge.model, by_head.runs) == ("ollama/harsher", RunPlan(3, 3))


@pytest.mark.parametrize(
    "head",
    [
        {"golden.jsonl": '{"question": "Easier?"}\n'},
        {"faithbot.yaml": CONFIG.replace("ollama/judge", "ollama/kinder")},
        {"faithbot.yaml": CONFIG + "gate: {faithfulness: {min_effect: 0.5}}\n"},
    ],
    ids=["golden set", "judge", "gate"],
)
def test_a_change_of_the_grading_alone_is_work_where_it_is_to_count(
    tmp_path: Path, head: dict[str, str | bytes | None]
) -> None:
    assert plan_for(tmp_path / "a", head, graded_by="head").has_work
    assert not plan_for(tmp_path / "b", head).has_work
    assert not plan_for(tmp_path / "c", {"README.md": "2\n"}, graded_by="head").has_work


SCORES = "judge: {method: recorded, scores: {faithfulness: groundedness}}\n"
RELEVANCE_CURE = (
    "a judge with a model does, such as `claims`, and so does `recorded` with its column, "
    "such as `scores: {answer_relevance: COLUMN}`."
)
CLASSIFIER = "judge: {method: classifier, model: /models/nli}\n"


@pytest.mark.parametrize(
    ("judge", "metric", "cure"),
    [
        ("", "answer_relevance", RELEVANCE_CURE),
        (SCORES, "answer_relevance", RELEVANCE_CURE),
        (SCORES, "context_recall", "every judge but `recorded` does."),
        ("judge: {method: label, model: ollama/judge}\n", "contradiction_rate", "`evidence` and `claims` do."),
        (SCORES, "unsupported_per_answer", "`evidence` and `claims` do."),
        (
            SCORES.replace("faithfulness", "answer_relevance"),
            "faithfulness",
            "every other does, and so does `recorded` with its column, such as `scores: {faithfulness: COLUMN}`.",
        ),
        (
            CLASSIFIER,
            "contradiction_rate",
            "say which label of the model means it, `labels: {supported: LABEL, contradicted: LABEL}`.",
        ),
    ],
)
def test_a_gate_that_the_judge_does_not_measure_is_told_before_any_work(
    tmp_path: Path, judge: str, metric: str, cure: str
) -> None:
    """Head's mistake is wrong usage, base's leaves the evaluation undone."""
    config = CONFIG.replace("judge: {method: label, model: ollama/judge}\n", judge) + f"gate: [{metric}]\n"
    with pytest.raises(UsageError) as caught:
        plan_for(tmp_path / "head", {"faithbot.yaml": config}, graded_by="head")
    line = len(config.splitlines())
    assert str(caught.value).startswith(f"faithbot.yaml (head), line {line}, gate.{metric}: the judge `")
    assert str(caught.value).endswith(f"does not measure {metric} here: {cure}")
    repository = make_repository(tmp_path / "base", MAIN | {"faithbot.yaml": config}, {"head": {"prompt.md": "Hi\n"}})
    request = CompareRequest(repository, base="main", head="head", config="faithbot.yaml", cache=tmp_path / "cache")
    with pytest.raises(EvaluationError, match=rf"^base cannot be evaluated: .*gate\.{metric}: the judge"):
        make_plan(request)


@pytest.mark.parametrize("metric", ["faithfulness", "abstention_rate", "hit_rate", "contradiction_rate"])
def test_what_the_judge_measures_may_be_gated(tmp_path: Path, metric: str) -> None:
    config = CONFIG.replace("judge: {method: label, model: ollama/judge}\n", "") + f"gate: [{metric}]\n"
    plan_for(tmp_path, {"faithbot.yaml": config}, graded_by="head")


def test_contradictions_may_be_gated_with_a_classifier_that_has_a_label_for_them(tmp_path: Path) -> None:
    labelled = CLASSIFIER.replace("}", ", labels: {supported: yes-it-is, contradicted: no-it-is-not}}")
    config = CONFIG.replace("judge: {method: label, model: ollama/judge}\n", labelled) + "gate: [contradiction_rate]\n"
    plan_for(tmp_path, {"faithbot.yaml": config}, graded_by="head")


def test_labels_stand_in_for_bare_commit_ids(tmp_path: Path) -> None:
    plan = plan_for(tmp_path, {}, labels={"base": "main", "head": "feature"})
    assert {name: loaded.snapshot.label for name, loaded in plan.sides.items()} == {"base": "main", "head": "feature"}


@pytest.mark.parametrize(
    ("head", "named"),
    [
        ({"golden.jsonl": '{"question": "A?"}\n{question: B}\n'}, "golden.jsonl (head), line 2"),
        ({"golden.jsonl": None}, "golden.jsonl does not exist on head"),
        ({"faithbot.yaml": CONFIG + "accepted: nowhere.yaml\n"}, "nowhere.yaml does not exist on head"),
        ({"faithbot.yaml": CONFIG + "gate: [contradiction_rate]\n"}, "contradiction_rate"),
        (
            {"faithbot.yaml": CONFIG.replace("judge}", "judge, prompts: own}"), "own/label.md": "{{ foo }}"},
            "unknown variable `foo`",
        ),
    ],
    ids=[
        "broken golden set",
        "no golden set",
        "no accepted claims",
        "a gate that the judge cannot measure",
        "a broken prompt",
    ],
)
def test_a_pull_request_that_would_break_the_grading_of_all_later_ones_is_told_so(
    tmp_path: Path, head: dict[str, str | bytes | None], named: str
) -> None:
    results = pass_without_work(plan_for(tmp_path, head))
    [warning] = results.warnings
    assert (results.verdict, warning.code) == ("inconclusive", "broken_grading")
    assert named in warning.message
    assert results.reason == warning.message


def test_a_metric_to_measure_that_nobody_measures_is_told_at_its_place(tmp_path: Path) -> None:
    config = CONFIG.replace(
        "judge: {method: label, model: ollama/judge}\n", "measure: [context_recall, answer_relevance]\n"
    )
    with pytest.raises(UsageError, match=r"line 8, measure\.1: the judge `evidence` does not measure answer_relevance"):
        plan_for(tmp_path, {"faithbot.yaml": config}, graded_by="head")


def test_a_gate_that_nobody_wrote_is_told_where_no_column_is_named_for_it(tmp_path: Path) -> None:
    recorded = "judge: {method: recorded, scores: {answer_relevance: relevance}}\n"
    config = CONFIG.replace("judge: {method: label, model: ollama/judge}\n", recorded)
    message = r"line 8, judge\.scores: `gate` is missing, so faithfulness is gated.* write `gate: \[answer_relevance\]`"
    with pytest.raises(UsageError, match=message):
        plan_for(tmp_path, {"faithbot.yaml": config}, graded_by="head")


LABEL = "judge: {method: label, model: ollama/judge}\n"


@pytest.mark.parametrize(
    ("settings", "further"),
    [
        ("", {"answer_correctness", "context_recall"}),
        (LABEL, set()),
        (LABEL + "measure: [answer_relevance]\n", {"answer_relevance"}),
        (LABEL + "gate: [faithfulness, context_recall]\n", {"context_recall"}),
        (SCORES.replace("faithfulness", "answer_relevance") + "gate: [answer_relevance]\n", set()),
    ],
    ids=["free", "dear", "wanted", "gated", "recorded"],
)
def test_further_metrics_are_measured_where_they_are_free_or_wanted(
    tmp_path: Path, settings: str, further: set[str]
) -> None:
    config = CONFIG.replace(LABEL, settings)
    assert plan_for(tmp_path, {"faithbot.yaml": config}, graded_by="head").further == further
