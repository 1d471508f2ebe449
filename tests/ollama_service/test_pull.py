"""Models are pulled where they are missing, and only the server's own word for success counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest

import docker_engine
from faithbot.errors import EvaluationError, UsageError
from faithbot.ollama_service.pull import pull_models
from scripted_server import Answer, ScriptedServer, json_answer, lines_answer

if TYPE_CHECKING:
    from collections.abc import Iterator

TAGS, PULL = "/api/tags", "/api/pull"
NOTHING_YET = json_answer({"models": None})
SUCCESS = {"status": "success"}
HALF = {"status": "pulling 1", "digest": "sha256:1", "total": 2_000_000_000, "completed": 1_000_000_000}
WHOLE = HALF | {"completed": 2_000_000_000}
BROKEN_OFF = {"error": "max retries exceeded: unexpected EOF"}


def pull(url: str, *names: str) -> list[str]:
    """Models that the workflow or base's configuration names; what was said."""
    lines: list[str] = []
    pull_models(url, names, lines.append, trusted=names, first_wait=0.0)
    return lines


def test_only_what_is_missing_is_pulled() -> None:
    tags = [{"name": name} for name in ("llama3.2:3b", "all-minilm:latest", "hf.co/unsloth/Qwen3-GGUF:Q4_K_M")]
    wanted = ["llama3.2:3b", "all-minilm", "library/All-MiniLM", "hf.co/unsloth/qwen3-gguf:q4_k_m", "qwen2.5:7b"]
    script = {TAGS: [json_answer({"models": tags})], PULL: [lines_answer({"status": "pulling manifest"}, SUCCESS)]}
    with ScriptedServer(script) as server:
        lines = pull(server.url, *wanted, "qwen2.5:7b")
    assert server.bodies(PULL) == [{"model": "qwen2.5:7b", "insecure": False}]
    assert lines[0] == "llama3.2:3b is there already"
    assert lines[-2] == "pulling qwen2.5:7b"


@pytest.mark.parametrize(
    "failed",
    [
        lines_answer(HALF, BROKEN_OFF),
        lines_answer(HALF),
        lines_answer(HALF, drop=True),
        lines_answer(WHOLE, {"status": "verifying sha256 digest"}),
        lines_answer(),
        json_answer({"error": "busy"}, 503),
        Answer((b"<html>bad gateway</html>",), 502),
    ],
    ids=["error line", "ends early", "connection lost", "no word of success", "nothing", "busy", "a proxy's page"],
)
def test_a_pull_that_broke_off_is_repeated_until_it_succeeds(failed: Answer) -> None:
    script = {TAGS: [NOTHING_YET], PULL: [failed, failed, lines_answer(WHOLE, SUCCESS)]}
    with ScriptedServer(script) as server:
        lines = pull(server.url, "gemma3:1b")
    assert lines[:3] == [
        "pulling gemma3:1b",
        "pulling gemma3:1b: broke off, try 2 of 5",
        "pulling gemma3:1b: broke off, try 3 of 5",
    ]
    assert lines[3].startswith("gemma3:1b is there (2.00 GB in ")


def test_after_five_tries_the_error_names_the_model_and_the_reason() -> None:
    script = {TAGS: [NOTHING_YET], PULL: [lines_answer(HALF, BROKEN_OFF)] * 5}
    with ScriptedServer(script) as server, pytest.raises(EvaluationError, match=r"'gemma3:1b'.*unexpected EOF"):
        pull(server.url, "gemma3:1b")


def test_a_name_that_ollama_refuses_is_asked_for_once() -> None:
    script = {TAGS: [NOTHING_YET], PULL: [json_answer({"error": "invalid model name"}, 400)]}
    with ScriptedServer(script) as server, pytest.raises(UsageError, match=r"'a b'.*invalid model name"):
        pull(server.url, "a b")


def test_a_registry_without_encryption_is_allowed_where_its_name_says_so() -> None:
    script = {TAGS: [NOTHING_YET], PULL: [lines_answer(SUCCESS)]}
    with ScriptedServer(script) as server:
        pull(server.url, "http://10.0.0.7:5000/library/ours:1")
    assert server.bodies(PULL) == [{"model": "http://10.0.0.7:5000/library/ours:1", "insecure": True}]


@pytest.mark.parametrize(
    "name",
    [
        "http://169.254.169.254/latest/meta-data",
        "https://registry.example/library/x:1",
        "HTTP://10.0.0.7:5000/x",
        "10.0.0.7:5000/library/x",
        "registry.example/library/x",
        "registry.example:443/x",
        "../x",
        "x?y=z",
        "x@registry.example",
        "x\ny",
        "",
    ],
)
def test_a_pull_request_cannot_send_the_server_to_another_host(name: str) -> None:
    script = {TAGS: [NOTHING_YET]}
    with ScriptedServer(script) as server, pytest.raises(UsageError, match="base branch first") as told:
        pull_models(server.url, ["llama3.2:3b", name], print, trusted=["llama3.2:3b"])
    assert str(told.value).startswith(f"model '{name}' is not named as in Ollama's own registry")
    assert server.bodies(PULL) == []


