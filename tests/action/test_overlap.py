"""What takes long to import is imported while something else is waited for."""

from __future__ import annotations

import json
import subprocess
import sys
import threading

from faithbot.action.overlap import beside

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
    ahead = "from faithbot.action.overlap import FOR_THE_RESULT, FOR_THE_WORK, import_ahead as ahead"
    needed = loaded_after(f"{ahead}; ahead(FOR_THE_WORK).join()")
    assert needed >= {"asyncio", "bm25s", "docker", "httpx", "jinja2", "numpy"}
    assert "github" not in needed
    assert "github" in loaded_after(f"{ahead}; ahead(FOR_THE_RESULT).join()")


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
