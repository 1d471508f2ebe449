"""The words and numbers of a report: plain text, no markup. Callers escape it for the place where it will stand."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from faithbot.metrics import label, questions_moved
from faithbot.plain_text import count

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from faithbot.results import MetricComparison, Results, ResultWarning

_MOST_DECIMALS = 6
_NOTHING = 0.5 * 10**-_MOST_DECIMALS
"""Smaller values are left-overs of floating point."""
_LARGE = 1e6
"""From here on three digits say enough."""
_MOST_NAMED = 3
_TOLD_BY_HEADLINE = ("more_abstentions", "answered_on_one_side")
"""Codes of warnings that say of a metric what a headline may say, too."""
_BEYOND_ITS_BAND = "above its noise, but may be chance"
"""By the p-value: chance deals the runs like this more often than is allowed."""
_BEYOND_ITS_OWN_BAND = "above its own noise, but may be chance among several metrics"
"""The band is that of a metric tested alone; those that nobody gates share the 5 % (Holm)."""


# Numbers


def number(value: float, decimals: int = 2) -> str:
    """``0.79``, ``−0.12``; exactly nothing is ``0``, and nothing else looks like it: 0.004 is ``0.004``."""
    size = abs(value)
    if size < _NOTHING:
        return "0"
    while decimals < _MOST_DECIMALS and not _rounded(size, decimals):
        decimals += 1
    digits = f"{size:.{decimals}f}" if size < _LARGE else f"{size:.3g}"
    return f"−{digits}" if value < 0 else digits


def at_least(value: float, decimals: int = 2) -> str:
    """Like `number`, rounded up: a change that is promised to be seen must not be smaller than what is."""
    if abs(value) >= _LARGE:
        return number(value, decimals)
    while decimals < _MOST_DECIMALS and value < 0.5 * 10.0**-decimals:
        decimals += 1
    return number(math.ceil(value * 10**decimals - _NOTHING) / 10**decimals, decimals)


def signed(value: float, decimals: int = 2) -> str:
    """``+0.02``, ``−0.12``, ``0``."""
    return f"+{number(value, decimals)}" if value >= _NOTHING else number(value, decimals)


def decimals_for(metric: MetricComparison) -> int:
    """Decimals, 2 or more, with which the change is not 0 unless it is, and stands on the right side of the noise.

    A change of 0.042 against a noise of 0.038 would else read "fell by 0.04, noise is ±0.04".
    """
    return next((d for d in range(2, _MOST_DECIMALS) if _is_honest(metric, d)), _MOST_DECIMALS)


def table_decimals_for(metric: MetricComparison) -> int:
    """Like `decimals_for`, but one more where base + change would not make head in the rounded numbers.

    In a row of its own a reader does the sum; where even that does not add up, it is off by 0.001, not by 0.01.
    """
    fewest = decimals_for(metric)
    one_more = min(fewest + 1, _MOST_DECIMALS)
    return fewest if _adds_up(metric, fewest) or not _is_honest(metric, one_more) else one_more


def common_decimals(metrics: Collection[MetricComparison]) -> int:
    """Decimals for all rows of one table: as many as the row needs that needs most, and honest in each of them."""
    fewest = max(map(table_decimals_for, metrics), default=2)
    decimals = range(fewest, _MOST_DECIMALS)
    return next((d for d in decimals if all(_is_honest(metric, d) for metric in metrics)), _MOST_DECIMALS)


def _is_honest(metric: MetricComparison, decimals: int) -> bool:
    change = abs(metric.delta or 0.0)
    limits = (0.0, metric.noise_band or 0.0, metric.min_effect)
    return all(
        (change - limit >= _NOTHING) == (_rounded(change, decimals) - _rounded(limit, decimals) >= _NOTHING)
        for limit in limits
    )


def _adds_up(metric: MetricComparison, decimals: int) -> bool:
    if metric.base is None or metric.head is None or metric.delta is None:
        return True
    base, head, delta = (_rounded(value, decimals) for value in (metric.base, metric.head, metric.delta))
    return abs(base + delta - head) < 0.5 * 10.0**-decimals


def _rounded(value: float, decimals: int) -> float:
    return float(f"{value:.{decimals}f}")


def p_text(p: float) -> str:
    """``p = 0.004``: never rounded down to 0 or up to 1, three decimals where decisions are made."""
    if p < 0.001:
        return "p < 0.001"
    if p > 0.99:
        return "p > 0.99"
    return f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"


def duration(seconds: float) -> str:
    """``4.2 s``, ``3 min 10 s``, ``1 h 2 min``."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


