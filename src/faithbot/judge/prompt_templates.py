"""What each prompt of a judge is given and must show, and what is wrong with a team's own one."""

from __future__ import annotations

import re
import traceback
from typing import TYPE_CHECKING, Any, NamedTuple

from jinja2 import FunctionLoader, StrictUndefined, TemplateNotFound, TemplateSyntaxError, UndefinedError, meta, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from faithbot.judge.fencing import fenced
from faithbot.template_process import FAILURES, TemplateFailureError, why_it_failed, work_on_templates

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faithbot.judge.files import PromptFile

_UNDEFINED = re.compile(r"'(\w+)' is undefined")
_LISTS = ("contexts", "claims", "sentences")
_SEVERAL = 2
"""Items of a list in a trial: one that shows the first alone is found out."""


class _Given(NamedTuple):
    """Variables of a prompt."""

    shown: tuple[str, ...]
    """Without one of these the model could not do what it is asked."""
    beside: tuple[str, ...] = ()


_GIVEN = {
    "claims_extract.md": _Given(("sentences",), ("question",)),
    "claims_support.md": _Given(("claim", "contexts")),
    "claims_support_batch.md": _Given(("claims", "contexts")),
    "label.md": _Given(("answer", "contexts"), ("question",)),
    "relevance.md": _Given(("question", "answer"), ("as_json",)),
    "rubric.md": _Given(()),  # is included by others
}


def template_environment(sources: Mapping[str, str]) -> ImmutableSandboxedEnvironment:
    """Where prompts are rendered: each finds the others by name, and errors name their line."""
    environment = ImmutableSandboxedEnvironment(
        loader=FunctionLoader(lambda name: (sources[name], name, None) if name in sources else None),
        undefined=StrictUndefined,
        trim_blocks=True,
        autoescape=False,
    )
    environment.filters["fenced"] = fenced
    return environment


def check_prompts(packaged: Mapping[str, str], own: Mapping[str, PromptFile]) -> None:
    """Render every prompt once, with placeholders, as it will be rendered with answers.

    :class:`UsageError` with file and line where one uses what it is not given, fails, or does not show what it is
    about. The files may be a pull request's: all of that is done in a process of its own.
    """
    order = {
        "sources": {**packaged, **{name: file.text for name, file in own.items()}},
        "shown": {name: file.shown for name, file in own.items()},
    }
    work_on_templates(check_order, order, " or ".join(file.shown for file in own.values()))


def check_order(order: dict[str, Any]) -> None:
    """The child's part: the first problem of ``sources``, whose files are called as ``shown`` says."""
    environment = template_environment(order["sources"])
    for name in order["shown"]:
        _require_known_variables(environment, name, order)
    for name in _GIVEN:
        for as_json in (False, True):
            _require_all_shown(environment, name, order["shown"], as_json=as_json)


def _require_known_variables(environment: ImmutableSandboxedEnvironment, name: str, order: dict[str, Any]) -> None:
    """Also in branches that no trial takes."""
    try:
        tree = environment.parse(order["sources"][name], name, name)
        undeclared = meta.find_undeclared_variables(tree)
    except FAILURES as error:
        raise TemplateFailureError(failure(error, name, order["shown"])) from None
    unknown = undeclared - {*_variables(name), *environment.globals}
    used = next((node for node in tree.find_all(nodes.Name) if node.name in unknown), None)
    if used is not None:
        raise TemplateFailureError(f"{order['shown'][name]}, line {used.lineno}: {_unknown_variable(used.name, name)}")


def _require_all_shown(
    environment: ImmutableSandboxedEnvironment, name: str, shown: Mapping[str, str], *, as_json: bool
) -> None:
    placeholders = {variable: _placeholder(variable) for variable in _variables(name)}
    try:
        text = environment.get_template(name).render(placeholders | {"as_json": as_json}).casefold()
    except FAILURES as error:
        raise TemplateFailureError(failure(error, name, shown)) from None
    for variable in _GIVEN[name].shown:
        wanted = placeholders[variable]
        if not all(item in text for item in ([wanted] if isinstance(wanted, str) else wanted)):
            raise TemplateFailureError(f"{shown.get(name, name)}: {_never_shown(variable)}")


def _variables(name: str) -> tuple[str, ...]:
    return (*_GIVEN[name].shown, *_GIVEN[name].beside)


def _placeholder(variable: str) -> str | list[str]:
    """Small letters only, so that filters which part or quote a text leave it whole."""
    if variable in _LISTS:
        return [f"{variable}placeholder{letter}" for letter in "abcdef"[:_SEVERAL]]
    return f"{variable}placeholder"


def _never_shown(variable: str) -> str:
    if variable in _LISTS:
        one = variable.removesuffix("s")
        loop = f"{{% for {one} in {variable} %}}{{{{ {one} | fenced }}}}{{% endfor %}}"
        return f"it does not show all {variable}: write `{loop}`."
    return f"it never shows the {variable}: write `{{{{ {variable} | fenced }}}}`."


def _unknown_variable(variable: str, name: str) -> str:
    known = ", ".join(_variables(name))
    return f"unknown variable `{variable}`: " + (f"use {known}." if known else f"{name} is given none.")


def failure(error: BaseException, name: str, shown: Mapping[str, str]) -> str:
    """The line for an error of the prompt ``name``: which file of ``shown``, where in it, and what is wrong."""
    file, line = _place(error, name)
    place = shown.get(file, f"the packaged prompt {file}") + (f", line {line}" if line else "")
    if isinstance(error, TemplateSyntaxError):
        return (
            f"{place}: not a valid Jinja template: {error.message} "
            "Literal double braces go between {% raw %} and {% endraw %}."
        )
    if isinstance(error, UndefinedError):
        message = error.message or ""
        if unknown := _UNDEFINED.fullmatch(message):
            return f"{place}: {_unknown_variable(unknown[1], name)}"
        return f"{place}: {message}: it is given {', '.join(_variables(name))}."
    if isinstance(error, TemplateNotFound):
        return f"{place}: there is no prompt {error.name} to include: use one of {', '.join(_GIVEN)}."
    return f"{place}: {why_it_failed(error)}"


def _place(error: BaseException, name: str) -> tuple[str, int | None]:
    """File, as its template is called, and line of the innermost template that the error went through."""
    if isinstance(error, TemplateSyntaxError):
        return error.name if error.name in _GIVEN else name, error.lineno
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in _GIVEN]
    return (frames[-1].filename, frames[-1].lineno) if frames else (name, None)
