"""Long contexts in windows: nothing is lost, everything fits, and the best window decides."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithbot.judge.windows import PackedContexts, SupportProbabilities, Window, choose_best

SENTENCES = (
    "The pass costs 60 dollars. ",
    "Bikes are locked at night! ",
    "它在早上八点开门。",
    "| a | b |\n",
    "- one\n\n",
    "   ",
)
CONTEXTS = st.lists(
    st.one_of(st.text(max_size=80), st.lists(st.sampled_from(SENTENCES), max_size=30).map("".join)), max_size=6
)
MEASURES = st.sampled_from([len, lambda text: len(text.split()) + 1, lambda text: len(text.encode()) // 2 + 3])


def words(text: str) -> int:
    return len(text.split())


def window(name: str) -> Window:
    return Window((), (name,))


@given(CONTEXTS, st.integers(8, 60), MEASURES)
def test_windows_hold_every_character_and_never_more_than_the_limit(contexts, limit, measure) -> None:
    packed = PackedContexts.of(contexts, limit, measure)

    held = {(piece.context, place) for view in packed.windows for piece in view.pieces for place in range(*piece[1:])}
    written = {(number, at) for number, text in enumerate(contexts) for at, c in enumerate(text) if not c.isspace()}
    assert written <= held
    for view in packed.windows:
        assert sum(measure(passage) for passage in view.passages) <= limit
        assert view.passages == tuple(contexts[number][start:end] for number, start, end in view.pieces)


@given(CONTEXTS, st.sampled_from(SENTENCES), st.integers(8, 60))
def test_the_joined_passages_fit_and_stand_in_the_contexts(contexts, claim, limit) -> None:
    packed = PackedContexts.of(contexts, limit, words)

    for view in packed.for_claim(claim):
        assert sum(map(words, view.passages)) <= limit
        assert all(contexts[number][start:end] == text for (number, start, end), text in zip(*view, strict=True))


@given(CONTEXTS)
def test_what_fits_is_one_window(contexts) -> None:
    windows = PackedContexts.of(contexts, sum(map(len, contexts)), len).windows

    assert len(windows) == any(text.strip() for text in contexts)
    assert all(passage in contexts for view in windows for passage in view.passages)


def test_passages_stay_whole_where_they_fit() -> None:
    contexts = ["one two three", "four five", "six seven eight"]

    windows = PackedContexts.of(contexts, 5, words).windows

    assert [view.passages for view in windows] == [("one two three", "four five"), ("six seven eight",)]
    assert windows[0].text == "one two three\nfour five"


def test_a_long_passage_is_cut_at_sentence_ends_and_repeats_a_short_sentence() -> None:
    passage = "It rains. Nobody who has a bike here rides it then. It snows. Some people who have a car drive it then."

    windows = PackedContexts.of([passage], 11, words).windows

    assert [view.text for view in windows] == [
        "It rains. Nobody who has a bike here rides it then.",
        "It snows. Some people who have a car drive it then.",
    ]
    assert [view.text for view in PackedContexts.of([passage], 12, words).windows] == [
        "It rains. Nobody who has a bike here rides it then.",
        "It snows. Some people who have a car drive it then.",
    ]
    assert [view.text for view in PackedContexts.of([passage], 13, words).windows] == [
        "It rains. Nobody who has a bike here rides it then. It snows.",
        "It snows. Some people who have a car drive it then.",
    ]


def test_a_sentence_longer_than_a_window_is_cut_between_characters() -> None:
    windows = PackedContexts.of(["x" * 25], 10, len).windows

    assert [view.text for view in windows] == ["x" * 10, "x" * 10, "x" * 5]


def test_a_limit_without_room_for_a_character_is_refused() -> None:
    with pytest.raises(ValueError, match="no room"):
        PackedContexts.of(["text"], 2, lambda text: len(text) + 2)


def test_a_claim_of_two_distant_passages_finds_them_together() -> None:
    filler = "Bread is sold in the morning. " * 6
    contexts = [f"The pass costs 60 dollars. {filler}", f"{filler}The pass is valid for a year."]
    packed = PackedContexts.of(contexts, 40, words)

    *windows, joined = packed.for_claim("The pass costs 60 dollars and is valid for a year.")

    assert tuple(windows) == packed.windows
    assert "costs 60 dollars" in joined.text
    assert "valid for a year" in joined.text
    assert all("valid" not in view.text or "dollars" not in view.text for view in windows)


def test_nothing_is_joined_where_all_is_read_at_once() -> None:
    assert len(PackedContexts.of(["The pass costs 60 dollars.", "It is valid."], 40, words).for_claim("A pass.")) == 1


@pytest.mark.parametrize(
    ("scores", "support", "decided_by"),
    [
        ([(0.2, 0.1, 0.7), (0.8, 0.1, 0.1), (0.1, 0.9, 0.0)], "supported", "1"),
        ([(0.4, 0.1, 0.5), (0.1, 0.8, 0.1)], "contradicted", "1"),
        ([(0.4, 0.1, 0.5), (0.1, 0.2, 0.7)], "not_found", "0"),
        ([(0.3, 0.6, 0.1), (0.1, 0.2, 0.7)], "contradicted", "0"),
    ],
)
def test_a_claim_is_contradicted_only_where_no_window_supports_it(scores, support, decided_by) -> None:
    best = choose_best([(window(str(n)), SupportProbabilities(*score)) for n, score in enumerate(scores)])

    assert best.probabilities.support == support
    assert best.probabilities.supported == max(score[0] for score in scores)
    assert best.window == window(decided_by)
    assert sum(best.probabilities) == pytest.approx(1.0)


def test_without_a_passage_the_claim_is_not_found() -> None:
    packed = PackedContexts.of(["", " \n"], 10, words)

    assert packed.for_claim("A claim.") == ()
    assert choose_best([]) == ((0.0, 0.0, 1.0), None)
