"""The process that renders a pull request's prompts can do less than the one that started it."""

from __future__ import annotations

import os
import subprocess
import sys

NOBODY = 65534
_SHOW_RIGHTS = """
import io, os, sys
from faithbot.systems import prompt_rendering
sys.stdin = io.StringIO('{"source": "x", "variables": [{}]}')
prompt_rendering.serve()
print(os.getuid(), os.getgid(), os.getgroups())
"""


def test_root_s_process_goes_on_as_nobody() -> None:
    shown = subprocess.run(
        [sys.executable, "-c", _SHOW_RIGHTS],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": sys.path[-1]},
    )
    expected = f"{NOBODY} {NOBODY} []" if os.getuid() == 0 else f"{os.getuid()} {os.getgid()} {os.getgroups()}"
    assert shown.stdout == f'{{"prompts": ["x"]}}{expected}\n'
