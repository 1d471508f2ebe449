"""What a reader is told of a claim that changed, and of the changes behind it."""

from __future__ import annotations

from typing import Any

import pytest

from example_results import CHANGES, NEWLY_UNSUPPORTED, NO_LONGER_UNSUPPORTED, PROMPT_DIFF, QUESTIONS, regression
from faithbot.report.changes import is_told_by_summary, one_change, summary, under_test
from faithbot.report.claims import (
    ChangedClaim,
    chance,
    n_claims,
    newly_unsupported,
    no_longer_unsupported,
    not_listed,
    reasons,
)
from faithbot.results import Results, SettingChange


def claim(runs: int = 2, changes: tuple[SettingChange, ...] = CHANGES, **fields: Any) -> ChangedClaim:
    """The claim about returning a tent, with other fields, before one whose passage is no longer retrieved."""
    changed = NEWLY_UNSUPPORTED[0].model_copy(update=fields)
    news = (changed, NEWLY_UNSUPPORTED[1])
    return newly_unsupported(regression(newly_unsupported=news, runs=runs, changes=changes))[0]


def test_a_claim_stands_beside_its_question() -> None:
    assert claim().question == "How long can I return a tent?"
    assert claim(question_id="not-in-the-set").question == "not-in-the-set"


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (claim(), "contradicted, in 2 of 2 runs"),
        (claim(support="not_found", head_runs=1), "not found, in 1 of 2 runs"),
        (claim(support="not_found", numbers="missing"), "number not found, in 2 of 2 runs"),
        (claim(numbers="conflict"), "contradicted, in 2 of 2 runs"),  # the numbers are shown in bold
        (claim(base_runs=1), "contradicted, in 2 of 2 runs (before in 1)"),
        (claim(runs=1, head_runs=1), "contradicted"),
    ],
)
def test_a_claim_says_how_and_in_how_many_runs_it_stands(told: ChangedClaim, expected: str) -> None:
    assert told.standing == expected


def test_a_claim_that_vanished_says_why() -> None:
    vanished = NO_LONGER_UNSUPPORTED[0]
    fixed = vanished.model_copy(update={"head_abstained": False})
    rarer = fixed.model_copy(update={"head_runs": 1})
    told = no_longer_unsupported(regression(no_longer_unsupported=(vanished, fixed, rarer)))
    assert [line.standing for line in told] == [
        "was not found, in 2 of 2 runs; the question is not answered any more",
        "was not found, in 2 of 2 runs; supported or not said any more",
        "was not found, in 2 of 2 runs; now in 1",
    ]


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (claim(reason="generation"), "was retrieved"),
        (claim(reason="new_passage"), "newly retrieved"),
        (claim(reason="retrieval"), "no longer retrieved: top_k 4 → 1"),
        (claim(reason="retrieval", changes=CHANGES[1:]), "no longer retrieved"),
        (claim(reason="no_passage"), "no passage says so"),
        (claim(reason=None), ""),
    ],
)
def test_a_passage_says_why_the_claim_has_no_support(told: ChangedClaim, expected: str) -> None:
    assert told.reason == expected


def test_a_passage_that_does_not_speak_of_the_claim_is_merely_the_nearest() -> None:
    assert claim(support="not_found").is_nearest
    assert claim(reason="no_passage").is_nearest
    assert not claim().is_nearest


def lines(*changes: dict[str, Any]) -> list[tuple[str, int, str]]:
    """Claim, number of questions and the first of them, for claims of the first questions of the shop."""
    made = tuple(
        NEWLY_UNSUPPORTED[0].model_copy(update={"question_id": question.id} | change)
        for question, change in zip(QUESTIONS, changes, strict=False)
    )
    told = newly_unsupported(regression(newly_unsupported=made))
    assert n_claims(told) == len(made)
    return [(line.claim, line.questions, line.shared_by + line.question) for line in told]


def test_equal_claims_of_many_questions_are_one_line() -> None:
    alike = [{"claim": claim} for claim in ("Ask Kim.", "It burns gas.", "ask  Kim.", "Ask Kim.")]
    assert lines(*alike) == [
        ("Ask Kim.", 3, "in 3 questions, first: How long can I return a tent?"),
        ("It burns gas.", 1, "Is the Alpine stove safe indoors?"),
    ]


@pytest.mark.parametrize("other", [{"support": "not_found"}, {"reason": "no_passage"}, {"head_runs": 1}])
def test_claims_that_stand_otherwise_have_a_line_of_their_own(other: dict[str, Any]) -> None:
    assert [questions for _, questions, _ in lines({}, other, {})] == [2, 1]


@pytest.mark.parametrize(
    ("fields", "claimed", "stated"),
    [
        ({}, {"60"}, {"30"}),
        ({"evidence": "No number here."}, {"60"}, set()),
        ({"claim": "Within 30 days."}, set(), set()),
        ({"evidence": "1, 2, 3 or 4 days."}, {"60"}, set()),  # too many to be the one that stands against it
        ({"support": "not_found"}, set(), set()),
        ({"evidence": None}, set(), set()),
        ({"claim": "It costs 1,299.50.", "evidence": "It costs 1,299.00."}, {"1,299.50"}, {"1,299.00"}),
    ],
)
def test_numbers_that_contradict_each_other_stand_out(
    fields: dict[str, Any], claimed: set[str], stated: set[str]
) -> None:
    told = claim(**fields)
    assert (told.claim_numbers, told.evidence_numbers) == (claimed, stated)


