"""What faithbot says to the runner arrives as it was meant, and nothing that others wrote is taken for a command."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithbot.errors import UsageError
from faithbot.github.runner import Runner
from faithbot.github.workflow_commands import (
    MESSAGE_CHARACTERS,
    SUMMARY_BYTES,
    annotate,
    commands_stopped,
    group,
    mask,
    read_state,
    save_state,
    without_commands,
    write_outputs,
    write_summary,
)
from runner_environment import make_runner, runner_environment
from runner_reader import COMMANDS, command_of, variables_of


def test_the_environment_of_a_step_is_read(tmp_path: Path) -> None:
    runner = make_runner(tmp_path, GITHUB_SERVER_URL="https://github.acme.example/")
    assert runner.repository == "acme/handbook"
    assert runner.workspace == tmp_path / "workspace"
    assert runner.output_file == tmp_path / "output"
    assert runner.run_url == "https://github.acme.example/acme/handbook/actions/runs/289782451/attempts/1"


def test_outside_of_github_actions_one_error_says_what_to_use() -> None:
    with pytest.raises(UsageError, match=r"GitHub Actions, which sets GITHUB_EVENT_NAME, .*use `faithbot compare`"):
        Runner.from_environment({})


def test_the_error_names_just_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="which sets GITHUB_SHA; anywhere else"):
        make_runner(tmp_path, GITHUB_SHA="")


def test_files_that_the_runner_does_not_offer_are_not_written(tmp_path: Path) -> None:
    environment = runner_environment(tmp_path)
    for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_STATE", "RUNNER_TEMP"):
        del environment[name]
    runner = Runner.from_environment(environment)
    assert (runner.output_file, runner.summary_file, runner.state_file, runner.temp) == (None, None, None, None)
    write_outputs(runner, {"verdict": "pass"})
    save_state(runner, {"container": "1"})
    write_summary(runner, "# Pass")
    assert list(tmp_path.iterdir()) == []


def test_an_annotation_stands_at_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    annotate("warning", "100 %: worse\nby 0.07", file="prompts/a,b:c.md", line=3, title="faithfulness: 0.91, 0.84")
    printed = capsys.readouterr().out
    assert printed == (
        "::warning file=prompts/a%2Cb%3Ac.md,line=3,title=faithfulness%3A 0.91%2C 0.84::100 %25: worse%0Aby 0.07\n"
    )


def test_an_annotation_without_a_file_is_the_runs(capsys: pytest.CaptureFixture[str]) -> None:
    annotate("error", "no model")
    assert capsys.readouterr().out == "::error::no model\n"


@given(message=st.text(min_size=1, max_size=200), title=st.text(min_size=1), file=st.text(min_size=1))
def test_any_text_arrives_in_one_command(message: str, title: str, file: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        written: list[str] = []
        patch.setattr(sys.stdout, "write", written.append)
        annotate("notice", message, file=file, title=title)
    log_lines = re.split(r"\r\n|\r|\n", "".join(written))
    assert log_lines[1:] == [""]
    assert command_of(log_lines[0]) == ("notice", {"file": file, "title": title}, message)


def test_a_long_message_is_cut(capsys: pytest.CaptureFixture[str]) -> None:
    annotate("error", "%" * 10_000)
    assert capsys.readouterr().out == f"::error::{'%25' * MESSAGE_CHARACTERS}\n"


def test_half_a_surrogate_pair_is_no_reason_to_fail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runner = make_runner(tmp_path)
    annotate("error", "\ud800")
    write_outputs(runner, {"verdict": "\ud800"})
    write_summary(runner, "\ud800")
    assert capsys.readouterr().out == "::error::?\n"
    assert variables_of(tmp_path / "output") == {"verdict": "?"}


def test_a_group_ends_also_when_its_work_fails(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ZeroDivisionError), group("Pull\n::error::"):
        print(1 / 0)
    assert capsys.readouterr().out == "::group::Pull%0A::error::\n::endgroup::\n"


def test_each_line_of_a_secret_is_masked(capsys: pytest.CaptureFixture[str]) -> None:
    mask("first%\n\nsecond")
    mask("")
    assert capsys.readouterr().out == "::add-mask::first%25\n::add-mask::second\n"


def test_what_another_program_prints_is_no_command_until_a_token_that_it_cannot_know() -> None:
    script = """
import subprocess
from faithbot.github.workflow_commands import annotate, commands_stopped, join_streams
join_streams()
for _ in range(2):
    with commands_stopped():
        subprocess.run("echo ::error::forged; printf ::error::forged-too >&2", shell=True)
    annotate("notice", "ours")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    region = r"::stop-commands::([0-9a-f]{32})\n::error::forged\n::error::forged-too\n::%s::\n::notice::ours\n"
    found = re.fullmatch(region % r"\1" + region % r"\2", done.stdout)
    assert found
    assert found[1] != found[2]


