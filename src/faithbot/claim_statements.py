"""The claims of a question's runs as statements: one statement in all the words that the runs found for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from faithbot.judge.matching import SAME_CLAIM, ClaimSignature, match_score

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from faithbot.judge.protocol import Claim, Evidence
    from faithbot.results import AnswerRecord, SideName
    from faithbot.systems.protocol import Context

UNSUPPORTED = ("contradicted", "not_found")


class Sighting(NamedTuple):
    """A claim in the answer that makes it."""

    side: SideName
    record: AnswerRecord
    claim: Claim


@dataclass
class Statement:
    """What several claims say alike."""

    signature: ClaimSignature
    """Of the first wording."""
    sightings: list[Sighting] = field(default_factory=list)

    def unsupported(self, side: SideName) -> list[Sighting]:
        """Where a side makes it without support."""
        return [found for found in self.sightings if found.side == side and found.claim.support in UNSUPPORTED]

    def unsupported_runs(self, side: SideName) -> int:
        """In how many runs a side makes it without support."""
        return len({found.record.run for found in self.unsupported(side)})

    def support_on_base(self) -> tuple[Evidence, Context] | None:
        """The passage that supports it on base and the context that it stands in, where the judge named one."""
        for found in self.sightings:
            if found.side == "base" and found.claim.support == "supported" and found.claim.evidence is not None:
                return found.claim.evidence, found.record.contexts[found.claim.evidence.context]
        return None

    def says(self, claim: ClaimSignature) -> bool:
        """Whether the claim is one of its wordings."""
        wordings = {found.claim.text for found in self.sightings}
        return any(match_score(ClaimSignature.of(wording), claim) >= SAME_CLAIM for wording in wordings)


def find_statements(sides: Mapping[SideName, Sequence[AnswerRecord]]) -> list[Statement]:
    """Claims of all answers to one question, grouped by meaning."""
    statements: list[Statement] = []
    by_wording: dict[str, Statement] = {}
    for side, records in sides.items():
        for record in records:
            for claim in record.judgement.claims if record.judgement else ():
                if claim.text not in by_wording:
                    by_wording[claim.text] = _statement_of(claim.text, statements)
                by_wording[claim.text].sightings.append(Sighting(side, record, claim))
    return statements


def _statement_of(claim: str, statements: list[Statement]) -> Statement:
    """The statement that a claim repeats best, by the first wording of each; a new one where it repeats none."""
    signature = ClaimSignature.of(claim)
    best, best_score = None, 0.0
    for known in statements:
        score = match_score(known.signature, signature)
        if score > best_score:
            best, best_score = known, score
    if best is None or best_score < SAME_CLAIM:
        best = Statement(signature)
        statements.append(best)
    return best
