"""Where a result goes: files, summary, annotations, comment, status, outputs. What fails here changes no verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from faithbot.action.comment_section import compose_section
from faithbot.action.report_files import REPORT_FILE, RESULTS_FILE, artifact_file
from faithbot.errors import EvaluationError, UsageError
from faithbot.exit_codes import exit_code
from faithbot.github.api import Refused, attempt
from faithbot.github.comment import PERMISSION, find_comment, keep_section, write_section
from faithbot.github.pull_requests import get_pull_request
from faithbot.github.sections import MAIN
from faithbot.github.status import set_status
from faithbot.github.workflow_commands import annotate, write_outputs, write_summary
from faithbot.report.annotations import find_annotations
from faithbot.report.comment import render_report
from faithbot.report.escape import escape_text
from faithbot.report.status import status_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from github.Repository import Repository

    from faithbot.action.activity import Activity
    from faithbot.action.inputs import ActionInputs, FailOn
    from faithbot.github.comment import Written
    from faithbot.github.runner import Runner
    from faithbot.github.status import State
    from faithbot.github.workflow_commands import Level
    from faithbot.results import MetricComparison, Results

T = TypeVar("T")


@dataclass(frozen=True)
class Delivery:
    """Everything that is needed to deliver a result."""

    runner: Runner
    inputs: ActionInputs
    repository: Repository | None
    """None without a token: nothing is written on GitHub."""
    log: Callable[[str], None]

    def deliver(self, results: Results, activity: Activity | None) -> int:
        """Write the result everywhere it belongs, then say what the job ends with.

        ``activity`` is None where the evaluation failed before it was known what to do.
        """
        code = job_exit_code(results, self.inputs.fail_on)
        if activity is not None and activity.task == "noise" and results.failure is None:
            code = 0  # it measures, and has nothing to forbid
        is_alone = activity is not None and activity.task == "measure"
        report = render_report(results, run_url=self.runner.run_url, measured_alone=is_alone)
        report = "\n\n".join([*_notes(activity), report])
        files = self._write_files(results, report)
        self._tell_runner("the summary", lambda: write_summary(self.runner, report))
        if activity is not None and activity.status_commit is not None:
            _annotate_lines(results, "error" if code else "warning")
        comment_url = None
        if activity is not None and self.repository is not None:
            comment_url = self._tell_github(self.repository, results, activity, code)
        outputs = _measured(results) | files | {"comment-url": comment_url or ""}
        self._tell_runner("the outputs", lambda: write_outputs(self.runner, outputs))
        return code

    def _write_files(self, results: Results, report: str) -> dict[str, str]:
        """The outputs that name the files; empty ones where they could not be kept."""
        workspace, folder = self.runner.workspace, self.inputs.artifact_dir
        try:
            artifact_file(workspace, folder, RESULTS_FILE).write(results.to_json())
            artifact_file(workspace, folder, REPORT_FILE).write(report)
        except UsageError as error:
            self.log(f"the report could not be kept: {error}")
            return {"results": "", "report": ""}
        return {"results": f"{folder}/{RESULTS_FILE}", "report": f"{folder}/{REPORT_FILE}"}

    def _tell_runner(self, what: str, write: Callable[[], None]) -> None:
        try:
            write()
        except OSError as error:
            self.log(f"{what} could not be written: {error.strerror}")

    def _tell_github(self, repository: Repository, results: Results, activity: Activity, code: int) -> str | None:
        """Write comment and status; the comment's address.

        The comment first: otherwise the second that lies between two writes would pass after it has been read, and
        what another run writes in that second would be lost. What got lost all the same is found after the status.
        """
        written = self._comment(repository, results, activity)
        self._set_status(repository, results, activity, code)
        if written is None:
            return None
        self._unless_refused(keep_section(written))
        return written.url

    def _comment(self, repository: Repository, results: Results, activity: Activity) -> Written | None:
        number = activity.pull_request
        if number is None or self.inputs.comment == "never":
            return None
        key = self.inputs.comment_key
        if self.inputs.comment == "changes" and _nothing_changed(results):
            there = attempt("the comment was not found", PERMISSION, lambda: find_comment(repository, number, key))
            if self._unless_refused(there) is None:
                return None
        if self._has_moved_on(repository, number, activity.head_of_pull_request):
            return None
        commit = results.head_commit or (results.sides["head"].commit if results.sides else None) or self.runner.sha
        section = compose_section(results, activity.section, commit, self.runner.run_url, _notes(activity))
        return self._unless_refused(write_section(repository, number, key, section))

    def _has_moved_on(self, repository: Repository, number: int, commit: str | None) -> bool:
        """Whether a newer commit is there: an older run that ends later must not overwrite that one's result."""
        if commit is None:
            return False
        try:
            now = get_pull_request(repository, number).head_sha
        except EvaluationError:
            return False  # writing the comment meets the same obstacle, and tells it
        if now != commit:
            self.log(f"no comment: pull request #{number} has moved on to {now[:7]}, whose own run will comment")
        return now != commit

    def _set_status(self, repository: Repository, results: Results, activity: Activity, code: int) -> None:
        if activity.status_commit is None:
            return
        key = self.inputs.comment_key
        # Never the key alone: where it is also the name of the required job, GitHub would demand that both pass.
        context = f"{key} ({'verdict' if activity.section == MAIN else activity.section})"
        state: State = "success" if code == 0 else "failure" if code == 1 else "error"
        self._unless_refused(
            set_status(repository, activity.status_commit, state, status_line(results), self.runner.run_url, context)
        )

    def _unless_refused(self, outcome: T | Refused) -> T | None:
        if isinstance(outcome, Refused):
            self.log(outcome.advice)
            return None
        return outcome


def _annotate_lines(results: Results, level: Level) -> None:
    for note in find_annotations(results):
        annotate(level, note.message, note.file, note.line, note.title)


def job_exit_code(results: Results, fail_on: FailOn) -> int:
    """The exit code of the job: the result's own, or 0 where ``fail_on`` lets it pass.

    Wrong usage and faults are always red: they say nothing of the answers, and nobody asked to overlook them.
    """
    code = exit_code(results)
    tolerated = {"inconclusive": (), "regression": (2,), "never": (1, 2)}[fail_on]
    return 0 if code in tolerated else code


def _measured(results: Results) -> dict[str, str]:
    """The outputs that say how it went; empty where there is no number."""
    metric = leading_metric(results)
    return {
        "verdict": results.verdict,
        "delta": _decimal(metric.delta if metric else None),
        "noise-band": _decimal(metric.noise_band if metric else None),
        "newly-unsupported": str(len(results.newly_unsupported)),
    }


def leading_metric(results: Results) -> MetricComparison | None:
    """The gated metric that decided, else the first gated one."""
    gated = [metric for metric in results.metrics.values() if metric.gated]
    return next((metric for metric in gated if metric.turns_red), gated[0] if gated else None)


def _nothing_changed(results: Results) -> bool:
    gated = [metric for metric in results.metrics.values() if metric.gated]
    return bool(gated) and results.failure is None and all(metric.method == "unchanged" for metric in gated)


def _notes(activity: Activity | None) -> Iterator[str]:
    """What stands above a result: the heading of its section, and what must be known about the commits."""
    if activity is not None and activity.heading:
        yield activity.heading
    if activity is not None and activity.note:
        yield f"> {escape_text(activity.note)}"
    if activity is not None and activity.caveat:
        yield activity.caveat


def _decimal(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"
