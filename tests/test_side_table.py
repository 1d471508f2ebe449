"""A side's records by question and run."""

from __future__ import annotations

from faithbot.side_table import in_halves
from records import scored, side


def test_an_a_a_run_compares_the_first_half_of_the_runs_with_the_second() -> None:
    levels = (0.1, 0.2, 0.3, 0.4)
    halves = in_halves(side("head", {name: [scored(level) for level in levels] for name in ("q1", "q2")}), 2)
    seen = {
        name: [
            (answer.question_id, answer.run, answer.judgement and answer.judgement.faithfulness)
            for answer in half.answers
        ]
        for name, half in halves.items()
    }
    assert seen == {
        "base": [("q1", 1, 0.1), ("q1", 2, 0.2), ("q2", 1, 0.1), ("q2", 2, 0.2)],
        "head": [("q1", 1, 0.3), ("q1", 2, 0.4), ("q2", 1, 0.3), ("q2", 2, 0.4)],
    }
    assert [half.label for half in halves.values()] == ["head, runs 1 to 2", "head, runs 3 to 4"]
    assert [half.name for half in halves.values()] == ["base", "head"]
