"""Slips in a golden set that leave it readable and a metric silent: a key that nobody reads, a document nobody has."""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from faithbot.config import DOCUMENTS_KEY
from faithbot.corpus import match_documents
from faithbot.golden import FIELD_NAMES, golden_rows
from faithbot.metrics.retrieved import is_named
from faithbot.plain_text import count
from faithbot.results import ResultWarning

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from faithbot.config import LoadedConfig
    from faithbot.golden import Question

_ROLES = {name: role for role, names in FIELD_NAMES.items() for name in names}
_ALIKE = 0.85
"""Similarity of two keys from which on one is a slip for the other: `relevant_id`, `tag`, `answerble`; not `ids`."""
_MOST_NAMED = 3


def find_golden_cautions(
    graded: LoadedConfig, sides: Collection[LoadedConfig], questions: Sequence[Question]
) -> list[ResultWarning]:
    """Warnings about the golden set of ``graded``, a configuration whose golden set can be read."""
    return [*_unread_keys(graded), *_unknown_documents(sides, questions)]


def _unread_keys(graded: LoadedConfig) -> Iterator[ResultWarning]:
    places: dict[tuple[str, str], list[str]] = defaultdict(list)
    for place, row in golden_rows(graded.snapshot, graded.golden_path):
        for key in row:
            if (meant := _meant(key, row)) is not None:
                places[key, meant].append(place)
    for (key, meant), found in places.items():
        others = f" and {count(len(found) - 1, 'more row')}" if len(found) > 1 else ""
        yield ResultWarning(
            code="unknown_golden_key",
            message=f"{graded.golden_path}, {found[0]}{others}: nothing reads `{key}`. Did you mean `{meant}`?",
        )


def _meant(key: str, row: dict[str, Any]) -> str | None:
    """The field that an unknown key was probably meant to be, where the row does not have it by another name."""
    if key in _ROLES:
        return None
    by_plain = {_plain(name): name for name in _ROLES}
    close = difflib.get_close_matches(_plain(key), by_plain, n=1, cutoff=_ALIKE)
    if not close:
        return None
    meant = by_plain[close[0]]
    return None if any(row.get(name) is not None for name in FIELD_NAMES[_ROLES[meant]]) else meant


def _plain(key: str) -> str:
    return re.sub(r"[\W_]", "", key).casefold()


def _unknown_documents(sides: Collection[LoadedConfig], questions: Sequence[Question]) -> Iterator[ResultWarning]:
    """Only where all documents are known: of recorded answers, those that were never retrieved are not."""
    if any(side.config.system.pipeline is None for side in sides):
        return
    documents = {path for side in sides for path in _documents(side)}
    wanted = dict.fromkeys(name for question in questions for name in question.relevant_ids)
    unknown = [name for name in wanted if not any(is_named(path, (name,)) for path in documents)]
    if unknown:
        named = ", ".join(unknown[:_MOST_NAMED])
        others = f" and {len(unknown) - _MOST_NAMED} more" if len(unknown) > _MOST_NAMED else ""
        yield ResultWarning(
            code="unknown_relevant_id",
            message=f"`relevant_ids` of the golden set name {named}{others}, and no document of either side is called "
            "so: it counts as never retrieved. Write its path from the repository's root, or its file name.",
        )


def _documents(side: LoadedConfig) -> Sequence[str]:
    return match_documents(side.snapshot, side.document_patterns, side.place(*DOCUMENTS_KEY))
