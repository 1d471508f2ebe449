"""Faults in words: each planter makes one change and returns None where the sentence does not allow it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from faithbot.probe.clauses import capitalised, split_condition
from faithbot.probe.corpus_words import joined
from faithbot.probe.lists import ANTONYMS, BASE_FORMS, IMPERATIVES, THIRD_PERSON
from faithbot.retrieval import tokens

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from faithbot.probe.corpus_words import CorpusWords
    from faithbot.probe.material import Sentence

_NEGATION = re.compile(
    r"\b(?:not|cannot|never|no|none|nobody|nothing|neither|nor|without|unless|hardly|few|avoid\w*|prevent\w*)\b|n['’]t\b|\bnon-",
    re.IGNORECASE,
)
# Where a "not" would leave open what it denies: "not all", "not only", "not at least".
_SCOPE = re.compile(
    r"\b(?:only|all|every|each|any|always|both|most|at least|at most|up to|necessarily|limited to|whether|but|until|may"
    r"|might)\b",
    re.IGNORECASE,
)
_SUBORDINATE = re.compile(
    r"\b(?:if|when|while|where|which|who|whose|that|because|although|since|once|after|before|as|for|to)\b|[,;:(]",
    re.IGNORECASE,
)
_AUXILIARY = re.compile(r"\b(is|are|was|were|will|can|should|must)\b(?! (?:not|be to)\b)")
_REASON = re.compile(
    r"(?:, (?:as|because|since|so|which|[a-z]+ing)\b| (?:because|since)\b| to (?:prevent|avoid|ensure|provide)\b).*$"
)
_DENIED_VERB = re.compile(r"\b(does|do) not ([a-z]+)|\b(does|do)n['’]t ([a-z]+)")
_DENIED_AUXILIARY = re.compile(
    r"\b(is|are|was|were|will|can|should|must|has|have|had)(?: not|n['’]t)\b|\b(can)not\b|\b(wo)n['’]t\b|\b(ca)n['’]t\b"
)
_SHORT_FORMS = {"wo": "will", "ca": "can"}
_NOT_POSSIBLE = re.compile(r"\bnon-([a-z]+[ai]ble)\b")
_FORBIDS = re.compile(r"^((?:[A-Z][\w '’-]*: )?)(?:Do not|Don['’]t|Never) ([a-z]+)")
_CONJUNCTION = re.compile(r"\b(?:if|when|while|which|who|that|because|although|whether)\b", re.IGNORECASE)
_STATES = re.compile(
    rf"^do not |\b[a-z]+ (?:is|are|was|were|will|must|has|have|had|{'|'.join(BASE_FORMS)})\b", re.IGNORECASE
)
_ADVISES = re.compile(
    r"\b(?:may|might|can|could|should|important|recommended|essential|ensure|be sure|make sure|than)\b|^[a-z]+ly\b",
    re.IGNORECASE,
)
_INSTRUCTS = re.compile(rf"(?:{'|'.join(IMPERATIVES)}|do not|never|avoid|ensure|refer)\b", re.IGNORECASE)
_FEWEST_WORDS_LEFT = 4
"""Behind the first one: "it is valid" says nothing that a condition could be missing from."""
_CONTENT_WORD = 4
_FAMILIAR = 0.5
"""Share of an added sentence's words in the passages from which on they might support it."""
_TRIED = 300
_NEAREST = 5
"""Sentences to choose from: no instructions where there are others, then the most familiar ones."""


