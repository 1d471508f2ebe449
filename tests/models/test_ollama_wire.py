"""What OllamaModel sends, and what it makes of everything that a server can send back."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

import pytest
from model_requests import QUICK, YES_OR_NO, ask

from faithbot.errors import CallError, EvaluationError, UsageError
from faithbot.models.ollama import OllamaModel
from faithbot.models.ollama_address import server_url
from faithbot.models.protocol import Message, ModelIdentity
from faithbot.models.transport import Patience
from scripted_server import Answer, ScriptedServer, json_answer, lines_answer

if TYPE_CHECKING:
    from faithbot.models.protocol import ChatRequest, Reply

TAGS = {"models": [{"name": "tiny:latest", "digest": "d1"}, {"name": "tinier:1b", "digest": "d2"}]}
SHOW = {
    "capabilities": ["completion"],
    "model_info": {"general.architecture": "llama", "llama.context_length": 8192},
}
OVERFLOW = (
    '{"error":{"code":400,"message":"request (%d tokens) exceeds the available context size","type":'
    '"exceed_context_size_error","n_prompt_tokens":%d,"n_ctx":4096}}'
)


def script(*chats: Answer, version: str = "0.32.15", tags: Any = TAGS, show: Any = SHOW) -> dict[str, list[Answer]]:
    return {
        "/api/version": [json_answer({"version": version})],
        "/api/tags": [json_answer(tags)],
        "/api/show": [json_answer(show)],
        "/api/chat": list(chats),
    }


def piece(text: str) -> dict[str, Any]:
    return {"message": {"role": "assistant", "content": text}, "done": False}


def end(reason: str = "stop", prompt_tokens: int = 9, output_tokens: int = 2) -> dict[str, Any]:
    counts = {"prompt_eval_count": prompt_tokens, "eval_count": output_tokens}
    return {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": reason, **counts}


def chat(server: ScriptedServer, request: ChatRequest, *, reserve: int = 0, patience: Patience = QUICK) -> Reply:
    async def call() -> Reply:
        model = OllamaModel("tiny", host=server.url, patience=patience)
        model.reserve(reserve)
        try:
            return await model.chat(request)
        finally:
            await model.aclose()

    return asyncio.run(call())


def identify(server: ScriptedServer, name: str = "tiny") -> ModelIdentity:
    async def call() -> ModelIdentity:
        model = OllamaModel(name, host=server.url, patience=QUICK)
        try:
            return await model.identity()
        finally:
            await model.aclose()

    return asyncio.run(call())


@pytest.mark.parametrize(
    ("name", "listed"),
    [
        ("Tiny", "tiny:latest"),
        ("library/tiny", "tiny:latest"),
        ("http://10.0.0.7:5000/library/ours", "10.0.0.7:5000/library/ours:latest"),
        ("https://hf.co/unsloth/Qwen3-GGUF:Q4_K_M", "hf.co/unsloth/Qwen3-GGUF:Q4_K_M"),
    ],
)
def test_a_model_is_found_under_the_name_that_the_server_lists_it_by(name: str, listed: str) -> None:
    with ScriptedServer(script(tags={"models": [{"name": listed, "digest": "d3"}]})) as server:
        assert identify(server, name).digest == "d3"


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("", "http://127.0.0.1:11434"),
        ("gpu", "http://gpu:11434"),
        ("gpu:1234", "http://gpu:1234"),
        (":1234", "http://127.0.0.1:1234"),
        ("http://gpu", "http://gpu:80"),
        ("https://gpu", "https://gpu:443"),
        ("https://gpu:8443/ollama/", "https://gpu:8443/ollama"),
        ("0.0.0.0", "http://127.0.0.1:11434"),  # noqa: S104 - nothing listens there
        ("0.0.0.0:1234", "http://127.0.0.1:1234"),
        ("::1", "http://[::1]:11434"),
        ("[::]:1234", "http://[::1]:1234"),
        ("::", "http://[::1]:11434"),
        (' "gpu" ', "http://gpu:11434"),
        ("http://ann:s3cret@gpu:1234", "http://ann:s3cret@gpu:1234"),
        ("ann:s3cret@gpu", "http://ann:s3cret@gpu:11434"),
    ],
)
def test_the_host_is_spelt_as_for_ollamas_own_client(host: str, url: str) -> None:
    assert server_url(host) == url


def test_a_host_that_is_no_address_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="OLLAMA_HOST is not an address: 'gpu:many'"):
        server_url("gpu:many")


def test_a_host_that_is_no_address_does_not_tell_its_password() -> None:
    with pytest.raises(UsageError) as caught:
        server_url("http://ann:s3cret@gpu:99999")
    assert "s3cret" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_every_option_is_sent_and_nothing_may_be_cut() -> None:
    with ScriptedServer(script(lines_answer(piece("no"), end()))) as server:
        chat(server, ask("Is it?", temperature=0.5, max_tokens=32, seed=7, json_schema=YES_OR_NO, top_logprobs=5))
        (sent,) = server.bodies("/api/chat")
    assert sent["model"] == "tiny"
    assert sent["messages"] == [{"role": "user", "content": "Is it?"}]
    assert (sent["truncate"], sent["shift"], sent["think"]) == (False, False, False)
    assert (sent["format"], sent["logprobs"], sent["top_logprobs"]) == (YES_OR_NO, True, 5)
    assert sent["options"] == {
        "temperature": 0.5, "top_p": 1.0, "top_k": 40, "min_p": 0.0, "typical_p": 1.0, "repeat_penalty": 1.0,
        "repeat_last_n": 64, "presence_penalty": 0.0, "frequency_penalty": 0.0, "seed": 7, "num_predict": 32,
        "num_ctx": 4096,
    }  # fmt: skip


def test_the_pieces_of_a_reply_are_joined() -> None:
    token = {"token": "Pa", "logprob": -0.1, "top_logprobs": [{"token": "Pa", "logprob": -0.1}]}
    with ScriptedServer(script(lines_answer(piece("Pa") | {"logprobs": [token]}, piece("ris."), end()))) as server:
        reply = chat(server, ask("Capital?"))
    assert (reply.text, reply.finish, reply.prompt_tokens, reply.output_tokens) == ("Paris.", "stop", 9, 2)
    assert reply.logprobs is not None
    assert [(entry.token, entry.alternatives) for entry in reply.logprobs] == [("Pa", {"Pa": -0.1})]
    assert reply.seconds > 0
    assert not reply.cached


def test_the_identity_holds_digest_and_trained_context_and_is_asked_once() -> None:
    with ScriptedServer(script()) as server:

        async def twice() -> list[ModelIdentity]:
            model = OllamaModel("tiny", host=server.url)
            found = await asyncio.gather(model.identity(), model.identity())
            await model.aclose()
            return found

        expected = ModelIdentity(provider="ollama", name="tiny", digest="d1", context_length=8192)
        assert asyncio.run(twice()) == [expected, expected]


@pytest.mark.parametrize("name", ["tiny", "tiny:latest", "Tiny"])
def test_a_name_without_a_tag_means_latest(name: str) -> None:
    with ScriptedServer(script()) as server:
        assert identify(server, name).digest == "d1"


def test_a_missing_model_is_named_with_its_cure_and_near_names() -> None:
    with ScriptedServer({**script(), "/api/show": []}) as server, pytest.raises(UsageError) as caught:
        identify(server, "tinier:2b")
    assert "model 'tinier:2b' is not on the server" in str(caught.value)
    assert "ollama pull tinier:2b" in str(caught.value)
    assert "It has tinier:1b" in str(caught.value)


def test_an_embedding_model_cannot_chat() -> None:
    show = {"capabilities": ["embedding"], "model_info": {}}
    with ScriptedServer(script(show=show)) as server, pytest.raises(UsageError, match=r"'tiny' cannot chat.*embedding"):
        identify(server)


def test_a_server_that_is_too_old_to_forbid_truncation_is_refused() -> None:
    with (
        ScriptedServer({"/api/version": [json_answer({"version": "0.12.10"})]}) as server,
        pytest.raises(UsageError, match=r"is version 0\.12\.10: faithbot needs 0\.12\.11 or newer"),
    ):
        identify(server)


def test_another_service_on_the_port_is_not_taken_for_ollama() -> None:
    page = Answer((b"<html><title>Welcome to nginx!</title></html>",))
    with (
        ScriptedServer({"/api/version": [page]}) as server,
        pytest.raises(EvaluationError, match=r"something else than JSON: 'Welcome to nginx!'.*OLLAMA_HOST"),
    ):
        identify(server)


def test_a_server_that_is_not_there_is_reported_at_once_with_its_address_and_cure() -> None:
    async def call() -> None:
        model = OllamaModel("tiny", host="127.0.0.1:9", patience=Patience(first_wait=60))
        try:
            await asyncio.wait_for(model.identity(), timeout=5)
        finally:
            await model.aclose()

    with pytest.raises(EvaluationError, match=r"Ollama at http://127\.0\.0\.1:9 is not reached.*ollama serve"):
        asyncio.run(call())


@pytest.mark.parametrize(
    "failure",
    [
        json_answer({"error": "server busy, please try again.  maximum pending requests exceeded"}, 503),
        json_answer({"error": "llama-server process has terminated: signal: killed"}, 500),
        Answer((b"<html><title>502 Bad Gateway</title></html>",), status=502),
        lines_answer(piece("Par"), {"error": "an error was encountered while running the model: unexpected EOF"}),
        lines_answer(piece("Par"), drop=True),
        Answer(drop=True),
    ],
    ids=["busy", "engine died", "proxy", "error in mid-stream", "drop in mid-stream", "drop before the first token"],
)
def test_what_may_pass_is_tried_again(failure: Answer) -> None:
    with ScriptedServer(script(failure, lines_answer(piece("Paris"), end()))) as server:
        assert chat(server, ask("Capital?")).text == "Paris"


def test_each_failure_is_logged_in_words(caplog: pytest.LogCaptureFixture) -> None:
    busy = json_answer({"error": "server busy"}, 503)
    with ScriptedServer(script(busy, lines_answer(piece("Paris"), end()))) as server:
        chat(server, ask("Capital?"))
    messages = [record.getMessage() for record in caplog.records if record.name.startswith("faithbot")]
    assert messages == [f"Ollama at {server.url} is in trouble: HTTP 503: server busy"]
    assert caplog.records[0].levelno == logging.WARNING


def test_a_server_that_keeps_failing_ends_the_evaluation_after_five_tries() -> None:
    failures = [json_answer({"error": f"failure {number}"}, 500) for number in range(1, 6)]
    with ScriptedServer(script(*failures)) as server, pytest.raises(EvaluationError) as caught:
        chat(server, ask("Capital?"))
    assert not isinstance(caught.value, CallError)
    assert f"Ollama at {server.url} failed 5 times in a row, at last with: HTTP 500: failure 5" in str(caught.value)
    assert "Finished answers are kept" in str(caught.value)


@pytest.mark.parametrize("status", [400, 404])
def test_a_refusal_is_not_tried_again(status: int) -> None:
    expected = CallError if status == 400 else UsageError
    with (
        ScriptedServer(script(json_answer({"error": "invalid format"}, status))) as server,
        pytest.raises(expected, match="invalid format"),
    ):
        chat(server, ask("Capital?"))


def test_a_reply_that_never_ends_properly_is_a_failed_call() -> None:
    with (
        ScriptedServer(script(lines_answer(piece("la "), piece("la "), piece("la ")))) as server,
        pytest.raises(CallError, match="broke off after 3 pieces"),
    ):
        chat(server, ask("Sing."))


def test_a_reply_that_reached_its_limit_says_so() -> None:
    with ScriptedServer(script(lines_answer(piece("a b"), end("length", output_tokens=8)))) as server:
        assert chat(server, ask("Count.", max_tokens=8)).finish == "length"


@pytest.mark.parametrize(
    ("reserved", "sent"), [(0, 4096), (4096, 4096), (4097, 6144), (6145, 8192), (8193, 8192), (100_000, 8192)]
)
def test_the_context_is_reserved_in_few_sizes_up_to_the_trained_length(reserved: int, sent: int) -> None:
    with ScriptedServer(script(lines_answer(piece("x"), end()))) as server:
        chat(server, ask("Capital?"), reserve=reserved)
        assert server.bodies("/api/chat")[0]["options"]["num_ctx"] == sent


def test_a_prompt_that_needs_more_context_than_reserved_gets_it_once() -> None:
    overflow = json_answer({"error": OVERFLOW % (5000, 5000)}, 400)
    with ScriptedServer(script(overflow, lines_answer(piece("x"), end(prompt_tokens=5000)))) as server:
        assert chat(server, ask("Long.")).prompt_tokens == 5000
        assert [body["options"]["num_ctx"] for body in server.bodies("/api/chat")] == [4096, 6144]


def test_a_reply_that_the_end_of_the_context_cut_is_asked_again_with_a_longer_one() -> None:
    cut = lines_answer(piece("x"), end("length", prompt_tokens=4090, output_tokens=6))
    whole = lines_answer(piece("xyz"), end("stop", prompt_tokens=4090, output_tokens=20))
    with ScriptedServer(script(cut, whole)) as server:
        assert chat(server, ask("Long.", max_tokens=50)).text == "xyz"
        assert [body["options"]["num_ctx"] for body in server.bodies("/api/chat")] == [4096, 6144]


def test_a_prompt_beyond_the_trained_context_is_a_failed_call_with_numbers_and_cures() -> None:
    overflow = json_answer({"error": OVERFLOW % (9000, 9000)}, 400)
    with ScriptedServer(script(overflow)) as server, pytest.raises(CallError) as caught:
        chat(server, ask("Long.", max_tokens=50))
    assert str(caught.value) == (
        "A prompt of 9000 tokens + a reply of 50 exceeds the context of 8192 tokens of ollama/tiny: fewer or shorter "
        "chunks (retrieval.top_k, chunking.size), or a model with a longer context."
    )


def test_the_older_engines_overflow_is_understood_without_numbers() -> None:
    overflow = json_answer({"error": "the input length exceeds the context length"}, 400)
    with ScriptedServer(script(overflow, lines_answer(piece("x"), end()))) as server:
        chat(server, ask("word " * 4000))
        assert [body["options"]["num_ctx"] for body in server.bodies("/api/chat")] == [4096, 8192]


def test_a_prompt_that_was_cut_in_silence_is_a_failed_call() -> None:
    halved = lines_answer(piece("x"), end(prompt_tokens=4096))
    with (
        ScriptedServer(script(halved)) as server,
        pytest.raises(CallError, match=r"read only 4096 tokens of a prompt of about .* its context of 8192"),
    ):
        chat(server, ask("The harbour board painted the lighthouse white in 1921. " * 700), reserve=8192)


def test_a_prompt_of_many_blanks_is_not_taken_for_a_cut_one() -> None:
    with ScriptedServer(script(lines_answer(piece("x"), end(prompt_tokens=300)))) as server:
        assert chat(server, ask(("| a |" + " " * 200) * 100)).text == "x"


def test_thinking_is_not_part_of_the_reply() -> None:
    pieces = [{**piece("Paris"), "message": {"content": "Paris", "thinking": "Hm."}}, end()]
    with ScriptedServer(script(lines_answer(piece("<think>Hm"), piece(".</think>\n\n"), *pieces))) as server:
        assert chat(server, ask("Capital?")).text == "Paris"


@pytest.mark.parametrize(
    "pauses",
    [(60.0, b"never"), (b'{"message": {"content": "a"}}\n', 60.0)],
    ids=["before the first token", "between tokens"],
)
def test_a_server_that_falls_silent_ends_the_evaluation(pauses: tuple[bytes | float, ...]) -> None:
    patience = Patience(first_answer=0.3, between_tokens=0.2)
    with ScriptedServer(script(Answer(pauses))) as server, pytest.raises(EvaluationError, match="fell silent"):
        chat(server, ask("Capital?"), patience=patience)


def test_a_long_wait_for_the_first_token_is_not_silence_between_tokens() -> None:
    slow = Answer((0.4, b'{"message": {"content": "a"}}\n', *lines_answer(end()).pieces))
    with ScriptedServer(script(slow)) as server:
        assert chat(server, ask("Capital?"), patience=Patience(first_answer=5, between_tokens=0.2)).text == "a"


def test_a_line_that_is_not_of_the_protocol_is_a_failed_call() -> None:
    with (
        ScriptedServer(script(lines_answer({"message": {"content": 5}}))) as server,
        pytest.raises(CallError, match=r"unknown form: message\.content"),
    ):
        chat(server, ask("Capital?"))


def test_the_conversation_is_sent_in_order() -> None:
    request = ask("Hello").model_copy(
        update={"messages": (Message(role="system", content="Be brief."), Message(role="user", content="Hello"))}
    )
    with ScriptedServer(script(lines_answer(piece("Hi"), end()))) as server:
        chat(server, request)
        assert [message["role"] for message in server.bodies("/api/chat")[0]["messages"]] == ["system", "user"]


@pytest.mark.parametrize(("setting", "parallel"), [(None, 1), ("4", 4), ("0", 1), ("many", 1)])
def test_the_server_works_on_one_call_at_once_unless_its_setting_says_more(
    setting: str | None, parallel: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if setting is None:
        monkeypatch.delenv("OLLAMA_NUM_PARALLEL", raising=False)
    else:
        monkeypatch.setenv("OLLAMA_NUM_PARALLEL", setting)
    assert OllamaModel("tiny").parallel == parallel
