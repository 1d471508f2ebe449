"""What OpenAIModel sends, and what it makes of what servers of this protocol send back."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import pytest
from model_requests import QUICK, YES_OR_NO, ask

from faithbot.errors import CallError, EvaluationError, UsageError
from faithbot.models.openai import OpenAIModel, entry_digest
from faithbot.models.transport import Transport
from scripted_server import Answer, ScriptedServer, json_answer

if TYPE_CHECKING:
    from faithbot.models.protocol import ChatRequest, ModelIdentity, Reply

KEY = "sk-a-secret-of-the-user"
VLLM = {"id": "org/tiny", "created": 1, "owned_by": "vllm", "root": "/models/tiny", "max_model_len": 2048}


def script(*completions: Answer, entries: Any = (VLLM,)) -> dict[str, list[Answer]]:
    return {
        "/v1/models": [json_answer({"object": "list", "data": list(entries)})],
        "/v1/chat/completions": list(completions),
    }


def completion(content: str | None = "Paris", finish: str = "stop", **choice: Any) -> Answer:
    message = {"role": "assistant", "content": content}
    usage = {"prompt_tokens": 9, "completion_tokens": 2}
    return json_answer({"choices": [{"message": message, "finish_reason": finish, **choice}], "usage": usage})


def refusal(message: str, status: int = 400, **fields: Any) -> Answer:
    return json_answer({"error": {"message": message, **fields}}, status)


def chat(server: ScriptedServer, request: ChatRequest, name: str = "org/tiny", key: str | None = None) -> Reply:
    async def call() -> Reply:
        model = OpenAIModel(name, base_url=f"{server.url}/v1", api_key=key, patience=QUICK)
        try:
            return await model.chat(request)
        finally:
            await model.aclose()

    return asyncio.run(call())


def identify(server: ScriptedServer, name: str = "org/tiny") -> ModelIdentity:
    async def call() -> ModelIdentity:
        model = OpenAIModel(name, base_url=f"{server.url}/v1", patience=QUICK)
        try:
            return await model.identity()
        finally:
            await model.aclose()

    return asyncio.run(call())


def test_the_fields_of_the_standard_are_sent_and_no_others() -> None:
    with ScriptedServer(script(completion())) as server:
        chat(server, ask("Is it?", temperature=0.5, max_tokens=32, seed=7, json_schema=YES_OR_NO, top_logprobs=5))
        (sent,) = server.bodies("/v1/chat/completions")
    assert sent == {
        "model": "org/tiny",
        "messages": [{"role": "user", "content": "Is it?"}],
        "temperature": 0.5,
        "top_p": 1.0,
        "seed": 7,
        "max_tokens": 32,
        "logprobs": True,
        "top_logprobs": 5,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "reply", "strict": True, "schema": YES_OR_NO},
        },
    }


def test_the_reply_carries_text_counts_and_logprobs() -> None:
    top = [{"token": "Pa", "logprob": -0.1}, {"token": "Lo", "logprob": -2.5}]
    logprobs = {"content": [{"token": "Pa", "logprob": -0.1, "bytes": [80, 97], "top_logprobs": top}]}
    with ScriptedServer(script(completion(logprobs=logprobs))) as server:
        reply = chat(server, ask("Capital?"))
    assert (reply.text, reply.finish, reply.prompt_tokens, reply.output_tokens) == ("Paris", "stop", 9, 2)
    assert reply.logprobs is not None
    assert reply.logprobs[0].alternatives == {"Pa": -0.1, "Lo": -2.5}


def test_of_two_alternatives_spelt_the_same_the_likelier_counts() -> None:
    top = [{"token": "\ufffd", "logprob": -0.5}, {"token": "\ufffd", "logprob": -3.0}]
    logprobs = {"content": [{"token": "\ufffd", "logprob": -0.5, "top_logprobs": top}]}
    with ScriptedServer(script(completion(logprobs=logprobs))) as server:
        reply = chat(server, ask("Emoji?"))
    assert reply.logprobs is not None
    assert reply.logprobs[0].alternatives == {"\ufffd": -0.5}


def test_the_key_is_sent_to_the_server_and_shown_nowhere(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    caplog.set_level("DEBUG")
    echoing = refusal(f"Incorrect API key provided: {KEY}", 401)
    with ScriptedServer({"/v1/models": [echoing]}) as server, pytest.raises(UsageError) as caught:
        identify(server)
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert "OPENAI_API_KEY" in str(caught.value)
    assert KEY not in str(caught.value) + caplog.text + repr(vars(OpenAIModel("tiny")))


def test_a_key_is_sent_without_the_line_break_that_it_came_with(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\r\n")
    with ScriptedServer(script()) as server:
        identify(server)
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("empty", ["", "\n"])
def test_an_empty_key_is_none(empty: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", empty)
    with ScriptedServer(script()) as server:
        identify(server)
    assert "Authorization" not in server.headers[0]


@pytest.mark.parametrize("key", ["sk-a b", "sk-a\nb", "sk-ä", "sk-a\x7f", "“sk-a”"])
def test_a_key_that_cannot_be_one_is_a_usage_error_that_does_not_quote_it(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(UsageError, match=r"^OPENAI_API_KEY holds something that no key can") as caught:
        OpenAIModel("tiny")
    assert "sk-" not in str(caught.value)


@pytest.mark.parametrize(
    "echo",
    [
        Answer((f"Bad key {KEY}".encode(),), 500),
        Answer((f"{'x' * 490}{KEY}".encode(),), 500),
        Answer((b'{"error": "Bad key %s"}' % KEY.replace("-", r"\u002d").encode(),), 500),
        Answer((f"<title>{KEY}</title>".encode(),), 200),
    ],
    ids=["as text", "where the text is cut", "escaped", "instead of JSON"],
)
def test_a_server_that_quotes_the_key_does_not_bring_it_into_the_log(
    echo: Answer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    tries = 1 if echo.status == 200 else QUICK.attempts
    with ScriptedServer({"/v1/models": [echo] * tries}) as server, pytest.raises(EvaluationError) as caught:
        identify(server)
    assert "sk-" not in str(caught.value) + caplog.text
    assert "***" in str(caught.value)


def test_a_request_that_http_forbids_is_neither_repeated_nor_quoted(caplog: pytest.LogCaptureFixture) -> None:
    async def call(url: str) -> None:
        transport = Transport(url, name="Server", cure="Look.", key="sk-a\n", patience=QUICK)
        try:
            await transport.request("GET", "/models")
        finally:
            await transport.aclose()

    not_asked = r"was not asked: the request is not valid HTTP \(LocalProtocolError\)\. Look\."
    with ScriptedServer({}) as server, pytest.raises(EvaluationError, match=not_asked) as caught:
        asyncio.run(call(server.url))
    assert "sk-" not in str(caught.value)
    assert caplog.messages == []


def test_a_password_in_the_address_is_not_shown() -> None:
    async def call() -> None:
        model = OpenAIModel("tiny", base_url="http://user:secret@127.0.0.1:9/v1")
        try:
            await model.identity()
        finally:
            await model.aclose()

    with pytest.raises(EvaluationError, match=r"at http://127\.0\.0\.1:9/v1 is not reached") as caught:
        asyncio.run(call())
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("address", ["localhost:8000/v1", "ftp://host", "http://", "http://[::1"])
def test_an_address_that_is_no_url_is_a_usage_error(address: str) -> None:
    with pytest.raises(UsageError, match="OpenAI-compatible server: its address"):
        OpenAIModel("tiny", base_url=address)


def test_address_and_key_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer(script()) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1/")

        async def call() -> ModelIdentity:
            model = OpenAIModel("org/tiny")
            found = await model.identity()
            await model.aclose()
            return found

        assert asyncio.run(call()).context_length == 2048


def test_a_missing_model_is_named_with_near_names() -> None:
    with (
        ScriptedServer(script()) as server,
        pytest.raises(UsageError, match=r"model 'org/tinny' is not on the server.*It has org/tiny"),
    ):
        identify(server, "org/tinny")


def test_an_address_without_v1_is_explained() -> None:
    with (
        ScriptedServer({"/v1/models": [Answer((b"404 page not found",), status=404)]}) as server,
        pytest.raises(UsageError, match=r"404 page not found.*OPENAI_BASE_URL end in /v1"),
    ):
        identify(server)


def test_two_servers_that_use_one_name_are_two_models() -> None:
    entries = ({"id": "default"},)
    with ScriptedServer(script(entries=entries)) as one, ScriptedServer(script(entries=entries)) as other:
        assert identify(one, "default").digest != identify(other, "default").digest


def test_a_password_and_a_last_slash_in_the_address_do_not_make_another_model() -> None:
    async def digest(url: str) -> str:
        model = OpenAIModel("org/tiny", base_url=url, patience=QUICK)
        try:
            return (await model.identity()).digest
        finally:
            await model.aclose()

    with ScriptedServer({"/v1/models": script()["/v1/models"] * 3}) as server:
        plain = f"{server.url}/v1"
        spellings = (plain, f"{plain}/", plain.replace("://", "://user:secret@"))
        assert len({asyncio.run(digest(url)) for url in spellings}) == 1


def test_the_digest_changes_with_the_weights_and_not_with_the_time_or_the_context() -> None:
    def entry(created: int, size: int, context: int) -> dict[str, Any]:
        return {"id": "tiny", "created": created, "owned_by": "llamacpp", "meta": {"size": size, "n_ctx": context}}

    def digest(*numbers: int) -> str:
        return entry_digest("http://host/v1", entry(*numbers))

    assert digest(1, 100, 4096) == digest(2, 100, 8192)
    assert digest(1, 100, 4096) != digest(1, 200, 4096)


@pytest.mark.parametrize("options", [{"top_k": 0}, {"repeat_penalty": 1.1}, {"top_k": 1, "repeat_penalty": 1.1}])
def test_an_option_that_the_protocol_does_not_have_is_a_usage_error(options: dict[str, float]) -> None:
    request = ask("Capital?")
    changed = request.model_copy(update={"options": request.options.model_copy(update=options)})
    with ScriptedServer({}) as server, pytest.raises(UsageError) as caught:
        chat(server, changed)
    assert f"openai/org/tiny: this protocol has no {' and no '.join(options)}: remove" in str(caught.value)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (completion(None), "finish_reason is 'stop'"),
        (completion("", "content_filter"), "finish_reason is 'content_filter'"),
        (json_answer({"choices": []}), "unknown form: choices"),
        (json_answer({"choices": [{"message": {"content": 3}}]}), r"unknown form: choices\.0\.message\.content"),
        (refusal("temperature must be at most 1"), "refuses the call: HTTP 400: temperature must be at most 1"),
    ],
    ids=["no content", "filtered", "no choice", "wrong type", "refused"],
)
def test_a_reply_that_cannot_be_used_is_a_failed_call_with_its_reason(answer: Answer, reason: str) -> None:
    with ScriptedServer(script(answer)) as server, pytest.raises(CallError, match=reason):
        chat(server, ask("Capital?"))


@pytest.mark.parametrize(
    ("answer", "numbers"),
    [
        (refusal("too long", type="exceed_context_size_error", n_prompt_tokens=3000, n_ctx=2048), "of 3000 tokens"),
        (refusal("This model's maximum context length is 2048 tokens. However, you requested 3008."), "The prompt"),
        (refusal("Please reduce the prompt.", code="context_length_exceeded"), "The prompt"),
        (refusal("The decoder prompt is longer than the maximum model length of 2048."), "The prompt"),
    ],
    ids=["llama-server", "vLLM", "the public API", "vLLM 1"],
)
def test_a_prompt_that_is_too_long_is_a_failed_call_with_numbers(answer: Answer, numbers: str) -> None:
    with ScriptedServer(script(answer)) as server, pytest.raises(CallError) as caught:
        chat(server, ask("Long."))
    assert numbers in str(caught.value)
    assert "exceeds the context of 2048 tokens of openai/org/tiny" in str(caught.value)


def test_a_busy_server_says_when_to_come_back() -> None:
    busy = json_answer({"error": {"message": "rate limit"}}, 429, Retry_After="0.3")
    with ScriptedServer(script(busy, completion())) as server:
        started = time.perf_counter()
        assert chat(server, ask("Capital?")).text == "Paris"
    assert time.perf_counter() - started >= 0.3


@pytest.mark.parametrize("failure", [refusal("overloaded", 503), Answer(drop=True)], ids=["503", "drop"])
def test_what_may_pass_is_tried_again(failure: Answer) -> None:
    with ScriptedServer(script(failure, completion())) as server:
        assert chat(server, ask("Capital?")).text == "Paris"


def test_a_model_that_wants_the_newer_field_for_the_limit_gets_it() -> None:
    message = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
    with ScriptedServer(script(refusal(message, param="max_tokens"), completion())) as server:
        chat(server, ask("Capital?", max_tokens=5))
        first, second = server.bodies("/v1/chat/completions")
    assert first["max_tokens"] == second["max_completion_tokens"] == 5
    assert "max_tokens" not in second


def test_thinking_is_not_part_of_the_reply() -> None:
    with ScriptedServer(script(completion("Hm, France.\n</think>\n\nParis"))) as server:
        assert chat(server, ask("Capital?")).text == "Paris"
