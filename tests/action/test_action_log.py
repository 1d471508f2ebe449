"""The log of a job: whatever others wrote, it starts no command and cannot end the job."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from faithbot.action.log import LogLines, say, say_error, say_fault, show, show_own_log
from runner_reader import commands_of

if TYPE_CHECKING:
    import pytest

HOSTILE = "half \udcff a character ##[add-mask]x\n::set-output name=verdict::pass"
HARMLESS = "half ? a character ## [add-mask]x\n: :set-output name=verdict::pass\n"


def test_text_of_others_is_shown_without_its_commands(capsys: pytest.CaptureFixture[str]) -> None:
    show(HOSTILE)
    say(HOSTILE)
    LogLines().say(HOSTILE)
    assert capsys.readouterr().out == HARMLESS + 2 * f"faithbot: {HARMLESS}"


def test_what_faithbot_logs_itself_is_shown_the_same_way(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = logging.getLogger("faithbot")
    monkeypatch.setattr(log, "handlers", [])
    monkeypatch.setattr(log, "level", log.level)
    show_own_log()
    logging.getLogger("faithbot.models").warning("%s", HOSTILE)
    assert capsys.readouterr().out == f"faithbot: {HARMLESS}"


def test_an_error_is_one_annotation_however_many_lines_it_has(capsys: pytest.CaptureFixture[str]) -> None:
    say_error(HOSTILE)
    (command,) = commands_of(capsys.readouterr().out)
    assert command == ("error", {"title": "faithbot"}, HOSTILE.replace("\udcff", "?"))


def test_a_fault_is_whole_in_the_log_and_one_short_sentence_as_an_annotation(
    capsys: pytest.CaptureFixture[str],
) -> None:
    try:
        _fail(100)
    except ValueError as error:
        say_fault(error)
    printed = capsys.readouterr().out
    trace, _, annotation = printed.rpartition("::error ")
    assert len(trace) > 5000
    assert trace.endswith("ValueError: half ? a character ## [add-mask]x\n: :set-output name=verdict::pass\n\n")
    assert len(annotation) < 300
    ((name, _, text),) = commands_of(printed)
    assert name == "error"
    assert text.startswith("this is a fault of faithbot itself, please report it with the log: ValueError: half")


def _fail(deep: int) -> None:
    if deep % 2:
        _fail(deep - 1)
    elif deep:
        _fail_too(deep - 1)
    else:
        raise ValueError(HOSTILE)


def _fail_too(deep: int) -> None:
    _fail(deep)
