"""Contexts that are longer than a judge can read at once: packed into windows, and the best of them decides.

Nothing is cut away: every character of the contexts but white space stands in a window. Scoring a claim against each
window and taking the best is what SummaC (Laban et al. 2022) and MiniCheck (Tang et al. 2024) do; a claim that needs
two passages out of two windows finds them together in one more window, made of the passages nearest to the claim.

    packed = PackedContexts.of(contexts, limit=400, measure=count_tokens)
    best = choose_best([(window, score(claim, window)) for window in packed.for_claim(claim)])
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from faithbot.judge.context_index import ClaimWords, ContextIndex
from faithbot.judge.protocol import SUPPORTED_FROM
from faithbot.judge.splitting import Span, split_sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from faithbot.judge.protocol import Support

_LARGEST_OVERLAP = 0.25
"""Share of a window that the repeated sentence may take: a longer one is not repeated."""


class Piece(NamedTuple):
    """Characters ``start`` to ``end`` of context number ``context``."""

    context: int
    start: int
    end: int


class Window(NamedTuple):
    """Passages, or pieces of passages, that are read together."""

    pieces: tuple[Piece, ...]
    passages: tuple[str, ...]
    """Text of each piece."""

    @property
    def text(self) -> str:
        """All passages as one text."""
        return "\n".join(self.passages)


class SupportProbabilities(NamedTuple):
    """How likely each support of a claim is; they sum to 1."""

    supported: float
    contradicted: float
    not_found: float

    @property
    def support(self) -> Support:
        """The support to report."""
        if self.supported >= SUPPORTED_FROM:
            return "supported"
        return "contradicted" if self.contradicted > self.not_found else "not_found"


class Best(NamedTuple):
    """What the windows say of a claim together, and the window that decided; None where there was nothing to read."""

    probabilities: SupportProbabilities
    window: Window | None


@dataclass(frozen=True)
class PackedContexts:
    """Contexts as windows that each hold at most ``limit`` tokens."""

    contexts: Sequence[str]
    limit: int
    measure: Callable[[str], int]
    windows: tuple[Window, ...]
    """In the order of the contexts; one where all fits, none where all contexts are blank."""

    @classmethod
    def of(cls, contexts: Sequence[str], limit: int, measure: Callable[[str], int]) -> PackedContexts:
        """Pack contexts: whole where they fit, else cut at sentence ends, with one sentence repeated after a cut.

        ``measure`` gives the tokens of one passage together with whatever is written around it; a window takes the sum
        over its passages. A sentence longer than a window is cut between characters. ValueError where ``limit`` is too
        small for a single character.
        """
        pieces = [
            Piece(number, *span)
            for number, text in enumerate(contexts)
            for span in _cut_to_fit(text, limit, measure)
            if text[slice(*span)].strip()
        ]
        return cls(contexts, limit, measure, tuple(_fill(pieces, contexts, limit, measure)))

    def for_claim(self, claim: str) -> tuple[Window, ...]:
        """The windows to score a claim against: all, and the joined nearest passages where there are several."""
        joined = self._nearest_joined(claim) if len(self.windows) > 1 else None
        return self.windows if joined is None else (*self.windows, joined)

    def _nearest_joined(self, claim: str) -> Window | None:
        """The passage of each window that is nearest to the claim, the nearest ones as far as they fit together."""
        words = ClaimWords.of(claim)
        views = zip(self.windows, self._indexes, strict=True)
        found = [nearest for window, index in views if (nearest := _nearest(words, window, index))]
        room, chosen = self.limit, set[Piece]()
        for piece, _ in sorted(found, key=lambda item: -item[1]):
            size = self.measure(_text(piece, self.contexts))
            if piece not in chosen and size <= room:
                chosen.add(piece)
                room -= size
        return _window(sorted(chosen), self.contexts) if len(chosen) > 1 else None

    @cached_property
    def _indexes(self) -> tuple[ContextIndex, ...]:
        """Of each window: made once for all claims."""
        return tuple(ContextIndex(window.passages) for window in self.windows)


def choose_best(scored: Sequence[tuple[Window, SupportProbabilities]]) -> Best:
    """The window with the highest P(supported) decides.

    Where not even that one supports the claim, the highest P(contradicted) of any window counts: the passage that
    contradicts a claim need not be the one that comes closest to supporting it.
    """
    if not scored:
        return Best(SupportProbabilities(0.0, 0.0, 1.0), None)
    window, best = max(scored, key=lambda item: item[1].supported)
    if best.support == "supported":
        return Best(best, window)
    against, most = max(scored, key=lambda item: item[1].contradicted)
    contradicted = min(most.contradicted, 1.0 - best.supported)
    combined = SupportProbabilities(best.supported, contradicted, max(0.0, 1.0 - best.supported - contradicted))
    return Best(combined, against if combined.support == "contradicted" else window)


def _nearest(words: ClaimWords, window: Window, index: ContextIndex) -> tuple[Piece, float] | None:
    """The passage of a window nearest to a claim, and the share of the claim in it."""
    match = index.match(words)
    if match is None:
        return None
    nearest = match.nearest
    context, start, _ = window.pieces[nearest.context]
    return Piece(context, start + nearest.span.start, start + nearest.span.end), nearest.coverage


def _text(piece: Piece, contexts: Sequence[str]) -> str:
    return contexts[piece.context][piece.start : piece.end]


def _window(pieces: Iterable[Piece], contexts: Sequence[str]) -> Window:
    pieces = tuple(pieces)
    return Window(pieces, tuple(_text(piece, contexts) for piece in pieces))


def _fill(
    pieces: Sequence[Piece], contexts: Sequence[str], limit: int, measure: Callable[[str], int]
) -> Iterator[Window]:
    """Pieces to windows, in order."""
    held: list[Piece] = []
    taken = 0
    for piece in pieces:
        size = measure(_text(piece, contexts))
        if held and taken + size > limit:
            yield _window(held, contexts)
            held, taken = [], 0
        held.append(piece)
        taken += size
    if held:
        yield _window(held, contexts)


def _cut_to_fit(text: str, limit: int, measure: Callable[[str], int]) -> Iterator[Span]:
    """A passage as pieces of at most ``limit`` tokens, each as many sentences as fit."""
    if measure(text) <= limit:
        yield Span(0, len(text))
        return
    sentences = [part for sentence in split_sentences(text) for part in _cut_hard(text, sentence, limit, measure)]
    sizes = [measure(text[start:end]) for start, end in sentences]
    first = 0
    while first < len(sentences):
        after = _fitting(text, sentences, sizes, first, limit, measure)
        yield Span(sentences[first].start, sentences[after - 1].end)
        if after == len(sentences):
            return
        repeats = after - 1 > first and sizes[after - 1] <= _LARGEST_OVERLAP * limit
        first = after - 1 if repeats and sizes[after - 1] + sizes[after] <= limit else after


def _fitting(
    text: str, sentences: list[Span], sizes: list[int], first: int, limit: int, measure: Callable[[str], int]
) -> int:
    """One past the last sentence that still fits together with ``first``."""
    after, taken = first + 1, sizes[first]
    while after < len(sentences) and taken + sizes[after] <= limit:
        taken += sizes[after]
        after += 1
    # What stands between the sentences was not counted.
    while after > first + 1 and measure(text[sentences[first].start : sentences[after - 1].end]) > limit:
        after -= 1
    return after


def _cut_hard(text: str, span: Span, limit: int, measure: Callable[[str], int]) -> Iterator[Span]:
    """A sentence as parts that fit, cut between characters; itself where it fits."""
    start, end = span
    while start < end:
        cut = end
        while (size := measure(text[start:cut])) > limit:
            if cut == start + 1:
                raise ValueError(f"a window of {limit} tokens has no room for a single character")
            cut = min(cut - 1, start + max(1, (cut - start) * limit // size))
        yield Span(start, cut)
        start = cut
