"""Names of images, as people write them and as every engine takes them."""

from __future__ import annotations

import pytest

from faithbot.ollama_service.image import OLLAMA_IMAGE, split_name

DIGEST = f"sha256:{'0' * 64}"


@pytest.mark.parametrize(
    ("image", "repository", "tag"),
    [
        ("ollama/ollama", "ollama/ollama", "latest"),
        ("ollama/ollama:0.32.15", "ollama/ollama", "0.32.15"),
        (f"ollama/ollama:0.32.15@{DIGEST}", "ollama/ollama", DIGEST),
        (f"ollama/ollama@{DIGEST}", "ollama/ollama", DIGEST),
        ("localhost:5000/ollama", "localhost:5000/ollama", "latest"),
        (f"localhost:5000/mirror/ollama:1@{DIGEST}", "localhost:5000/mirror/ollama", DIGEST),
    ],
)
def test_a_digest_goes_before_a_tag(image: str, repository: str, tag: str) -> None:
    assert split_name(image) == (repository, tag)


def test_the_default_is_pinned() -> None:
    assert split_name(OLLAMA_IMAGE)[1].startswith("sha256:")
