#!/usr/bin/env python3
"""faithbot's own time: a recorded comparison of 100 questions through everything but the model.

    python benchmarks/overhead.py [--questions 100]

A local server answers at once with recorded answers (northwind, see SOURCES.md of the shared data) and with recorded
labels, so that what is left is faithbot: git, configuration, documents, retrieval, prompts, HTTP, cache, judge,
statistics, report. Prints milliseconds per answer for a first run, for a run from the cache, and their shares of a
second, which is what a small model takes for an answer at best. Bound: 10 ms per answer judged by a model.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from faithbot.job import run_comparison
from faithbot.plan import CompareRequest
from faithbot.progress import Silent
from faithbot.report.comment import render_comment

SHARED = Path(__file__).parents[2] / "shared" / "data"
BOUND_MS = 10.0
SIDES = {"base": "baseline", "head": "prompt_nomarkdownmention"}
CONFIG = """\
golden: golden.jsonl
system:
  pipeline:
    documents: ["manuals/*.md"]
    prompt: prompt.md
    model: openai/recorded
judge: {method: label, model: openai/recorded}
"""
PROMPT = "{% for context in contexts %}{{ context.text }}\n\n{% endfor %}SIDE {side}\nQUESTION: {{ question }}"


def recorded_rows(folder: str, count: int) -> dict[str, str]:
    """Answers by question."""
    rows: dict[str, str] = {}
    for line in (SHARED / "recorded" / "northwind" / folder / "eval_results.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        rows.setdefault(row["question"].strip(), row["answer"])
    return dict(list(rows.items())[:count])


class RecordedServer(BaseHTTPRequestHandler):
    """The chat API, answering from what was recorded."""

    protocol_version = "HTTP/1.1"
    answers: dict[tuple[str, str], str]

    def do_GET(self) -> None:
        self._send({"object": "list", "data": [{"id": "recorded", "object": "model"}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = body["messages"][0]["content"]
        if "response_format" in body:
            text = json.dumps({"label": ("YES", "YES", "PARTIAL", "NO")[len(prompt) % 4]})
        else:
            side, question = prompt.rpartition("SIDE ")[2].split("\nQUESTION: ")
            text = self.answers[side, question]
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        self._send({"choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 1}})

    def _send(self, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


def serve(answers: dict[tuple[str, str], str], port: multiprocessing.Queue[int]) -> None:
    RecordedServer.answers = answers
    server = ThreadingHTTPServer(("127.0.0.1", 0), RecordedServer)
    port.put(server.server_address[1])
    server.serve_forever()


def make_repository(folder: Path, questions: list[str]) -> None:
    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=benchmark", "-c", "user.email=benchmark@example.org")
        subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True)

    git("init", "--initial-branch=base")
    (folder / "manuals").mkdir()
    for manual in (SHARED / "golden" / "contoso-chat" / "manuals").glob("*.md"):
        (folder / "manuals" / manual.name).write_bytes(manual.read_bytes())
    (folder / "faithbot.yaml").write_text(CONFIG)
    (folder / "golden.jsonl").write_text("".join(json.dumps({"question": text}) + "\n" for text in questions))
    for side in SIDES:
        (folder / "prompt.md").write_text(PROMPT.replace("{side}", side))
        git("checkout", "-B", side)
        git("add", "--all")
        git("commit", "--message", side)


def compare(repository: Path, cache: Path) -> float:
    """Seconds of CPU for the whole job, report included: this process and those that it starts, not the server."""
    request = CompareRequest(repository=repository, base="base", head="head", config="faithbot.yaml", cache=cache)
    started = own_cpu_seconds()
    results = asyncio.run(run_comparison(request, Silent()))
    render_comment(results)
    results.model_dump_json()
    return own_cpu_seconds() - started


def own_cpu_seconds() -> float:
    """Of this process and of its children that have ended (git, the rendering of prompts)."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=100)
    count = parser.parse_args().questions
    recorded = {side: recorded_rows(folder, count + 10) for side, folder in SIDES.items()}
    questions = [text for text in recorded["base"] if text in recorded["head"]][:count]
    answers = {(side, text): recorded[side][text] for side in SIDES for text in questions}
    port: multiprocessing.Queue[int] = multiprocessing.Queue()
    server = multiprocessing.Process(target=serve, args=(answers, port), daemon=True)
    server.start()
    os.environ |= {"OPENAI_BASE_URL": f"http://127.0.0.1:{port.get()}/v1", "OPENAI_API_KEY": "none"}
    total = 4 * len(questions)
    with tempfile.TemporaryDirectory() as folder:
        repository = Path(folder) / "repository"
        repository.mkdir()
        make_repository(repository, questions)
        first = 1000 * compare(repository, Path(folder) / "cache") / total
        again = 1000 * compare(repository, Path(folder) / "cache") / total
    server.terminate()
    print(f"{len(questions)} questions, {total} answers, {total} judged by a model")
    print(f"first run   {first:6.2f} ms per answer, {first / 1000:7.2%} of an answer that takes a second")
    print(f"from cache  {again:6.2f} ms per answer, {again / first:7.2%} of the first run")
    print(f"bound       {BOUND_MS:6.2f} ms per answer, used to {first / BOUND_MS:.0%}")
    return int(first > BOUND_MS)


if __name__ == "__main__":
    sys.exit(main())
