"""Inputs of the action arrive as types; a wrong one is named, with what is allowed; the token shows nowhere."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from pydantic import ValidationError

from faithbot.action.inputs import ActionInputs, WrongInputsError, forget_tokens, read_inputs
from faithbot.errors import UsageError


def problem(name: str, value: str) -> str:
    """What is said about one input."""
    with pytest.raises(UsageError) as caught:
        read_inputs({f"INPUT_{name.upper()}": value})
    return str(caught.value)


def test_nothing_is_required() -> None:
    assert read_inputs({}) == ActionInputs(
        config="faithbot.yaml",
        fail_on="inconclusive",
        comment="always",
        comment_key="faithbot",
        artifact_dir="faithbot-report",
    )


def test_an_empty_input_is_none() -> None:
    names = [name.upper().replace("_", "-") for name in ActionInputs.model_fields]
    assert len(names) == 17
    assert read_inputs({f"INPUT_{name}": " \n" for name in names}) == ActionInputs()


def test_every_input_is_read() -> None:
    inputs = read_inputs(
        {
            "INPUT_CONFIG": "rag/faithbot.yaml",
            "INPUT_BASE": "main",
            "INPUT_HEAD": "feature",
            "INPUT_TOKEN": "ghs_secret",
            "INPUT_JUDGE-MODEL": "ollama/qwen2.5:14b",
            "INPUT_JUDGE-METHOD": "label",
            "INPUT_RUNS": " 3\n",
            "INPUT_ONLY": "warranty, returns\nopening hours,\n",
            "INPUT_LIMIT": "10",
            "INPUT_FAIL-ON": "regression",
            "INPUT_COMMENT": "changes",
            "INPUT_COMMENT-KEY": "rag-2.de_DE",
            "INPUT_OLLAMA-URL": "http://ollama:11434",
            "INPUT_OLLAMA-IMAGE": "ollama/ollama@sha256:" + "0" * 64,
            "INPUT_MODELS-DIR": "/home/runner/models",
            "INPUT_OLLAMA-NETWORK": "github_network_1a2b",
            "INPUT_ARTIFACT-DIR": "out/report",
        }
    )
    assert inputs.token
    assert inputs.token.get_secret_value() == "ghs_secret"
    assert inputs.model_dump(exclude={"token"}) == {
        "config": "rag/faithbot.yaml",
        "base": "main",
        "head": "feature",
        "judge_model": "ollama/qwen2.5:14b",
        "judge_method": "label",
        "runs": 3,
        "only": ("warranty", "returns", "opening hours"),
        "limit": 10,
        "fail_on": "regression",
        "comment": "changes",
        "comment_key": "rag-2.de_DE",
        "ollama_url": "http://ollama:11434",
        "ollama_image": "ollama/ollama@sha256:" + "0" * 64,
        "models_dir": "/home/runner/models",
        "ollama_network": "github_network_1a2b",
        "artifact_dir": "out/report",
    }


def test_a_misspelled_choice_is_guessed() -> None:
    assert problem("fail-on", "regresion") == (
        "input `fail-on`: 'regresion' is not known: did you mean `regression`? "
        "Known are regression, inconclusive or never."
    )
    assert problem("comment", "on") == "input `comment`: 'on' is not known: use always, changes or never."
    assert "did you mean `evidence`?" in problem("judge-method", "evidense")


@pytest.mark.parametrize("value", ["0", "51", "2.5", "two", "-1"])
def test_a_wrong_number_of_runs(value: str) -> None:
    assert problem("runs", value) == f"input `runs`: use a whole number from 1 to 50; found {value!r}."


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("limit", "0", "a whole number from 1"),
        ("comment-key", "x" * 41, "1 to 40 letters and digits, with single dots, dashes or underscores between them"),
        ("comment-key", "a --> b", "1 to 40 letters and digits, with single dots, dashes or underscores between them"),
        ("comment-key", "a--b", "1 to 40 letters and digits, with single dots, dashes or underscores between them"),
        ("ollama-url", "ollama:11434", "an address such as http://ollama:11434"),
        ("ollama-url", "http://", "an address such as http://ollama:11434"),
        ("ollama-url", "http://[::1", "an address such as http://ollama:11434"),
        ("ollama-url", "http://ollama:123456", "an address such as http://ollama:11434"),
        ("ollama-image", "--privileged", "the name of an image such as ollama/ollama"),
        ("ollama-network", "host net", "the name of a Docker network"),
    ],
)
def test_a_value_of_the_wrong_form(name: str, value: str, allowed: str) -> None:
    assert problem(name, value) == f"input `{name}`: use {allowed}; found {value!r}."


@pytest.mark.parametrize("folder", ["/report", "../report", "a/../../b", "."])
def test_the_report_stays_in_the_workspace(folder: str) -> None:
    assert problem("artifact-dir", folder) == (
        f"input `artifact-dir`: must be a folder inside the workspace, such as faithbot-report; found {folder!r}."
    )


@pytest.mark.parametrize(
    "folder", ["../models", "a/../../b", "/home/runner/../models", ".", "/", "//home/runner/models"]
)
def test_models_are_kept_in_the_temporary_folder_or_at_a_plain_path_of_the_runner(folder: str) -> None:
    assert problem("models-dir", folder) == (
        "input `models-dir`: must be a folder inside runner.temp, such as models, or an absolute path on the runner "
        f"without ..; found {folder!r}."
    )


def test_a_path_is_one_line() -> None:
    assert problem("config", "a\nb") == "input `config`: must be one line of text that is not empty; found 'a\\nb'."


def test_all_problems_come_at_once() -> None:
    with pytest.raises(UsageError) as caught:
        read_inputs({"INPUT_RUNS": "x", "INPUT_LIMIT": "y", "INPUT_TOKEN": "ghs_secret"})
    assert [line.partition(":")[0] for line in str(caught.value).splitlines()] == ["input `runs`", "input `limit`"]
    assert "ghs_secret" not in str(caught.value)


def test_the_right_inputs_are_known_beside_the_wrong_ones() -> None:
    with pytest.raises(WrongInputsError) as caught:
        read_inputs({"INPUT_RUNS": "x", "INPUT_FAIL-ON": "y", "INPUT_COMMENT-KEY": "rag", "INPUT_ONLY": "a,b"})
    assert caught.value.others == ActionInputs(comment_key="rag", only=("a", "b"))


def test_a_long_value_is_not_repeated_whole() -> None:
    assert len(problem("fail-on", "x" * 10_000)) < 200


def test_the_token_shows_in_no_text_of_the_inputs() -> None:
    inputs = read_inputs({"INPUT_TOKEN": "ghs_secret"})
    for text in (repr(inputs), str(inputs), inputs.model_dump_json(), str(inputs.model_dump())):
        assert "ghs_secret" not in text


def test_inputs_do_not_change() -> None:
    with pytest.raises(ValidationError):
        read_inputs({}).runs = 3


def test_no_process_inherits_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    names = (
        "INPUT_TOKEN", "GITHUB_TOKEN", "GH_TOKEN", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"
    )  # fmt: skip
    for name in names:
        monkeypatch.setenv(name, "ghs_secret")
    monkeypatch.setenv("INPUT_RUNS", "3")
    forget_tokens(os.environ)
    forget_tokens(os.environ)
    script = "import os; print(*os.environ.values()); print(os.environ['INPUT_RUNS'])"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert "ghs_secret" not in done.stdout
    assert done.stdout.endswith("3\n")


def test_a_wrong_address_does_not_tell_its_password() -> None:
    with pytest.raises(WrongInputsError) as caught:
        read_inputs({"INPUT_OLLAMA-URL": "http://ann:s3cret@ollama:99999"})
    assert "'http://ollama:99999'" in str(caught.value)
    assert "s3cret" not in str(caught.value)
