"""A team's own prompts are tried out before any model is asked, and what is wrong is told with file and line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from faithbot import template_process
from faithbot.config import load_config
from faithbot.errors import UsageError
from faithbot.judge.files import PACKAGED_PROMPTS, PromptFile, read_judge_files
from faithbot.judge.prompts import Prompts
from faithbot.repository import open_snapshot
from git_repository import make_repository

if TYPE_CHECKING:
    from pathlib import Path

CONFIG = """\
golden: golden.jsonl
system: {recorded: {files: run.jsonl}}
judge: {model: ollama/j, prompts: evals/judge}
"""
SUPPORT = "{% for passage in contexts %}\n{{ passage | fenced }}\n{% endfor %}\n{{ claim | fenced }}: supported?\n"


def read(folder: Path, **files: str) -> dict[str, PromptFile]:
    """The prompts of a repository with these files, `__` for the dot of their names."""
    named = {f"evals/judge/{name.replace('__', '.')}": text for name, text in files.items()}
    repository = make_repository(folder / "repo", {"faithbot.yaml": CONFIG, **named})
    return dict(read_judge_files(load_config(open_snapshot(repository, "main"), "faithbot.yaml")).prompts)


def test_a_prompt_that_shows_what_it_is_about_is_taken(tmp_path: Path) -> None:
    assert read(tmp_path, claims_support__md=SUPPORT) == {
        "claims_support.md": PromptFile(SUPPORT, "evals/judge/claims_support.md (main)")
    }


def test_the_packaged_prompts_pass_their_own_check(tmp_path: Path) -> None:
    packaged = {entry.name: entry.read_text(encoding="utf-8") for entry in PACKAGED_PROMPTS.iterdir()}
    assert set(read(tmp_path, **{name.replace(".", "__"): text for name, text in packaged.items()})) == set(packaged)


WRONG = {
    "unknown variable": (
        "claims_support",
        "{{ foo }}\n" + SUPPORT,
        r", line 1: unknown variable `foo`: use claim, contexts\.$",
    ),
    "unknown in a branch": (
        "claims_support",
        SUPPORT + "{% if contexts | length > 9 %}\n{{ foo }}\n{% endif %}\n",
        r", line 6: unknown variable `foo`: use claim, contexts\.$",
    ),
    "variable of the rubric": (
        "rubric",
        "Be fair to {{ model }}.",
        r", line 1: unknown variable `model`: rubric\.md is",
    ),
    "no claim": ("claims_support", "{{ contexts | join }}", r": it never shows the claim: write `\{\{ claim \| fenced"),
    "no passages": ("claims_support", "{{ claim }}", r": it does not show all contexts: write `\{% for context in"),
    "the first passage": ("claims_support", "{{ claim }} {{ contexts[0] }}", r": it does not show all contexts"),
    "the first claim": (
        "claims_support_batch",
        "{{ contexts | join }} {{ claims | first }}",
        r": it does not show all cl",
    ),
    "no sentence": ("claims_extract", "{{ question }}", r": it does not show all sentences"),
    "no answer": ("label", "{{ question }} {{ contexts | join }}", r": it never shows the answer"),
    "no question": ("relevance", "{{ answer }}", r": it never shows the question"),
    "no question where JSON is asked for": (
        "relevance",
        "{{ answer }} {% if not as_json %}{{ question }}{% endif %}",
        r": it never shows the question",
    ),
    "an attribute of a text": (
        "claims_support",
        "{{ claim }}\n{% for passage in contexts %}{{ passage.text }}{% endfor %}",
        r", line 2: 'str object' has no attribute 'text': it is given claim, contexts\.$",
    ),
    "syntax": ("claims_support", "a\n{{ claim", r", line 2: not a valid Jinja template: unexpected end"),
    "filter": ("claims_support", "\n{{ claim | shorten }}", r", line \d: not a valid Jinja template: No filter named"),
    "include": ("claims_support", '{% include "rules.md" %}', r", line 1: there is no prompt rules\.md to include"),
    "failing": ("label", "\n\n{{ answer / 2 }}", r", line 3: the template fails: unsupported operand"),
    "way out": (
        "label",
        "{{ answer.__class__.__mro__ }}",
        r", line 1: the template fails: access to attribute '__class__'",
    ),
}


@pytest.mark.parametrize(("name", "text", "message"), WRONG.values(), ids=WRONG)
def test_a_prompt_that_cannot_do_its_work_is_refused_with_its_place(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    with pytest.raises(UsageError, match=rf"^evals/judge/{name}\.md \(main\){message}") as caught:
        read(tmp_path, **{f"{name}__md": text})
    assert len(str(caught.value).splitlines()) == 1


def test_a_prompt_of_a_pull_request_cannot_hang_the_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(template_process, "TIME_LIMIT", 1)
    endless = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    with pytest.raises(UsageError, match=r"^evals/judge/label\.md \(main\): the template runs longer than 1 s"):
        read(tmp_path, label__md=endless)


@pytest.mark.parametrize(
    ("name", "cure"),
    [
        ("claim_support__md", r"did you mean claims_support\.md\?"),
        ("label__txt", r"did you mean label\.md\?"),
        ("zebra__md", r"name it as one of claims_extract\.md, "),
    ],
)
def test_a_file_that_replaces_no_prompt_is_told_at_the_setting_of_the_folder(
    tmp_path: Path, name: str, cure: str
) -> None:
    path = name.replace("__", r"\.")
    place = rf"^faithbot\.yaml \(main\), line 3, judge\.prompts: evals/judge/{path} replaces no prompt: {cure}"
    with pytest.raises(UsageError, match=place):
        read(tmp_path, label__md="{{ answer }}{{ contexts }}", **{name: "Judge."})


def test_notes_about_the_folder_are_no_prompts(tmp_path: Path) -> None:
    files = {"README__md": "{{ oops", "NOTICE": "ours", "label__md": "{{ answer }}{{ contexts }}"}
    assert list(read(tmp_path, **files)) == ["label.md"]
    with pytest.raises(UsageError, match=r"judge\.prompts: there is no prompt in evals/judge on main: name one as cla"):
        read(tmp_path / "only", README__md="Nothing yet.")


def test_what_fails_only_on_an_answer_names_its_line() -> None:
    text = "{{ contexts | length }}\n{{ 1 / (answer | length - 3) }}"
    prompt = Prompts({"label.md": PromptFile(text, "own/label.md (main)")}).template("label.md")
    assert prompt.render(answer="four", contexts=[]) == "0\n1.0"
    with pytest.raises(UsageError, match=r"^own/label\.md \(main\), line 2: the template fails: .*division by zero$"):
        prompt.render(answer="abc", contexts=[])
