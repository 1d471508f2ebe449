"""How likely a claim is supported, contradicted or not found, by a model: one token a claim, or one call for all."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from faithbot.errors import CallError
from faithbot.judge.asking import FirstToken, judging_request
from faithbot.judge.windows import SupportProbabilities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faithbot.judge.prompts import Prompts
    from faithbot.judge.protocol import Support
    from faithbot.models.kept import KeptReplies
    from faithbot.models.protocol import Model, TokenLogprob

PROMPT, BATCH_PROMPT, RUBRIC = "claims_support.md", "claims_support_batch.md", "rubric.md"
SUPPORT_OF: dict[str, Support] = {
    "supported": "supported", "contradicted": "contradicted", "unknown": "not_found", "not found": "not_found"
}  # fmt: skip
"""The words that the prompts ask for, whose first letters differ, and a variant that models like to use."""

BARE_LABEL = 0.77
"""What a word without its probability counts as: the best judges agree with people that often (LLM-AggreFact, balanced
accuracy; Tang et al. 2024)."""

_WORDS = ("supported", "contradicted", "unknown")
_TOKENS_A_CLAIM = 16
_VERDICT = re.compile(r'"(\d{1,4})"\s*:\s*"([^"\\]{1,20})"')


class SupportAsker:
    """Asks a model about claims.

    The prompts hold nothing but contexts and claims: every answer, run, side and pull request that makes a claim over
    the same contexts shares the call.
    """

    def __init__(self, model: Model, prompts: Prompts, kept: KeptReplies | None = None) -> None:
        """The supports of a call for several claims go to ``kept``, one by one.

        The cache of calls cannot know that one of the claims was asked before, in other company.
        """
        self._model = model
        self._template = prompts.template(PROMPT)
        self._batch_template = prompts.template(BATCH_PROMPT)
        self._batch_prompts = prompts.digest(BATCH_PROMPT, RUBRIC)
        self._first_token = FirstToken(model)
        self._kept = kept

    async def ask(self, claim: str, contexts: Sequence[str], repeat: int = 1) -> SupportProbabilities:
        """One claim: by the probabilities of the first token, else by the word that the model is held to.

        :class:`CallError` where there is neither.
        """
        token = await self._first_token.ask(self._template.render(claim=claim, contexts=contexts), repeat)
        if token and (found := label_probabilities(token)):
            return found
        by_number = await self.ask_all([claim], contexts, repeat)
        if not by_number:
            raise CallError("the judge's reply holds no support for this claim")
        return by_number[1]

    async def ask_all(
        self, claims: Sequence[str], contexts: Sequence[str], repeat: int = 1
    ) -> dict[int, SupportProbabilities]:
        """Claims in one call, by their number from 1; those that its reply leaves out are missing."""
        keys = [await self._key(claim, contexts, repeat) for claim in claims]
        kept = [self._kept.read(key) if self._kept else None for key in keys]
        supports: dict[int, Support] = {number: found["support"] for number, found in enumerate(kept, start=1) if found}
        if new := [number for number in range(1, len(claims) + 1) if number not in supports]:
            answered = await self._ask_batch([claims[number - 1] for number in new], contexts, repeat)
            for place, support in answered.items():
                supports[new[place - 1]] = support
                if self._kept:
                    self._kept.write(keys[new[place - 1] - 1], {"support": support})
        return {number: _of_bare_label(support) for number, support in supports.items()}

    async def _key(self, claim: str, contexts: Sequence[str], repeat: int) -> dict[str, Any]:
        """All that decides the support of a claim; its company in the call is left out on purpose."""
        return {
            "model": (await self._model.identity()).model_dump(mode="json"),
            "prompts": self._batch_prompts,
            "contexts": list(contexts),
            "claim": claim,
            "repeat": repeat,
        }

    async def _ask_batch(self, claims: Sequence[str], contexts: Sequence[str], repeat: int) -> dict[int, Support]:
        prompt = self._batch_template.render(claims=claims, contexts=contexts)
        request = judging_request(prompt, _TOKENS_A_CLAIM * (len(claims) + 1), repeat, _schema(len(claims)))
        return parse_supports((await self._model.chat(request)).text, len(claims))


def label_probabilities(token: TokenLogprob) -> SupportProbabilities | None:
    """The words' shares of the probability at a token; None where it has no beginning of any of them.

    Spellings with spaces, capitals or quotes count together. A word that is not reported counts as the least likely
    alternative that is: at most that likely it was.
    """
    logprobs = {**token.alternatives, token.token: token.logprob}
    mass: dict[Support, float] = {}
    for text, logprob in logprobs.items():
        if support := _support_begun_by(text):
            mass[support] = mass.get(support, 0.0) + math.exp(logprob)
    if not mass:
        return None
    least = math.exp(min(logprobs.values()))
    supported, contradicted, not_found = (mass.get(s, least) for s in ("supported", "contradicted", "not_found"))
    total = supported + contradicted + not_found
    return SupportProbabilities(supported / total, contradicted / total, not_found / total)


def parse_supports(reply: str, n_claims: int) -> dict[int, Support]:
    """Supports by the number of their claim, 1 to ``n_claims``; of several for a number the last valid one counts."""
    found: dict[int, Support] = {}
    for number, word in _VERDICT.findall(reply):
        support = SUPPORT_OF.get(word.strip().casefold().replace("_", " "))
        if support and 1 <= int(number) <= n_claims:
            found[int(number)] = support
    return found


def _support_begun_by(text: str) -> Support | None:
    start = text.strip(" \t\n\"'*`#:▁Ġ").casefold()
    return next((support for word, support in SUPPORT_OF.items() if start and word.startswith(start)), None)


def _of_bare_label(support: Support) -> SupportProbabilities:
    rest = (1.0 - BARE_LABEL) / 2
    return SupportProbabilities(rest, rest, rest)._replace(**{support: BARE_LABEL})


def _schema(n_claims: int) -> dict[str, Any]:
    """One word for each claim, by its number: a reply can neither shift nor skip one."""
    numbers = [str(number) for number in range(1, n_claims + 1)]
    return {
        "type": "object",
        "properties": {number: {"type": "string", "enum": list(_WORDS)} for number in numbers},
        "required": numbers,
        "additionalProperties": False,
    }
