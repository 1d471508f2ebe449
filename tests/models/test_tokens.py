"""The estimate of tokens bounds what a real tokeniser makes of ordinary text, without being far off."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st
from model_requests import ask

from faithbot.models.ollama import OllamaModel
from faithbot.models.tokens import estimate_prompt_tokens, estimate_tokens

TEXTS = {
    "prose": "The harbour board painted the lighthouse white in 1921, and it has been repainted twice since then. " * 4,
    "code": "def area(width: float, height: float) -> float:\n    return width * height\n" * 5,
    "table": "| year | colour | cost |\n| --- | --- | --- |\n| 1921 | white | $1,234.50 |\n" * 5,
    "german": "Der Leuchtturm wurde im Jahr 1921 von der Hafenverwaltung weiß gestrichen. " * 5,
    "json": '{"id": 17, "tags": ["a", "b"], "ok": true, "price": 12.5}\n' * 5,
    "finnish": "Majakka maalattiin valkoiseksi satamahallituksen toimesta vuonna 1921. " * 5,
    "russian": "Маяк был покрашен в белый цвет в 1921 году портовым управлением. " * 5,
    "emoji": "🎉🚀✅ " * 5,
    "chinese": "灯塔于一九二一年由港务局漆成白色。" * 5,
}


@given(st.text(), st.text())
def test_a_longer_text_has_at_least_as_many_tokens(text: str, more: str) -> None:
    assert estimate_tokens(text) <= estimate_tokens(text + more)


def test_real_counts_are_between_half_the_estimate_and_the_estimate(ollama_url: str, smollm2: str) -> None:
    requests = {kind: ask(text, max_tokens=1) for kind, text in TEXTS.items()}

    async def count() -> dict[str, int | None]:
        model = OllamaModel(smollm2, host=ollama_url)
        try:
            return {kind: (await model.chat(request)).prompt_tokens for kind, request in requests.items()}
        finally:
            await model.aclose()

    shares = {
        kind: (tokens or 0) / estimate_prompt_tokens(requests[kind]) for kind, tokens in asyncio.run(count()).items()
    }
    assert {kind: share for kind, share in shares.items() if not 0.5 <= share <= 1} == {}
