"""`results.json` that came out of an artifact: data of whoever could put it there, held against the types."""

from __future__ import annotations

import re

from pydantic import ValidationError

from faithbot.errors import UsageError
from faithbot.github.workflow_commands import without_commands
from faithbot.plain_text import plain
from faithbot.results import Results

MAX_BYTES = 50_000_000
MAX_VALUES = 1_000_000
"""Each value may be wrong, and each wrong one costs the memory of an error: a kilobyte or two."""

_SHOWN = 200
"""Characters of a problem that an error repeats: keys are the artifact's own words."""
_ESCAPE = re.compile(
    rb"\\u[Dd][89ABab][0-9A-Fa-f]{2}\\u[Dd][C-Fc-f][0-9A-Fa-f]{2}|(?P<lone>\\u[Dd][89A-Fa-f][0-9A-Fa-f]{2})|\\."
)
"""Escapes in JSON: whole pairs, half ones, all others. Python writes half ones, and no other parser takes them."""


def parse_results(content: bytes, place: str) -> Results:
    """The results, of at most :data:`MAX_BYTES`; :class:`UsageError`, which names ``place``, for anything else."""
    if content.count(b",") > MAX_VALUES:
        raise UsageError(f"{place} holds more than {MAX_VALUES:,} values: no evaluation leaves so many.")
    try:
        return Results.model_validate_json(_ESCAPE.sub(_mended, content))
    except ValidationError as error:
        problem = error.errors(include_input=False)[0]
        what = ": ".join(filter(None, [".".join(map(str, problem["loc"])), problem["msg"]]))
        raise UsageError(
            f"{place} is no results.json of this version of faithbot: {without_commands(plain(what, _SHOWN))}."
        ) from None


def _mended(escape: re.Match[bytes]) -> bytes:
    return b"\\ufffd" if escape["lone"] else escape[0]
