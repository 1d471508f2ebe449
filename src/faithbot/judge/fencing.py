"""Text of answers and passages, made harmless inside a prompt and still readable for the judge."""

from __future__ import annotations

import re

# What shows nothing but can hide words from people, or part a tag so that only the model sees it whole: control
# characters, zero-width spaces, marks that turn the direction of writing, invisible tag letters, further variation
# selectors. The joiners of Persian, Indic scripts and emoji stay.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e01ef]"
)
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
# A tag of the prompt, and every special token in angle brackets: <|im_end|>, <｜User｜>, <end_of_turn>, <<SYS>>, </s>
_TAG = re.compile(r"[<＜](?=[<＜\s\u200c\u200d]{0,8}[/!?|｜\w])")
# Those in square brackets, of Llama 2, Mistral, GLM and BERT.
_BRACKETED = re.compile(
    r"\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_\w{1,20}|MODEL_SETTINGS|ARGS|CALL_ID|IMG\w{0,10}|AUDIO|BEGIN_AUDIO|PREFIX|"
    r"MIDDLE|SUFFIX|THINK|gMASK|[sd]MASK|MASK|CLS|SEP|PAD|UNK|BOS|EOS)\])",
    re.IGNORECASE,
)


def fenced(text: str) -> str:
    """The text with nothing in it that could end or begin a part of the prompt, or a turn of the conversation.

    Opening brackets of tags and of models' special tokens become look-alikes (``‹``, ``［``), invisible characters are
    left out, and half characters, which no server takes, become ``\N{REPLACEMENT CHARACTER}``. Plain text stays as it
    is, comparisons such as ``a < 5`` almost.
    """
    text = _INVISIBLE.sub("", _HALF_CHARACTER.sub("\N{REPLACEMENT CHARACTER}", text))
    return _BRACKETED.sub("［", _TAG.sub("‹", text))
