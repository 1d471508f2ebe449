"""The prompts of a pipeline, rendered from a side's template: a pull request's own, so in a process of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jinja2 import StrictUndefined, TemplateSyntaxError, UndefinedError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from faithbot.template_process import FAILURES, TemplateFailureError, why_it_failed, work_on_templates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faithbot.systems.protocol import Context

MAX_PROMPT_CHARACTERS = 2_000_000


def render_prompts(source: str, name: str, questions: Sequence[tuple[str, Sequence[Context]]]) -> list[str | None]:
    """The prompt of each question with its contexts; None where it is longer than two million characters.

    ``name`` is the template's file for errors. Raises :class:`UsageError` where the template is wrong or runs wild.
    """
    variables = [
        {"question": question, "contexts": [{"text": c.text, "source": c.source or ""} for c in contexts]}
        for question, contexts in questions
    ]
    prompts: list[str | None] = work_on_templates(
        render_order, {"name": name, "source": source, "variables": variables}, name
    )
    return prompts


def render_order(order: dict[str, Any]) -> list[str | None]:
    """The child's part: a template's ``source`` rendered with each of the ``variables``."""
    name = order["name"]
    # A prompt is no HTML, so nothing is escaped.
    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True)
    try:
        template = environment.from_string(order["source"])
        prompts = [template.render(each) for each in order["variables"]]
    except TemplateSyntaxError as error:
        raise TemplateFailureError(
            f"{name}, line {error.lineno}: not a valid Jinja template: {error.message} "
            "Literal double braces go between {% raw %} and {% endraw %}."
        ) from None
    except UndefinedError as error:
        raise TemplateFailureError(f"{name}: {error.message}: a prompt knows `question` and `contexts`.") from None
    except FAILURES as error:
        raise TemplateFailureError(f"{name}: {why_it_failed(error)}") from None
    return [prompt if len(prompt) <= MAX_PROMPT_CHARACTERS else None for prompt in prompts]
