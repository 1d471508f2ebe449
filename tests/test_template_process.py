"""The process that works on a pull request's templates can do less than the one that started it."""

from __future__ import annotations

import os
import subprocess
import sys

NOBODY = 65534
_SHOW_RIGHTS = """
import io, os, sys
from faithbot.systems.prompt_rendering import render_order
from faithbot.template_process import serve
sys.stdin = io.StringIO('{"name": "a", "source": "x", "variables": [{}]}')
serve(render_order)
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
    assert shown.stdout == f'{{"done": ["x"]}}{expected}\n'
