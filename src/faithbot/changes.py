"""What differs between the sides: settings, prompt, documents, and how the pull request itself is graded."""

from __future__ import annotations

import json
import posixpath
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from faithbot.config import DOCUMENTS_KEY
from faithbot.corpus import match_documents, match_files
from faithbot.errors import UsageError
from faithbot.judge.calibration import parse_calibration
from faithbot.plain_text import two_decimals
from faithbot.results import SettingChange
from faithbot.text_diff import Differ
from faithbot.text_files import decode, read_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faithbot.config import LoadedConfig

_GRADING_KEYS = ("golden", "judge", "gate", "min_coverage", "runs", "noise", "measure", "triggers", "accepted")


def find_changes(base: LoadedConfig, head: LoadedConfig) -> tuple[SettingChange, ...]:
    """Everything that the answers depend on and that differs, grading first."""
    differ = Differ()
    return (
        *_settings(base, head, "grading"),
        *_golden_set(base, head, differ),
        *_accepted(base, head, differ),
        *_calibration(base, head),
        *_judge_prompts(base, head, differ),
        *_settings(base, head, "setting"),
        *_prompts(base, head, differ),
        *_documents(base, head, differ),
        *_triggers(base, head),
        *_records(base, head),
    )


def is_under_test(change: SettingChange) -> bool:
    """Whether the answers can depend on it: what grades them is base's on both sides."""
    return change.kind != "grading"


def _settings(base: LoadedConfig, head: LoadedConfig, kind: Literal["grading", "setting"]) -> list[SettingChange]:
    before, after = (_flat(loaded.config.model_dump(mode="json")) for loaded in (base, head))
    changes = []
    for key in dict.fromkeys([*before, *after]):
        is_grading = key.split(".")[0] in _GRADING_KEYS
        if before.get(key) != after.get(key) and is_grading == (kind == "grading"):
            changes.append(
                SettingChange(
                    kind=kind,
                    name=key.removeprefix("system.").removeprefix("pipeline."),
                    before=before.get(key),
                    after=after.get(key),
                    file=head.path,
                    line=head.document.line(tuple(key.split("."))),
                )
            )
    return changes


def _flat(value: Any, prefix: str = "") -> dict[str, str]:
    """Dotted keys and values as JSON; lists count as one value."""
    if isinstance(value, dict):
        flat: dict[str, str] = {}
        for key, item in value.items():
            flat |= _flat(item, f"{prefix}.{key}" if prefix else str(key))
        return flat
    return {} if value is None else {prefix: json.dumps(value, ensure_ascii=False)}


def _golden_set(base: LoadedConfig, head: LoadedConfig, differ: Differ) -> list[SettingChange]:
    return _graded_by_file(base, base.golden_path, head, head.golden_path, differ)


def _accepted(base: LoadedConfig, head: LoadedConfig, differ: Differ) -> list[SettingChange]:
    return _graded_by_file(base, base.accepted_path, head, head.accepted_path, differ)


def _calibration(base: LoadedConfig, head: LoadedConfig) -> list[SettingChange]:
    """By what the files say of the judge: their lines are a machine's, nobody reads a diff of them."""
    old, new = _calibration_file(base), _calibration_file(head)
    named = new or old
    if named is None or (old is not None and new is not None and old.text == new.text):
        return []
    return [
        SettingChange(
            kind="grading",
            name=named.path,
            before=_agreement(old) if old else None,
            after=_agreement(new) if new else None,
            file=new.path if new else None,
        )
    ]


def _calibration_file(loaded: LoadedConfig) -> _File | None:
    path = loaded.calibration_path
    if path is None or not loaded.snapshot.has(path):
        return None
    try:
        return _file(loaded, path)
    except UsageError:
        return _File(path, "")


def _agreement(file: _File) -> str:
    """``n 36, κ 0.83``."""
    try:
        agreement = parse_calibration(file.text, file.path).agreement
    except UsageError:
        return "unreadable"
    return "no labels" if agreement is None else f"n {agreement.n}, κ {two_decimals(agreement.kappa.value)}"


