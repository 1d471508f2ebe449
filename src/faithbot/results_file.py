"""`results.json` read again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from faithbot.errors import UsageError
from faithbot.results import Results

if TYPE_CHECKING:
    from pathlib import Path


def read_results(path: Path) -> Results:
    """Results that `faithbot compare --json` wrote; :class:`UsageError` where the file is missing or something else."""
    try:
        return Results.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}: `faithbot compare` writes one.") from None
    except ValidationError as error:
        problem = error.errors()[0]
        key = ".".join(map(str, problem["loc"]))
        raise UsageError(
            f"{path} is not a results.json of this version of faithbot ({key + ': ' if key else ''}{problem['msg']}): "
            "write it anew with `faithbot compare --json`."
        ) from None