def news(*reasons: str) -> Results:
    changed = tuple(NEWLY_UNSUPPORTED[0].model_copy(update={"reason": reason}) for reason in reasons)
    return regression(newly_unsupported=changed)


@pytest.mark.parametrize(
    ("why", "expected"),
    [
        (
            ["retrieval"] * 4 + ["generation"] * 3,
            "4 of 7 because their passage is no longer retrieved, 3 although it still is.",
        ),
        (["retrieval"] * 2, "None of their passages is retrieved any more."),
        (["generation"] * 2, "Their passages are still retrieved."),
        (["new_passage"] * 2, "The nearest passages are ones that only this PR retrieved."),
        (["no_passage"] * 23, "No passage supports or denies any of them."),
        (
            ["generation", "no_passage", "new_passage"],
            "1 of 3 although their passage is still retrieved, 1 beside a passage that only this PR retrieved, "
            "1 that no passage supports or denies.",
        ),
        (["retrieval"], "Its passage is no longer retrieved."),
        (["no_passage"], "No passage supports or denies it."),
        ([], ""),
    ],
)
def test_why_claims_lost_their_support_is_one_line(why: list[str], expected: str) -> None:
    assert reasons(news(*why)) == expected


@pytest.mark.parametrize(
    ("reason", "beside_each"),
    [("generation", ""), ("new_passage", ""), ("no_passage", ""), ("retrieval", "no longer retrieved: top_k 4 → 1")],
)
def test_a_reason_that_all_claims_share_is_told_once_above_them(reason: str, beside_each: str) -> None:
    assert {line.reason for line in newly_unsupported(news(reason, reason))} == {beside_each}


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        (0.43, "chance alone would give about 0.4"),
        (12.4, "chance alone would give about 12, so this is no more than chance"),
        (0.0, "chance alone would give about 0"),
        (None, "how many chance alone would give takes two runs a side to tell"),
    ],
)
def test_what_chance_alone_would_give_stands_beside_the_news(expected: float | None, text: str) -> None:
    assert chance(regression(expected_by_chance=expected)) == text


def test_what_chance_alone_gives_is_called_so() -> None:
    one = regression(newly_unsupported=NEWLY_UNSUPPORTED[:1], expected_by_chance=1.2)
    assert chance(one) == "chance alone would give about 1.2, so this is no more than chance"


def test_what_is_not_listed_is_counted() -> None:
    """Of the claims of some runs only those of this pull request: nobody misses base's."""
    told = "Not listed: 1 claim of some runs only, no more than chance gives; 1 accepted claim."
    assert not_listed(regression()) == told
    assert not_listed(regression(sporadic=())) == "Not listed: 1 accepted claim."
    assert not_listed(regression(sporadic=(), accepted=())) == ""
    more, fewer = (
        NEWLY_UNSUPPORTED[0].model_copy(update={"head_runs": head, "base_runs": base})
        for head, base in ((2, 1), (1, 2))
    )
    assert not_listed(regression(sporadic=(more, fewer), accepted=())) == (
        "Not listed: 1 claim of more runs than before, no more than chance gives."
    )


def setting(before: str | None, after: str | None, **fields: Any) -> SettingChange:
    return SettingChange(**({"kind": "setting", "name": "retrieval.top_k", "before": before, "after": after} | fields))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (setting("4", "1"), "retrieval.top_k 4 → 1"),
        (setting('"bm25"', '"dense"'), "retrieval.top_k bm25 → dense"),
        (setting(None, "1"), "retrieval.top_k new: 1"),
        (setting("4", None), "retrieval.top_k removed"),
        (setting("a.md", "a.md", name="a.md", diff=PROMPT_DIFF), "a.md (2 lines)"),
        (setting("a.md", "a.md", name="a.md", diff="+one\n… 40 more lines"), "a.md (more than 1 line)"),
        (setting(None, "a.md", name="a.md", diff="+one"), "a.md (new)"),
        (setting("a.md", None, name="a.md", diff="-one"), "a.md (removed)"),
        (setting("a.md", "a.md", name="a.md"), "a.md changed"),
        (setting(None, "a.md", name="a.md"), "a.md new"),
    ],
)
def test_a_change_is_told_in_a_few_words(change: SettingChange, expected: str) -> None:
    assert one_change(change) == expected


def test_a_summary_names_three_changes() -> None:
    assert summary([setting("4", str(k)) for k in range(5)]).endswith("retrieval.top_k 4 → 2, and 2 more")


@pytest.mark.parametrize(
    ("changes", "with_diffs", "expected"),
    [
        ([setting("4", "1")] * 3, True, True),
        ([setting("4", "1")] * 4, True, False),
        ([setting("a.md", "a.md", name="a.md")], True, True),
        ([setting("a.md", "a.md", name="a.md", diff="+one")], True, False),
        ([setting("a.md", "a.md", name="a.md", diff="+one")], False, True),
    ],
)
def test_a_list_that_would_repeat_the_summary_is_known(
    changes: list[SettingChange], with_diffs: bool, expected: bool
) -> None:
    assert is_told_by_summary(changes, with_diffs=with_diffs) == expected


def test_a_long_path_is_named_in_full() -> None:
    path = "a" * 80 + ".md"
    assert one_change(setting(path, path, name=path, diff="+one")) == f"{path} (1 line)"


def test_edits_of_the_grading_are_not_under_test() -> None:
    edited = setting("2", "3", kind="grading", name="runs")
    assert under_test(regression(changes=(edited, *CHANGES))) == list(CHANGES)
