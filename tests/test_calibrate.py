"""`faithbot calibrate` from the command line, and the comparison that reads what it wrote."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from command import Outcome
from faithbot.cli import cli
from faithbot.errors import FaithbotError
from faithbot.judge.blind_spots import ProbeResult, found
from faithbot.judge.calibration import read_calibration
from faithbot.results import Results
from git_repository import commit_all, make_repository, write_files

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

THINGS = ("stove", "tent", "lamp", "boot", "rope", "bag", "table", "chair", "knife", "bottle", "jacket", "map")
CONFIG = """\
golden: golden.jsonl
system: {recorded: {files: [answers.jsonl]}}
judge: {method: evidence}
runs: 1
"""


def sentence(thing: str, metal: str = "steel") -> str:
    return f"The {thing} is made of {metal} in Sweden."


def labels(n: int = 36) -> str:
    """Claims of which every third is wrong, and one of six labelled against what the words say."""
    rows = []
    for number in range(n):
        thing = THINGS[number % len(THINGS)]
        wrong = number % 3 == 0
        claim = f"The {thing} was painted by dragons on Mondays." if wrong else sentence(thing)
        label = (not wrong) != (number % 6 == 5)
        rows.append(
            {"claim": claim, "contexts": [sentence(thing)], "label": label, "category": "dragon" if wrong else "plain"}
        )
    return "\n".join(map(json.dumps, rows))


def answers(wrong: Sequence[str] = ()) -> str:
    rows = [
        {
            "question": f"What is the {thing} made of?",
            "answer": "It was painted by dragons on Mondays." if thing in wrong else sentence(thing),
            "contexts": [sentence(thing)],
        }
        for thing in THINGS
    ]
    return "\n".join(map(json.dumps, rows))


def repository(folder: Path, config: str = CONFIG) -> Path:
    golden = "\n".join(json.dumps({"question": f"What is the {thing} made of?"}) for thing in THINGS)
    files = {"faithbot.yaml": config, "golden.jsonl": golden, "answers.jsonl": answers(), "labels.jsonl": labels()}
    return make_repository(folder, files)


def run(*arguments: object) -> Outcome:
    outcome = CliRunner().invoke(cli, list(map(str, arguments)))
    if isinstance(outcome.exception, FaithbotError):
        return Outcome(outcome.exception.exit_code, outcome.stdout, str(outcome.exception))
    return Outcome(outcome.exit_code, outcome.stdout, outcome.stderr)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAITHBOT_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def calibrated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The repository that the command runs in, with the file that it wrote there."""
    folder = repository(tmp_path / "repository")
    monkeypatch.chdir(folder)
    run("calibrate", "labels.jsonl")
    return folder


def test_it_prints_the_agreement_and_writes_the_file_beside_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository(tmp_path / "repository"))
    outcome = run("calibrate", "labels.jsonl")
    assert outcome.code == 0, outcome
    assert "The judge `evidence` on 36 labelled claims, of which people hold 18 supported. It" in outcome.stdout
    assert "It agrees with them on 30." in outcome.stdout
    for words in ("balanced accuracy", "AUC", "Cohen's κ", "people say \\ judge says", "dragon"):
        assert words in outcome.stdout
    assert "judge: {method: evidence, calibration: judge-calibration.json}" in outcome.stdout
    file = read_calibration(tmp_path / "repository" / "judge-calibration.json")
    assert (file.fingerprint.method, file.agreement.n, file.agreement.agreed) == ("evidence", 36, 30)
    assert file.calibration is not None
    assert not file.calibration.decides_support
    assert "its own limit (used)" in outcome.stdout
    assert "calibrated 0.5 (not used)" in outcome.stdout
    assert "36 of 36 claims judged after" in outcome.stderr


def test_a_file_outside_the_repository_is_written_but_not_to_be_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository(tmp_path / "repository"))
    outcome = run("calibrate", "labels.jsonl", "--output", tmp_path / "judge.json")
    assert outcome.code == 0, outcome
    assert read_calibration(tmp_path / "judge.json").agreement.n == 36
    assert "outside the repository, where faithbot.yaml cannot name it: choose another --output." in outcome.stdout
    assert "calibration: " not in outcome.stdout


