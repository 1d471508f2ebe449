"""Which judge measures what: a metric that nobody measures is told before any model is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from faithbot.config import FurtherMetric
from faithbot.errors import UsageError
from faithbot.metrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faithbot.config import Config, JudgeSettings, LoadedConfig, MetricName
    from faithbot.judge.protocol import JudgeFingerprint
    from faithbot.metrics import Metric

WITHOUT_CLAIMS = ("label", "recorded")
"""Judges that give one score to a whole answer."""
WITHOUT_CALLS = ("evidence", "classifier")
"""Judges that call no language model: what they can measure is free, and each time the same."""
_SCORED: tuple[MetricName, ...] = ("faithfulness", "answer_relevance")
"""What `recorded` reads from a column each."""
_FURTHER: tuple[FurtherMetric, ...] = get_args(FurtherMetric)


def require_measured(loaded: LoadedConfig, judge: JudgeSettings) -> None:
    """:class:`UsageError` with the place of the first wanted metric that ``judge`` does not measure."""
    for name, place in _wanted(loaded):
        if not _measures(judge, METRICS[name]):
            if name in loaded.config.gate and "gate" not in loaded.document.value:
                raise UsageError(_default_gate(loaded, judge, name))
            cure = _cure(name, judge)
            raise UsageError(f"{place}: the judge `{judge.method}` does not measure {name} here: {cure}.")


def further_metrics(config: Config, judge: JudgeSettings) -> frozenset[FurtherMetric]:
    """What ``judge`` measures besides its judgement: all that it can where that is free, else what is wanted."""
    return frozenset(
        name
        for name in _FURTHER
        if judge.method != "recorded"
        and _measures(judge, METRICS[name])
        and (judge.method in WITHOUT_CALLS or name in config.gate or name in config.measure)
    )


def _wanted(loaded: LoadedConfig) -> Iterator[tuple[MetricName, str]]:
    """Gated metrics and those to measure, each with its place."""
    for name in loaded.config.gate:
        yield name, loaded.place("gate", name)
    for index, further in enumerate(loaded.config.measure):
        yield further, loaded.place("measure", index)


def is_measured_by(fingerprint: JudgeFingerprint, metric: Metric) -> bool:
    """Whether a metric that is scored by a judge of this fingerprint says anything."""
    if metric.name == "contradiction_rate" and fingerprint.method == "classifier":
        return "contradicted" in fingerprint.options["labels"].values()
    return not (metric.needs_claims and fingerprint.method in WITHOUT_CLAIMS)


def _measures(judge: JudgeSettings, metric: Metric) -> bool:
    if metric.name == "contradiction_rate" and judge.method == "classifier":
        return "contradicted" in judge.labels  # known from the settings alone: the model is not loaded yet
    if metric.needs_claims:
        return judge.method not in WITHOUT_CLAIMS
    if judge.method == "recorded":
        return metric.name in judge.scores if metric.name in _SCORED else metric.name not in _FURTHER
    return metric.name != "answer_relevance" or judge.method not in WITHOUT_CALLS


def _default_gate(loaded: LoadedConfig, judge: JudgeSettings, name: MetricName) -> str:
    """A gate that nobody wrote is measured by every judge but `recorded`, which may have no column for it."""
    scored = ", ".join(judge.scores)
    return (
        f"{loaded.place('judge', 'scores')}: `gate` is missing, so {name} is gated, and no column is named for it: "
        f"write `gate: [{scored}]`, or name one, such as `scores: {{{name}: COLUMN}}`."
    )


def _cure(name: MetricName, judge: JudgeSettings) -> str:
    if name == "contradiction_rate" and judge.method == "classifier":
        return "say which label of the model means it, `labels: {supported: LABEL, contradicted: LABEL}`"
    by_column = f"`recorded` with its column, such as `scores: {{{name}: COLUMN}}`"
    cures: dict[MetricName, str] = {
        "faithfulness": f"every other does, and so does {by_column}",
        "answer_relevance": f"a judge with a model does, such as `claims`, and so does {by_column}",
        "answer_correctness": "every judge but `recorded` does",
        "context_recall": "every judge but `recorded` does",
    }
    return cures.get(name, "`evidence` and `claims` do")
