"""A template out of a pull request is data on trial: it is compiled and rendered in a process of its own.

Four fences, since none is perfect: Jinja's sandbox, which only plain strings, lists and dictionaries enter; a process
without this one's environment, so that there is no token in it to find; nobody's rights where this one has root's; and
limits of time and memory, so that a loop without an end is an error with a name instead of a runner that hangs.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from faithbot.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

TIME_LIMIT = 30
"""Seconds for all templates of a call; plain ones take milliseconds."""
_MARGIN = 5
"""Seconds of computing beyond that, after which a child ends whose parent is not there any more to end it."""
_NOBODY = 65534
MEMORY_LIMIT = 1 << 30
"""Bytes of address space."""

FAILURES = (
    TemplateError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError, RecursionError, MemoryError,
)  # fmt: skip
"""What a template raises that is wrong, or that does not fit what it is given."""

# What this process can import, the child can, too; but only after what an isolated Python finds by itself.
_CHILD = (
    "import json, sys; sys.path += json.loads(sys.argv[1]); "
    "from faithbot.template_process import serve; from {module} import {function}; serve({function})"
)


class TemplateFailureError(Exception):
    """What is wrong with a template, in one line that begins with its name."""


def work_on_templates(work: Callable[[Any], Any], order: Any, name: str) -> Any:
    """What the function ``work`` of a module makes of the order, in a child; both are JSON.

    Raises :class:`UsageError` where it raises :class:`TemplateFailureError`, or where the templates run wild: ``name``
    says which.
    """
    child = _CHILD.format(module=work.__module__, function=work.__name__)
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-c", child, json.dumps(sys.path)],
            input=json.dumps(order),
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=TIME_LIMIT,
            env={"PYTHONUTF8": "1"},
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise UsageError(f"{name}: the template runs longer than {TIME_LIMIT} s: a loop without an end?") from None
    if done.returncode != 0:
        raise UsageError(f"{name}: the template fails: it needs too much memory or nests too deeply.")
    outcome = json.loads(done.stdout)
    if "error" in outcome:
        raise UsageError(outcome["error"])
    return outcome["done"]


def serve(work: Callable[[Any], Any]) -> None:
    """The child's part: an order in, what was made of it or one error out."""
    _limit_resources()
    order = json.load(sys.stdin)
    _give_up_rights()
    try:
        done = work(order)
    except TemplateFailureError as failure:
        json.dump({"error": str(failure)}, sys.stdout)
    else:
        json.dump({"done": done}, sys.stdout)


def why_it_failed(error: BaseException) -> str:
    """One line for one of :data:`FAILURES`."""
    if isinstance(error, RecursionError | MemoryError):
        return "the template fails: it needs too much memory or nests too deeply."
    return f"the template fails: {(str(error).splitlines() or [type(error).__name__])[0]}"


def _limit_resources() -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
        resource.setrlimit(resource.RLIMIT_CPU, (TIME_LIMIT + _MARGIN, TIME_LIMIT + _MARGIN))
    except (ImportError, ValueError, OSError):  # a system without such limits still has the parent's limit of time
        return


def _give_up_rights() -> None:
    """Where this is root's process, as in a container, go on as nobody: a template that breaks out finds no secret of
    root's processes, and no socket of the engine."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        # Jinja imports some of its code only for a constant, or for a failure, and nobody may not be able to read it.
        with contextlib.suppress(TemplateError):
            ImmutableSandboxedEnvironment(undefined=StrictUndefined).from_string("{{ 'text' ~ missing }}").render()
        os.setgroups([])
        os.setgid(_NOBODY)
        os.setuid(_NOBODY)
