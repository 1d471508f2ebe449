"""What takes long to import is imported while something else is waited for."""

from __future__ import annotations

import json
import subprocess
import sys
import threading

import pytest

from faithbot.action.overlap import ahead, beside
from faithbot.errors import UsageError

SLOW = {"asyncio", "bm25s", "bs4", "docker", "github", "httpx", "jinja2", "numpy", "requests", "rich", "scipy"}


def loaded_after(program: str) -> set[str]:
    """Which of the slow packages a fresh Python has loaded."""
    ending = "import json, sys; print(json.dumps(list(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", f"{program}; {ending}"], check=True, capture_output=True, text=True)
    return SLOW & set(json.loads(done.stdout.splitlines()[-1]))


def test_nothing_slow_is_imported_before_it_is_known_that_there_is_work() -> None:
    assert loaded_after("import faithbot.action.main") == set()


def test_until_ollama_is_started_only_dockers_client_is_needed() -> None:
    assert loaded_after("import faithbot.action.main, faithbot.ollama_service") == {"docker", "requests"}


def test_what_the_work_needs_is_imported_ahead_and_githubs_client_only_for_the_result() -> None:
    program = "from faithbot.action.overlap import FOR_THE_RESULT, FOR_THE_WORK, import_ahead"
    needed = loaded_after(f"{program}; import_ahead(FOR_THE_WORK).result()")
    assert needed >= {"asyncio", "bm25s", "docker", "httpx", "jinja2", "numpy"}
    assert "github" not in needed
    assert "github" in loaded_after(f"{program}; import_ahead(FOR_THE_RESULT).result()")


def test_who_needs_it_waits_for_what_is_done_beside() -> None:
    may_end, ended = threading.Event(), threading.Event()

    def work() -> None:
        may_end.wait()
        ended.set()

    thread = beside(work)
    assert not ended.is_set()
    may_end.set()
    thread.join()
    assert ended.is_set()


def test_what_was_begun_ahead_gives_its_result_or_its_error_when_asked() -> None:
    def fail() -> None:
        raise UsageError("no Docker socket")

    assert ahead(lambda: 42).result() == 42
    with pytest.raises(UsageError, match="no Docker socket"):
        ahead(fail).result()


def test_a_process_that_ends_does_not_wait_for_what_was_begun_ahead() -> None:
    program = "import time; from faithbot.action.overlap import ahead; ahead(lambda: time.sleep(600))"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
