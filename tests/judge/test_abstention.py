"""Answers that say that they cannot answer."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithbot.judge.abstention import is_abstention, without_abstention

REFUSALS = [
    "I don't know.",
    "Sorry, I do not know.",
    "I’m sorry, but I don’t have information about that.",
    "I'm not sure about that.",
    "The documents do not say.",
    "The provided context does not mention the price of the tent.",
    "The job title is not specified in the given sources.",
    "Based on the provided information, the job title and company are not specified.",
    "There is no information about this in the sources.",
    "No information.",
    "Not mentioned in the documents.",
    "I cannot find this in the documents.",
    "Unable to answer based on given passages.",
    "It is not clear from the sources whether the plan covers this.",
    "Das weiß ich leider nicht.",
    "Dazu gibt es in den Dokumenten keine Informationen.",
    "Der Kontext enthält keine Angaben dazu.",
    "Je ne sais pas.",
    "Les documents ne mentionnent pas ce point.",
    "No lo sé.",
    "No tengo información sobre eso.",
    "Los documentos no mencionan el precio.",
    "Non lo so.",
    "Non ho informazioni su questo argomento.",
    "Não sei.",
    "Não tenho informações sobre isso.",
    "Ik weet het niet.",
    "Ik heb daar geen informatie over.",
    "我不知道。",
    "文档中没有提到这个问题。",
    "根据提供的资料，无法回答这个问题。",
    "抱歉，我无法回答这个问题。",
    "わかりません。",
    "提供された資料にはその情報はありません。",
    "모르겠습니다.",
    "제공된 문서에는 해당 정보가 없습니다.",
]

ANSWERS = [
    "",
    "The warranty does not cover water damage.",
    "If you don't know the size, measure your foot.",
    "Wenn Sie die Größe nicht wissen, messen Sie den Fuß.",
    "如果您不知道尺码，请测量脚长。",
    "The plan does not provide coverage for emergency services.",
    "No, the tent is not waterproof.",
    "Employees who are not sure should ask HR.",
    "There is no deductible.",
    "Data is not shared with third parties.",
    "No information is shared with third parties.",
    "Contoso cannot provide refunds after 30 days.",
    "We do not offer discounts.",
    "Die Garantie deckt keine Wasserschäden.",
    "La garantie ne couvre pas les dégâts des eaux.",
    "El plan no cubre daños por agua.",
    "保修不包括水损坏。",
    "この保証は水濡れを対象としません。",
]


@pytest.mark.parametrize("answer", REFUSALS)
def test_a_refusal_is_an_abstention(answer: str) -> None:
    assert is_abstention(answer)


@pytest.mark.parametrize("answer", ANSWERS)
def test_what_a_document_denies_or_advises_is_no_abstention(answer: str) -> None:
    assert not is_abstention(answer)
    assert without_abstention(answer) == answer


@pytest.mark.parametrize(
    "answer",
    [
        "I don't know. Is there anything else I can help you with?",
        "I'm not sure. Let me know if you'd like me to look something else up!",
        "I cannot find this in the documents. Please contact HR for details.",
        "Unfortunately, the context doesn't include details about refunds. You may want to contact support.",
        "Das weiß ich leider nicht. Bitte wenden Sie sich an den Support.",
        "我不知道。请联系客服。",
    ],
)
def test_a_follow_up_offer_does_not_turn_a_refusal_into_an_answer(answer: str) -> None:
    assert is_abstention(answer)


@pytest.mark.parametrize(
    ("answer", "stated"),
    [
        ("I do not know the price, but the tent is waterproof.", "The tent is waterproof."),
        ("The tent weighs 3 kg, but I don't know its price.", "The tent weighs 3 kg."),
        ("The documents do not say who wrote it; however, it came out in 2020.", "It came out in 2020."),
        ("The documents do not say who wrote it. It came out in 2020.", "It came out in 2020."),
        ("Den Preis weiß ich nicht, aber das Zelt ist wasserdicht.", "Das Zelt ist wasserdicht."),
        ("Je ne sais pas le prix, mais la tente est étanche.", "La tente est étanche."),
    ],
)
def test_of_a_partial_refusal_the_rest_is_left(answer: str, stated: str) -> None:
    assert not is_abstention(answer)
    assert without_abstention(answer) == stated


@given(st.text(max_size=300))
def test_any_text_is_or_is_not_an_abstention(text: str) -> None:
    if is_abstention(text):
        assert without_abstention(text) == ""


@pytest.mark.parametrize(
    "piece", ["i do not ", "the documents ", "not ", "no information ", "sorry ", "不", "je ne ", "but "]
)
def test_long_answers_take_linear_time(piece: str) -> None:
    began = time.perf_counter()
    is_abstention((piece * 20_000)[:20_000])
    assert time.perf_counter() - began < 3
