"""Claims that are right or wrong by construction: sentences of a context, word for word or with one fault planted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from judging_data import LabelledClaim

from faithbot.judge.lexicon import EXCLUSIVE
from faithbot.judge.splitting import split_sentences

if TYPE_CHECKING:
    import random

PER_KIND = 150
_AUXILIARY = re.compile(r"\b(is|are|was|were|will|can|should|must|may)\b(?! not|n't)")
_WHOLE_NUMBER = re.compile(r"(?<![\d.,])\d{1,4}(?![\d.,]*\d)")


def planted_claims(claims: list[LabelledClaim], source: str, rng: random.Random) -> list[LabelledClaim]:
    """For each kind of fault up to PER_KIND sentences, each once sound (supported) and once with the fault (not)."""
    contexts = sorted({claim.contexts for claim in claims if len(claim.contexts) > 1})
    sentences = [
        (passage[span.start : span.end], passages)
        for passages in contexts
        for passage in passages
        for span in split_sentences(passage)
        if 40 <= span.end - span.start <= 250
    ]
    rng.shuffle(sentences)
    planted = []
    for plant in (_other_number, _negation, _opposite):
        faulty = [(text, passages, plant(text, rng)) for text, passages in sentences]
        for sound, passages, fault in [row for row in faulty if row[2] is not None][:PER_KIND]:
            planted.append(LabelledClaim(source, sound, passages, supported=True))
            planted.append(LabelledClaim(source, str(fault), passages, supported=False))
    return planted


def _other_number(text: str, rng: random.Random) -> str | None:
    found = _WHOLE_NUMBER.search(text)
    if found is None:
        return None
    return text[: found.start()] + str(int(found.group()) + rng.randint(1, 9)) + text[found.end() :]


def _negation(text: str, rng: random.Random) -> str | None:  # noqa: ARG001 - one signature for all kinds
    if " not " in text:
        return text.replace(" not ", " ", 1)
    found = _AUXILIARY.search(text)
    return None if found is None else f"{text[: found.end()]} not{text[found.end() :]}"


def _opposite(text: str, rng: random.Random) -> str | None:
    words = [found for found in re.finditer(r"\b[a-z]{4,}\b", text) if found.group() in EXCLUSIVE]
    if not words:
        return None
    found = rng.choice(words)
    return text[: found.start()] + rng.choice(sorted(EXCLUSIVE[found.group()])) + text[found.end() :]
