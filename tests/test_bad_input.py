"""Odd answers and passages: a score or a reason, never a traceback, and never at the cost of the others."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING

import pytest

from faithbot.compare import Grading, compare
from faithbot.evaluate import evaluate
from faithbot.golden import Question
from faithbot.judge.evidence import EvidenceJudge
from faithbot.judge.label import LabelJudge
from faithbot.judge.prompts import Prompts
from faithbot.progress import Silent
from faithbot.report.comment import render_comment
from faithbot.results import Results, Side
from faithbot.systems.protocol import Answer, Context
from records import USAGE
from scripted_model import ScriptedModel

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from faithbot.judge.protocol import Judge, Judgement
    from faithbot.results import SideName

FACT = "The tent sleeps 8 people."

ODD = {
    "nothing": "",
    "white space": " \n\t\u00a0\u3000",
    "20,000 characters": (FACT + " ") * 770,
    "20,000 characters without a space": "x" * 20_000,
    "20,000 digits": "1" * 20_000,
    "right to left": "الخيمة تتسع لثمانية أشخاص والضمان سنتان ولا يشمل الماء",
    "Hebrew": "האוהל מתאים לשמונה אנשים",
    "Chinese without a full stop": "帐篷可容纳八人保修期为两年不包括水损坏" * 100,
    "Japanese": "テントは8人用です、保証は2年です",
    "Thai, without spaces": "เต็นท์นอนได้แปดคนและมีการรับประกันสองปี" * 50,
    "table": "| tent | people |\n|---|--:|\n| Alpine | 8 |\n| | |\n|",
    "unfinished table": "|---|\n|:-:",
    "code": "```python\nfor x in range(8):\n    print(x)\n```",
    "unfinished code": "```\nsleeps = 8",
    "nested lists": "\n".join("  " * depth + "- 8 people" for depth in range(60)),
    "numbered list": "1. 8 people\n2) blue\na. dry\n•\n-",
    "emoji": "🎉👩‍👩‍👧‍👦🏳️‍🌈" * 500,
    "control characters": "".join(map(chr, range(32))) + "\x7f\x80\x9f",
    "half characters": "\ud800 The tent \udfff sleeps 8 people. \udc00",
    "invisible characters": "\u200b\u200e\u202e\ufeff\u2028\u2029\U000e0041",
    "private and unassigned": "\ue000\uffff\U0010ffff",
    "marks without letters": "\u0301\u0301\u20dd",
    "numbers that are none": "NaN Infinity -inf 1e999 0x1F ½ ² ⅷ ٣ 〇 1/0 1,,2 1.2.3.4",
    "only marks": "... !!! ??? --- *** ___ ''' \"\"\"",
    "brackets": "[" * 5000 + "(" * 5000 + "{" * 5000,
    "HTML": "<p>The <b>tent</b> sleeps&nbsp;8</p><script>x</script><table><tr><td>8",
    "JSON": json.dumps({"a": [None, True, 1.5, {"b": ["8 people"] * 50}]}),
    "line ends": "The tent\r\nsleeps\r8\vpeople\fand\x85more\x1c.",
    "long words": " ".join("Donaudampfschifffahrtsgesellschaft" * 20 for _ in range(20)),
}

JUDGES: dict[str, Callable[[], Judge]] = {
    "evidence": EvidenceJudge,
    "label": lambda: LabelJudge(ScriptedModel(['{"label": "NO"}']), Prompts()),
}


def judged(name: str, answer: str, contexts: Sequence[str]) -> Judgement:
    return asyncio.run(JUDGES[name]().judge("How many people?", answer, contexts))


@pytest.mark.parametrize("name", JUDGES)
@pytest.mark.parametrize("odd", ODD)
def test_an_odd_answer_has_a_score_or_a_reason(name: str, odd: str) -> None:
    for contexts in ([FACT], [ODD[odd]], []):
        judgement = judged(name, ODD[odd], contexts)
        assert (judgement.faithfulness is None) == (judgement.abstained or judgement.unscored is not None)
        for claim in judgement.claims:
            assert (claim.support is None) == (claim.unscored is not None)


@pytest.mark.parametrize("name", JUDGES)
@pytest.mark.parametrize("odd", ODD)
def test_an_odd_passage_does_not_touch_the_others(name: str, odd: str) -> None:
    alone, beside = judged(name, FACT, [FACT]), judged(name, FACT, [ODD[odd], FACT, ODD[odd]])
    assert beside.faithfulness == alone.faithfulness
    evidence = beside.claims[0].evidence
    assert evidence is not None
    assert "8" in evidence.quote


@pytest.mark.parametrize("name", JUDGES)
@pytest.mark.parametrize("contexts", [[], [""], ["\n \u3000"], ["", ""]])
def test_an_invented_answer_over_nothing_scores_0_with_every_judge(name: str, contexts: list[str]) -> None:
    judgement = asyncio.run(JUDGES[name]().judge("How many people?", FACT, contexts))
    assert judgement.faithfulness == 0
    assert [claim.support for claim in judgement.claims] == ["not_found"]


@pytest.mark.parametrize("name", JUDGES)
@pytest.mark.parametrize("contexts", [[], [""], [FACT]])
def test_a_refusal_abstains_with_every_judge(name: str, contexts: list[str]) -> None:
    judgement = asyncio.run(JUDGES[name]().judge("How many people?", "I don't know.", contexts))
    assert (judgement.abstained, judgement.faithfulness, judgement.claims) == (True, None, ())


class OddSystem:
    """Answers each question with the odd text that it names."""

    longest_call = 0

    def prepare(self, questions: Sequence[Question]) -> None:
        """Nothing to do."""

    async def describe(self) -> tuple[str, str]:
        return "odd", "d0"

    async def answer(self, question: str, run: int) -> Answer:
        text = ODD[question] + " " * run
        return Answer(text=text, contexts=(Context(text=text, source=text[:50]), Context(text=FACT, source="a.md")))


def test_a_comparison_of_odd_answers_ends_in_a_report() -> None:
    asked = tuple(Question(id=name, text=name) for name in ODD)
    judge = EvidenceJudge()
    systems: dict[SideName, OddSystem] = {"base": OddSystem(), "head": OddSystem()}
    answers = asyncio.run(evaluate(asked, systems, judge, runs=2, parallel=2, progress=Silent()))
    sides = {
        name: Side(name=name, label=name, commit=None, model="odd", model_digest="d0", answers=records)
        for name, records in answers.items()
    }
    fingerprint = asyncio.run(judge.fingerprint())
    grading = Grading(questions=asked, gate={"faithfulness": 0.0}, min_coverage=0.1, fingerprint=fingerprint)
    results = compare(grading, sides, runs=2, changes=(), usage=USAGE)
    text = results.to_json()
    assert Results.model_validate_json(text.encode()).verdict == results.verdict == "pass"
    assert render_comment(results).encode()


CONTEXTS_OF_1_MB = {
    "sentences": " ".join(f"Part {number} of the tent weighs {number} grams." for number in range(25_000)),
    "no spaces": "x" * 1_000_000,
    "numbers": "12 " * 330_000,
    "Chinese": "帐篷可容纳八人。" * 125_000,
    "brackets": "[" * 1_000_000,
}


@pytest.mark.parametrize("kind", CONTEXTS_OF_1_MB)
def test_a_megabyte_of_context_takes_seconds(kind: str) -> None:
    began = time.process_time()
    judgement = judged("evidence", FACT, [CONTEXTS_OF_1_MB[kind], FACT])
    assert time.process_time() - began < 15  # 2 on a machine at rest
    assert judgement.faithfulness == 1


def test_a_megabyte_of_context_reaches_a_model_in_seconds() -> None:
    began = time.process_time()
    assert judged("label", FACT, [CONTEXTS_OF_1_MB["sentences"]]).faithfulness == 0
    assert time.process_time() - began < 15
