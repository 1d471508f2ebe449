"""The embedded model: real weights, served inside this process."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from model_requests import YES_OR_NO, ask

from faithbot.errors import CallError, UsageError
from faithbot.models.embedded import EmbeddedModel
from faithbot.models.gguf import PACKAGED
from faithbot.models.protocol import ModelIdentity
from faithbot.models.registry import open_model

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path

    from faithbot.models.protocol import ChatRequest, Reply

pytestmark = pytest.mark.usefixtures("weights")


def with_model(use: Callable[[EmbeddedModel], Coroutine[None, None, None]]) -> None:
    async def call() -> None:
        model = EmbeddedModel("smollm2-135m")
        try:
            await use(model)
        finally:
            await model.aclose()

    asyncio.run(call())


def changed(request: ChatRequest, **options: float) -> ChatRequest:
    return request.model_copy(update={"options": request.options.model_copy(update=options)})


def test_it_answers_with_json_logprobs_and_identity_and_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    async def use(model: EmbeddedModel) -> None:
        assert await model.identity() == ModelIdentity(
            provider="embedded",
            name="smollm2-135m",
            digest=PACKAGED["smollm2-135m"].file_digest,
            context_length=8192,
        )
        reply = await model.chat(ask("Is the sky blue?", json_schema=YES_OR_NO, max_tokens=24))
        assert reply.text.replace(" ", "").replace("\n", "") in ('{"answer":"yes"}', '{"answer":"no"}')
        assert (reply.finish, reply.logprobs) == ("stop", None)
        assert reply.prompt_tokens is not None
        assert reply.prompt_tokens > 5

        scored = await model.chat(ask("Write a story.", max_tokens=3, top_logprobs=4))
        assert scored.finish == "length"
        assert scored.logprobs is not None
        assert len(scored.logprobs) == scored.output_tokens == 3
        first = scored.logprobs[0]
        assert len(first.alternatives) == 4
        assert first.logprob == max(first.alternatives.values())

    with_model(use)
    assert capfd.readouterr() == ("", "")


def test_the_seed_decides_what_is_drawn() -> None:
    async def use(model: EmbeddedModel) -> None:
        async def draw(seed: int) -> str:
            return (await model.chat(ask("Write a story.", temperature=1.0, max_tokens=12, seed=seed))).text

        texts = [await draw(seed) for seed in (1, 1, 2, 3)]
        assert texts[0] == texts[1]
        assert len(set(texts)) == 3

    with_model(use)


def test_all_options_reach_the_engine() -> None:
    """A very strong penalty on repetition, and a choice among one token, show in the reply."""

    async def use(model: EmbeddedModel) -> None:
        request = ask("Repeat this: yes yes yes yes yes yes", max_tokens=10)
        plain = await model.chat(request)
        penalised = await model.chat(changed(request, repeat_penalty=5.0))
        assert penalised.text != plain.text
        one_choice = await model.chat(changed(request, temperature=2.0, top_k=1))
        assert one_choice.text == plain.text

    with_model(use)


def test_a_prompt_beyond_the_trained_context_is_a_failed_call_with_numbers() -> None:
    async def use(model: EmbeddedModel) -> None:
        with pytest.raises(CallError, match=r"A prompt of \d{5} tokens \+ a reply of 8 exceeds the context of 8192"):
            await model.chat(ask("The lighthouse is white. " * 2500))
        assert (await model.chat(ask("Hello"))).text  # the others remain possible

    with_model(use)


def test_a_context_reserved_later_loads_the_model_again_without_losing_calls() -> None:
    async def use(model: EmbeddedModel) -> None:
        running = asyncio.create_task(model.chat(ask("Write a story.", max_tokens=40)))
        while model._server is None or not model._server.calls:
            await asyncio.sleep(0.01)
        first = model._server
        model.reserve(5000)
        later: Reply = await model.chat(ask("Hello"))
        assert later.text
        assert (await running).output_tokens == 40
        assert model._server is not first
        assert model._server.context == 6144

    with_model(use)


def test_a_damaged_file_is_a_usage_error(tmp_path: Path, weights: Path) -> None:
    damaged = tmp_path / "models" / "damaged.gguf"
    damaged.parent.mkdir()
    damaged.write_bytes(weights.read_bytes()[:50_000_000])
    program = (
        "import asyncio\n"
        "from faithbot.errors import UsageError\n"
        "from faithbot.models.registry import open_model\n"
        "from faithbot.models.protocol import ChatRequest, Message\n"
        "model = open_model('embedded/damaged.gguf')\n"
        "try:\n"
        "    asyncio.run(model.chat(ChatRequest(messages=(Message(role='user', content='Hello'),))))\n"
        "except UsageError as error:\n"
        "    print(error)\n"
    )
    environment = os.environ | {"FAITHBOT_CACHE": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"llama.cpp cannot load {damaged}")
    assert done.stderr == ""


def test_without_the_extra_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(UsageError, match=r"pip install 'faithbot\[embedded\]'"):
        open_model("embedded/smollm2-135m")
