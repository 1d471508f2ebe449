"""An answer taken apart into claims by a model, with every claim held against the sentence that it comes from."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from faithbot.errors import CallError
from faithbot.judge.asking import judging_request
from faithbot.judge.context_index import ClaimWords
from faithbot.judge.lexicon import CONDITIONS, SPEAKERS
from faithbot.judge.words import content_words, is_negated, is_negator, tokenize
from faithbot.models.tokens import estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from faithbot.judge.prompts import Prompts
    from faithbot.models.protocol import Model

PROMPT = "claims_extract.md"
LONGEST_REPLY = 2048
"""Tokens. What a longer answer's reply does not get to is judged as its sentences."""
_SENTENCES = 40
"""Of one call: few answers have more."""
_TOKENS_A_SENTENCE = 16
_MOST_CLAIMS, _WORDS_A_CLAIM = 12, 2
"""Of a sentence, by its content words: a small model that repeats itself ends there."""
_ENTRY = re.compile(r'"(\d{1,4})"\s*:\s*(?=\[)')
_OWN_SHARE = 1 / 3
"""Words of a claim that its sentence must hold; the others may be what its pronouns stand for."""
_NAMES_WITH_ROLES = 2
"""Names that a claim must have for their order to matter."""
_KEPT_SHARE = 0.7
"""Words of a sentence that its claims must hold together."""


class ExtractedClaim(NamedTuple):
    """A claim and the sentence of the answer that makes it."""

    text: str
    sentence: str


