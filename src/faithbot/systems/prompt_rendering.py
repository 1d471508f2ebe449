"""A pull request's prompt template is data on trial: it is rendered in a process of its own.

Four fences, since none is perfect: Jinja's sandbox, which only plain strings and dictionaries enter; a process without
this one's environment, so that there is no token in it to find; nobody's rights where this one has root's; and limits
of time and memory, so that a loop without an end is an error with a name instead of a runner that hangs.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError, UndefinedError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from faithbot.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faithbot.systems.protocol import Context

TIME_LIMIT = 30
"""Seconds for all prompts of a side; a plain template takes milliseconds."""
_NOBODY = 65534
MEMORY_LIMIT = 1 << 30
"""Bytes of address space."""
MAX_PROMPT_CHARACTERS = 2_000_000

# What this process can import, the child can, too; but only after what an isolated Python finds by itself.
_CHILD = (
    "import json, sys; sys.path += json.loads(sys.argv[1]); "
    "from faithbot.systems.prompt_rendering import serve; serve()"
)


def render_prompts(source: str, name: str, questions: Sequence[tuple[str, Sequence[Context]]]) -> list[str | None]:
    """The prompt of each question with its contexts; None where it is longer than two million characters.

    ``name`` is the template's file for errors. Raises :class:`UsageError` where the template is wrong or runs wild.
    """
    variables = [
        {"question": question, "contexts": [{"text": c.text, "source": c.source or ""} for c in contexts]}
        for question, contexts in questions
    ]
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-c", _CHILD, json.dumps(sys.path)],
            input=json.dumps({"source": source, "variables": variables}),
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
        raise UsageError(f"{name}{outcome['error']}")
    prompts: list[str | None] = outcome["prompts"]
    return prompts


def serve() -> None:
    """The child's part: variables in, prompts or one error out, as JSON."""
    _limit_memory()
    order = json.load(sys.stdin)
    _give_up_rights()
    try:
        prompts = _render(order["source"], order["variables"])
    except _TemplateFailureError as failure:
        json.dump({"error": str(failure)}, sys.stdout)
    else:
        json.dump({"prompts": prompts}, sys.stdout)


class _TemplateFailureError(Exception):
    """What follows the template's name in an error."""


def _render(source: str, variables: Sequence[dict[str, Any]]) -> list[str | None]:
    # A prompt is no HTML, so nothing is escaped.
    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True)
    try:
        template = environment.from_string(source)
        prompts = [template.render(each) for each in variables]
    except TemplateSyntaxError as error:
        raise _TemplateFailureError(
            f", line {error.lineno}: not a valid Jinja template: {error.message} "
            "Literal double braces go between {% raw %} and {% endraw %}."
        ) from None
    except UndefinedError as error:
        raise _TemplateFailureError(f": {error.message}: a prompt knows `question` and `contexts`.") from None
    except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise _TemplateFailureError(f": the template fails: {reason}") from None
    except (RecursionError, MemoryError):
        raise _TemplateFailureError(": the template fails: it needs too much memory or nests too deeply.") from None
    return [prompt if len(prompt) <= MAX_PROMPT_CHARACTERS else None for prompt in prompts]


def _limit_memory() -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    except (ImportError, ValueError, OSError):  # a system without such limits still has the limit of time
        return


def _give_up_rights() -> None:
    """Where this is root's process, as in a container, go on as nobody: a template that breaks out finds no secret of
    root's processes, and no socket of the engine."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        # Jinja imports some of its code only for a constant, or for a failure, and nobody may not be able to read it.
        with contextlib.suppress(_TemplateFailureError):
            _render("{{ 'text' ~ missing }}", [{}])
        os.setgroups([])
        os.setgid(_NOBODY)
        os.setuid(_NOBODY)
