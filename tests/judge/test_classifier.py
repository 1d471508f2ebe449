"""The judge `classifier`: claims against a real graph and tokenizer, windows, labels, and what is never done twice."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faithbot.config import JudgeSettings
from faithbot.errors import UsageError
from faithbot.judge.classifier import ClassifierJudge
from faithbot.judge.measured import is_measured_by
from faithbot.judge_file import judge_file
from faithbot.metrics import METRICS
from faithbot.progress import Silent
from tiny_classifier import NLI, ONE_WAY, TWO_WAY, write_classifier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faithbot.judge.protocol import Claim, Judgement

STOVE = "The stove burns gas. The stove is red."
PRICE = "The pass costs 60 dollars."
BREAD = "Bread is sold every morning by the baker. "


def make_judge(model: Path, **labels: str) -> ClassifierJudge:
    judge_settings = JudgeSettings.model_validate({"method": "classifier", "model": str(model), "labels": labels})
    return ClassifierJudge(judge_settings, model / "cache")


@pytest.fixture(scope="module")
def nli(tmp_path_factory: pytest.TempPathFactory) -> ClassifierJudge:
    return make_judge(write_classifier(tmp_path_factory.mktemp("models") / "nli"))


def judged(judge: ClassifierJudge, answer: str, contexts: Sequence[str] = (STOVE, PRICE)) -> Judgement:
    return asyncio.run(judge.judge("What is it?", answer, contexts))


def checked(judge: ClassifierJudge, claim: str, contexts: Sequence[str] = (STOVE, PRICE)) -> Claim:
    return asyncio.run(judge.check(claim, contexts))


def test_each_sentence_gets_a_support_and_the_nearest_passage(nli: ClassifierJudge) -> None:
    judgement = judged(nli, "The stove burns gas. The stove is not red. The bikes are locked at night.")

    assert [claim.support for claim in judgement.claims] == ["supported", "contradicted", "not_found"]
    assert judgement.faithfulness == pytest.approx(1 / 3)
    evidence = judgement.claims[0].evidence
    assert evidence is not None
    assert (evidence.context, evidence.quote) == (0, "The stove burns gas.")


def test_the_passages_are_the_premise_and_the_claim_is_the_hypothesis(nli: ClassifierJudge) -> None:
    assert checked(nli, "The stove burns gas.", [STOVE + BREAD]).support == "supported"
    assert checked(nli, STOVE + BREAD, ["The stove burns gas."]).support == "not_found"


def test_several_passages_are_read_together(nli: ClassifierJudge) -> None:
    assert checked(nli, "The pass costs 60 dollars and the stove burns gas.").support == "supported"


def test_numbers_that_differ_count_against_what_the_model_says(nli: ClassifierJudge) -> None:
    agreeing, differing = checked(nli, "The pass costs 60 dollars."), checked(nli, "The pass costs 80 dollars.")

    assert (agreeing.numbers, differing.numbers) == ("agree", "conflict")
    assert (agreeing.support, differing.support) == ("supported", "contradicted")


@pytest.mark.parametrize(
    ("answer", "abstained", "unscored"),
    [
        ("  \n", False, "the answer is empty"),
        ("I don't know.", True, None),
        ("You're welcome!", False, "the answer states no fact"),
    ],
)
def test_what_states_no_fact_has_no_faithfulness(
    nli: ClassifierJudge, answer: str, abstained: bool, unscored: str | None
) -> None:
    judgement = judged(nli, answer)

    assert (judgement.faithfulness, judgement.abstained, judgement.unscored) == (None, abstained, unscored)


@pytest.mark.parametrize("contexts", [[], ["", " \n"]])
def test_an_answer_without_a_passage_is_not_found(nli: ClassifierJudge, contexts: list[str]) -> None:
    assert judged(nli, "The stove burns gas.", contexts).faithfulness == 0
    assert checked(nli, "The stove burns gas.", contexts).support == "not_found"


def test_contexts_longer_than_the_model_reads_are_read_to_the_end(nli: ClassifierJudge) -> None:
    """The graph fails beyond its 160 positions, so each window really fits."""
    long = BREAD * 200 + PRICE

    assert checked(nli, PRICE, [long]).support == "supported"
    assert checked(nli, "The stove burns gas.", [long]).support == "not_found"


def test_a_claim_of_two_distant_passages_is_supported(nli: ClassifierJudge) -> None:
    distant = [f"The pass costs 60 dollars. {BREAD * 15}", f"{BREAD * 15} The stove burns gas."]
    claim = "The pass costs 60 dollars and the stove burns gas."

    assert [checked(nli, claim, [passage]).support for passage in distant] == ["not_found", "not_found"]
    assert checked(nli, claim, distant).support == "supported"


def test_a_claim_longer_than_the_model_reads_says_so_and_the_others_are_judged(nli: ClassifierJudge) -> None:
    judgement = judged(nli, f"{'The red stove ' * 60}burns gas. The stove burns gas.")

    long, short = judgement.claims
    assert long.support is None
    assert "the classifier reads 157" in str(long.unscored)
    assert (short.support, judgement.faithfulness) == ("supported", 1)


@settings(deadline=None, max_examples=40)
@given(answer=st.text(max_size=300), contexts=st.lists(st.text(max_size=300), max_size=3))
def test_any_answer_over_any_contexts_gives_a_judgement_with_true_quotes(
    nli: ClassifierJudge, answer: str, contexts: list[str]
) -> None:
    judgement = judged(nli, answer, contexts)

    assert (judgement.faithfulness is None) == (judgement.abstained or judgement.unscored is not None)
    for claim in judgement.claims:
        assert (claim.support is None) == (claim.unscored is not None)
        if claim.evidence is not None:
            evidence = claim.evidence
            assert contexts[evidence.context][evidence.start : evidence.end] == evidence.quote


def test_a_support_that_was_found_once_is_never_looked_for_again(tmp_path: Path) -> None:
    write_classifier(tmp_path)
    first, again = make_judge(tmp_path), make_judge(tmp_path)
    found = judged(first, "The stove burns gas. The stove is not red.")
    kept = {file: file.stat().st_mtime_ns for file in (tmp_path / "cache" / "classified").rglob("*.json")}

    assert judged(again, "The stove is not red. The stove burns gas.").claims == found.claims[::-1]
    assert len(kept) == 2
    for file, written in kept.items():
        assert file.stat().st_mtime_ns == written
    checked(again, "The stove burns gas.", [STOVE])  # other contexts: another question
    assert len([*(tmp_path / "cache" / "classified").rglob("*.json")]) == 3


def test_a_two_way_model_tells_supported_from_not_found(tmp_path: Path) -> None:
    judge = make_judge(write_classifier(tmp_path, TWO_WAY))

    claims = judged(judge, "The stove burns gas. The stove is not red.").claims
    assert [claim.support for claim in claims] == ["supported", "not_found"]


def test_a_model_of_one_output_gives_the_probability_of_supported(tmp_path: Path) -> None:
    judge = make_judge(write_classifier(tmp_path, ONE_WAY))

    first, second = judged(judge, "The stove burns gas. The stove is not red.").claims
    assert (first.support, second.support) == ("supported", "not_found")
    assert first.probability == pytest.approx(1 / (1 + 2.718281828 ** -(16 - 11)), abs=1e-6)


def test_contradictions_are_measured_only_where_the_model_has_a_label_for_them(tmp_path: Path) -> None:
    metric = METRICS["contradiction_rate"]
    prints = [
        asyncio.run(make_judge(write_classifier(tmp_path / name, heads)).fingerprint())
        for name, heads in (("nli", NLI), ("two", TWO_WAY))
    ]

    assert [is_measured_by(fingerprint, metric) for fingerprint in prints] == [True, False]
    assert all(is_measured_by(fingerprint, METRICS["faithfulness"]) for fingerprint in prints)


def test_labels_without_a_meaning_ask_for_the_setting(tmp_path: Path) -> None:
    numbered = write_classifier(tmp_path, TWO_WAY, labels={"0": "LABEL_0", "1": "LABEL_1"})

    with pytest.raises(
        UsageError,
        match=r"labels \(LABEL_0, LABEL_1\) mean is not known.*`labels: \{supported: LABEL.*command line.* id2label",
    ):
        judged(make_judge(numbered), STOVE)
    assert judged(make_judge(numbered, supported="LABEL_1"), STOVE).faithfulness == 1
    assert judged(make_judge(numbered, supported="LABEL_0"), STOVE).faithfulness == 0
    with pytest.raises(UsageError, match=r"labels.supported: the model has no label 'yes': it has LABEL_0, LABEL_1"):
        judged(make_judge(numbered, supported="yes"), STOVE)


def test_the_fingerprint_changes_with_the_files_and_with_the_meaning_of_labels(tmp_path: Path) -> None:
    models = [
        make_judge(write_classifier(tmp_path / "1" / "nli")),
        make_judge(write_classifier(tmp_path / "2" / "nli")),
        make_judge(write_classifier(tmp_path / "3" / "nli", {**NLI, "neutral": (0, 0, 1)})),
        make_judge(write_classifier(tmp_path / "4" / "nli"), supported="entailment"),
    ]
    first, same, other_weights, other_labels = [asyncio.run(judge.fingerprint()) for judge in models]

    assert (first.method, first.model) == ("classifier", "nli")
    assert str(tmp_path) not in first.model_dump_json()
    assert first.options["labels"] == {
        "entailment": "supported",
        "neutral": "not_found",
        "contradiction": "contradicted",
    }
    assert first.digest == same.digest
    assert len({first.digest, other_weights.digest, other_labels.digest}) == 3


def test_it_judges_a_file_of_answers_with_a_folder_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_classifier(tmp_path / "nli")
    row: dict[str, Any] = {"question": "What does it burn?", "answer": "The stove burns gas.", "contexts": [STOVE]}
    (tmp_path / "answers.jsonl").write_text(json.dumps(row))
    monkeypatch.chdir(tmp_path)

    judged = asyncio.run(judge_file(Path("answers.jsonl"), "classifier", "nli", tmp_path / "cache", Silent()))

    claim = json.loads(judged.lines[0])["claims"][0]
    assert (claim["support"], claim["evidence"]) == ("supported", "The stove burns gas.")


def test_the_same_answer_is_always_judged_the_same(nli: ClassifierJudge) -> None:
    assert nli.repeats_itself
    assert judged(nli, STOVE) == judged(nli, STOVE)


@pytest.mark.parametrize("library", ["onnxruntime", "tokenizers"])
def test_without_the_extra_the_cure_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str) -> None:
    write_classifier(tmp_path)
    monkeypatch.setitem(sys.modules, library, None)

    with pytest.raises(UsageError, match=r"pip install 'faithbot\[classifier\]'.*The GitHub Action's image is without"):
        make_judge(tmp_path)
