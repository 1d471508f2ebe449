"""Progress on standard error: a live bar in a terminal, plain lines elsewhere."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from typing import TYPE_CHECKING

from faithbot.progress import PlainLines

if TYPE_CHECKING:
    import pytest

SCRIPT = """
from faithbot.progress import open_progress
with open_progress() as progress:
    progress.say("2 questions [bold]")
    progress.start(2)
    progress.advance("base, run 1")
    progress.advance("head, run 1 [x]")
print("result")
"""


def test_elsewhere_it_is_plain_lines_and_standard_output_stays_clean() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    lines = done.stderr.splitlines()
    assert done.stdout == "result\n"
    assert lines[0] == "faithbot: 2 questions [bold]"
    assert lines[1].startswith("faithbot: 1 of 2 answers judged after 0 s (base, run 1)")
    assert lines[2].startswith("faithbot: 2 of 2 answers judged after 0 s (head, run 1 [x])")


def test_it_says_what_is_judged(capsys: pytest.CaptureFixture[str]) -> None:
    lines = PlainLines()
    lines.start(1, "claims")
    lines.advance("claim 1")
    assert capsys.readouterr().err == "faithbot: 1 of 1 claims judged after 0 s (claim 1)\n"


def test_in_a_terminal_it_is_a_bar_that_leaves_nothing_behind() -> None:
    terminal, end = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "100"}
    process = subprocess.Popen([sys.executable, "-c", SCRIPT], stderr=end, stdout=subprocess.PIPE, env=environment)
    stdout, _ = process.communicate(timeout=60)
    os.close(end)
    written = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # the other end is closed and everything is read
            break
        if not piece:
            break
        written += piece
    os.close(terminal)
    text = written.decode()
    assert (process.returncode, stdout) == (0, b"result\n")
    assert "faithbot: 2 questions [bold]" in text
    assert "2/2" in text
    assert "head, run 1 [x]" in text
    assert text.endswith("\x1b[2K") or "\x1b[1A\x1b[2K" in text  # the bar's line is erased
