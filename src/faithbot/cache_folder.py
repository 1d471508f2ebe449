"""Where finished model calls and downloaded models are kept."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """``$FAITHBOT_CACHE``, else ``faithbot`` in the user's cache folder (``$XDG_CACHE_HOME``, else ``~/.cache``)."""
    user_cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get("FAITHBOT_CACHE") or user_cache / "faithbot")