def _judge_prompts(base: LoadedConfig, head: LoadedConfig, differ: Differ) -> list[SettingChange]:
    """Files of the folder that base's judge takes its prompts from."""
    folder = base.judge_prompts_path
    if folder is None:
        return []
    paths = {path for side in (base, head) for path in side.snapshot.paths() if posixpath.dirname(path) == folder}
    return [change for path in sorted(paths) for change in _graded_by_file(base, path, head, path, differ)]


def _graded_by_file(
    base: LoadedConfig, before: str | None, head: LoadedConfig, after: str | None, differ: Differ
) -> list[SettingChange]:
    """Base's file grades, so head's need not be readable: it is then named without a diff."""
    try:
        new = None if after is None else _file(head, after)
    except UsageError:
        return [SettingChange(kind="grading", name=str(after), before=before, after=after)]
    return _file_change("grading", None if before is None else _file(base, before), new, differ)


def _prompts(base: LoadedConfig, head: LoadedConfig, differ: Differ) -> list[SettingChange]:
    before, after = (_file(side, side.prompt_path) if _is_pipeline(side) else None for side in (base, head))
    return _file_change("prompt", before, after, differ)


def _documents(base: LoadedConfig, head: LoadedConfig, differ: Differ) -> list[SettingChange]:
    before, after = _document_ids(base), _document_ids(head)
    changed = [path for path in sorted({*before, *after}) if before.get(path) != after.get(path)]
    old = _files(base, (path for path in changed if path in before))
    new = _files(head, (path for path in changed if path in after))
    return [change for path in changed for change in _file_change("document", old.get(path), new.get(path), differ)]


def _records(base: LoadedConfig, head: LoadedConfig) -> list[SettingChange]:
    """Recorded runs of the same name that hold something else: named only, a diff of answers is the comparison."""
    paths = [path for path in base.recorded_paths if path in head.recorded_paths]
    before, after = (side.snapshot.content_ids(filter(side.snapshot.has, paths)) for side in (base, head))
    changed = [path for path in paths if before.get(path) != after.get(path)]
    return [SettingChange(kind="document", name=path, before=path, after=path, file=path) for path in changed]


def _is_pipeline(loaded: LoadedConfig) -> bool:
    return loaded.config.system.pipeline is not None


def _document_ids(loaded: LoadedConfig) -> dict[str, str]:
    if not _is_pipeline(loaded):
        return {}
    paths = match_documents(loaded.snapshot, loaded.document_patterns, loaded.place(*DOCUMENTS_KEY))
    return loaded.snapshot.content_ids(paths)


def _triggers(base: LoadedConfig, head: LoadedConfig) -> list[SettingChange]:
    """Files that the team says the answers depend on, whatever they hold; base's patterns count."""
    before, after = (_trigger_ids(base, loaded) for loaded in (base, head))
    return [
        SettingChange(
            kind="trigger",
            name=path,
            before=path if path in before else None,
            after=path if path in after else None,
            file=path if path in after else None,
        )
        for path in sorted({*before, *after})
        if before.get(path) != after.get(path)
    ]


def _trigger_ids(base: LoadedConfig, loaded: LoadedConfig) -> dict[str, str]:
    return loaded.snapshot.content_ids(match_files(loaded.snapshot, base.trigger_patterns, base.place("triggers")))


class _File(NamedTuple):
    path: str
    text: str


def _file(loaded: LoadedConfig, path: str) -> _File | None:
    """A file of one side; None where it does not exist there."""
    return _File(path, read_text(loaded.snapshot, path)) if loaded.snapshot.has(path) else None


def _files(loaded: LoadedConfig, paths: Iterable[str]) -> dict[str, _File]:
    """Files of one side by path, read together."""
    contents = loaded.snapshot.read_many(paths)
    return {path: _File(path, decode(content, path, loaded.snapshot.label)) for path, content in contents.items()}


def _file_change(
    kind: Literal["prompt", "document", "grading"], before: _File | None, after: _File | None, differ: Differ
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
            diff=differ.diff(old or "", new or ""),
            file=after.path if after else None,
        )
    ]
