"""`results.json`: published schema, nothing lost on the way through a file, and reports made from it alone."""

from __future__ import annotations

import json
from importlib import resources

import jsonschema
import pytest
from pydantic import ValidationError

from faithbot.compare import Grading, compare
from faithbot.report.comment import render_comment
from faithbot.results import Results
from records import FINGERPRINT, USAGE, answered, claim, questions, side

SCHEMA = json.loads(resources.files("faithbot").joinpath("results.schema.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def results() -> Results:
    good, bad = claim("Returns within 30 days."), claim("Returns within 60 days.", "contradicted")
    names = [f"q{number}" for number in range(8)]
    base = side(
        "base", {name: [answered(good), answered(good)] for name in names}, contexts=["Returns within 30 days."]
    )
    head = side("head", {name: [answered(bad), answered(good, bad)] for name in names}, contexts=["Nothing."])
    grading = Grading(questions(*names), {"faithfulness": 0.0}, 0.9, FINGERPRINT)
    return compare(grading, {"base": base, "head": head}, runs=2, changes=(), usage=USAGE)


def test_the_published_schema_is_that_of_the_types() -> None:
    assert Results.model_json_schema(mode="serialization") == SCHEMA, "run `make schema` after a change of results.py"


def test_results_follow_the_schema(results: Results) -> None:
    jsonschema.validate(json.loads(results.model_dump_json()), SCHEMA)


def test_results_hold_what_other_tools_rely_on(results: Results) -> None:
    data = json.loads(results.model_dump_json())
    assert data["schema_version"] == 1
    assert data["verdict"] == "regression"
    assert set(data["metrics"]["faithfulness"]) >= {
        "base", "head", "delta", "noise_band", "p_value", "flagged", "smallest_detectable", "n_questions",
    }  # fmt: skip
    assert set(data["newly_unsupported"][0]) >= {
        "question_id", "claim", "support", "head_runs", "base_runs", "evidence",
    }  # fmt: skip
    assert set(data) >= {"no_longer_unsupported", "warnings", "fingerprint", "sides"}


def test_a_report_is_made_from_the_file_alone(results: Results) -> None:
    again = Results.model_validate_json(results.model_dump_json())
    assert again == results
    assert render_comment(again) == render_comment(results)


@pytest.mark.parametrize(
    ("key", "value"),
    [("schema_version", 2), ("verdict", "great"), ("metrics", {"faithfulness": {}}), ("unknown", 1), ("runs", "two")],
)
def test_a_file_of_another_form_is_refused(results: Results, key: str, value: object) -> None:
    with pytest.raises(ValidationError):
        Results.model_validate(json.loads(results.model_dump_json()) | {key: value})


def test_a_number_that_is_none_is_refused(results: Results) -> None:
    text = results.model_dump_json().replace('"seconds":0.0', '"seconds":Infinity', 1)
    with pytest.raises(ValidationError):
        Results.model_validate_json(text)
