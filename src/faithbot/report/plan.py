"""What `faithbot plan` says: plain text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tabulate import tabulate

from faithbot.metrics import label
from faithbot.plain_text import count, plain
from faithbot.report.wording import at_least, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faithbot.planning import Plan, RunsPlan

_WIDTH = 40


def render_plan(plan: Plan) -> str:
    """What it takes, as a table, and what other numbers of questions would see, as a curve."""
    return "\n\n".join([_opening(plan), _needed(plan), _seen(plan.options[0], plan), *_judge(plan)])


def _judge(plan: Plan) -> Iterator[str]:
    if plan.judge is not None:
        model = f" with {plain(plan.judge.model, 80)}" if plan.judge.model else ""
        yield f"This is for the judge `{plain(plan.judge.method, 80)}`{model}: another has its own noise."


def _opening(plan: Plan) -> str:
    ignored = f"; the gate ignores up to {number(plan.min_effect)}" if plan.min_effect else ""
    return (
        f"To see {label(plan.metric)} change by {number(plan.drop)} for the worse in 8 of 10 comparisons, if it "
        f"is spread over all questions (one run of a question varies by ±{number(plan.variance**0.5)}, measured on "
        f"{count(plan.n_questions, 'question')}{ignored}):"
    )


def _needed(plan: Plan) -> str:
    rows = [
        (option.runs, option.questions or "too many", option.answers or "", _seen_now(option, plan))
        for option in plan.options
    ]
    return tabulate(
        rows,
        headers=("runs a side", "questions", "answers in all", f"{plan.n_questions} questions see"),
        tablefmt="simple",
        colalign=("right",) * 4,
        disable_numparse=True,
    )


def _seen_now(option: RunsPlan, plan: Plan) -> str:
    """A golden set that is too small for a verdict sees nothing."""
    return at_least(option.seen[plan.n_questions], 3) if plan.n_questions in option.seen else "nothing"


def _seen(option: RunsPlan, plan: Plan) -> str:
    lines = [f"Smallest change seen with {count(option.runs, 'run')} a side, by number of questions:", ""]
    return "\n".join([*lines, *_curve(option.seen, plan.drop)])


def _curve(seen: dict[int, float], drop: float) -> Iterator[str]:
    """One bar a number of questions; those that see the drop are marked."""
    widest = max(seen.values())
    for questions, smallest in seen.items():
        bar = "█" * max(1, round(_WIDTH * smallest / widest))
        mark = f"  sees {number(drop)}" if smallest <= drop else ""
        yield f"{questions:>6}  {at_least(smallest, 3):>6}  {bar}{mark}"
