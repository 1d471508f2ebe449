"""From the sentences of the documents to probes: claims of which it is known whether the passages support them."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, NamedTuple

from faithbot.judge.splitting import split_sentences
from faithbot.probe import faults_of_numbers, faults_of_wording, sound
from faithbot.probe.corpus_words import CorpusWords

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from faithbot.judge.blind_spots import FaultKind, Rewriting
    from faithbot.probe.material import Sentence

    Change = Callable[[Sentence, random.Random], str | None]


class Probe(NamedTuple):
    """A claim, and what it was made of."""

    kind: FaultKind | Rewriting
    is_sound: bool
    """Whether the contexts support it."""
    text: str
    sentence: str
    """As it stands in the documents."""
    document: str
    contexts: tuple[str, ...]


def make_probes(sentences: Sequence[Sentence], per_kind: int) -> list[Probe]:
    """At most ``per_kind`` probes of each kind, kind by kind. The same sentences give the same probes everywhere."""
    words = CorpusWords(sentence.text for sentence in sentences)
    probes: list[Probe] = []
    for is_sound, changes in ((True, _rewritings(sentences, words)), (False, _planters(sentences, words))):
        for kind, change in changes.items():
            made = _made(kind, change, sentences, is_sound=is_sound)
            probes.extend(probe for probe, _ in zip(made, range(per_kind), strict=False))
    return probes


def _rewritings(sentences: Sequence[Sentence], words: CorpusWords) -> Mapping[Rewriting, Change]:
    return {
        "verbatim": lambda sentence, _: sentence.text,
        "numbers": lambda sentence, rng: sound.other_spelling(sentence.text, rng),
        "reordered": lambda sentence, _: sound.reordered(sentence.text, words),
        "joined": lambda sentence, rng: sound.with_neighbour(sentence, sentences, words, rng),
    }


def _planters(sentences: Sequence[Sentence], words: CorpusWords) -> Mapping[FaultKind, Change]:
    return {
        "number": faults_of_numbers.other_number,
        "date": faults_of_numbers.other_date,
        "unit": faults_of_numbers.other_unit,
        "name": lambda sentence, rng: faults_of_wording.other_name(sentence, words, rng),
        "negation": lambda sentence, _: faults_of_wording.negated(sentence.text),
        "antonym": lambda sentence, rng: faults_of_wording.opposite(sentence.text, rng),
        "condition": lambda sentence, _: faults_of_wording.without_condition(sentence.text),
        "addition": lambda sentence, rng: faults_of_wording.with_addition(sentence, sentences, words, rng),
        "refusal": lambda sentence, _: faults_of_wording.refusal_turned(sentence.text),
    }


def _made(
    kind: FaultKind | Rewriting,
    change: Change,
    sentences: Sequence[Sentence],
    *,
    is_sound: bool,
) -> Iterator[Probe]:
    for sentence in sentences:
        # Of kind and sentence only: a change of one document leaves the probes of the others as they were.
        rng = random.Random(f"{kind}\0{sentence.text}")  # noqa: S311 - nothing here is secret
        text = change(sentence, rng)
        if text is None or not (is_sound or _is_fault(text, sentence)):
            continue
        yield Probe(kind, is_sound, text, sentence.text, sentence.home.document, sentence.contexts)


def _is_fault(text: str, sentence: Sentence) -> bool:
    """Whether no passage states the changed sentence as it is: two documents may say the opposite of each other."""
    stated = {
        _letters(context[span.start : span.end]) for context in sentence.contexts for span in split_sentences(context)
    }
    return _letters(text) not in {*stated, _letters(sentence.text)}


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()
