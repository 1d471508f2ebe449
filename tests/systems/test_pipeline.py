"""The built-in pipeline: what reaches the model, and what makes two requests the same."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from faithbot import template_process
from faithbot.config import load_config
from faithbot.errors import CallError, UsageError
from faithbot.golden import Question
from faithbot.repository import open_snapshot
from faithbot.systems.pipeline import FIRST_SEED, PipelineSystem
from git_repository import make_repository
from records import questions
from scripted_model import ScriptedModel

if TYPE_CHECKING:
    from pathlib import Path

    from faithbot.systems.protocol import Answer

CONFIG = """\
golden: golden.jsonl
system:
  pipeline:
    documents: ["docs/*"]
    retrieval: {top_k: 1}
    prompt: prompt.md
    model: test/scripted
    options: {temperature: 0.5, max_tokens: 77}
"""
PROMPT = "{% for context in contexts %}[{{ context.source }}] {{ context.text }}\n{% endfor %}Q: {{ question }}"
DOCUMENTS = {"docs/stove.md": "The stove burns gas.", "docs/tent.txt": "The tent sleeps four people."}


def pipeline(folder: Path, model: ScriptedModel, *, prompt: str = PROMPT, config: str = CONFIG) -> PipelineSystem:
    repository = make_repository(folder / "repo", {"faithbot.yaml": config, "prompt.md": prompt, **DOCUMENTS})
    return PipelineSystem(load_config(open_snapshot(repository, "main"), "faithbot.yaml"), lambda _: model)


def answer_of(system: PipelineSystem, question: str, run: int = 1) -> Answer:
    system.prepare([Question(id="q", text=question)])
    return asyncio.run(system.answer(question, run))


def test_the_model_gets_the_rendered_prompt_with_all_options(tmp_path: Path) -> None:
    model = ScriptedModel(["Four."])
    answer = answer_of(pipeline(tmp_path, model), "How many people sleep in the tent?", run=2)
    (request,) = model.requests
    assert request.messages[0].content == (
        "[docs/tent.txt] The tent sleeps four people.\nQ: How many people sleep in the tent?"
    )
    assert (request.options.temperature, request.options.max_tokens) == (0.5, 77)
    assert (request.seed, request.run) == (FIRST_SEED + 2, 2)
    assert answer.text == "Four."
    assert [(context.source, context.start) for context in answer.contexts] == [("docs/tent.txt", 0)]


def test_an_empty_retrieval_is_an_answer_like_any_other(tmp_path: Path) -> None:
    model = ScriptedModel(["I don't know."])
    answer = answer_of(pipeline(tmp_path, model), "zzz?")
    assert answer.contexts == ()
    assert model.requests[0].messages[0].content == "Q: zzz?"


def test_an_answer_that_reached_the_limit_of_tokens_says_so(tmp_path: Path) -> None:
    model = ScriptedModel(["The tent sleeps"], finish="length")
    assert answer_of(pipeline(tmp_path, model), "How many?").is_cut


def key_of(folder: Path, model: ScriptedModel, question: str, run: int, **changes: str) -> str | None:
    return answer_of(pipeline(folder, model, **changes), question, run).request_key


def test_requests_are_the_same_where_nothing_that_decides_the_answer_differs(tmp_path: Path) -> None:
    tent, stove = "How many people sleep in the tent?", "What does the stove burn?"

    def key(name: str, question: str = tent, run: int = 1, digest: str = "d0", **changes: str) -> str | None:
        return key_of(tmp_path / name, ScriptedModel(["x"], digest=digest), question, run, **changes)

    same = key("a")
    assert same is not None
    assert key("b") == same
    assert key("c", config=CONFIG + "runs: 5\n") == same
    different = {
        "question": key("d", question=stove),
        "run": key("e", run=2),
        "weights": key("f", digest="d1"),
        "prompt": key("g", prompt=PROMPT + "!"),
        "options": key("h", config=CONFIG.replace("0.5", "0.6")),
        "contexts": key("i", config=CONFIG.replace("top_k: 1", "top_k: 2"), prompt="{{ question }}"),
        "the same prompt on other contexts": key("j", prompt="{{ question }}"),
    }
    assert same not in different.values()
    assert len(set(different.values())) == len(different)


def test_the_longest_prompt_is_reserved_before_any_call(tmp_path: Path) -> None:
    model = ScriptedModel()
    system = pipeline(tmp_path, model)
    system.prepare([*questions("a"), Question(id="long", text="word " * 2000)])
    asyncio.run(system.describe())
    assert model.reserved > 2000 + 77
    assert model.requests == []


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        ("{{ context }}", r"prompt\.md \(main\): 'context' is undefined: a prompt knows `question` and `contexts`"),
        ("{{ contexts[9].text }}", r"prompt\.md \(main\): list object has no element 9"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", r"it needs too much memory or nests too deeply"),
        ("{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}", r"it needs too much memory or nests too deeply"),
        ("{{ 'a' * 99999999999 }}", r"it needs too much memory or nests too deeply"),
        ("{{ contexts[0].parse_raw('x') }}", r"'dict object' has no attribute 'parse_raw'"),
        ("{{ contexts.append(1) }}", r"prompt\.md \(main\): the template fails: access to attribute 'append'"),
        ("a\n{% for x in %}", r"prompt\.md \(main\), line 2: not a valid Jinja template: .*\{% raw %\}"),
        ('{{"a": 1}}', r"prompt\.md \(main\), line 1: not a valid Jinja template"),
        ("{{ question / 2 }}", r"prompt\.md \(main\): the template fails: unsupported operand"),
        (
            "{{ question.__class__.__mro__ }}",
            r"prompt\.md \(main\): the template fails: access to attribute '__class__'",
        ),
        ("{% for a in range(999999999) %}{% endfor %}", r"the template fails: Range too big"),
        ("{% include 'other.md' %}", r"prompt\.md \(main\): the template fails: no loader"),
    ],
)
def test_a_prompt_that_fails_does_so_before_any_call(tmp_path: Path, prompt: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        pipeline(tmp_path, ScriptedModel(), prompt=prompt).prepare([Question(id="s", text="What does the stove burn?")])


def test_braces_and_json_in_prompt_documents_and_question_are_plain_text(tmp_path: Path) -> None:
    model = ScriptedModel(["x"])
    prompt = '{"a": {"b": [1, {}]}} {% raw %}{{ not a variable }}{% endraw %} {{ question }}'
    answer_of(pipeline(tmp_path, model, prompt=prompt), '{{ 7 * 7 }} {"q": {}}')
    assert model.requests[0].messages[0].content == ('{"a": {"b": [1, {}]}} {{ not a variable }} {{ 7 * 7 }} {"q": {}}')


def test_a_template_without_an_end_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(template_process, "TIME_LIMIT", 1)
    loops = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    with pytest.raises(UsageError, match=r"prompt\.md \(main\): the template runs longer than 1 s"):
        pipeline(tmp_path, ScriptedModel(), prompt=loops).prepare(questions("a"))


def test_a_prompt_of_absurd_length_fails_its_question_only(tmp_path: Path) -> None:
    system = pipeline(tmp_path, ScriptedModel(), prompt="{{ 'x' * 3000000 }}{{ question }}")
    with pytest.raises(CallError, match=r"prompt\.md \(main\): the prompt has more than 2,000,000 characters"):
        answer_of(system, "q")


def test_documents_without_text_are_an_error(tmp_path: Path) -> None:
    repository = make_repository(
        tmp_path / "repo", {"faithbot.yaml": CONFIG, "prompt.md": PROMPT, "docs/a.md": "\n \n"}
    )
    with pytest.raises(UsageError, match=r"line 4, system\.pipeline\.documents: the documents hold no text"):
        PipelineSystem(load_config(open_snapshot(repository, "main"), "faithbot.yaml"), pytest.fail)
