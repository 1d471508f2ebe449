"""The comment: what it says in each case, that it always fits, and that nobody else's markup gets in."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_reader import read, shown, tags, token_types, tokens
from test_report_escape import CALLS, HOSTILE_PIECES

import example_results as examples
from example_results import metric, regression, results, side
from faithbot.judge.protocol import Claim, JudgeFingerprint, Judgement
from faithbot.report.comment import MARKER, MAX_CHARACTERS, render_comment, render_report
from faithbot.results import (
    AnswerRecord,
    ClaimChange,
    ClaimSource,
    Question,
    Results,
    ResultWarning,
    SettingChange,
    Usage,
)

CASES = (
    examples.regression,
    examples.two_regressions,
    examples.results,
    examples.improvement,
    examples.nothing_changed,
    examples.inconclusive,
    examples.first,
    examples.failed,
    examples.no_work,
    examples.stopped_early,
    examples.below_its_floor,
)
MANY_METRICS = {
    "faithfulness": metric(0.91, 0.90, 0.03),
    "citation_validity": metric(0.97, 0.98, gated=False),
    "answer_correctness": metric(0.71, 0.70, gated=False),
    "context_recall": metric(0.8, 0.6, gated=False, p_value=0.001, worsened=True),
    "hit_rate": metric(0.92, 0.92, gated=False),
}
OWN_TAGS = {"!--", "details", "summary", "strong", "code", "sub", "br", "span"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_comment_of_each_case(case, snapshot) -> None:
    assert render_comment(case()) == snapshot


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_comment_is_rebuilt_from_recorded_results_alone(case) -> None:
    recorded = Results.model_validate_json(case().model_dump_json())
    assert render_comment(recorded) == render_comment(case())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_no_column_is_empty_throughout(case) -> None:
    rows = re.findall(r"^\|.*\|$", render_comment(case()), flags=re.MULTILINE)
    table = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[: len(case().metrics) + 2]]
    assert all(any(cells) for cells in zip(*table[2:], strict=True))


def test_the_report_beside_the_comment_leaves_nothing_out() -> None:
    claims = tuple(examples.NEWLY_UNSUPPORTED[0].model_copy(update={"claim": f"Claim {n}."}) for n in range(300))
    many = regression(newly_unsupported=claims)
    report = render_report(many)
    assert all(f"Claim {n}." in report.replace("<strong>", "").replace("</strong>", "") for n in range(300))
    assert "more claim" not in report
    assert len(render_comment(many)) <= MAX_CHARACTERS


def test_a_comment_can_be_asked_to_leave_room_for_others() -> None:
    assert len(render_comment(regression(), limit=3000)) <= 3000


def test_the_comment_leads_to_the_run_that_made_it() -> None:
    url = "https://github.com/o/r/actions/runs/7"
    assert f"[run and full report]({url})" in render_comment(regression(), run_url=url)
    assert f"[re-run the job]({url})" in render_comment(examples.failed(), run_url=url)


def test_the_pull_requests_own_commit_is_shown_where_its_merge_was_tested() -> None:
    assert "<code>shorter-answers</code> abcdef1" in render_comment(results(head_commit="abcdef1" + "0" * 33))


def test_more_than_five_claims_are_folded() -> None:
    opened, folded = render_comment(regression()).split("<details>", maxsplit=1)
    assert "6 claims became unsupported" in opened
    assert "lifetime warranty" in opened
    assert "40 countries" not in opened
    assert "40 countries" in folded


def test_a_claim_that_many_answers_share_is_one_row_and_counts_as_many() -> None:
    shared = tuple(
        examples.NEWLY_UNSUPPORTED[1].model_copy(update={"question_id": question.id, "reason": "no_passage"})
        for question in examples.QUESTIONS
    )
    comment = read(render_comment(regression(newly_unsupported=shared, no_longer_unsupported=())))
    assert "12 claims became unsupported" in comment
    assert "in 12 questions, first: How long can I return a tent?" in comment
    assert comment.count("It is safe in well ventilated rooms.") == 1
    assert "No passage supports or denies any of them." in comment
    assert "no passage says so" not in comment
    assert "retrieved" not in comment.partition("What changed")[0].partition("the source says")[2]


def test_folded_lines_count_every_claim_that_they_stand_for() -> None:
    twice = tuple(
        change.model_copy(update={"question_id": question.id, "claim": f"Claim {n}."})
        for question in examples.QUESTIONS[:2]
        for n, change in enumerate(examples.NEWLY_UNSUPPORTED)
    )
    comment = render_comment(regression(newly_unsupported=twice))
    assert "12 claims became unsupported" in comment
    assert "<summary>2 more · 1 claim is no longer unsupported</summary>" in comment


def test_what_the_summary_of_the_changes_says_is_not_repeated_below_it() -> None:
    recorded = SettingChange(kind="setting", name="runs/a.jsonl", before="runs/a.jsonl", after="runs/a.jsonl")
    comment = render_comment(regression(changes=(recorded,)))
    assert "What changed: runs/a.jsonl changed\n" in comment
    assert comment.count("runs/a.jsonl") == 1
    assert render_comment(regression(changes=examples.CHANGES[1:])).count("prompts/answer.md") == 1


def test_metrics_that_nobody_gates_and_that_did_not_move_are_folded() -> None:
    opened, folded = render_comment(results(metrics=MANY_METRICS)).split("<details>", maxsplit=1)
    assert "| **faithfulness**" in opened
    assert "| context recall" in opened, "it moved"
    assert "answer correctness" not in opened
    assert folded.startswith("<summary>3 more metrics, none clearly more than chance</summary>")
    assert all(name in folded for name in ("| answer correctness", "| right document retrieved", "| valid citations"))


def test_a_metric_that_nobody_gates_promises_no_change_that_would_be_seen() -> None:
    """It shares the 5 % with the others: what it alone would show from 0.17 on may well be called chance."""
    risen = metric(0.44, 0.75, 0.11, gated=False, p_value=0.97, smallest_detectable=0.17)
    comment = render_comment(results(metrics={"faithfulness": metric(0.91, 0.90), "answer_correctness": risen}))
    (row,) = (line for line in comment.splitlines() if line.startswith("| answer correctness"))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[3:] == ["+0.31", "±0.11", "", "above its own noise, but may be chance among several metrics"]


def test_two_of_them_are_no_reason_for_a_fold() -> None:
    few = {name: metric for name, metric in MANY_METRICS.items() if name != "citation_validity"}
    opened, _ = render_comment(results(metrics=few)).split("<details>", maxsplit=1)
    assert "| answer correctness" in opened


def test_a_passage_that_is_no_longer_retrieved_names_the_setting_that_changed() -> None:
    assert "no longer retrieved: top_k 4 → 1" in read(render_comment(regression()))


def test_edits_of_the_grading_stand_above_the_verdict_and_not_among_the_under_test() -> None:
    before, after = render_comment(examples.two_regressions()).split("###")
    assert "changes how it is graded: evals/golden.jsonl (1 line)" in before
    assert "golden.jsonl" not in after


def test_the_cure_stands_right_below_an_inconclusive_headline() -> None:
    opened = render_comment(examples.inconclusive()).split("|", maxsplit=1)[0]
    assert "Give the judge more time" in opened


def test_a_question_that_only_this_pull_request_fails_on_stands_right_below_the_title() -> None:
    notes = (
        ResultWarning(
            code="head_failed",
            message="Only this pull request fails on “Do you ship abroad?”: crashed",
            question_ids=("shipping-abroad",),
        ),
        ResultWarning(code="answers_cut", message="Answers were cut off."),
    )
    above, below = render_comment(results(warnings=notes)).split("| **faithfulness**")
    assert "but 1 question fails" in above
    assert "- Only this pull request fails on “Do you ship abroad?”: crashed" in above
    assert "cut off" not in above
    assert "- Answers were cut off." in below
    assert "Only this" not in below


def test_noise_that_was_not_measured_is_no_noise_of_0() -> None:
    once = metric(0.91, 0.85, 0.0, measured_noise=False, method="sign-flip")
    assert "±0" not in render_comment(results(runs=1, metrics={"faithfulness": once}))


# Length


def large(n: int, line: str = "A line of a document that changed. ") -> Results:
    """Everything n times: questions, changed claims, settings, files of 500 lines, warnings, metrics."""
    text = line * 100
    claims = tuple(
        ClaimChange(
            question_id=str(i),
            claim=f"{i} {text}",
            support="contradicted",
            head_runs=2,
            base_runs=0,
            evidence=text,
            source=ClaimSource(document=text, start=0, retrieved="base"),
        )
        for i in range(n)
    )
    files = tuple(
        SettingChange(kind="document", name=f"docs/{i}.md", before="", after="", diff=f"+{line * 20}\n" * 500)
        for i in range(n)
    )
    return regression(
        questions=tuple(Question(id=str(i), text=text) for i in range(n)),
        newly_unsupported=claims,
        no_longer_unsupported=claims,
        changes=files,
        warnings=tuple(ResultWarning(code=str(i), message=text) for i in range(n)),
        metrics={f"{line * 10}{i}": metric(0.9, 0.8, flagged=True) for i in range(n)},
        reason=text,
    )


@pytest.mark.parametrize("n", [1, 10, 100])
@pytest.mark.parametrize("line", ["A line of a document that changed. ", "$", "|", "`" * 30, "日本語"])
def test_comment_always_fits_and_keeps_marker_and_verdict(n: int, line: str) -> None:
    comment = render_comment(large(n, line))
    assert len(comment) <= MAX_CHARACTERS
    assert comment.startswith(f"{MARKER}\n")
    assert "### ❌" in comment


def test_diffs_go_before_claims_do() -> None:
    shortened = render_comment(large(30))
    assert "```diff" not in shortened or "more lines" in shortened
    assert "30 claims became unsupported" in shortened
    assert "`results.json` holds everything" in shortened


def test_a_long_list_says_how_many_it_leaves_out() -> None:
    many = tuple(
        change.model_copy(update={"claim": f"Claim {n}: {change.claim}"})
        for n in range(10)
        for change in examples.NEWLY_UNSUPPORTED
    )
    comment = render_comment(regression(newly_unsupported=many))
    assert "60 claims became unsupported" in comment
    assert comment.count("in 2 of 2 runs") + comment.count("in 1 of 2 runs") == 55 + len(examples.NO_LONGER_UNSUPPORTED)
    assert "5 more claims in `results.json`" in comment


# Other people's text


def written_by_others(text: str) -> Results:
    """The same text in every place that a model, a document or a pull request writes."""
    claim = ClaimChange(
        question_id="q",
        claim=text,
        support="contradicted",
        head_runs=1,
        base_runs=0,
        evidence=text,
        source=ClaimSource(document=text, start=0, retrieved="base"),
    )
    failed = AnswerRecord(question_id=text, run=1, answer=None, failure=text)
    unscored = AnswerRecord(question_id="q", run=1, answer=text, judgement=Judgement(unscored=text))
    odd = AnswerRecord(
        question_id="q", run=2, answer=text, judgement=Judgement(claims=(Claim(text=text, unscored=text),))
    )
    names = {"label": text, "model": text, "commit": f"{text}!", "answers": (failed, unscored, odd)}
    return results(
        verdict="inconclusive",
        reason=text,
        faithbot_version=text,
        metrics={text: metric(0.9, 0.8), "faithfulness": metric(0.9, 0.8)},
        newly_unsupported=tuple(claim.model_copy(update={"claim": f"{text}{n}"}) for n in range(6)),
        no_longer_unsupported=(claim,),
        warnings=(ResultWarning(code=text, message=text),),
        fingerprint=JudgeFingerprint(method=text, model=text, version=text),
        sides={"base": side("base", **names), "head": side("head", **names)},
        changes=(
            SettingChange(kind="grading", name=text, before=text, after=None),
            SettingChange(kind="setting", name=f"retrieval.{text}", before=text, after=text + "!"),
            SettingChange(kind="prompt", name=text, before=text, after=text, diff=text),
        ),
        questions=(Question(id="q", text=text),),
        usage=Usage(answers=6, model_calls=0, cached_calls=0, seconds=1.0, busy_share=None),
    )


hostile = st.lists(st.one_of(st.sampled_from(HOSTILE_PIECES), st.text(max_size=3)), min_size=1, max_size=8).map("".join)


@settings(max_examples=30, deadline=None)
@given(hostile)
@example(":+1:0")
@example("party :tada")
def test_other_peoples_text_changes_nothing_but_words(text: str) -> None:
    comment = render_comment(written_by_others(text))

    assert structure(comment) == STRUCTURE_OF_A_WORD
    assert tags(comment) <= OWN_TAGS
    assert not token_types(comment) & {"link_open", "image", "em_open", "s_open"}
    assert comment.count(MARKER) == 1
    assert not re.search(r"<!--\s*faithbot", comment[len(MARKER) :])
    assert not CALLS.search(shown(without_fences(comment)))
    comment.encode()  # no lone surrogate is left


def structure(comment: str) -> list[str]:
    """Headings, tables, rows, cells, lists and folds, in order."""
    blocks = (
        "heading_open",
        "table_open",
        "tr_open",
        "td_open",
        "bullet_list_open",
        "list_item_open",
        "fence",
        "html_block",
    )
    return [token.type for token in tokens(comment) if token.type in blocks]


STRUCTURE_OF_A_WORD = structure(render_comment(written_by_others("word")))


def without_fences(comment: str) -> str:
    """In code GitHub looks for nothing."""
    return re.sub(r"^(`{3,})diff\n.*?^\1$", "", comment, flags=re.MULTILINE | re.DOTALL)


def test_only_a_real_commit_id_is_shown_as_one() -> None:
    forged = results(sides={"base": side("base", commit="@octocat"), "head": side("head", commit=None)})
    assert "<code>main</code> → <code>shorter-answers</code>\n" in render_comment(forged)
