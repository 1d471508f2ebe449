"""What `faithbot calibrate` says: plain text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from tabulate import tabulate

from faithbot.intervals import share
from faithbot.judge.calibration import FEWEST_TO_CORRECT, Estimate, PeopleLabel
from faithbot.judge.protocol import Support
from faithbot.judge_trust import WEAK_KAPPA, may_be_weak
from faithbot.measure_agreement import SURE
from faithbot.plain_text import count, plain, two_decimals
from faithbot.report.wording import p_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faithbot.calibrate import Calibrated
    from faithbot.judge.calibration import Agreement
    from faithbot.measure_agreement import Limits

_MOST_PROBLEMS = 5
_SPOKEN = {"supported": "supported", "contradicted": "contradicted", "not_found": "not found"}
_SUPPORTS: tuple[Support, ...] = get_args(Support)
_LABELS: tuple[PeopleLabel, ...] = get_args(PeopleLabel)
_CHANCE = {"balanced accuracy": "0.50", "AUC": "0.50", "Cohen's κ": "0"}


def render_agreement(calibrated: Calibrated) -> str:
    """Figures, confusion, categories, and what to do with the file; no markup, no control characters."""
    agreement = calibrated.measured.agreement
    blocks = [
        _subject(calibrated),
        *_problems(calibrated),
        _figures(calibrated),
        _confusion(agreement),
        *_categories(agreement),
        "\n".join(_use(calibrated)),
        _written(calibrated),
    ]
    return "\n\n".join(blocks)


def _subject(calibrated: Calibrated) -> str:
    fingerprint, agreement = calibrated.fingerprint, calibrated.measured.agreement
    model = f" with {plain(fingerprint.model, 80)}" if fingerprint.model else ""
    supported = sum(agreement.confusion.get("supported", {}).values())
    unscored = f"; {agreement.unscored} more could not be scored" if agreement.unscored else ""
    return (
        f"The judge `{fingerprint.method}`{model} on {count(agreement.n, 'labelled claim')}, of which people hold "
        f"{supported} supported{unscored}. It agrees with them on {agreement.agreed}."
    )


def _problems(calibrated: Calibrated) -> Iterator[str]:
    problems = calibrated.labelled.problems
    if problems:
        more = [f"{count(len(problems) - _MOST_PROBLEMS, 'more row')}"] if len(problems) > _MOST_PROBLEMS else []
        shown = [plain(problem, 200) for problem in problems[:_MOST_PROBLEMS]]
        yield "\n".join([f"{count(len(problems), 'row')} left out:", *(f"  {line}" for line in shown + more)])


def _figures(calibrated: Calibrated) -> str:
    measured = calibrated.measured
    columns = {"as it is": measured.as_it_is}
    if measured.calibrated is not None:
        own, calibrated_limit = ("not used", "used") if measured.decides_support else ("used", "not used")
        columns = {
            f"its own limit ({own})": measured.as_it_is,
            f"calibrated 0.5 ({calibrated_limit})": measured.calibrated,
        }
    rows = [
        [name, *(_interval(_figure(agreement, name)) for agreement in columns.values()), chance]
        for name, chance in _CHANCE.items()
    ]
    return tabulate(rows, headers=["(95 % interval)", *columns, "chance"], tablefmt="simple", disable_numparse=True)


def _figure(agreement: Agreement, name: str) -> Estimate | None:
    return {
        "balanced accuracy": agreement.balanced_accuracy,
        "AUC": agreement.auc,
        "Cohen's κ": agreement.kappa,
    }[name]


def _interval(estimate: Estimate | None) -> str:
    if estimate is None:
        return "-"
    return f"{two_decimals(estimate.value)} ({two_decimals(estimate.low)} to {two_decimals(estimate.high)})"


def _confusion(agreement: Agreement) -> str:
    rows = [
        [label.replace("_", " "), *(agreement.confusion[label].get(support, 0) for support in _SUPPORTS)]
        for label in _LABELS
        if label in agreement.confusion
    ]
    return tabulate(rows, headers=["people say \\ judge says", *_SPOKEN.values()], tablefmt="simple")


def _categories(agreement: Agreement) -> Iterator[str]:
    rows = []
    for name, category in agreement.by_category.items():
        agreed = Estimate(**share(category.agreed, category.n)._asdict())
        rows.append([plain(name, 60), category.n, _interval(agreed)])
    if rows:
        yield tabulate(rows, headers=["category", "claims", "agrees"], tablefmt="simple", disable_numparse=True)


def _use(calibrated: Calibrated) -> Iterator[str]:
    """What the figures are good for: calibration, and the correction of the mean."""
    measured = calibrated.measured
    if measured.agreement.kappa.value < WEAK_KAPPA:
        yield f"With κ below {WEAK_KAPPA} judge and people hardly agree, and reports say so: try a stronger judge."
    if measured.calibration is not None:
        slope, intercept = measured.calibration.slope, measured.calibration.intercept
        sign = "+" if intercept >= 0 else "−"
        yield f"Calibrated P(supported) = sigmoid({slope:.2f} × logit(P) {sign} {abs(intercept):.2f})."
    else:
        yield f"Not calibrated: {measured.why_not}."
    if measured.limits is not None:
        yield _limit(measured.limits, decides_support=measured.decides_support)
    yield _correction(measured.agreement)


def _limit(limits: Limits, *, decides_support: bool) -> str:
    """Which limit decides, and why."""
    if not limits.differ:
        return "The judge's own limit stays: a calibrated 0.5 would decide each claim the same way."
    wins = (
        f"the two decide {count(limits.differ, 'claim')} differently, and people agree with 0.5 on "
        f"{limits.calibrated_right} of them ({p_text(limits.p_value)})"
    )
    if decides_support:
        return (
            f"From a calibrated 0.5 on a claim is supported: {wins}. Levels will move with that limit, so look at "
            "floors anew."
        )
    return f"The judge's own limit stays: {wins}. 0.5 takes its place only with a higher κ and p up to {SURE}."


def _correction(agreement: Agreement) -> str:
    if agreement.moments is None:
        return f"{count(agreement.n, 'claim')} are too few to correct a mean: label at least {FEWEST_TO_CORRECT}."
    if may_be_weak(agreement.kappa):
        return (
            f"Reports do not correct the share of supported claims: κ may be as low as "
            f"{two_decimals(agreement.kappa.low)}, and they do from {WEAK_KAPPA} on. Label more claims, or try a "
            "stronger judge."
        )
    return (
        "Reports correct the share of supported claims by them where their claims are like these. Label claims as your "
        "system really makes them."
    )


def _written(calibrated: Calibrated) -> str:
    lines = [plain(calibrated.given_up)] if calibrated.given_up else []
    return "\n".join([*lines, *_next_step(calibrated)])


def _next_step(calibrated: Calibrated) -> Iterator[str]:
    settings, written = calibrated.settings, f"Written: {plain(str(calibrated.path))}."
    if calibrated.setting is None:
        yield f"{written} That is outside the repository, where faithbot.yaml cannot name it: choose another --output."
        return
    if calibrated.measured.agreement.moments is None:
        yield f"{written} Label more claims before you commit it."
        return
    model = f', model: "{settings.model}"' if settings.model else ""
    yield f"{written} Commit it, and let faithbot.yaml say:"
    yield f"  judge: {{method: {settings.method}{plain(model)}, calibration: {plain(calibrated.setting)}}}"
