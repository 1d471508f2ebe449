"""Names of models."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from faithbot.errors import UsageError
from faithbot.models.registry import open_model


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("ollama/llama3.2:3b", "OllamaModel"),
        ("ollama/hf.co/org/model:Q4_K_M", "OllamaModel"),
        ("openai/Qwen/Qwen2.5-7B-Instruct", "OpenAIModel"),
        ("embedded/smollm2-135m", "EmbeddedModel"),
    ],
)
def test_the_provider_comes_first_and_the_rest_is_the_name(name: str, kind: str) -> None:
    model = open_model(name)
    assert type(model).__name__ == kind
    assert vars(model)["name"] == name.partition("/")[2]
    asyncio.run(model.aclose())


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("olama/llama3", "there is no provider 'olama': did you mean ollama/llama3?"),
        ("anthropic/x", "there is no provider 'anthropic': known are ollama/NAME, openai/NAME, embedded/NAME."),
        ("llama3", "write it as provider/name"),
        ("ollama/", "write it as provider/name"),
        ("", "write it as provider/name"),
    ],
)
def test_any_other_name_is_a_usage_error_with_advice(name: str, advice: str) -> None:
    with pytest.raises(UsageError) as caught:
        open_model(name)
    assert f"model '{name}': {advice}" in str(caught.value)


def test_nothing_heavy_is_imported_before_a_model_is_opened() -> None:
    program = (
        "import sys, faithbot.models.registry, faithbot.models.cache, faithbot.models.tokens\n"
        "print(sorted({'httpx', 'stamina', 'xllamacpp', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