@pytest.mark.parametrize("name", ["llama3.2", "qwen2.5:7b-instruct-q4_K_M", "mona/handbook_rag:1.0"])
def test_a_pull_request_may_bring_in_any_model_of_ollamas_own_registry(name: str) -> None:
    with ScriptedServer({TAGS: [NOTHING_YET], PULL: [lines_answer(SUCCESS)]}) as server:
        pull_models(server.url, [name], print)
    assert server.bodies(PULL) == [{"model": name, "insecure": False}]


def test_what_the_server_has_already_is_fetched_from_nowhere_and_may_have_any_name() -> None:
    name = "hf.co/unsloth/Qwen3-GGUF:Q4_K_M"
    with ScriptedServer({TAGS: [json_answer({"models": [{"name": name}]})]}) as server:
        pull_models(server.url, [name], print)


def test_a_server_that_is_not_there_or_is_no_ollama() -> None:
    with pytest.raises(EvaluationError, match=r"http://127\.0\.0\.1:9.*does not say which models it has"):
        pull("http://127.0.0.1:9", "gemma3:1b")
    with ScriptedServer({TAGS: [json_answer(["nginx"])]}) as server, pytest.raises(EvaluationError):
        pull(server.url, "gemma3:1b")


NO_OLLAMA = [Answer((b"nginx",), 401), json_answer(["nginx"])]


@pytest.mark.parametrize("answer", NO_OLLAMA, ids=["refused", "no Ollama"])
def test_the_password_of_an_address_is_not_told(answer: Answer) -> None:
    with ScriptedServer({TAGS: [answer]}) as server, pytest.raises(EvaluationError) as told:
        pull(server.url.replace("://", "://mona:s3cret@"), "gemma3:1b")
    assert f"Ollama at {server.url} does not say which models it has" in str(told.value)
    assert "s3cret" not in str(told.value)
    assert server.headers[0]["Authorization"].startswith("Basic ")


PROXY = "http://mona:s3cret@proxy:3128"


@pytest.mark.parametrize(
    "failed",
    [
        [json_answer({"error": f"parse {PROXY}: broken"}, 400)],
        [lines_answer({"error": f"dial {PROXY}: timeout"})] * 5,
        [lines_answer({"status": f"asking {PROXY}"})] * 5,
        [Answer((b"<p>%b%b" % (b"x" * 180, PROXY.encode()),), 502)] * 5,
    ],
    ids=["refused", "error line", "ends early", "a proxy's page, cut in the middle of the password"],
)
def test_a_password_that_ollama_or_a_proxy_tells_is_not_passed_on(failed: list[Answer]) -> None:
    with (
        ScriptedServer({TAGS: [NOTHING_YET], PULL: failed}) as server,
        pytest.raises((EvaluationError, UsageError)) as told,
    ):
        pull(server.url, "gemma3:1b")
    assert "http://" in str(told.value)
    assert "mona" not in str(told.value)
    assert "s3c" not in str(told.value)


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with docker_engine.registry(tmp_path_factory.mktemp("registry")) as address:
        yield address


@pytest.fixture
def pushed(registry: str, ollama_url: str, smollm2: str) -> Iterator[str]:
    """The name of a model that a real registry has and the server has no more."""
    name = f"http://{registry}/library/pushed:1"
    with httpx.Client(base_url=ollama_url, timeout=60, trust_env=False) as http:
        http.post("/api/copy", json={"source": smollm2, "destination": name}).raise_for_status()
        pushed = http.post("/api/push", json={"model": name, "insecure": True, "stream": False})
        assert pushed.json()["status"] == "success", pushed.text
        http.request("DELETE", "/api/delete", json={"model": name}).raise_for_status()
        yield name
        http.request("DELETE", "/api/delete", json={"model": name})


def test_a_real_ollama_pulls_from_a_real_registry_once(ollama_url: str, pushed: str) -> None:
    first = pull(ollama_url, pushed)
    assert first[0] == f"pulling {pushed}"
    assert first[1].startswith(f"{pushed} is there (0.10 GB in ")
    assert pull(ollama_url, pushed) == [f"{pushed} is there already"]


def test_a_model_that_the_registry_lacks(ollama_url: str, registry: str) -> None:
    with pytest.raises(UsageError, match=r"library/nobody:1' does not exist in its registry"):
        pull(ollama_url, f"http://{registry}/library/nobody:1")
