"""YAML with positions: what stands where, so that an error can name the line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import yaml
from yaml.reader import ReaderError

from faithbot.errors import UsageError

Path = tuple[str | int, ...]

MAX_DEPTH = 20
"""Levels of lists and mappings: the parser recurses, and no configuration comes near."""
MAX_NUMBER_LENGTH = 100
MAX_KEY_LENGTH = 100
_TEXT_TAG = "tag:yaml.org,2002:str"
_NUMBER_TAGS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
_PLAIN_TAGS = {*_NUMBER_TAGS, "tag:yaml.org,2002:bool", "tag:yaml.org,2002:null"}
_NEEDS_QUOTES = "*&!%@`"


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
    """Parse one document; :class:`UsageError` with file, line and column where it is not YAML or repeats a key.

    Read are lists, mappings with texts as keys, texts, numbers, booleans and null. Anchors, aliases and tags are
    refused: what looks like one is mostly a text without its quotes, such as ``*.md`` or ``!drafts.md``.
    """
    try:
        loader = _PlainLoader(text)
    except ReaderError as error:
        line = text[: error.position].count("\n") + 1
        raise UsageError(f"{name}, line {line}: the character U+{error.character:04X} is not allowed here.") from None
    loader.name = name
    try:
        return _read(loader)
    except yaml.MarkedYAMLError as error:
        raise _syntax_error(error, text, name) from None
    except (ValueError, OverflowError):  # escapes such as "\UFFFFFFFF", the version in %YAML
        raise _error(loader.get_mark(), "not valid YAML: a number or an escape is out of range.") from None


class _PlainLoader(yaml.SafeLoader):
    """Plain data of bounded depth. Dates stay texts: a file may be named like one."""

    yaml_implicit_resolvers = {  # noqa: RUF012 (PyYAML's own attribute)
        first: [(tag, pattern) for tag, pattern in resolvers if tag in _PLAIN_TAGS]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """The next node. PyYAML gives the node of the key as ``index`` of a mapping's value, and None for the key."""
        event = self.peek_event()  # type: ignore[no-untyped-call] # the stubs leave it out
        is_key = isinstance(parent, yaml.MappingNode) and index is None
        _check_event(event, is_key)
        if self._depth == MAX_DEPTH:
            raise _error(event.start_mark, f"nested more than {MAX_DEPTH} levels deep.")
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        if isinstance(node, yaml.ScalarNode):
            _check_scalar(node, is_key)
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """The value of a node."""
        try:
            return super().construct_object(node, deep)
        except ValueError:  # 0x_ and the like
            raise _error(node.start_mark, f"{node.value!r} is not a number: a text needs quotes.") from None


def _check_event(event: Any, is_key: bool) -> None:
    """Before a node is read."""
    mark = event.start_mark
    if event.anchor is not None:
        raise _error(mark, "anchors and aliases are not read: a value that starts with `&` or `*` needs quotes.")
    if getattr(event, "tag", None) is not None:
        raise _error(mark, "tags are not read: a value that starts with `!` needs quotes.")
    if is_key and isinstance(event, yaml.MappingStartEvent):
        raise _error(mark, "a mapping cannot be a key: a value such as `{{ NAME }}` needs quotes.")
    if is_key and isinstance(event, yaml.SequenceStartEvent):
        raise _error(mark, "a list cannot be a key: a text that starts with `[` needs quotes.")


def _check_scalar(node: yaml.ScalarNode, is_key: bool) -> None:
    """After a text, number, boolean or null was read."""
    mark, text = node.start_mark, node.value
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise _error(mark, "an escape writes half a character: write the character itself.")
    if node.tag in _NUMBER_TAGS and len(text) > MAX_NUMBER_LENGTH:
        raise _error(mark, f"this number is longer than {MAX_NUMBER_LENGTH} characters: a text needs quotes.")
    if is_key and (len(text) > MAX_KEY_LENGTH or not text.isprintable()):
        raise _error(mark, f"a key must be one line of at most {MAX_KEY_LENGTH} characters.")
    if is_key and node.tag != _TEXT_TAG:
        raise _error(mark, f"a key must be a text: `{text}` is read as a number, a boolean or null.")


def _read(loader: _PlainLoader) -> YamlDocument:
    node = loader.get_single_node()
    lines: dict[Path, int] = {}
    if node is None:
        return YamlDocument(None, lines)
    _note_lines(node, (), lines)
    return YamlDocument(loader.construct_document(node), lines)


def _note_lines(node: yaml.Node, path: Path, lines: dict[Path, int]) -> None:
    lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        for key_node, value_node in node.value:
            mark, place = key_node.start_mark, (*path, key_node.value)
            if place in lines:
                problem = f"`{key_node.value}` stands twice, first in line {lines[place]}."
                raise UsageError(f"{mark.name}, line {mark.line + 1}: {problem}")
            lines[place] = mark.line + 1
            _note_lines(value_node, place, lines)
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            _note_lines(item, (*path, index), lines)


def _syntax_error(error: yaml.MarkedYAMLError, text: str, name: str) -> UsageError:
    problem = "not valid YAML: " + " ".join(filter(None, (error.context, error.problem))) + "."
    mark, start = error.problem_mark or error.context_mark, error.context_mark or error.problem_mark
    if mark is None or start is None:
        return UsageError(f"{name}: {problem}")
    if isinstance(error, yaml.scanner.ScannerError) and (first := text[start.index : start.index + 1]) in _NEEDS_QUOTES:
        problem += f" A value that starts with `{first}` needs quotes."
    return _error(mark, problem)


def _error(mark: yaml.Mark, message: str) -> UsageError:
    return UsageError(f"{mark.name}, line {mark.line + 1}, column {mark.column + 1}: {message}")
