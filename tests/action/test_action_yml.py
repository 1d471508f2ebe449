"""action.yml, the types that read its inputs, the code that writes its outputs and the README say the same."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from faithbot.action.inputs import ActionInputs

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
FIELDS = {name.replace("_", "-"): field for name, field in ActionInputs.model_fields.items()}


def readme_table(first_column: str) -> dict[str, str]:
    """Rows of the README's table whose first column has this heading, by the name in backquotes."""
    (table,) = re.findall(rf"^\| {first_column} \|.*\n\|[-:| ]+\|\n((?:\|.*\n)+)", README, re.MULTILINE)
    return dict(re.findall(r"^\| `([\w-]+)` \| (.*) \|$", table, re.MULTILINE))


def test_action_code_and_readme_know_the_same_inputs() -> None:
    assert set(ACTION["inputs"]) == set(FIELDS) == set(readme_table("input"))


@pytest.mark.parametrize("name", ACTION["inputs"])
def test_a_default_is_the_same_for_a_workflow_and_in_the_code(name: str) -> None:
    default = ACTION["inputs"][name].get("default")
    if default is None or default.startswith("${{"):
        assert not FIELDS[name].default
    else:
        assert default == FIELDS[name].default
        assert f"`{default}`" in readme_table("input")[name]


def test_nothing_must_be_given() -> None:
    assert not any(each.get("required") for each in ACTION["inputs"].values())


def test_action_and_readme_know_the_same_outputs() -> None:
    assert set(ACTION["outputs"]) == set(readme_table("output"))


@pytest.mark.parametrize("name", [*ACTION["inputs"], *ACTION["outputs"]])
def test_everything_is_described_in_one_plain_sentence(name: str) -> None:
    description = (ACTION["inputs"] | ACTION["outputs"])[name]["description"]
    assert description.endswith(".")
    assert ". " not in description


def test_both_programs_of_the_container_are_installed_with_the_package() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    runs = ACTION["runs"]
    for program in (runs["entrypoint"], runs["post-entrypoint"]):
        folder, name = program.rsplit("/", 1)
        assert folder == "/opt/faithbot/bin"
        assert name in scripts
    assert f'ENTRYPOINT ["{runs["entrypoint"]}"]' in DOCKERFILE


def test_the_base_image_is_pinned_by_digest() -> None:
    assert re.search(r"^ARG BASE=python:[\w.-]+@sha256:[0-9a-f]{64}$", DOCKERFILE, re.MULTILINE)


def test_the_runner_decides_on_user_and_folder() -> None:
    assert not re.search(r"^(USER|WORKDIR)\b", DOCKERFILE, re.MULTILINE)