def test_scores_that_were_recorded_are_no_judge_to_measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = CONFIG.replace("method: evidence", "method: recorded, scores: {faithfulness: score}")
    monkeypatch.chdir(repository(tmp_path / "repository", recorded))
    outcome = run("calibrate", "labels.jsonl")
    assert (outcome.code, outcome.stderr) == (
        64,
        "faithbot.yaml (working tree), line 3, judge.method: `recorded` reads scores, it cannot judge: name a judge "
        "with --method.",
    )
    assert run("calibrate", "labels.jsonl", "--method", "evidence").code == 0


def test_a_broken_file_in_its_place_is_refused_before_any_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = repository(tmp_path / "repository")
    monkeypatch.chdir(folder)
    (folder / "judge-calibration.json").write_text("{}")
    outcome = run("calibrate", "labels.jsonl")
    assert outcome.code == 64
    assert "claims judged" not in outcome.stderr


def test_the_configured_file_is_written_even_where_it_is_not_there_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = CONFIG.replace("evidence}", "evidence, calibration: evals/judge.json}")
    monkeypatch.chdir(repository(tmp_path / "repository", config))
    assert run("calibrate", "labels.jsonl").code == 0
    assert read_calibration(tmp_path / "repository" / "evals" / "judge.json").agreement.n == 36


def test_blind_spots_found_under_another_calibration_are_left_out_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository(tmp_path / "repository"))
    file = tmp_path / "repository" / "judge-calibration.json"
    run("calibrate", "labels.jsonl")
    uncalibrated = read_calibration(file)
    probed = ProbeResult(judge=uncalibrated.fingerprint.digest, faults={"number": found(1, 2)}, sound={})
    file.write_text(uncalibrated.model_copy(update={"probe": probed}).model_dump_json())
    outcome = run("calibrate", "labels.jsonl")
    assert "`faithbot probe` found was of this judge with another calibration: it is left out" in outcome.stdout
    assert read_calibration(file).probe is None


def test_without_a_repository_the_judge_without_a_model_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "labels.jsonl").write_text("{broken\n" + labels(6))
    outcome = run("calibrate", "labels.jsonl", "--output", "deep/judge.json")
    assert outcome.code == 0, outcome
    assert "1 row left out:\n  line 1, column 2: not valid JSON" in outcome.stdout
    assert "6 claims are too few to correct a mean: label at least 30." in outcome.stdout
    assert "Not calibrated: that takes 30 labelled claims." in outcome.stdout
    assert "Label more claims before you commit it." in outcome.stdout
    assert "Commit it, and let" not in outcome.stdout
    assert read_calibration(tmp_path / "deep" / "judge.json").calibration is None


@pytest.mark.parametrize(
    ("rows", "arguments", "message"),
    [
        ('{"claim": "a", "contexts": ["a"], "label": 1}', (), "all 1 claims are labelled supported"),
        ("", (), "holds no labelled claim"),
        (labels(6), ("--method", "label"), "method `label` needs a `model`"),
        (labels(6), ("--config", "other.yaml"), "is not in a git repository"),
    ],
)
def test_what_cannot_be_measured_is_said_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: str, arguments: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "labels.jsonl").write_text(rows)
    outcome = run("calibrate", "labels.jsonl", *arguments)
    assert outcome.code == 64
    assert message in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1
    assert not (tmp_path / "judge-calibration.json").exists()


def compared(folder: Path) -> tuple[Results, str]:
    outcome = run("compare", "--repo", folder, "--base", "main", "--json", folder.parent / "results.json")
    return Results.model_validate_json((folder.parent / "results.json").read_bytes()), outcome.stdout


