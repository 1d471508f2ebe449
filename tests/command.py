"""The command line as a user starts it: a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import NamedTuple


class Outcome(NamedTuple):
    code: int
    stdout: str
    stderr: str


def start(*arguments: object, **environment: str) -> subprocess.Popen[str]:
    """Start ``faithbot`` in the background."""
    return subprocess.Popen(
        [sys.executable, "-m", "faithbot", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | environment,
    )


def faithbot(*arguments: object, **environment: str) -> Outcome:
    """Run ``faithbot`` to its end."""
    process = start(*arguments, **environment)
    stdout, stderr = process.communicate(timeout=900)
    return Outcome(process.returncode, stdout, stderr)
