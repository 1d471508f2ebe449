"""What every judge returns: claims, a support each, and the evidence that it rests on."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from collections.abc import Sequence

STATES_NO_FACT = "the answer states no fact"
"""Reason of an answer that was read and holds nothing to check, such as a greeting: no failure of judging."""

Support = Literal["supported", "contradicted", "not_found"]
NumberCheck = Literal["agree", "missing", "conflict"]
"""The numbers of a claim, compared by code: all stand in the contexts, one does not, or another stands in its place."""

SUPPORTED_FROM = 0.5
"""P(supported) from which on a claim counts as supported: more likely so than not."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Evidence(_Frozen):
    """The passage nearest to a claim: it stands word for word in one of the contexts."""

    context: int
    """Index into the contexts of the answer."""
    start: int
    end: int
    """Character span within that context: ``contexts[context][start:end] == quote``."""
    quote: str


class Claim(_Frozen):
    """One checkable fact of an answer, with either a support or the reason why it has none."""

    text: str
    support: Support | None = None
    probability: float | None = None
    """P(supported), 0 to 1."""
    evidence: Evidence | None = None
    numbers: NumberCheck | None = None
    """None: it has no number, or this judge does not tell."""
    unscored: str | None = None
    """Why there is no support; None where there is one."""


class Judgement(_Frozen):
    """What a judge says of one answer."""

    claims: tuple[Claim, ...] = ()
    faithfulness: float | None = None
    """Supported share of the scored claims, 0 to 1 (``label``: 1, 0.5 or 0). None: abstained, no claim, or unscored."""
    relevance: float | None = None
    """How well the answer meets the question, 0 to 1. None: this judge does not say."""
    abstained: bool = False
    """The answer says that it cannot answer: neither faithful nor unfaithful."""
    unscored: str | None = None
    """Why the whole answer could not be judged; None where it was, or where it abstained."""
    fabricated_citations: tuple[str, ...] = ()
    """What the answer cites that was not among its contexts, as it writes it; no judge decides that."""


class JudgeFingerprint(_Frozen):
    """What the scores depend on besides the answers. Scores of two fingerprints are never compared."""

    method: str
    model: str | None = None
    model_digest: str | None = None
    prompts_digest: str | None = None
    options: dict[str, Any] = {}
    version: str
    """Version of the method's own code or weights."""

    @property
    def digest(self) -> str:
        """Short content hash of all fields."""
        text = json.dumps(self.model_dump(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]


class Judge(Protocol):
    """Turns an answer and its contexts into claims with supports. Never guesses: what it cannot read is unscored."""

    repeats_itself: bool
    """Known to judge the same answer the same way every time: judging it again would tell nothing."""

    async def fingerprint(self) -> JudgeFingerprint:
        """Identity of this judge, model digest included."""
        ...

    def reserve(self, tokens: int) -> None:
        """Announce the most tokens that question, contexts and answer have together, before the first answer."""
        ...

    async def judge(self, question: str, answer: str, contexts: Sequence[str], repeat: int = 1) -> Judgement:
        """Judge one answer against the contexts that it was given; each ``repeat`` (1, 2, ...) is a new draw."""
        ...

    async def check(self, claim: str, contexts: Sequence[str], repeat: int = 1) -> Claim:
        """Judge one claim as it stands, without taking it apart."""
        ...
