"""The comment names the kinds of fault that a judge clearly overlooks, and only those."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithbot.judge.blind_spots import ProbeResult, found, rejected
from faithbot.judge.calibration import CalibrationFile
from faithbot.judge.files import NamedCalibration
from faithbot.judge.protocol import JudgeFingerprint
from faithbot.judge_trust import find_blind_spots
from faithbot.report.blind_spots import blind_spots_sentence
from faithbot.report.comment import render_comment
from records import FINGERPRINT, noisy_results

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faithbot.judge.blind_spots import FaultKind, Rewriting

WEAK: dict[FaultKind, tuple[int, int]] = {
    "number": (29, 30),
    "negation": (4, 30),
    "unit": (18, 30),
    "date": (1, 3),
    "name": (2, 30),
}


def result(faults: Mapping[FaultKind, tuple[int, int]], sound: Mapping[Rewriting, tuple[int, int]] = {}) -> ProbeResult:
    return ProbeResult(
        judge=FINGERPRINT.digest,
        faults={kind: found(*counts) for kind, counts in faults.items()},
        sound={kind: rejected(*counts) for kind, counts in sound.items()},
    )


def test_weak_kinds_are_named_weakest_first_with_the_best_for_contrast() -> None:
    assert [*blind_spots_sentence(result(WEAK))] == [
        "Tried on your documents, this judge finds 29 of 30 changed numbers, but only 2 of 30 swapped names and "
        "4 of 30 negations."
    ]


def test_nothing_is_said_where_nothing_is_clearly_weak_or_nobody_tried() -> None:
    assert [*blind_spots_sentence(result({"number": (29, 30), "date": (1, 3)}, {"verbatim": (1, 30)}))] == []
    assert [*blind_spots_sentence(None)] == []


def test_a_judge_that_is_weak_everywhere_has_no_best_kind() -> None:
    assert [*blind_spots_sentence(result({"negation": (4, 30)}))] == [
        "Tried on your documents, this judge finds only 4 of 30 negations."
    ]


def test_a_judge_that_rejects_what_is_sound_finds_every_fault_for_nothing() -> None:
    (sentence,) = blind_spots_sentence(result({"number": (30, 30)}, {"joined": (20, 30), "verbatim": (2, 30)}))
    assert sentence == "Tried on your documents, this judge rejects 20 of 30 sound sentences (two passages joined)."


def test_the_comment_says_it_where_the_judge_is_described() -> None:
    results = noisy_results().model_copy(update={"blind_spots": result(WEAK)})
    _, folded = render_comment(results).split("<details><summary>How sure is this?</summary>")
    assert "but only 2 of 30 swapped names and 4 of 30 negations" in folded


def test_only_the_probe_of_this_very_judge_counts() -> None:
    file = CalibrationFile.blank(FINGERPRINT).model_copy(update={"probe": result(WEAK)})
    named = NamedCalibration("judge.json", file)
    other = JudgeFingerprint(method="evidence", version="other")
    assert find_blind_spots(FINGERPRINT, named) == result(WEAK)
    assert find_blind_spots(other, named) is None
    assert find_blind_spots(FINGERPRINT, None) is None
