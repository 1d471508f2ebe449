"""The estimate of tokens bounds what real tokenisers make of ordinary text."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_requests import ask

from faithbot.models.ollama import OllamaModel
from faithbot.models.tokens import estimate_prompt_tokens, estimate_tokens

if TYPE_CHECKING:
    from faithbot.models.protocol import Reply

TEXTS = {
    "prose": "The harbour board painted the lighthouse white in 1921, and it has been repainted twice since then. " * 4,
    "code": "def area(width: float, height: float) -> float:\n    return width * height\n" * 5,
    "table": "| year | colour | cost |\n| --- | --- | --- |\n| 1921 | white | $1,234.50 |\n" * 5,
    "german": "Der Leuchtturm wurde im Jahr 1921 von der Hafenverwaltung weiß gestrichen. " * 5,
    "chinese": "灯塔于一九二一年由港务局漆成白色。" * 5,
}


@given(st.text(), st.text())
def test_a_longer_text_has_at_least_as_many_tokens(text: str, more: str) -> None:
    assert estimate_tokens(text) <= estimate_tokens(text + more)


@pytest.mark.parametrize("kind", TEXTS)
def test_real_counts_stay_below_the_estimate(kind: str, ollama_url: str, smollm2: str) -> None:
    request = ask(TEXTS[kind], max_tokens=1)

    async def call() -> Reply:
        model = OllamaModel(smollm2, host=ollama_url)
        try:
            return await model.chat(request)
        finally:
            await model.aclose()

    count = asyncio.run(call()).prompt_tokens
    assert count is not None
    assert count <= estimate_prompt_tokens(request)
