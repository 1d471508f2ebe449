"""A real Ollama server with a real small model."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import httpx
import pytest
from model_requests import QUICK, YES_OR_NO, ask

from faithbot.errors import CallError, EvaluationError, UsageError
from faithbot.models.cache import CachedModel
from faithbot.models.ollama import OllamaModel
from faithbot.models.registry import open_model
from ollama_process import MODEL, ollama_program, provide_model, running

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path

    from faithbot.models.protocol import Model, Reply
    from ollama_process import OllamaProcess

SKY = "Is the sky blue? Answer yes or no."


def with_model(model: Model, use: Callable[[Model], Coroutine[None, None, None]]) -> None:
    async def call() -> None:
        try:
            await use(model)
        finally:
            await model.aclose()

    asyncio.run(call())


@pytest.fixture
def model(ollama_url: str, smollm2: str, monkeypatch: pytest.MonkeyPatch) -> Model:
    monkeypatch.setenv("OLLAMA_HOST", ollama_url)
    return open_model(f"ollama/{smollm2}")


def allotted_context(url: str) -> int:
    (loaded,) = [entry for entry in httpx.get(f"{url}/api/ps").json()["models"] if entry["name"] == MODEL]
    return int(loaded["context_length"])


def test_the_digest_is_the_servers_own(model: Model, ollama_url: str) -> None:
    tags = {tag["name"]: tag["digest"] for tag in httpx.get(f"{ollama_url}/api/tags").json()["models"]}

    async def use(model: Model) -> None:
        identity = await model.identity()
        assert (identity.provider, identity.name, identity.context_length) == ("ollama", MODEL, 8192)
        assert identity.digest == tags[MODEL]

    with_model(model, use)


def test_a_schema_is_kept_to_and_every_token_has_its_probability(model: Model) -> None:
    async def use(model: Model) -> None:
        reply = await model.chat(ask(SKY, json_schema=YES_OR_NO, max_tokens=24))
        assert json.loads(reply.text)["answer"] in {"yes", "no"}
        assert (reply.finish, reply.logprobs) == ("stop", None)

        scored = await model.chat(ask("Write a story.", max_tokens=3, top_logprobs=4))
        assert scored.logprobs is not None
        assert len(scored.logprobs) == scored.output_tokens == 3
        assert "".join(token.token for token in scored.logprobs) == scored.text
        assert len(scored.logprobs[0].alternatives) == 4
        assert scored.logprobs[0].logprob == max(scored.logprobs[0].alternatives.values())

    with_model(model, use)


def test_the_seed_decides_what_is_drawn(model: Model) -> None:
    async def use(model: Model) -> None:
        async def draw(seed: int) -> str:
            return (await model.chat(ask("Write a story.", temperature=1.0, max_tokens=12, seed=seed))).text

        await draw(1)  # the first call reads the prompt, all others find it in the engine's cache
        texts = [await draw(seed) for seed in (1, 1, 2, 3)]
        assert texts[0] == texts[1]
        assert len(set(texts)) == 3

    with_model(model, use)


def test_a_prompt_found_in_the_engines_cache_counts_in_full(model: Model) -> None:
    """The check for cut prompts relies on it."""

    async def use(model: Model) -> None:
        question = ask("The lighthouse is white. " * 20 + "What colour is it?", max_tokens=1)
        first, second = await model.chat(question), await model.chat(question)
        assert first.prompt_tokens == second.prompt_tokens
        assert (first.prompt_tokens or 0) > 100

    with_model(model, use)


def test_the_reserved_context_is_what_the_server_allots(model: Model, ollama_url: str) -> None:
    async def use(model: Model) -> None:
        model.reserve(5000)
        await model.chat(ask("Hello", max_tokens=1))
        assert allotted_context(ollama_url) == 6144

    with_model(model, use)


def test_a_prompt_beyond_the_trained_context_is_a_failed_call_with_numbers(model: Model) -> None:
    async def use(model: Model) -> None:
        with pytest.raises(
            CallError,
            match=r"A prompt of \d{5} tokens \+ a reply of 8 exceeds the context of 8192 tokens of ollama/smollm2:135m",
        ):
            await model.chat(ask("The lighthouse is white. " * 2500))
        assert (await model.chat(ask("Hello"))).text  # the others remain possible

    with_model(model, use)


def test_a_missing_model_is_named_with_its_cure_and_near_names(ollama_url: str, smollm2: str) -> None:
    async def use(model: Model) -> None:
        with pytest.raises(UsageError, match=f"ollama pull smollm2:1.7b.*It has {smollm2}"):
            await model.identity()

    with_model(OllamaModel("smollm2:1.7b", host=ollama_url), use)


def test_the_servers_own_v1_is_reached_as_openai(
    ollama_url: str, smollm2: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{ollama_url}/v1")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    async def use(model: Model) -> None:
        assert (await model.identity()).name == smollm2
        reply = await model.chat(ask(SKY, json_schema=YES_OR_NO, max_tokens=24))
        assert json.loads(reply.text)["answer"] in {"yes", "no"}
        scored = await model.chat(ask("Write a story.", max_tokens=2, top_logprobs=3))
        assert (scored.finish, scored.output_tokens) == ("length", 2)
        assert scored.logprobs is not None
        assert len(scored.logprobs[0].alternatives) == 3

    with_model(open_model(f"openai/{smollm2}"), use)


def test_a_server_killed_in_the_middle_loses_nothing_that_was_finished(tmp_path: Path, weights: Path) -> None:
    """It ends the evaluation with an error; after a restart, only the calls that were not finished are made."""
    story = ask("Write a long story.", max_tokens=2000)

    async def until_killed(server: OllamaProcess) -> None:
        model = CachedModel(OllamaModel(MODEL, host=server.url, patience=QUICK), tmp_path / "cache")
        await model.chat(ask(SKY))
        unfinished = asyncio.create_task(model.chat(story))
        await asyncio.sleep(1)
        assert not unfinished.done()
        server.kill()
        with pytest.raises(EvaluationError, match=r"Ollama at .* failed 5 times in a row.*Finished answers are kept"):
            await unfinished
        await model.aclose()

    async def resume(server: OllamaProcess) -> Reply:
        model = CachedModel(OllamaModel(MODEL, host=server.url, patience=QUICK), tmp_path / "cache")
        kept = await model.chat(ask(SKY))
        assert (model.calls, model.hits) == (0, 1)
        await model.chat(ask("Hello"))
        assert (model.calls, model.hits) == (1, 1)
        await model.aclose()
        return kept

    with running(ollama_program(), tmp_path / "serve.log") as server:
        provide_model(server.url, weights)
        asyncio.run(until_killed(server))
        server.start()
        kept = asyncio.run(resume(server))
        assert kept.cached
