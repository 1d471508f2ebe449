"""Files that are at their place only once they are whole."""

from __future__ import annotations

import contextlib
import uuid
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEMPORARY_SUFFIX = ".incomplete"


@contextlib.contextmanager
def replacing(path: Path, folder: Path | None = None) -> Iterator[Path]:
    """Where to write what will be ``path`` once the block ends well; after an error nothing is left.

    The temporary file lies in ``folder`` (by default the folder of ``path``), which must be on the same file system.
    A process that is killed leaves it there, under a name that nobody reads.
    """
    temporary = (folder or path.parent) / f"{uuid.uuid4().hex}{TEMPORARY_SUFFIX}"
    try:
        yield temporary
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
