"""What `faithbot noise` says: plain text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tabulate import tabulate

from faithbot.metrics import METRICS, label
from faithbot.plain_text import count, plain
from faithbot.report.certainty import noise_sources
from faithbot.report.wording import number, p_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faithbot.self_comparison import SelfComparison

_MOST_QUESTIONS = 10
_QUESTION_LIMIT = 80


def render_noise(noise: SelfComparison) -> str:
    """A few paragraphs and the noisiest questions; no markup, no control characters."""
    blocks = [" ".join(_halves(noise)), "\n".join(_facts(noise)), *_questions(noise)]
    return "\n\n".join(blocks)


def _halves(noise: SelfComparison) -> Iterator[str]:
    yield (
        f"The same configuration against itself, {count(noise.n_questions, 'question')} × {count(noise.runs, 'run')} "
        f"in each half: mean {label(noise.metric)} {number(noise.mean)}; the second half differs by "
        f"{number(abs(noise.delta), 3)}, {_band(noise.noise_band)}."
    )
    if noise.flagged:
        yield f"This is a false alarm ({p_text(noise.p_value)}): chance gives one in 20 such comparisons."
    else:
        yield "It passes, as it should."


def _band(noise_band: float | None) -> str:
    return "no noise was measured within the halves" if noise_band is None else f"noise ±{number(noise_band, 3)}"


def _tested(noise: SelfComparison) -> str:
    """``faithfulness for a drop (min_effect hides those up to 0.02), contradiction rate for a rise``."""
    tested = []
    for name, min_effect in noise.gate.items():
        change = "drop" if METRICS[name].better == "higher" else "rise"
        hidden = f" (min_effect hides those up to {number(min_effect)})" if min_effect else ""
        tested.append(f"{label(name)} for a {change}{hidden}")
    others = f"; all but the false alarms below is about {label(noise.metric)}" if len(tested) > 1 else ""
    return ", ".join(tested) + others


def _facts(noise: SelfComparison) -> Iterator[str]:
    yield f"- Tested: {_tested(noise)}."
    rate = noise.false_alarms / noise.relabellings
    yield (
        f"- False alarms: {noise.false_alarms} of {noise.relabellings} other ways to deal these runs to two halves "
        f"({rate:.1%}; at most 5% is the aim)."
    )
    yield (
        f"- Flips: {len(noise.questions)} of {count(noise.n_questions, 'question')} got different scores; "
        f"two runs of a question disagree in {noise.flip_rate:.0%} of the cases."
    )
    if noise.sources is not None:
        yield f"- Source: {noise_sources(noise.sources)}"
    if noise.smallest_detectable is not None:
        yield (
            f"- A change of {number(noise.smallest_detectable, 3)} for the worse would be seen in 8 of 10 cases. "
            "`faithbot plan` shows what more questions or runs would see."
        )


def _questions(noise: SelfComparison) -> Iterator[str]:
    if not noise.questions:
        return
    rows = [
        (number(question.spread), " ".join(map(_score, question.scores)), plain(question.question, _QUESTION_LIMIT))
        for question in noise.questions[:_MOST_QUESTIONS]
    ]
    table = tabulate(rows, headers=("spread", "scores", "question"), tablefmt="simple", disable_numparse=True)
    yield f"The noisiest questions:\n\n{table}"


def _score(score: float | None) -> str:
    return "-" if score is None else f"{score:.2f}"
