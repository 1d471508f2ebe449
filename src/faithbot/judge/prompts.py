"""The prompts of judges that are models: files under ``judge/prompts/``, each replaceable by one of the same name."""

from __future__ import annotations

import hashlib
from importlib import resources
from typing import TYPE_CHECKING

from jinja2 import DictLoader, StrictUndefined, Template, TemplateError, TemplateSyntaxError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from faithbot.errors import UsageError
from faithbot.judge.fencing import fenced

if TYPE_CHECKING:
    from collections.abc import Mapping

_FOLDER = resources.files("faithbot.judge").joinpath("prompts")


class Prompts:
    """The packaged prompts with a team's own in their place; a prompt may include another by name."""

    def __init__(self, own: Mapping[str, str] | None = None) -> None:
        """``own`` are texts by file name; :class:`UsageError` names one that is no template or replaces nothing."""
        packaged = {entry.name: entry.read_text(encoding="utf-8") for entry in _FOLDER.iterdir()}
        for name in own or {}:
            if name not in packaged:
                raise UsageError(
                    f"{name} replaces no prompt of a judge: name it as one of {', '.join(sorted(packaged))}."
                )
        self._sources = {**packaged, **(own or {})}
        self._environment = ImmutableSandboxedEnvironment(
            loader=DictLoader(self._sources), undefined=StrictUndefined, trim_blocks=True, autoescape=False
        )
        self._environment.filters["fenced"] = fenced

    def template(self, name: str) -> Template:
        """One prompt, ready to render; it passes text of answers and passages through the filter ``fenced``."""
        try:
            return self._environment.get_template(name)
        except TemplateSyntaxError as error:
            raise UsageError(f"prompt {error.name}, line {error.lineno}: {error.message}") from None
        except TemplateError as error:
            raise UsageError(f"prompt {name}: {error}") from None

    def text(self, name: str) -> str:
        """Source of one prompt."""
        return self._sources[name]

    def digest(self, *names: str) -> str:
        """Short content hash of the prompts of these names."""
        content = "\0".join(self._sources[name] for name in names)
        return hashlib.sha256(content.encode()).hexdigest()[:12]
