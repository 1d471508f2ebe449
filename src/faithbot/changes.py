"""What differs between the sides: settings, prompt, documents, and how the pull request itself is graded."""

from __future__ import annotations

import difflib
import json
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from faithbot.config import DOCUMENTS_KEY
from faithbot.corpus import match_documents
from faithbot.repository import read_text
from faithbot.results import SettingChange

if TYPE_CHECKING:
    from faithbot.config import LoadedConfig

_GRADING_KEYS = ("golden", "judge", "gate", "min_coverage", "runs")
MAX_DIFF_LINES = 200
MAX_DIFFED_CHARACTERS = 500_000


def find_changes(base: LoadedConfig, head: LoadedConfig) -> tuple[SettingChange, ...]:
    """Everything that the answers depend on and that differs, grading first."""
    return (
        *_settings(base, head, "grading"),
        *_golden_set(base, head),
        *_settings(base, head, "setting"),
        *_prompts(base, head),
        *_documents(base, head),
    )


def _settings(base: LoadedConfig, head: LoadedConfig, kind: Literal["grading", "setting"]) -> list[SettingChange]:
    before, after = (_flat(loaded.config.model_dump(mode="json")) for loaded in (base, head))
    changes = []
    for key in dict.fromkeys([*before, *after]):
        is_grading = key.split(".")[0] in _GRADING_KEYS
        if before.get(key) != after.get(key) and is_grading == (kind == "grading"):
            name = key.removeprefix("system.pipeline.")
            changes.append(SettingChange(kind=kind, name=name, before=before.get(key), after=after.get(key)))
    return changes


def _flat(value: Any, prefix: str = "") -> dict[str, str]:
    """Dotted keys and values as JSON; lists count as one value."""
    if isinstance(value, dict):
        flat: dict[str, str] = {}
        for key, item in value.items():
            flat |= _flat(item, f"{prefix}.{key}" if prefix else str(key))
        return flat
    return {} if value is None else {prefix: json.dumps(value, ensure_ascii=False)}


def _golden_set(base: LoadedConfig, head: LoadedConfig) -> list[SettingChange]:
    return _file_change("grading", _text(base, base.golden_path), _text(head, head.golden_path))


def _prompts(base: LoadedConfig, head: LoadedConfig) -> list[SettingChange]:
    return _file_change("prompt", _text(base, base.prompt_path), _text(head, head.prompt_path))


def _documents(base: LoadedConfig, head: LoadedConfig) -> list[SettingChange]:
    before, after = (
        match_documents(loaded.snapshot, loaded.document_patterns, loaded.place(*DOCUMENTS_KEY))
        for loaded in (base, head)
    )
    changes = []
    for path in sorted({*before, *after}):
        if before.get(path) != after.get(path):
            old = _text(base, path) if path in before else None
            new = _text(head, path) if path in after else None
            changes += _file_change("document", old, new)
    return changes


class _File(NamedTuple):
    path: str
    text: str


def _text(loaded: LoadedConfig, path: str) -> _File | None:
    """A file of one side; None where it does not exist there."""
    return _File(path, read_text(loaded.snapshot, path)) if path in loaded.snapshot.files() else None


def _file_change(
    kind: Literal["prompt", "document", "grading"], before: _File | None, after: _File | None
) -> list[SettingChange]:
    """No change, or one with its diff. A file that only moved is no change: the answers do not depend on its name."""
    old, new = (file.text if file else None for file in (before, after))
    named = after or before
    if old == new or named is None:
        return []
    return [
        SettingChange(
            kind=kind,
            name=named.path,
            before=before.path if before else None,
            after=after.path if after else None,
            diff=_diff(old or "", new or ""),
        )
    ]


def _diff(before: str, after: str) -> str | None:
    """Unified diff without file names; None for texts too large to be read or compared in good time."""
    if max(len(before), len(after)) > MAX_DIFFED_CHARACTERS:
        return None
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1))[2:]
    if len(lines) > MAX_DIFF_LINES:
        lines = [*lines[:MAX_DIFF_LINES], f"… {len(lines) - MAX_DIFF_LINES} more lines"]
    return "\n".join(lines)
