"""YAML with positions: what stands where, so that an error can name the line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import yaml

from faithbot.errors import UsageError

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class YamlDocument:
    """A parsed document and the line of each of its keys and items."""

    value: Any
    lines: dict[Path, int]

    def line(self, path: Path) -> int:
        """Line (from 1) of a place in the document, or of the nearest thing around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


def parse_yaml(text: str, name: str) -> YamlDocument:
    """Parse one document; :class:`UsageError` with file, line and column where it is not YAML or repeats a key."""
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        problem = " ".join(filter(None, (error.context, error.problem)))
        raise UsageError(f"{name}{place}: not valid YAML: {problem}.") from None
    except yaml.YAMLError as error:
        raise UsageError(f"{name}: not valid YAML: {error}.") from None
    lines: dict[Path, int] = {}
    if node is None:
        return YamlDocument(None, lines)
    _note_lines(node, (), lines, name)
    return YamlDocument(yaml.safe_load(text), lines)


def _note_lines(node: yaml.Node, path: Path, lines: dict[Path, int], name: str) -> None:
    lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        for key_node, value_node in node.value:
            place = (*path, str(key_node.value))
            line = key_node.start_mark.line + 1
            if place in lines:
                raise UsageError(f"{name}, line {line}: `{key_node.value}` stands twice, first in line {lines[place]}.")
            lines[place] = line
            _note_lines(value_node, place, lines, name)
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            _note_lines(item, (*path, index), lines, name)
