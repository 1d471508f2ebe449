"""Two evaluated sides to a verdict: pure functions of what was recorded."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from faithbot import __version__
from faithbot.accepted import stale_warning
from faithbot.cautions import find_cautions
from faithbot.claim_changes import ClaimChanges, find_claim_changes
from faithbot.gate import ALPHA, GateLook, compare_metric, look_at, step_down
from faithbot.judge.measured import is_measured_by
from faithbot.judge_trust import find_agreement, find_blind_spots, trust_warnings
from faithbot.levels import floor_standing, read_level
from faithbot.metrics import METRICS, Metric
from faithbot.noise import NoiseComparison, noise_of_mean
from faithbot.noise_parts import find_noise_sources
from faithbot.results import NO_USAGE, Look, MetricComparison, Results, SideName, Stopping
from faithbot.run_plan import RunPlan
from faithbot.side_table import SideTable, same_requests
from faithbot.slices import find_slices
from faithbot.verdict import NOTHING_CHANGED, decide, first_verdict, may_turn_red

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from faithbot.accepted import AcceptedEntry
    from faithbot.config import MetricName
    from faithbot.gate import Scores
    from faithbot.golden import Question
    from faithbot.judge.files import NamedCalibration
    from faithbot.judge.protocol import JudgeFingerprint
    from faithbot.results import AnswerRecord, ResultWarning, SettingChange, Side, Usage, Verdict

_OF_CLAIMS: tuple[MetricName, ...] = ("faithfulness", "contradiction_rate", "unsupported_per_answer")
"""Metrics that fall or rise with claims that lose their support."""
_NO_CLAIMS = ClaimChanges((), (), (), None, (), ())


@dataclass(frozen=True)
class Grading:
    """How the sides are graded."""

    questions: tuple[Question, ...]
    gate: Mapping[MetricName, float]
    """Gated metrics with their smallest effect that counts."""
    min_coverage: float
    fingerprint: JudgeFingerprint
    graded_by: SideName = "base"
    """Whose golden set, judge and gate these are."""
    accepted: tuple[AcceptedEntry, ...] = ()
    """Unsupported claims of these questions that the team accepts."""
    floors: Mapping[MetricName, float] = field(default_factory=dict)
    """The worst level that a metric may have, for those that have a floor."""
    plan: RunPlan | None = None
    """Fewest and most runs of each side; None where their number was fixed."""
    calibration: NamedCalibration | None = None
    """What the team measured of a judge, be it this one or another."""


def compare(
    grading: Grading,
    sides: Mapping[SideName, Side],
    *,
    runs: int,
    changes: Sequence[SettingChange],
    usage: Usage,
    notices: Sequence[ResultWarning] = (),
) -> Results:
    """The whole comparison: metrics, verdict, claims that changed, warnings. Without a base, the first evaluation.

    ``notices`` are warnings that the records do not show, such as a branch that is behind.
    """
    tables = {name: SideTable(grading.questions, side.answers, runs) for name, side in sides.items()}
    applicable = _applicable(grading)
    if "base" in tables:
        found = _compare_sides(grading, sides, tables, applicable, runs)
    else:
        found = _first_evaluation(grading, tables["head"], applicable)
    agreement = find_agreement(grading.fingerprint, grading.calibration, sides)
    return Results(
        faithbot_version=__version__,
        verdict=found.verdict,
        reason=found.reason,
        metrics=found.metrics,
        slices=found.slices,
        noise_sources=find_noise_sources(_gated(applicable, grading), list(tables.values()), grading.fingerprint),
        newly_unsupported=found.claims.newly_unsupported,
        expected_by_chance=found.claims.expected_by_chance,
        no_longer_unsupported=found.claims.no_longer_unsupported,
        sporadic=found.claims.sporadic,
        accepted=found.claims.accepted,
        warnings=(
            *find_cautions(found.metrics, tables, sides, grading.fingerprint, notices),
            *trust_warnings(agreement, grading.fingerprint, grading.calibration),
            *stale_warning(found.claims.stale),
        ),
        fingerprint=grading.fingerprint,
        agreement=agreement,
        blind_spots=find_blind_spots(grading.fingerprint, grading.calibration),
        sides=dict(sides),
        changes=tuple(changes),
        questions=grading.questions,
        runs=runs,
        stopping=found.stopping,
        usage=usage,
        graded_by=grading.graded_by,
    )


@dataclass(frozen=True)
class _Found:
    """What the answers and their judgements tell."""

    verdict: Verdict
    reason: str
    metrics: dict[str, MetricComparison]
    claims: ClaimChanges = _NO_CLAIMS
    slices: dict[str, dict[str, MetricComparison]] = field(default_factory=dict)
    stopping: Stopping | None = None


def _first_evaluation(grading: Grading, head: SideTable, applicable: Sequence[Metric]) -> _Found:
    verdict, reason = first_verdict(head, grading)
    return _Found(verdict, reason, _single_side(applicable, head, grading))


def _compare_sides(
    grading: Grading,
    sides: Mapping[SideName, Side],
    tables: Mapping[SideName, SideTable],
    applicable: Sequence[Metric],
    runs: int,
) -> _Found:
    scores, unchanged = _scores(applicable, tables), _unchanged(tables)
    looks = _looks(scores, unchanged, grading, runs)
    metrics = _compare_metrics(scores, unchanged, grading, looks[-1])
    verdict, reason = decide(metrics, tables, unchanged, grading)
    claims = find_claim_changes(
        grading.questions,
        sides["base"].answers,
        sides["head"].answers,
        grading.accepted,
        got_worse=any(metrics[name].flagged for name in _OF_CLAIMS if name in metrics),
    )
    slices = find_slices(_gated(applicable, grading), tables["base"], tables["head"], unchanged)
    red_by_floor = verdict == "regression" and not looks[-1].flagged
    stopping = _stopping(grading.plan, looks, red_by_floor=red_by_floor)
    return _Found(verdict, reason, metrics, claims, slices, stopping)


def _gated(applicable: Sequence[Metric], grading: Grading) -> list[Metric]:
    return [metric for metric in applicable if metric.name in grading.gate]


def compare_without_work(
    questions: Sequence[Question],
    gated: Iterable[MetricName],
    sides: Mapping[SideName, Side],
    *,
    runs: int,
    changes: Sequence[SettingChange],
) -> Results:
    """The comparison of sides that give the same answers because nothing differs that these depend on.

    Nothing was asked, so there are no levels; the change of every gated metric is known to be exactly 0.
    """
    unchanged: dict[str, MetricComparison] = {
        name: MetricComparison(
            base=None,
            head=None,
            delta=0.0,
            noise_band=0.0,
            p_value=1.0,
            flagged=False,
            smallest_detectable=0.0,
            n_questions=len(questions),
            n_either=len(questions),
            gated=True,
            better=METRICS[name].better,
            n_unchanged=len(questions),
            method="unchanged",
        )
        for name in gated
    }
    return Results(
        faithbot_version=__version__,
        verdict="pass",
        reason=NOTHING_CHANGED,
        metrics=unchanged,
        fingerprint=None,
        sides=dict(sides),
        changes=tuple(changes),
        questions=tuple(questions),
        runs=runs,
        usage=NO_USAGE,
    )


def questions_to_ask_again(
    grading: Grading, answers: Mapping[SideName, Sequence[AnswerRecord]], runs: int
) -> tuple[Question, ...]:
    """Which questions another run is worth after ``runs`` of them; none where it could not change the verdict.

    A question that is known to be unchanged is never among them. Nothing is asked again where the verdict is settled by
    something else than the change: too few questions, or a floor.
    """
    if grading.plan is None or runs >= grading.plan.most or "base" not in answers:
        return ()
    tables = {name: SideTable(grading.questions, records, runs) for name, records in answers.items()}
    unchanged = _unchanged(tables)
    scores = _scores([metric for metric in _applicable(grading) if metric.name in grading.gate], tables)
    look = look_at(scores, unchanged, grading.gate, grading.plan, runs)
    metrics = _compare_metrics(scores, unchanged, grading, look)
    if not may_turn_red(metrics, tables, unchanged, grading, look):
        return ()
    return tuple(question for question, same in zip(grading.questions, unchanged, strict=True) if not same)


def _applicable(grading: Grading) -> list[Metric]:
    return [metric for metric in METRICS.values() if is_measured_by(grading.fingerprint, metric)]


def _scores(applicable: Sequence[Metric], tables: Mapping[SideName, SideTable]) -> Scores:
    return {metric.name: (tables["base"].scores(metric), tables["head"].scores(metric)) for metric in applicable}


def _unchanged(tables: Mapping[SideName, SideTable]) -> NDArray[np.bool_]:
    return np.array([same_requests(*rows) for rows in zip(tables["base"].rows, tables["head"].rows, strict=True)])


def _looks(scores: Scores, unchanged: NDArray[np.bool_], grading: Grading, runs: int) -> list[GateLook]:
    """All looks up to the one that ``runs`` runs allow; a single one where their number was fixed."""
    plan = grading.plan or RunPlan(runs, runs)
    return [look_at(scores, unchanged, grading.gate, plan, done) for done in range(plan.fewest, runs + 1)]


def _stopping(plan: RunPlan | None, looks: Sequence[GateLook], *, red_by_floor: bool) -> Stopping | None:
    if plan is None:
        return None
    return Stopping(
        fewest=plan.fewest,
        most=plan.most,
        reason=None if red_by_floor else looks[-1].stop,
        looks=tuple(
            Look(
                runs=look.runs,
                level=look.level,
                alpha_spent=look.alpha_spent,
                p_values={name: found.p_value for name, found in look.comparisons.items()},
                chance_of_regression=max(look.chances.values(), default=0.0),
            )
            for look in looks
        ),
    )


def _compare_metrics(
    scores: Scores, unchanged: NDArray[np.bool_], grading: Grading, look: GateLook
) -> dict[str, MetricComparison]:
    """All metrics that say something on both sides, at the level of the last look.

    The gated ones share alpha for a change for the better as they do for the worse; so do those that are not gated,
    among themselves: of ten metrics that are tested alone, one looks moved on most pull requests that move none.
    """
    test = partial(_test_metric, scores, unchanged, grading, look)
    worse = {name: look.comparisons.get(name) or test(name) for name in scores}
    shown = [name for name in scores if worse[name].n_questions or name in grading.gate]
    better = {name: test(name, for_the_better=True) for name in shown}
    further = {name: worse[name] for name in shown if name not in grading.gate}
    worsened = step_down(further, look.plan, look.runs)
    improved = step_down({name: found for name, found in better.items() if name in grading.gate}, look.plan, look.runs)
    improved |= step_down({name: better[name] for name in further}, look.plan, look.runs)
    return {
        name: _metric_comparison(
            METRICS[name],
            worse[name],
            scores[name],
            grading,
            look,
            worsened=name in worsened,
            improved=name in improved,
        )
        for name in shown
    }


def _test_metric(
    scores: Scores,
    unchanged: NDArray[np.bool_],
    grading: Grading,
    look: GateLook,
    name: MetricName,
    *,
    for_the_better: bool = False,
) -> NoiseComparison:
    return compare_metric(
        name,
        *scores[name],
        unchanged=unchanged,
        level=look.level,
        min_effect=grading.gate.get(name, 0.0),
        for_the_better=for_the_better,
    )


def _metric_comparison(
    metric: Metric,
    noise: NoiseComparison,
    sides: tuple[NDArray[np.float64], NDArray[np.float64]],
    grading: Grading,
    look: GateLook,
    *,
    worsened: bool,
    improved: bool,
) -> MetricComparison:
    nothing_compared = noise.n_questions == 0
    scored = [~np.isnan(side).all(axis=1) for side in sides]
    compared = scored[0] & scored[1]
    floor = grading.floors.get(metric.name)
    return MetricComparison(
        base=_number(noise.base_mean),
        head=_number(noise.head_mean),
        delta=_number(noise.delta),
        noise_band=None if nothing_compared else _number(noise.noise_band),
        p_value=None if nothing_compared else noise.p_value,
        flagged=metric.name in look.flagged,
        smallest_detectable=_number(
            noise.smallest_detectable * (look.detectable_factor if noise.measured_noise else 1)
        ),
        n_questions=noise.n_questions,
        n_either=int((scored[0] | scored[1]).sum()),
        gated=metric.name in grading.gate,
        better=metric.better,
        worsened=worsened,
        improved=improved,
        interval=noise.interval,
        n_unchanged=noise.n_unchanged,
        method=noise.method,
        measured_noise=noise.measured_noise,
        run_means={"base": _run_means(sides[0]), "head": _run_means(sides[1])},
        min_effect=grading.gate.get(metric.name, 0.0),
        reading=read_level(metric.name, _number(noise.head_mean)),
        floor=floor,
        floor_standing=None
        if floor is None
        else floor_standing(metric, floor, sides[0][compared], sides[1][compared], look.level),
    )


def _number(value: float) -> float | None:
    """JSON has no NaN and no infinity."""
    return value if math.isfinite(value) else None


def _run_means(scores: NDArray[np.float64]) -> tuple[float | None, ...]:
    """Mean of each run; a question without a score in it counts with its other runs, lest its lack move the mean."""
    scored = scores[~np.isnan(scores).all(axis=1)]
    if not len(scored):
        return tuple(None for _ in scores.T)
    filled = np.where(np.isnan(scored), np.nanmean(scored, axis=1, keepdims=True), scored)
    return tuple(
        None if np.isnan(run).all() else float(run_filled.mean())
        for run, run_filled in zip(scored.T, filled.T, strict=True)
    )


def _single_side(applicable: Sequence[Metric], head: SideTable, grading: Grading) -> dict[str, MetricComparison]:
    """Means of the only side there is, with the noise that its own runs measured."""
    comparisons: dict[str, MetricComparison] = {}
    for metric in applicable:
        scores = head.scores(metric)
        if np.isnan(scores).all() and metric.name not in grading.gate:
            continue
        alone = noise_of_mean(scores, alpha=ALPHA)
        floor = grading.floors.get(metric.name)
        comparisons[metric.name] = MetricComparison(
            base=None,
            head=_number(alone.mean),
            delta=None,
            noise_band=_number(alone.noise_band),
            p_value=None,
            flagged=False,
            smallest_detectable=None,
            n_questions=alone.n_questions,
            n_either=alone.n_questions,
            gated=metric.name in grading.gate,
            better=metric.better,
            measured_noise=alone.measured_noise,
            run_means={"head": _run_means(scores)},
            min_effect=grading.gate.get(metric.name, 0.0),
            reading=read_level(metric.name, _number(alone.mean)),
            floor=floor,
            floor_standing=None if floor is None else floor_standing(metric, floor, None, scores, ALPHA),
        )
    return comparisons