# What a change means


def meaning(metric: MetricComparison) -> str:
    """The change in plain words: ``larger than noise (p = 0.004)``, ``within noise``, ``below its floor of 0.65``.

    The p-value belongs to "did it get worse?", so it stands only beside a change for the worse.
    """
    beyond = _limit(metric) if metric.floor_standing == "broken" else ""
    if metric.delta is None or (beyond and not metric.flagged):
        return beyond
    return f"{_size_of_change(metric)}, {beyond}" if beyond else _size_of_change(metric)


def _size_of_change(metric: MetricComparison) -> str:
    if is_unchanged(metric):
        return "unchanged"
    p = _p_in_brackets(metric)
    if moved_clearly(metric):
        return f"larger than noise{p}"
    change = abs(metric.delta or 0.0)
    if change < _NOTHING:
        return "no change"
    if not has_noise(metric):
        return f"not clearly more than chance{p}"
    if change <= (metric.noise_band or 0.0):
        return f"within noise{p}"
    if change < metric.min_effect:
        return f"too small to count{p}"
    return f"{_BEYOND_ITS_BAND if metric.gated else _BEYOND_ITS_OWN_BAND}{p}"


def moved_clearly(metric: MetricComparison) -> bool:
    """Better or worse by more than the noise, whether it is gated or not."""
    return metric.flagged or metric.worsened or metric.improved


def is_unchanged(metric: MetricComparison) -> bool:
    """Every question was asked with the same request on both sides."""
    return 0 < metric.n_questions <= metric.n_unchanged


def has_noise(metric: MetricComparison) -> bool:
    """Its runs measured the noise, be it 0; one run a side measures none."""
    return metric.noise_band is not None and metric.measured_noise


def _p_in_brackets(metric: MetricComparison) -> str:
    worse = (metric.delta or 0.0) < 0 if metric.better == "higher" else (metric.delta or 0.0) > 0
    return f" ({p_text(metric.p_value)})" if worse and metric.p_value is not None else ""


def headline(results: Results, *, measured_alone: bool = False) -> str:
    """The verdict in one sentence, without its mark.

    ``measured_alone``: one side is all that was wanted, so that the lack of another is nothing to mention.
    """
    gated = {name: metric for name, metric in results.metrics.items() if metric.gated}
    sentences = {"regression": _regression, "pass": _pass, "first": _alone if measured_alone else _first}
    make = sentences.get(results.verdict)
    reason = results.reason.strip().rstrip(".")
    if make is None:
        return f"Cannot tell: {reason}"
    return (make(gated) or reason) + _beside(results, [_failing(results), _unanswered(results)])


def notes(results: Results) -> list[ResultWarning]:
    """The warnings, without a first sentence that the headline begins to say in the same words."""
    told = headline(results).casefold()
    left = []
    for warning in results.warnings:
        sentence, _, rest = warning.message.partition(". ")
        if warning.code not in _TOLD_BY_HEADLINE or sentence.partition(";")[0].casefold() not in told:
            left.append(warning)
        elif rest:
            left.append(warning.model_copy(update={"message": rest}))
    return left


def _beside(results: Results, clauses: Iterable[str]) -> str:
    """``, but 1 question fails and 4 more questions are not answered``: what the numbers before it leave out."""
    link = "and" if results.verdict == "regression" else "but"
    told = " and ".join(filter(None, clauses))
    return f", {link} {told}" if told else ""


def _failing(results: Results) -> str:
    """``1 question fails``: on this pull request only."""
    n = sum(len(warning.question_ids) for warning in results.warnings if warning.code == "head_failed")
    return f"{count(n, 'question')} {'fails' if n == 1 else 'fail'}" if n else ""


def _unanswered(results: Results) -> str:
    """``4 more questions are not answered``: who answers less invents less. Empty within the noise."""
    shift = results.metrics.get("abstention_rate")
    if shift is None or shift.gated or (more := questions_moved(shift)) < 1:
        return ""
    if (shift.delta or 0.0) <= (shift.noise_band or 0.0):
        return ""
    return f"{count(more, 'more question')} {'is' if more == 1 else 'are'} not answered"