def other_name(sentence: Sentence, words: CorpusWords, rng: random.Random) -> str | None:
    """A name of the documents that no passage holds in the place of one that stands in the sentence."""
    known = sorted((name for name in words.names if name in sentence.text), key=len, reverse=True)
    found = [name for name in known if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", sentence.text)]
    # A name within a longer one is none by itself.
    found = [name for index, name in enumerate(found) if not any(name in longer for longer in found[:index])]
    if not found:
        return None
    passages = " ".join(sentence.contexts)
    free = [name for name in words.names if name not in passages and name not in sentence.text]
    pairs = [(_likeness(old, new, words), rng.random(), old, new) for old in found for new in free]
    likeness, _, old, new = max(pairs, default=(0, 0.0, "", ""))
    return re.sub(rf"(?<![\w-]){re.escape(old)}(?![\w-])", new, sentence.text) if likeness >= 2 else None


def _likeness(one: str, other: str, words: CorpusWords) -> int:
    """How far two names look like names of the same kind of thing; 0 where one would not fit in."""
    mine, theirs = one.split(), other.split()
    if set(mine[:-1]) & set(theirs[:-1]) or mine[0] == theirs[0] or one.endswith("s") != other.endswith("s"):
        return 0
    same_kind = mine[-1] == theirs[-1] and len(mine) > 1
    same_place = bool(words.names[one].keys() & words.names[other].keys() - {"the", "and", "of"})
    is_established = words.names[other].total() > 1
    return (
        2 * same_kind
        + 2 * same_place
        + is_established
        + (len(mine) == len(theirs))
        + (one.isupper() == other.isupper())
    )


def negated(text: str) -> str | None:
    """Denies what the sentence states or asks for: "is not", "does not cost", "do not clean"."""
    if _NEGATION.search(text) or _SCOPE.search(text):
        return None
    first, _, rest = text.partition(" ")
    if first.casefold() in IMPERATIVES and first != first.casefold():
        return f"Do not {first.casefold()} {_without_reason(rest)}"
    for match in re.finditer(r"[a-z]+", text):
        if _SUBORDINATE.search(text, 0, match.start()):
            return None
        before, word, after = text[: match.start()], match.group(), text[match.end() :]
        if _AUXILIARY.match(text, match.start()):
            return f"{before}cannot{after}" if word == "can" else f"{before}{word} not{after}"
        if word in BASE_FORMS and before:
            return f"{before}does not {BASE_FORMS[word]}{after}"
    return None


def opposite(text: str, rng: random.Random) -> str | None:
    """An antonym in the place of a word; of a sentence that denies nothing, in which no other word could mean both."""
    present = set(re.findall(r"[a-z]+", text.casefold()))
    options = [
        (match, other)
        for match in re.finditer(r"\b[a-z]+\b", text)
        for other in ANTONYMS.get(match.group(), ())
        if other not in present
        and text[max(0, match.start() - 1)] != "-"
        and text[match.end() : match.end() + 1] != "-"
    ]
    if _NEGATION.search(text) or not options:
        return None
    match, other = rng.choice(options)
    return _with_article(text[: match.start()], other) + text[match.end() :]


def _with_article(before: str, word: str) -> str:
    """``a easy`` is ``an easy``."""
    article = re.search(r"\b([Aa])n? $", before)
    if article is None:
        return before + word
    return f"{before[: article.start()]}{article.group(1)}{'n' if word[0] in 'aeiou' else ''} {word}"


def without_condition(text: str) -> str | None:
    """The main clause alone: what holds, or is forbidden, under a condition is claimed without it."""
    parts = split_condition(text)
    # "Check the valve" is the same advice with and without "if it leaks"; what may be, may be.
    if parts is None or not _STATES.search(parts.main) or _ADVISES.search(parts.main):
        return None
    first, *rest = parts.main.split()
    if first.casefold() in IMPERATIVES or len(rest) < _FEWEST_WORDS_LEFT:
        return None
    return f"{capitalised(parts.main)}{parts.end}"


def with_addition(sentence: Sentence, others: Sequence[Sentence], words: CorpusWords, rng: random.Random) -> str | None:
    """Goes on with a statement of another document that sounds alike and that the passages do not make."""
    known = set(tokens(" ".join(sentence.contexts)))
    tried = rng.sample(others, min(_TRIED, len(others)))
    alike = [
        (_INSTRUCTS.match(other.text) is None, familiar, other.text)
        for other in tried
        if other.home.document != sentence.home.document
        and words.can_follow(other.text)
        and (familiar := _familiar(other.text, known)) < _FAMILIAR
    ]
    nearest = sorted(alike, reverse=True)[:_NEAREST]
    return joined(sentence.text, rng.choice(nearest)[-1], words) if nearest else None


def _familiar(text: str, known: set[str]) -> float:
    """Share of the content words that are known; 1 where there are none."""
    content = [word for word in tokens(text) if len(word) >= _CONTENT_WORD or not word.isascii()]
    return sum(word in known for word in content) / len(content) if content else 1.0


def refusal_turned(text: str) -> str | None:
    """Claims what the sentence denies, excludes or forbids: "does not cover" becomes "covers"."""
    if len(_NEGATION.findall(text)) != 1 or _SCOPE.search(text):
        return None
    if match := _FORBIDS.match(text):
        if ":" in text[match.end() :]:  # what follows says the same once more
            return None
        return f"{match.group(1)}{capitalised(_without_reason(text[match.start(2) :]))}"
    if match := _NOT_POSSIBLE.search(text):
        return _with_article(text[: match.start()], match.group(1)) + text[match.end() :]
    if (match := _DENIED_VERB.search(text)) and not _is_subordinate(text, match):
        verb = match.group(2) or match.group(4)
        stated = _third_person(verb) if "does" in match.groups() else verb
        return f"{text[: match.start()]}{stated}{text[match.end() :]}"
    if (match := _DENIED_AUXILIARY.search(text)) and not _is_subordinate(text, match):
        auxiliary = next(filter(None, match.groups()))
        return f"{text[: match.start()]}{_SHORT_FORMS.get(auxiliary, auxiliary)}{text[match.end() :]}"
    return None


def _is_subordinate(text: str, match: re.Match[str]) -> bool:
    return _CONJUNCTION.search(text, 0, match.start()) is not None


def _third_person(verb: str) -> str:
    if verb in THIRD_PERSON:
        return THIRD_PERSON[verb]
    if re.search(r"(?:s|x|z|ch|sh|o)$", verb):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if re.search(r"[^aeiou]y$", verb) else f"{verb}s"


def _without_reason(text: str) -> str:
    """An instruction without why it is given: the reason would not fit its opposite."""
    end = text[-1] if text[-1] in ".!" else ""
    return _REASON.sub("", text.rstrip(".!")) + end
