"""Git repositories made from real golden sets, documents and prompts (see SOURCES.md of the shared data).

python tests/shared_examples.py contoso-chat FOLDER ollama/llama3.2:1b    # to look at one by hand
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from git_repository import make_repository

SHARED = Path(__file__).parents[2] / "shared" / "data" / "golden"
RECORDED = SHARED.parent / "recorded"

CONFIG = """\
golden: evals/golden.jsonl
system:
  pipeline:
    documents: ["docs/**/*.md"]
    chunking: {{size: {chunk_size}, overlap: 0}}
    retrieval: {{method: bm25, top_k: {top_k}}}
    prompt: prompts/answer.md
    model: {model}
    options: {{temperature: 0.3, max_tokens: {max_tokens}}}
judge: {{method: {judge}}}
"""

DOCUMENTATION = """\
# Documentation
{% for context in contexts %}
catalog: {{ context.source }}
content: {{ context.text }}
{% endfor %}

# question
{{ question }}
"""
VERITY_PROMPT = """\
{% for context in contexts %}
{{ context.text }}

{% endfor %}
Answer in one sentence, in the words of the text above: {{ question }}
"""
VERITY_PROMPT_WITHOUT_GROUNDING = """\
Tell a lively story with surprising facts of your own: {{ question }}
"""


def make_contoso(folder: Path, model: str, *, judge: str = "evidence", max_tokens: int = 48) -> Path:
    """Contoso's manuals, questions and prompt. `ungrounded` loses the prompt's grounding lines and top_k 4 → 1."""
    settings = {"model": model, "judge": judge, "max_tokens": max_tokens, "chunk_size": 400}
    prompt = (SHARED / "contoso-chat" / "chat.prompty").read_text(encoding="utf-8")
    system = prompt.split("system:\n", 1)[1].split("# Documentation", 1)[0]
    before_safety = system.split("# Safety", 1)[0]
    manuals = (SHARED / "contoso-chat" / "manuals").glob("*.md")
    return make_repository(
        folder,
        {
            "faithbot.yaml": CONFIG.format(top_k=4, **settings),
            "evals/golden.jsonl": (SHARED / "contoso-chat" / "data.jsonl").read_bytes(),
            "prompts/answer.md": system + DOCUMENTATION,
            **{f"docs/{manual.name}": manual.read_bytes() for manual in manuals},
        },
        {
            "ungrounded": {
                "faithbot.yaml": CONFIG.format(top_k=1, **settings),
                "prompts/answer.md": before_safety + DOCUMENTATION,
            }
        },
    )


def make_verity(folder: Path, model: str, *, judge: str = "evidence") -> Path:
    """Verity's notes on South Asia. `stories` shows the model no text and asks for facts of its own."""
    notes = (SHARED / "verity-rag" / "evals" / "sample_notes").glob("*.md")
    config = CONFIG.format(top_k=1, model=model, judge=judge, max_tokens=40, chunk_size=900)
    return make_repository(
        folder,
        {
            "faithbot.yaml": config,
            "evals/golden.jsonl": (SHARED / "verity-rag" / "evals" / "golden.jsonl").read_bytes(),
            "prompts/answer.md": VERITY_PROMPT,
            **{f"docs/{note.name}": note.read_bytes() for note in notes},
        },
        {"stories": {"prompts/answer.md": VERITY_PROMPT_WITHOUT_GROUNDING}},
    )


REPLAY = """\
golden: evals/golden.jsonl
system: {{recorded: {{files: {files}}}}}
judge: {judge}
gate: {{faithfulness: {{min_effect: 0.02}}}}
runs: {runs}
"""


def make_northwind(folder: Path, judge: str) -> Path:
    """Recorded answers: a prompt twice (`main`; alone: `first`, `second`), another one twice (`nomarkdown`)."""
    runs = ("baseline", "baseline2", "prompt_nomarkdownmention", "prompt_nomarkdownmention2")
    files = {f"runs/{run}.jsonl": (RECORDED / "northwind" / run / "eval_results.jsonl").read_bytes() for run in runs}
    rows = map(json.loads, files["runs/baseline.jsonl"].splitlines())
    questions = dict.fromkeys(row["question"] for row in rows)  # two of them were asked twice

    def config(*names: str) -> str:
        paths = json.dumps([f"runs/{name}.jsonl" for name in names])
        return REPLAY.format(files=paths, judge=judge.strip(), runs=len(names))

    golden = "".join(json.dumps({"question": question}) + "\n" for question in questions)
    return make_repository(
        folder,
        {"faithbot.yaml": config(*runs[:2]), "evals/golden.jsonl": golden, **files},
        {
            "nomarkdown": {"faithbot.yaml": config(*runs[2:])},
            "first": {"faithbot.yaml": config(runs[0])},
            "second": {"faithbot.yaml": config(runs[1])},
        },
    )


if __name__ == "__main__":
    example, target, name = sys.argv[1:]
    make = {"contoso-chat": make_contoso, "verity-rag": make_verity}[example]
    print(make(Path(target), name))