def _regression(gated: dict[str, MetricComparison]) -> str:
    flagged = {name: metric for name, metric in gated.items() if metric.flagged}
    broken = [beyond_floor(name, metric) for name, metric in gated.items() if metric.floor_standing == "broken"]
    moved = [_moved(flagged, "noise is")] if flagged else []
    return _sentence([*moved, *broken], len(moved) + len(broken))


def beyond_floor(name: str, metric: MetricComparison, link: str = " is") -> str:
    """``faithfulness 0.58 is below its floor of 0.65``, with as many decimals as it takes for the two to differ."""
    level, floor = metric.head or 0.0, metric.floor or 0.0
    decimals = next((d for d in range(2, _MOST_DECIMALS) if _rounded(level, d) != _rounded(floor, d)), _MOST_DECIMALS)
    return f"{label(name)} {number(level, decimals)}{link} {_limit(metric)}"


def _limit(metric: MetricComparison) -> str:
    """``below its floor of 0.65``; for metrics that are better when lower it is a ceiling."""
    limit = "below its floor" if metric.better == "higher" else "above its ceiling"
    return f"{limit} of {number(metric.floor or 0.0)}"


def _pass(gated: dict[str, MetricComparison]) -> str:
    scored = {name: metric for name, metric in gated.items() if metric.delta is not None}
    if scored and all(is_unchanged(metric) for metric in scored.values()):
        return "Nothing that the answers depend on changed"
    improved = {name: metric for name, metric in scored.items() if metric.improved}
    return _moved(improved, "noise") if improved else _steady(scored)


def _first(gated: dict[str, MetricComparison]) -> str:
    level = _level(gated)
    return f"First evaluation: {level}, nothing to compare with yet" if level else ""


def _alone(gated: dict[str, MetricComparison]) -> str:
    return _sentence([_level(gated)], 1)


def _level(gated: dict[str, MetricComparison]) -> str:
    """``faithfulness 0.91 ± 0.03``, of the first gated metric that has a level."""
    for name, metric in gated.items():
        if metric.head is not None:
            band = f" ± {number(metric.noise_band)}" if metric.noise_band else ""
            return f"{label(name)} {number(metric.head)}{band}"
    return ""


def _moved(metrics: dict[str, MetricComparison], noise_word: str) -> str:
    """``Faithfulness fell by 0.12, noise is ±0.04; contradiction rate rose by 0.08 (±0.03)``."""
    clauses: list[str] = []
    for name, metric in list(metrics.items())[:_MOST_NAMED]:
        delta, decimals = metric.delta or 0.0, decimals_for(metric)
        clause = f"{label(name)} {'fell' if delta < 0 else 'rose'} by {number(abs(delta), decimals)}"
        if clauses:
            clause += f" (±{number(metric.noise_band, decimals)})" if metric.noise_band else ""
        elif metric.noise_band:
            clause += f", {noise_word} ±{number(metric.noise_band, decimals)}"
        elif metric.p_value is not None:
            clause += f", unlikely to be chance ({p_text(metric.p_value)})"
        clauses.append(clause)
    return _sentence(clauses, len(metrics))


def _steady(metrics: dict[str, MetricComparison]) -> str:
    """``No change in faithfulness beyond noise: 0.91 → 0.90, noise ±0.03; contradiction rate 0.02 → 0.03 (±0.02)``."""
    clauses: list[str] = []
    for name, metric in list(metrics.items())[:_MOST_NAMED]:
        decimals = decimals_for(metric)
        levels = f"{number(metric.base or 0.0, decimals)} → {number(metric.head or 0.0, decimals)}"
        noise = f"±{number(metric.noise_band, decimals)}" if metric.noise_band else ""
        if clauses:
            clauses.append(f"{label(name)} {levels}" + (f" ({noise})" if noise else ""))
        else:
            clauses.append(f"{_no_change(label(name), metric)}: {levels}" + (f", noise {noise}" if noise else ""))
    return _sentence(clauses, len(metrics))


def _no_change(name: str, metric: MetricComparison) -> str:
    change, band = abs(metric.delta or 0.0), metric.noise_band or 0.0
    if change < _NOTHING:
        return f"No change in {name}"
    if change <= band:
        return f"No change in {name} beyond noise"
    if change < metric.min_effect:
        return f"No change in {name} that counts"
    return f"No clear change in {name}{_p_in_brackets(metric)}"


def _sentence(clauses: list[str], total: int) -> str:
    if total > len(clauses):
        clauses = [*clauses, f"and {total - len(clauses)} more"]
    text = "; ".join(clauses)
    return text[:1].upper() + text[1:]
