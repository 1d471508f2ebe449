"""The prompts of judges that are models: files under ``judge/prompts/``, each replaceable by one of the same name."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from faithbot.errors import UsageError
from faithbot.judge.files import PACKAGED_PROMPTS
from faithbot.judge.prompt_templates import failure, template_environment
from faithbot.template_process import FAILURES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jinja2 import Template

    from faithbot.judge.files import PromptFile


class Prompt:
    """One prompt, ready to render; it passes text of answers and passages through the filter ``fenced``."""

    def __init__(self, template: Template, name: str, shown: Mapping[str, str]) -> None:
        self._template = template
        self._name = name
        self._shown = shown

    def render(self, **variables: Any) -> str:
        """The text for a model; :class:`UsageError` names file and line of a template that these variables break."""
        try:
            return self._template.render(**variables)
        except FAILURES as error:
            raise UsageError(failure(error, self._name, self._shown)) from None


class Prompts:
    """The packaged prompts with a team's own in their place; a prompt may include another by name."""

    def __init__(self, own: Mapping[str, PromptFile] | None = None) -> None:
        """``own`` are files by the name of the prompt that each replaces."""
        own = own or {}
        packaged = {entry.name: entry.read_text(encoding="utf-8") for entry in PACKAGED_PROMPTS.iterdir()}
        self._sources = packaged | {name: file.text for name, file in own.items()}
        self._shown = {name: file.shown for name, file in own.items()}
        self._environment = template_environment(self._sources)

    def template(self, name: str) -> Prompt:
        """One prompt by name; :class:`UsageError` where it is no template."""
        try:
            return Prompt(self._environment.get_template(name), name, self._shown)
        except FAILURES as error:
            raise UsageError(failure(error, name, self._shown)) from None

    def text(self, name: str) -> str:
        """Source of one prompt."""
        return self._sources[name]

    def digest(self, *names: str) -> str:
        """Short content hash of the prompts of these names."""
        content = "\0".join(self._sources[name] for name in names)
        return hashlib.sha256(content.encode()).hexdigest()[:12]
