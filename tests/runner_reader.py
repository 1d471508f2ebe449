"""Reads what a step says as the runner reads it: commands in its log, and the files for outputs and state."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

COMMANDS = {"error", "warning", "notice", "group", "endgroup", "add-mask", "set-output", "save-state", "stop-commands"}


def command_of(line: str) -> tuple[str, dict[str, str], str] | None:
    """Name, properties and text of a command in a line of the log, read as the runner reads it (ActionCommand.cs)."""
    new = re.fullmatch(r"\s*::([^: ]*)(?: (.*?))?::(.*)", line, re.DOTALL)
    old = re.search(r"##\[([^\] ]*)(?: ([^\]]*))?\](.*)", line, re.DOTALL)
    found = new if new and new[1].lower() in COMMANDS else old
    if not found or found[1].lower() not in COMMANDS:
        return None
    pairs = (pair.split("=", 1) for pair in (found[2] or "").split(",") if "=" in pair)
    return found[1], {key: _unescape(value, ":,") for key, value in pairs}, _unescape(found[3], "")


def commands_of(log: str) -> list[tuple[str, dict[str, str], str]]:
    """The commands of a whole log that the runner obeys: none while they are stopped."""
    obeyed, resume = [], None
    for line in log.splitlines():
        if resume is not None:
            resume = None if line.strip() == resume else resume
        elif command := command_of(line):
            obeyed.append(command)
            if command[0] == "stop-commands":
                resume = f"::{command[2]}::"
    return obeyed


def _unescape(text: str, marks: str) -> str:
    for mark in f"\r\n{marks}%":
        text = text.replace(f"%{ord(mark):02X}", mark)
    return text


def variables_of(path: Path) -> dict[str, str]:
    """What the runner reads from the file for outputs or state (FileCommandManager.cs)."""
    lines = iter(path.read_bytes().decode().split("\n"))
    variables = {}
    for line in lines:
        if not line:
            continue
        name, _, delimiter = line.partition("<<")
        value = []
        while (part := next(lines)) != delimiter:
            value.append(part)
        variables[name] = "\n".join(value)
    return variables
