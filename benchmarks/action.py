"""What a pull request with 30 questions costs outside the models: the real image, Ollama in a container, GitHub's API.

    python benchmarks/action.py

Wants a Docker engine, as the end-to-end tests do, whose machine and API it uses.
"""

from __future__ import annotations

import json
import re
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "e2e"))

from test_action import NUMBER, REPOSITORY, TOKEN, Pull, change, check_out, example_files, open_pull, opened

import docker_engine
from actions_runner import HOST, Machine, StepOutcome
from faithbot.models.gguf import locate
from faithbot.ollama_service import ServiceSettings, start_service
from git_repository import make_repository
from github_double import GitHubDouble
from ollama_process import provide_model

QUESTIONS = 30
RUNS = 3
"""Of the pull request, cold each time; the median counts."""
EMPTY_RUNS = 5
EVALUATION = "answering and judging"


def main() -> None:
    """Run one pull request, cold, and print where its time went."""
    with tempfile.TemporaryDirectory(prefix="faithbot-benchmark-") as folder, GitHubDouble(REPOSITORY) as api:
        root = Path(folder)
        api.add_token(TOKEN)
        origin = make_repository(root / f"{REPOSITORY}.git", thirty_questions(), {"from-memory": change("from-memory")})
        pull = open_pull(origin, "from-memory")
        api.add_pull_request(NUMBER, pull.head, head="acme:from-memory")
        machine = make_machine(root / "machine", api)
        check_out(origin, machine, pull.merge)
        docker = statistics.median(
            machine.run("pull_request", {}, pull.merge, entrypoint="/bin/true").seconds for _ in range(EMPTY_RUNS)
        )
        runs = [run(machine, pull, docker) for _ in range(RUNS)]
    print(f"outside the models {', '.join(f'{sum(phases.values()):.2f}' for phases in runs)} s; the median one:")
    median = sorted(runs, key=lambda phases: sum(phases.values()))[RUNS // 2]
    for name, seconds in median.items():
        print(f"  {seconds:5.2f} s  {name}")


def run(machine: Machine, pull: Pull, docker: float) -> dict[str, float]:
    """Seconds outside the models by what they went into, of a run that has no answers yet."""
    shutil.rmtree(machine.root / "temp/faithbot/calls", ignore_errors=True)
    outcome = machine.run("pull_request", opened(pull, "from-memory"), pull.merge)
    usage = machine.results()["usage"]
    busy = usage["busy_share"] * usage["seconds"]
    print(
        f"verdict {outcome.outputs['verdict']}, {usage['answers']} answers, {usage['model_calls']} model calls; "
        f"wall time of the container {outcome.seconds:.2f} s, a model at work {busy:.2f} s"
    )
    return split(outcome, busy, docker)


def split(outcome: StepOutcome, busy: float, docker: float) -> dict[str, float]:
    """All of a run's wall time without a model at work.

    ``docker`` is what an empty container takes: Docker's own start and end, which faithbot cannot shorten.
    """
    told = re.search(r"^faithbot: time: (.*)$", outcome.log, re.MULTILINE)
    assert told, outcome.log
    phases = {name: float(seconds) for name, seconds in re.findall(r"([\w ]+?) (\d+\.\d+) s(?:, |$)", told[1])}
    python = outcome.seconds - docker - sum(phases.values())
    evaluation = phases.pop(EVALUATION) - busy
    return {
        "Docker's own: start and end of an empty container": docker,
        "start and end of Python, imports that everything else needs": python,
        **phases,
        f"{EVALUATION}, with no model at work": evaluation,
    }


def thirty_questions() -> dict[str, str | bytes | None]:
    """The example, each of its questions asked in three ways."""
    files = example_files()
    rows = [json.loads(line) for line in bytes(files["evals/golden.jsonl"] or b"").splitlines()]
    asked = [
        {**row, "id": f"{row.get('id', number)}-{way}", "question": row["question"] + suffix}
        for number, row in enumerate(rows)
        for way, suffix in enumerate(("", " Please say.", " I would like to know."))
    ]
    assert len(asked) == QUESTIONS
    return {**files, "evals/golden.jsonl": "".join(json.dumps(row) + "\n" for row in asked)}


def make_machine(root: Path, api: GitHubDouble) -> Machine:
    """A runner with the model at hand, as where a cache was restored."""
    ollama = docker_engine.image("ollama")
    machine = Machine(root, docker_engine.image("faithbot"), f"http://{HOST}:{api.port}", REPOSITORY, ollama)
    settings = ServiceSettings(models_dir=machine.models, owner="faithbot benchmark", image=ollama)
    with start_service(settings, lambda _: None) as service:
        provide_model(service.url, locate("smollm2-135m"))
    return machine


if __name__ == "__main__":
    main()
