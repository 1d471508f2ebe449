"""`faithbot demo`: a change that hurts and one that does not, really measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from command import faithbot

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.usefixtures("weights")
def test_the_demo_tells_the_change_that_hurts_from_the_one_that_does_not(tmp_path: Path) -> None:
    outcome = faithbot("demo", "--cache", tmp_path)
    assert outcome.code == 0, outcome
    hurts, harmless = outcome.stdout.split("main → reworded-prompt: ")
    assert hurts.startswith("main → friendlier-answers: ")
    assert "REGRESSION: Faithfulness fell by" in hurts
    assert "became unsupported" in hurts
    assert "\nPASS: " in harmless
    assert outcome.stderr.count("faithbot: 40 of 40 answers judged") == 2

    again = faithbot("demo", "--cache", tmp_path)
    assert again.stdout == outcome.stdout
