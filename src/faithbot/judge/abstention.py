"""Recognises answers that say that they cannot answer, whole or in part, in the languages golden sets are written in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from faithbot.judge.sentences import plain_text, split_sentences, states_fact

if TYPE_CHECKING:
    from collections.abc import Iterator

_SOURCE = (
    r"(?:(?:the|these|those|this|my|our|your|any\ of\ the|available|given|provided|supplied|retrieved|above|following|current)\s+){0,3}"
    r"(?:(?:available|given|provided|supplied|retrieved|above|search|source|reference|company|product|employee|internal)\s+){0,3}"
    r"(?:context|contexts|document|documents|documentation|source|sources|passage|passages|text|texts|information|data|material|"
    r"materials|excerpt|excerpts|content|knowledge\ base|search\ results|results|article|articles|manual|manuals|handbook|notes?)"
    r"(?:\s+(?:provided|given|available|supplied|retrieved|above|you\ (?:provided|gave|shared)|i\ (?:have|was\ given)))?"
)
_NOT = r"(?:do(?:es)?(?:\ not|n'?t)|did(?:\ not|n'?t)|cannot|can(?:\ not|'?t)|could(?:\ not|n'?t)|(?:is|are|am|was|were)(?:\ not|n'?t)|'m\ not)"
_TELL = (
    r"(?:say|state|mention|specify|contain|include|provide|give|cover|address|discuss|describe|indicate|tell|answer|explain|list|"
    r"offer|have|disclose|reveal|clarify|define|detail|refer|reference|make\ (?:any\ )?mention|go\ into)"
)
_FIND = r"(?:find|locate|determine|answer|provide|tell|say|give|see|identify|confirm|help|assist|comment|conclude|verify|access|offer|share)"

_ENGLISH = rf"""
      \b(?:i|we)\s+(?:really\s+|simply\s+|honestly\s+|just\s+|currently\s+|unfortunately\s+)*(?:do\ not|don'?t|did\ not|didn'?t)\s+
        (?:actually\s+|currently\s+)?(?:know|have\s+(?:(?:any|enough|sufficient|specific|the|access|that|this|more|detailed|an|a|further|additional)\s+)*
        (?:information|knowledge|data|details?|answer|idea|access|context|sources?|documents?)|see\s+(?:any|that|this)|find\s+(?:any|that|this|an))
    | \bi\s+have\s+no\s+(?:idea|information|knowledge|data|answer|details|access)
    | \bi(?:'m|\ am)\s+(?:really\s+|very\s+|so\s+)?(?:not\s+(?:sure|aware|certain|able\s+to)|unsure|unable\s+to|uncertain|unaware)
    | \b(?:i|we)\s+(?:cannot|can'?t|can\ not|could\ not|couldn'?t|am\ unable\ to|are\ unable\ to|was\ unable\ to|were\ unable\ to)\s+
        (?:actually\s+)?{_FIND}
    | \b(?:it|this|that)\s+(?:is|was)\s+(?:not\s+(?:clear|possible|stated|mentioned|specified|known|provided|covered|addressed)|
        impossible\s+to|unclear|unknown|unable\s+to)\s*(?:from|in|based|to\s+(?:say|tell|determine|answer|know)|whether|how|what|if|by|$)
    | \b{_SOURCE}\s+(?:that\s+\w+\s+\w+\s+)?{_NOT}\s+(?:seem\s+to\s+|appear\s+to\s+|actually\s+|explicitly\s+|specifically\s+|directly\s+|
        currently\s+|clearly\s+|contain\s+or\s+)*{_TELL}
    | \b{_SOURCE}\s+(?:has|have|contains?|provides?|gives?|offers?|includes?)\s+(?:no|nothing|insufficient)\b
    | \b(?:is|are|was|were)(?:\s+not|n'?t)\s+(?:explicitly\s+|specifically\s+|directly\s+|clearly\s+)*
        (?:mentioned|specified|stated|provided|given|included|found|available|covered|addressed|discussed|described|listed|contained)\s+
        (?:anywhere\s+)?(?:in|by|within|among|from)\s+{_SOURCE}
    | \b(?:there\s+(?:is|are|was|were)|there's)\s+(?:no|not\s+(?:any|enough)|insufficient)\s+
        (?:(?:\w+\s+){{0,2}}(?:information|mention|data|details?|answer|reference|indication|evidence|documentation|context)\b)
    | ^\s*(?:sorry\s*[,.]?\s*)?(?:no|insufficient|not\s+enough)\s+(?:(?:relevant|specific|further|such|matching|sufficient)\s+)?
        (?:information|data|answer|details|mention|context|results?|documents?)\b(?!\s+(?:is|are|will|must|may|can|should)\s+(?:shared|sold|stored|kept|
        collected|required|needed|transmitted|sent|lost))
    | \b(?:unable|not\ able|not\ possible|impossible)\s+to\s+(?:answer|determine|provide|find|say|tell|give\s+an?\s+answer)\b
    | ^\s*(?:unknown|n/?a|not\ (?:found|available|known|specified|stated|mentioned|provided|sure)|no\ idea|cannot\ answer|unanswerable)\s*[.!]?\s*$
    | \b(?:i'm|i\ am|we\ are|we're)\s+(?:sorry|afraid)\b[^.]*\b(?:do\ not|don'?t|can(?:not|'t|\ not)|could\ not|couldn'?t|no|unable|not)\b
    | ^\s*(?:based\s+on|according\s+to|from|in|given)\s+{_SOURCE}[^.]*\b(?:is|are|was|were)(?:\s+not|n'?t)\s+
        (?:explicitly\s+|specifically\s+|directly\s+|clearly\s+)*(?:mentioned|specified|stated|provided|given|clear|known|indicated)\W*$
    | ^\s*not\s+(?:mentioned|specified|stated|provided|found|available)\s+(?:anywhere\s+)?(?:in|by|within)\s+{_SOURCE}
    | \bdon'?t\s+have\s+(?:\w+\s+){{0,3}}(?:information|data|details|answer)\b\s*(?:about|on|regarding|to|for|$|[.,!])
    | \b(?:that|this|your\ question|the\ question)\s+(?:is|falls)\s+(?:outside|beyond|out\ of)\s+(?:of\s+)?(?:the\s+|my\s+)?(?:scope|knowledge)
    | \bcan(?:not|'t|\ not)\s+be\s+(?:answered|determined|found|inferred)\b
"""
_OTHER = r"""
      \b(?:ich|wir)\s+(?:wei(?:ss|ß)|wissen)\s+(?:es\s+|das\s+|dies\s+|leider\s+)*nicht
    | \b(?:das\s+|dies\s+)?wei(?:ss|ß)\s+ich\s+(?:leider\s+)?nicht
    | \bich\s+(?:kann|konnte)\b[^.]*\b(?:nicht|keine?n?)\b[^.]*\b(?:beantworten|finden|sagen|geben)
    | \b(?:keine|keinerlei)\s+(?:\w+\s+)?(?:informationen|angaben?|auskunft|hinweise?|daten|antwort)\b
    | \b(?:dokumente?n?|kontext|texte?|quellen?|unterlagen|abschnitte?n?|informationen)\b[^.]{0,60}\b(?:nicht|keine?)\b[^.]{0,60}
        \b(?:erwähnt|genannt|enthalten|hervor|angegeben|beschrieben|gesagt|informationen|angaben?|enthält|erwähnen|nennen)
    | \b(?:geht|wird|ist|sind|werden|steht)\b[^.]{0,40}\b(?:nicht|nichts)\b[^.]{0,20}\b(?:aus|in)\s+(?:den|dem|der)\b[^.]{0,30}
        \b(?:dokumenten?|kontext|quellen?|unterlagen|text|texten)
    | \bje\s+ne\s+(?:sais|connais)\s+pas
    | \bje\s+(?:n'ai|ne\s+(?:peux|trouve|dispose|poss[eè]de|suis))\b[^.]*\b(?:pas|aucune?)\b
    | \b(?:documents?|contexte|sources?|textes?|passages?)\b[^.]{0,40}\bne\s+\w+\s+(?:pas|rien|aucune?)\b
    | \b(?:aucune|pas\s+d['’e]\s*)\s*informations?\b | \bn['’]est\s+pas\s+(?:mentionnée?|précisée?|indiquée?|spécifiée?)\b[^.]*
        \b(?:documents?|contexte|sources?|textes?)
    | \bno\s+(?:lo\s+)?(?:s[eé]|sabemos)\b
    | \bno\s+(?:tengo|tenemos|dispongo|encuentro|encontr[eé]|puedo|hay|existe|se\s+(?:menciona|especifica|indica|encuentra|proporciona))\b
        [^.]{0,60}\b(?:informaci[oó]n|respuesta|datos|responder|determinar|documentos?|contexto|fuentes?|texto|detalles)\b
    | \b(?:documentos?|contexto|fuentes?|textos?)\b[^.]{0,40}\bno\s+(?:menciona|dice|contiene|especifica|indica|proporciona|incluye|ofrece)n?\b
    | \bnon\s+(?:lo\s+)?(?:so|sappiamo)\b
    | \bnon\s+(?:ho|dispongo|trovo|posso|ci\s+sono|c['’]è|riesco|è\s+(?:specificat|menzionat|indicat)[oa])\b[^.]{0,60}
        \b(?:informazion[ei]|risposta|rispondere|dati|trovare|determinare|document[oi]|contesto|font[ei]|testo|dettagli)\b
    | \b(?:document[oi]|contesto|font[ei]|testo|testi)\b[^.]{0,40}\bnon\s+(?:menziona|dice|dicono|contien|contengono|specifica|indica|fornisc|riporta)\w*
    | \b(?:eu\s+)?não\s+(?:sei|sabemos)\b
    | \bnão\s+(?:tenho|temos|encontrei|posso|há|existem?|consigo|é\s+(?:mencionad|especificad)[oa])\b[^.]{0,60}
        \b(?:informaç(?:ão|ões)|resposta|responder|dados|determinar|documentos?|contexto|fontes?|texto|detalhes)\b
    | \b(?:documentos?|contexto|fontes?|textos?)\b[^.]{0,40}\bnão\s+(?:menciona|diz|dizem|contém|contêm|especifica|indica|fornece|inclu)\w*
    | \b(?:ik|wij|we)\s+(?:weet|weten)\s+(?:het\s+|dat\s+)?(?:helaas\s+)?niet | \b(?:dat\s+)?weet\s+ik\s+(?:helaas\s+)?niet
    | \bik\s+(?:heb|kan|vind|kon)\b[^.]*\b(?:geen|niet)\b[^.]*\b(?:informatie|antwoord|antwoorden|vinden|gegevens|beantwoorden)?
    | \bgeen\s+(?:\w+\s+)?informatie\b
    | \b(?:documenten|document|context|bronnen|bron|teksten|tekst)\b[^.]{0,40}\b(?:niet|geen|niets)\b[^.]{0,30}\b(?:vermeld|genoemd|informatie|over|gezegd)?
"""
_UNSPACED = r"""
      (?:我|我们|抱歉|对不起|很抱歉|對不起)[^。，]{0,8}(?:不知道|不清楚|不了解|无法(?:回答|确定|提供|找到)|無法(?:回答|確定|提供)|没有(?:找到|相关|足够)|不能回答)
    | ^(?:不知道|不清楚|无法回答|無法回答|未知|没有相关)
    | (?:文档|文件|资料|資料|上下文|文本|文中|内容|来源|知识库|信息)[^。]{0,14}(?:没有|沒有|未|并未|無|无)[^。]{0,6}
        (?:提到|提及|说明|說明|提供|包含|记载|找到|相关|涉及|信息|给出|回答)
    | (?:没有|沒有|未|缺乏)(?:找到|提供|足够|足夠|任何|相关|相關){1,3}的?(?:信息|資訊|资料|資料|内容|答案)
    | 无法(?:根据|从|基于)[^。]{0,24}(?:回答|确定|得知|判断)
    | (?:わかりません|分かりません|わからない|分からない|存じません|知りません|お答えできません|回答できません|判断できません)
    | (?:資料|文書|文脈|ドキュメント|情報|コンテキスト|テキスト|記載|文章)[^。]{0,24}(?:ありません|ない|いません|なく|できません)
    | (?:모르겠|모릅니다|알\ ?수\ ?없|답변(?:을|할)?\ ?(?:수|드릴\ 수)\ ?없|답할\ ?수\ ?없|찾을\ ?수\ ?없)
    | (?:문서|자료|컨텍스트|문맥|정보|내용|출처)[^.]{0,24}(?:없|않|나와\ 있지)
"""
_REFUSAL = re.compile(f"(?ix)(?:{_ENGLISH}|{_OTHER})")
_REFUSAL_UNSPACED = re.compile(f"(?x)(?:{_UNSPACED})")

# "If you don't know the size, measure ..." gives advice; it does not refuse.
_CONDITIONAL = re.compile(
    r"(?i)^\W*(?:if|when|whenever|in case|should you|even if|wenn|falls|si|se|als|cuando|quando|如果|もし|만약)\b"
)
_UNSPACED_CONDITIONAL = re.compile(r"^\W*(?:如果|若|もし|만약)")
# Where a refusal ends and an answer begins: "I do not know X, but Y".
_TURN = re.compile(
    r"(?i)[,;:–—]?\s+(?:but|however|though|although|still|that said|nevertheless|aber|jedoch|allerdings|mais|cependant|toutefois|pero|"
    r"sin embargo|ma|tuttavia|però|mas|porém|contudo|maar|echter)\s*,?\s+|[，,、]?\s*(?:但是?|不过|然而|ただし|しかし|ですが|하지만|그러나|지만)\s*[,，、]?\s*"
)
# What goes with a refusal and adds no fact to it.
_COURTESY = re.compile(
    r"""(?ix)^\W*(?:
    (?:i'?m|i\ am|we\ are|we're)?\s*(?:very\ |so\ |really\ )?(?:sorry|afraid)\b.* | unfortunately\W* | (?:i|we|my)\ apolog\w+.* | please\ .* |
    (?:you\ (?:can|may|might|could|should)|i\ (?:would\ )?(?:recommend|suggest|advise)|it\ (?:is|would\ be)\ (?:best|recommended|advisable)|
       try|consider|contact|consult|check|ask|visit|feel\ free|let\ me\ know|for\ (?:more|further|additional|detailed|accurate)\b|
       if\ you\ (?:have|need|want|would|could|can|share|provide|give|are\ (?:looking|interested))|
       could\ you|would\ you|can\ you|i\ can\ (?:help|assist|only|answer)|i'?(?:d|ll)\ be\ (?:happy|glad)|i'?m\ happy) .* |
    (?:bitte|leider|es\ tut\ mir\ leid|entschuldigung|wenden\ sie|kontaktieren|je\ suis\ désolée?|désolée?|veuillez|n'hésitez|vous\ pouvez|
       lo\ siento|por\ favor|puede|disculp|mi\ dispiace|spiacente|può|puoi|sinto\ muito|desculpe|lamento|pode|het\ spijt|helaas|
       neem\ contact|u\ kunt|抱歉|对不起|對不起|很抱歉|请|請|建议|如果您|如需|申し訳|すみません|恐れ入り|詳しくは|죄송|미안|자세한|문의) .*
    )$"""
)


def is_abstention(answer: str) -> bool:
    """Whether the answer says that it cannot answer and states nothing besides.

    A follow-up offer, an apology or the advice to ask elsewhere does not turn a refusal into an answer. What a document
    denies ("the warranty does not cover water damage") is no refusal.
    """
    return _refuses(answer) and not without_abstention(answer)


def without_abstention(answer: str) -> str:
    """What the answer states besides refusing: "I do not know X, but Y." gives "Y.". Unchanged where it refuses nothing.

    Where part of it refuses, courtesies that go with a refusal are left out, too; "" where nothing else is stated.
    """
    if not _refuses(answer):
        return answer
    kept: list[str] = []
    for sentence in _sentences(answer):
        rest = _after_turn(sentence) if _is_refusal(sentence) else sentence
        bare = plain_text(rest)
        if bare and states_fact(bare) and not _COURTESY.match(bare.replace("’", "'")):
            kept.append(rest)
    return "\n".join(kept)


def _refuses(answer: str) -> bool:
    return any(_is_refusal(sentence) for sentence in _sentences(answer))


def _sentences(answer: str) -> Iterator[str]:
    for span in split_sentences(answer):
        yield answer[span.start : span.end]


def _is_refusal(sentence: str) -> bool:
    text = plain_text(sentence).replace("’", "'")
    if _CONDITIONAL.match(text) or _UNSPACED_CONDITIONAL.match(text):
        return False
    return bool(_REFUSAL.search(text) or _REFUSAL_UNSPACED.search(text))


def _after_turn(sentence: str) -> str:
    """The part of a refusing sentence that goes on to state something; "" where none does."""
    for match in _TURN.finditer(sentence):
        before, after = sentence[: match.start()], sentence[match.end() :]
        if not _is_refusal(after) and _is_refusal(before):
            return after[:1].upper() + after[1:]
        if _is_refusal(after) and not _is_refusal(before) and states_fact(plain_text(before)):
            return before.rstrip(",; ") + "."
    return ""
