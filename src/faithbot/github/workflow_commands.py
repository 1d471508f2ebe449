"""What a step says to the runner: commands on standard output, and the files for outputs, summary and state.

The runner reads standard output and standard error of a step for commands, in no fixed order between the two. It obeys
`::name key=value::text` where a line begins with it, white space aside, and the older `##[name key=value]text` anywhere
in a line (actions/runner, ActionCommand.cs). A file name or an error message with `##[set-output name=verdict]pass` in
it would set an output. So text that others wrote is printed through :func:`without_commands`, or, where another program
prints, inside :func:`commands_stopped`.
"""

from __future__ import annotations

import os
import re
import secrets
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from faithbot.github.runner import Runner

Level = Literal["notice", "warning", "error"]

MESSAGE_CHARACTERS = 4096
"""The runner cuts an annotation's message here."""
SUMMARY_BYTES = 1024 * 1024
"""The runner refuses a step's whole summary above this."""

_SUMMARY_CUT = "\n\n*The summary was cut here: GitHub shows 1 MiB of a step.*\n"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_LINE_END = re.compile(r"\r\n?")
_LEADING_COLONS = re.compile(r"^(\s*):(?=:)", re.MULTILINE)
# The runner compares as people do, by collation: characters that are not seen do not count there either.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)


def annotate(
    level: Level, message: str, file: str | None = None, line: int | None = None, title: str | None = None
) -> None:
    """Show a message at a line of a file in the pull request, or on the run's page where no file is named.

    ``file`` is relative to the repository's root, ``line`` counts from 1. GitHub shows ten of a level and step.
    """
    _command(level, message[:MESSAGE_CHARACTERS], file=file, line=line, title=title)


@contextmanager
def group(title: str) -> Iterator[None]:
    """Fold what is printed inside under a title in the log. Groups do not nest."""
    _command("group", title)
    try:
        yield
    finally:
        _command("endgroup", "")


def mask(secret: str) -> None:
    """Have the runner replace the secret by `***` in the log from here on; each line of it, as the log is by lines."""
    for line in secret.splitlines():
        if line.strip():
            _command("add-mask", line)


@contextmanager
def commands_stopped() -> Iterator[None]:
    """What is printed inside are no commands, ours included, whoever prints it.

    This holds for what reaches standard output: :func:`join_streams` first.
    """
    token = secrets.token_hex(16)
    _command("stop-commands", token)
    try:
        yield
    finally:
        # The last line of another program may lack its end, and a command counts at the beginning of a line only.
        _write_line(f"\n::{token}::")


def join_streams() -> None:
    """Send standard error of this process and its children to standard output, so that the log has one order."""
    sys.stderr.flush()
    os.dup2(sys.stdout.fileno(), sys.stderr.fileno())


def without_commands(text: str) -> str:
    """The text with nothing in it that the runner would obey: `: :` and `## [` in place of what starts a command.

    Characters that are not seen are left out, so that none hides a command.
    """
    seen = _UNSEEN.sub("", _LINE_END.sub("\n", text))
    return _LEADING_COLONS.sub(r"\1: ", seen).replace("##[", "## [")


def write_outputs(runner: Runner, outputs: Mapping[str, str]) -> None:
    """Set outputs of the step. Nothing happens where the runner takes none."""
    _append_variables(runner.output_file, outputs)


def save_state(runner: Runner, state: Mapping[str, str]) -> None:
    """Keep values for the step's clean-up, which runs in a new process. Nothing happens where the runner takes none."""
    _append_variables(runner.state_file, state)


def read_state(environ: Mapping[str, str], name: str) -> str | None:
    """In the clean-up: a value that :func:`save_state` kept; None where it kept none or an empty one."""
    return environ.get(f"STATE_{name}") or None


def write_summary(runner: Runner, markdown: str) -> None:
    """Add to the step's summary, up to its limit: a longer one ends at a line, with a note that says so."""
    if runner.summary_file is None:
        return
    there = runner.summary_file.stat().st_size if runner.summary_file.exists() else 0
    with runner.summary_file.open("ab") as stream:
        stream.write(_cut_at_line(_encode(markdown), SUMMARY_BYTES - there))


def _cut_at_line(text: bytes, limit: int) -> bytes:
    """At most ``limit`` bytes: whole lines, then a note where lines are missing."""
    if len(text) <= limit:
        return text
    note = _SUMMARY_CUT.encode()
    if limit < len(note):
        return b""
    kept = text[: limit - len(note)]
    return kept[: kept.rfind(b"\n") + 1] + note


def _append_variables(path: Path | None, variables: Mapping[str, str]) -> None:
    """`NAME<<DELIMITER`, value, `DELIMITER`: the form that takes values of several lines.

    A value cannot end early: the delimiter is drawn when the value is already there.
    """
    if path is None:
        return
    for name in variables:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} cannot name an output or a state")
    with path.open("ab") as stream:
        for name, value in variables.items():
            delimiter = f"end_{secrets.token_hex(16)}"
            stream.write(_encode(f"{name}<<{delimiter}\n{value}\n{delimiter}\n"))


def _command(name: str, data: str, **properties: str | int | None) -> None:
    given = ",".join(f"{key}={_escape_property(str(value))}" for key, value in properties.items() if value is not None)
    _write_line(f"::{name}{' ' if given else ''}{given}::{_escape_data(data)}")


def _write_line(line: str) -> None:
    """To standard output at once: what children print goes around Python's buffer."""
    sys.stdout.write(_encode(line).decode() + "\n")
    sys.stdout.flush()


def _encode(text: str) -> bytes:
    """UTF-8. Half a surrogate pair, which JSON can smuggle in, becomes a question mark."""
    return text.encode(errors="replace")


def _escape_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape_data(text).replace(":", "%3A").replace(",", "%2C")
