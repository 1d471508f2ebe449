"""What the README shows works as it stands there."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from judging_data import test_claims as claims_to_measure

from faithbot.cli import cli
from faithbot.config import Config, MetricName
from faithbot.systems.prompt_rendering import render_prompts
from faithbot.systems.protocol import Context
from git_repository import git, make_repository
from records import noisy_results
from shared_examples import SHARED, make_contoso, make_verity

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = [
    re.split(r"\s{2,}#", line.removeprefix("$ "))[0].strip()
    for block in re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    for line in block.splitlines()
]


def commands(program: str) -> list[str]:
    return [command for command in COMMANDS if command.split()[0] == program]


def test_the_configuration_is_valid_and_shows_every_default_as_it_is() -> None:
    block, _ = re.findall(r"```yaml\n(golden:.*?)```", README, re.DOTALL)
    config = Config.model_validate(yaml.safe_load(block))
    defaults = Config.model_validate(
        {
            "golden": config.golden,
            "system": {"pipeline": {"documents": ["docs/**/*.md"], "prompt": "p", "model": "m"}},
        }
    )
    assert (config.runs, config.min_coverage) == (defaults.runs, defaults.min_coverage)
    assert config.judge == defaults.judge
    assert config.system.pipeline.chunking == defaults.system.pipeline.chunking
    assert config.system.pipeline.retrieval == defaults.system.pipeline.retrieval


def test_the_configuration_of_a_replay_is_valid() -> None:
    _, block = re.findall(r"```yaml\n(golden:.*?)```", README, re.DOTALL)
    config = Config.model_validate(yaml.safe_load(block))
    assert config.system.recorded is not None
    assert len(config.system.recorded.files) == config.runs.min == config.runs.max
    assert config.judge.scale == (1, 5)


def test_the_prompt_renders() -> None:
    (block,) = re.findall(r"```jinja\n(.*?)```", README, re.DOTALL)
    context = Context(text="The warranty lasts two years.", source="docs/faq.md")
    (prompt,) = render_prompts(block, "README", [("How long?", [context])])
    assert prompt == (
        "\n[docs/faq.md] The warranty lasts two years.\n\nAnswer only from the passages above: How long?\n"
    )


@pytest.mark.usefixtures("weights")
def test_every_comparison_runs(tmp_path: Path) -> None:
    repository = make_verity(tmp_path / "repository", "embedded/smollm2-135m")
    git(repository, "branch", "my-branch", "main")
    for command in commands("faithbot"):
        name, *arguments = shlex.split(command)[1:]
        if name == "compare":
            extra = ["--only", "geo-monsoon", "--runs", "1", "--cache", tmp_path / "cache"]
            done = subprocess.run(
                [sys.executable, "-m", "faithbot", name, *arguments, *extra],
                cwd=repository,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done
    assert (repository / "comment.md").exists()
    assert json.loads((repository / "results.json").read_text())["verdict"] == "pass"


def test_recorded_answers_are_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ollama_url: str, smollm2: str
) -> None:
    """Here with a smaller model than shown."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OLLAMA_HOST", ollama_url)
    monkeypatch.setenv("FAITHBOT_CACHE", str(tmp_path / "cache"))
    row = {"question": "How long?", "answer": "Two years.", "contexts": ["The warranty lasts two years."]}
    (tmp_path / "answers.jsonl").write_text(json.dumps(row))
    by_words, by_model = [command for command in commands("faithbot") if command.split()[1] == "judge"]
    outcome = CliRunner().invoke(cli, shlex.split(by_words)[1:])
    assert json.loads(outcome.stdout)["faithfulness"] == 1
    outcome = CliRunner().invoke(cli, shlex.split(by_model.replace("qwen2.5:7b", smollm2))[1:])
    (claim,) = json.loads(outcome.stdout)["claims"]
    assert claim["support"] in ("supported", "contradicted", "not_found")


def test_the_judge_is_held_against_labels_and_says_what_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Digits are the judge's, and move with it; all else is as shown."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FAITHBOT_CACHE", str(tmp_path / "cache"))
    claims = claims_to_measure(SHARED.parent / "judging")["dialfact_small"]
    rows = [{"claim": row.claim, "contexts": row.contexts, "label": row.supported} for row in claims]
    (tmp_path / "labels.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (command,) = [command for command in commands("faithbot") if command.split()[1] == "calibrate"]
    outcome = CliRunner().invoke(cli, shlex.split(command)[1:])
    (shown,) = re.findall(r"```text\n(The judge .*?)\n\.\.\.\n```", README, re.DOTALL)
    assert " ".join(re.sub(r"\d+", "0", outcome.stdout).split()).startswith(
        " ".join(re.sub(r"\d+", "0", shown).split())
    )
    assert (tmp_path / "judge-calibration.json").exists()


@pytest.mark.usefixtures("weights")
def test_the_noise_is_measured(tmp_path: Path) -> None:
    repository = make_verity(tmp_path / "repository", "embedded/smollm2-135m")
    (command,) = [command for command in commands("faithbot") if command.split()[1] == "noise"]
    extra = ["--repo", str(repository), "--limit", "2", "--runs", "1", "--cache", str(tmp_path / "cache")]
    outcome = CliRunner().invoke(cli, [*shlex.split(command)[1:], *extra])
    assert "The same configuration against itself" in outcome.stdout


def test_a_comparison_is_planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(make_repository(tmp_path, {".faithbot/results.json": noisy_results().model_dump_json()}))
    (command,) = [command for command in commands("faithbot") if command.split()[1] == "plan"]
    outcome = CliRunner().invoke(cli, shlex.split(command)[1:])
    assert "To see faithfulness change by 0.05 for the worse" in outcome.stdout


def test_the_judge_overlooks_what_the_readme_shows(tmp_path: Path) -> None:
    repository = make_contoso(tmp_path / "repository", "ollama/none")
    (command,) = [command for command in commands("faithbot") if command.split()[1] == "probe"]
    outcome = CliRunner().invoke(cli, [*shlex.split(command)[1:], "--repo", str(repository)])
    (shown,) = re.findall(r"```text\n(planted faults.*?)```", README, re.DOTALL)
    assert [line for line in shown.splitlines() if line not in outcome.stdout.splitlines()] == []


def test_every_make_target_and_every_script_exists() -> None:
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert {command.split()[1] for command in commands("make")} <= set(targets)
    assert all((ROOT / path).exists() for path in re.findall(r"python ((?:benchmarks|scripts)/\w+\.py)", README))


def test_links_and_pictures_exist() -> None:
    local = [target for target in re.findall(r"\]\(([^)\s]+)\)", README) if "://" not in target]
    headings = {f"#{title.lower().replace(' ', '-')}" for title in re.findall(r"^#+ (.+)$", README, re.MULTILINE)}
    assert local
    assert [target for target in local if target not in headings and not (ROOT / target).exists()] == []


def test_every_metric_and_every_exit_code_is_explained() -> None:
    for name in MetricName.__args__:
        assert f"`{name}`" in README
    for code in ("0", "1", "2", "64", "70"):
        assert f"| {code} |" in README