class ClaimExtractor:
    """One constrained call an answer, several only for a very long one.

    Nothing that the model does can lose a sentence or add a fact to it.
    """

    def __init__(self, model: Model, prompts: Prompts) -> None:
        self._model = model
        self._template = prompts.template(PROMPT)
        self.longest_call = estimate_tokens(prompts.text(PROMPT)) + LONGEST_REPLY
        """Tokens, at most, of a call beside question and sentences."""

    async def extract(
        self, question: str, answer: str, sentences: Sequence[str], repeat: int = 1
    ) -> list[ExtractedClaim]:
        """The claims of the sentences in order, each once; the sentences themselves where the call fails."""
        around = set(content_words(f"{question}\n{answer}"))
        claims: dict[str, ExtractedClaim] = {}
        for first in range(0, len(sentences), _SENTENCES):
            asked = sentences[first : first + _SENTENCES]
            proposed = await self._propose(question, asked, repeat)
            for number, sentence in enumerate(asked, start=1):
                for text in checked_claims(sentence, proposed.get(number), around):
                    claims.setdefault(text.casefold(), ExtractedClaim(text, sentence))
        return list(claims.values())

    async def _propose(self, question: str, sentences: Sequence[str], repeat: int) -> dict[int, list[str]]:
        """Claims by the number of their sentence; nothing where the call fails."""
        try:
            return parse_extraction(await self._ask(question, sentences, repeat))
        except CallError:
            return {}

    async def _ask(self, question: str, sentences: Sequence[str], repeat: int) -> str:
        prompt = self._template.render(question=question, sentences=sentences)
        wanted = sum(3 * estimate_tokens(sentence) // 2 + _TOKENS_A_SENTENCE for sentence in sentences)
        request = judging_request(prompt, min(wanted, LONGEST_REPLY), repeat, _schema(sentences))
        return (await self._model.chat(request)).text


def _schema(sentences: Sequence[str]) -> dict[str, Any]:
    """One list for each sentence, by its number: a reply can neither shift nor skip one."""
    lists = {
        str(number): {"type": "array", "items": {"type": "string"}, "maxItems": _most_claims(sentence)}
        for number, sentence in enumerate(sentences, start=1)
    }
    return {"type": "object", "properties": lists, "required": [*lists], "additionalProperties": False}


def _most_claims(sentence: str) -> int:
    return min(_MOST_CLAIMS, 1 + len(set(content_words(sentence))) // _WORDS_A_CLAIM)


def parse_extraction(reply: str) -> dict[int, list[str]]:
    """Claims by the number of their sentence; of several lists for a number the last one that can be read counts.

    Read entry by entry, so that neither prose around the JSON nor its end being cut off costs the rest.
    """
    found: dict[int, list[str]] = {}
    decoder = json.JSONDecoder()
    for entry in _ENTRY.finditer(reply):
        try:
            claims, _ = decoder.raw_decode(reply, entry.end())
        except (json.JSONDecodeError, RecursionError):
            continue
        if all(isinstance(claim, str) for claim in claims):
            found[int(entry[1])] = [text for claim in claims if (text := " ".join(claim.split()))]
    return found


def checked_claims(sentence: str, proposed: Sequence[str] | None, around: set[str]) -> Sequence[str]:
    """The proposed claims of a sentence if they say what it says, else the sentence; none where it states no fact.

    ``around`` are the content words of question and answer, which pronouns are resolved with. A sentence that the model
    left out (None), or calls without a fact although it has a number or a name or is not about those who talk, stands
    for itself.
    """
    if proposed is None:
        return [sentence]
    if not proposed:
        return [sentence] if _clearly_states_fact(sentence) else []
    says_the_same = all(_is_of(claim, sentence, around) for claim in proposed) and _nothing_lost(proposed, sentence)
    return proposed if says_the_same else [sentence]


def _clearly_states_fact(sentence: str) -> bool:
    """A number, a name, or a statement that is not about those who talk."""
    words = ClaimWords.of(sentence)
    if words.quantities or words.is_name.any():
        return True
    tokens = tokenize(sentence)
    return sum(token.is_content for token in tokens) > 1 and not any(token.form in SPEAKERS for token in tokens)


def _is_of(claim: str, sentence: str, around: set[str]) -> bool:
    """Whether a claim adds nothing: its numbers are the sentence's, its words too or those of question and answer."""
    own, words = set(content_words(sentence)), set(content_words(claim))
    numbers = set(_numbers(words))
    if not words or not numbers <= own or not words <= own | around:
        return False
    if is_negated(claim):
        if not is_negated(sentence):
            return False
    elif words & _denied(sentence):
        return False
    return len(words & own) >= _OWN_SHARE * len(words) and _keeps_roles(claim, sentence)


def _denied(sentence: str) -> set[str]:
    """The first content word after each negator: no claim may state it without one."""
    denied: set[str] = set()
    after_negator = False
    for token in tokenize(sentence):
        if is_negator(token):
            after_negator = True
        elif after_negator and token.is_content:
            denied.add(token.key)
            after_negator = False
    return denied


def _keeps_roles(claim: str, sentence: str) -> bool:
    """Whether numbers and names still belong to what they belonged to: "Ana beat Bob" is not "Bob beat Ana".

    The words of the claim come in the order of the sentence, and each number has a neighbour of its own beside it.
    """
    order = content_words(sentence)
    tokens = [token for token in tokenize(claim) if token.is_content and token.key in set(order)]
    numbers = {token.key for token in tokens if token.key.startswith("#")}
    if not numbers and sum(token.is_name for token in tokens) < _NAMES_WITH_ROLES:
        return True
    rest = iter(order)
    if not all(token.key in rest for token in tokens):
        return False
    keys = {token.key for token in tokens}
    return all(_has_neighbour(number, order, keys) for number in numbers)


def _has_neighbour(number: str, order: Sequence[str], keys: set[str]) -> bool:
    beside = {
        key
        for place, found in enumerate(order)
        if found == number
        for key in (*order[max(0, place - 1) : place], *order[place + 1 : place + 2])
    }
    return not beside or bool(beside & keys)


def _nothing_lost(claims: Sequence[str], sentence: str) -> bool:
    """Whether the claims together keep the sentence's numbers, negation, condition and nearly all of its words."""
    own = set(content_words(sentence))
    kept = {word for claim in claims for word in content_words(claim)}
    if not set(_numbers(own)) <= kept:
        return False
    if any(holds(sentence) and not any(map(holds, claims)) for holds in (is_negated, _is_conditional)):
        return False
    return len(own & kept) >= _KEPT_SHARE * len(own)


def _is_conditional(text: str) -> bool:
    return any(token.form in CONDITIONS for token in tokenize(text))


def _numbers(words: set[str]) -> Iterator[str]:
    return (word for word in words if word.startswith("#"))