def use(folder: Path, change: dict[str, Any] | None = None, wrong_on_base: Sequence[str] = ()) -> None:
    """Commit the file that was written, perhaps changed, and the setting that names it; then change some answers."""
    path = folder / "judge-calibration.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | (change or {})))
    write_files(
        folder,
        {
            "faithbot.yaml": CONFIG.replace("evidence}", "evidence, calibration: judge-calibration.json}"),
            "answers.jsonl": answers(wrong_on_base),
        },
    )
    commit_all(folder, "calibrate")
    write_files(folder, {"answers.jsonl": answers(wrong=("stove", "tent", "lamp"))})


def test_a_comparison_with_that_judge_says_how_far_people_agree_and_corrects_the_share(calibrated: Path) -> None:
    use(calibrated, wrong_on_base=("stove", "tent"))
    results, comment = compared(calibrated)
    assert results.agreement is not None
    assert results.agreement.not_corrected is None
    assert (results.agreement.n, results.agreement.agreed, results.agreement.measured_on) == (36, 30, "own")
    head = results.agreement.corrected["head"]
    assert (head.judged, head.n_claims) == (0.75, 12)
    assert head.corrected.low < head.corrected.value < head.corrected.high
    assert head.corrected.value < results.agreement.corrected["base"].corrected.value
    assert (
        "It agrees with people in 8 of 10 claims (κ 0.67, likely 0.40 to 0.87, n = 36), as judge-calibration.json"
        in comment
    )
    assert "corrected by the labelled ones it is" in comment
    assert "not_calibrated" not in {warning.code for warning in results.warnings}


def test_answers_that_are_not_like_the_labelled_claims_are_not_corrected_by_them(calibrated: Path) -> None:
    use(calibrated)
    results, comment = compared(calibrated)
    assert results.agreement.not_corrected == "unlike"
    assert {share.corrected for share in results.agreement.corrected.values()} == {None}
    assert (
        "Not corrected: the judge holds 67 % of the labelled claims supported and 100 % (base) and 75 % (this PR) of "
        "these, so they are not alike."
    ) in comment


def test_a_file_of_another_judge_is_said_to_be_one_and_calibrates_nothing(calibrated: Path) -> None:
    file = read_calibration(calibrated / "judge-calibration.json")
    older = file.fingerprint.model_copy(update={"version": "0-old"})
    use(calibrated, {"fingerprint": older.model_dump(), "fingerprint_digest": older.digest})
    results, comment = compared(calibrated)
    assert (
        "The judge is not calibrated: judge-calibration.json is of another one (other version of the method)."
        in comment
    )
    assert results.fingerprint == file.fingerprint
    assert results.agreement is None or results.agreement.measured_on == "public"


def test_a_pull_request_that_edits_the_file_is_judged_by_bases_and_told_so(calibrated: Path) -> None:
    use(calibrated)
    file = json.loads((calibrated / "judge-calibration.json").read_text())
    easy = file["calibration"] | {"intercept": 9.0, "decides_support": True}
    (calibrated / "judge-calibration.json").write_text(json.dumps(file | {"calibration": easy}))
    results, comment = compared(calibrated)
    assert results.agreement.corrected["head"].judged == 0.75
    assert "judge-calibration.json" in {change.name for change in results.changes if change.kind == "grading"}
    assert comment.splitlines()[1].startswith("> ⚠️")


def test_a_file_that_is_not_there_is_announced_on_head_and_ends_the_comparison_on_base(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = repository(tmp_path / "repository")
    monkeypatch.chdir(folder)
    write_files(folder, {"faithbot.yaml": CONFIG.replace("evidence}", "evidence, calibration: none.json}")})
    results, _ = compared(folder)
    assert [warning.code for warning in results.warnings if "none.json does not exist" in warning.message] == [
        "broken_grading"
    ]
    commit_all(folder, "names a file that is not there")
    broken = run("compare", "--base", "main")
    assert broken.code == 2
    assert broken.stderr.startswith(
        "base cannot be evaluated: faithbot.yaml (main), line 3, judge.calibration: none.json"
    )