def test_commands_work_again_after_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ZeroDivisionError), commands_stopped():
        print(1 / 0)
    assert re.fullmatch(r"::stop-commands::(\w+)\n\n::\1::\n", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("::set-output name=verdict::pass", ": :set-output name=verdict::pass"),
        ("line\n \t::error::x", "line\n \t: :error::x"),
        ("progress\r::error::x", "progress\n: :error::x"),
        ("see ##[save-state name=container]other", "see ## [save-state name=container]other"),
        ("\u200b:\u00ad:error::x", ": :error::x"),
        ("#\u200d#[error]x", "## [error]x"),
        ("std::vector, # a heading, ## another", "std::vector, # a heading, ## another"),
    ],
)
def test_text_without_commands_reads_like_the_original(text: str, printed: str) -> None:
    assert without_commands(text) == printed


@given(
    st.lists(
        st.sampled_from([*COMMANDS, "::", ":", "##[", "#", "[", "]", " ", "\n", "\r", "\u200b", "\u2028", "\xa0", "x"])
    ).map("".join)
)
def test_nothing_that_starts_a_command_is_left(text: str) -> None:
    lines = re.split(r"\r\n|\r|\n", without_commands(text))
    assert [command for line in lines if (command := command_of(line))] == []


@given(st.dictionaries(st.from_regex(r"[a-z][a-z-]*", fullmatch=True), st.text()))
def test_outputs_arrive_whatever_they_hold(outputs: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_outputs(make_runner(Path(folder)), outputs)
        assert variables_of(Path(folder, "output")) == outputs


def test_an_output_cannot_set_another(tmp_path: Path) -> None:
    runner = make_runner(tmp_path)
    write_outputs(runner, {"report": "text\nEOF\nverdict=pass\nverdict<<EOF\npass\nEOF"})
    write_outputs(runner, {"verdict": "regression"})
    assert variables_of(tmp_path / "output") == {
        "report": "text\nEOF\nverdict=pass\nverdict<<EOF\npass\nEOF",
        "verdict": "regression",
    }
    delimiters = re.findall(r"<<(end_[0-9a-f]{32})$", (tmp_path / "output").read_text(), re.MULTILINE)
    assert len(set(delimiters)) == 2


@pytest.mark.parametrize("name", ["", "a=b", "a\nb", "a<<b", "1"])
def test_a_name_that_the_runner_would_misread_is_refused(tmp_path: Path, name: str) -> None:
    runner = make_runner(tmp_path)
    with pytest.raises(ValueError, match="cannot name an output"):
        write_outputs(runner, {"fine": "1", name: "2"})
    assert not (tmp_path / "output").exists()


def test_state_reaches_the_clean_up(tmp_path: Path) -> None:
    runner = make_runner(tmp_path)
    save_state(runner, {"container": "faithbot-1", "network": ""})
    handed_over = {f"STATE_{name}": value for name, value in variables_of(tmp_path / "state").items()}
    assert read_state(handed_over, "container") == "faithbot-1"
    assert read_state(handed_over, "network") is None
    assert read_state(handed_over, "other") is None


def test_summaries_add_up(tmp_path: Path) -> None:
    runner = make_runner(tmp_path)
    write_summary(runner, "# Fell\n")
    write_summary(runner, "by 0.07 → ü\n")
    assert (tmp_path / "summary.md").read_text() == "# Fell\nby 0.07 → ü\n"


@pytest.mark.parametrize("size", [SUMMARY_BYTES - 1, SUMMARY_BYTES, SUMMARY_BYTES + 1, 2 * SUMMARY_BYTES])
def test_a_summary_ends_at_a_line_below_the_limit(tmp_path: Path, size: int) -> None:
    runner = make_runner(tmp_path)
    lines = f"{'ü' * 49}\n".encode() * (size // 99)
    text = lines + b"x" * (size - len(lines))
    write_summary(runner, text.decode())
    written = (tmp_path / "summary.md").read_bytes()
    if size <= SUMMARY_BYTES:
        assert written == text
        return
    assert SUMMARY_BYTES - 200 < len(written) <= SUMMARY_BYTES
    kept, note = written.decode().split("\n\n\n")
    assert set(kept.split("\n")) == {"ü" * 49}
    assert note == "*The summary was cut here: GitHub shows 1 MiB of a step.*\n"


def test_what_comes_after_a_full_summary_is_left_out(tmp_path: Path) -> None:
    runner = make_runner(tmp_path)
    write_summary(runner, "x" * (SUMMARY_BYTES - 10))
    write_summary(runner, "more than ten bytes")
    assert (tmp_path / "summary.md").stat().st_size == SUMMARY_BYTES - 10
