"""`faithbot probe` from the documents of an example to what its judge overlooks, and on into the comment."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from faithbot.cli import cli
from faithbot.errors import EvaluationError, UsageError
from faithbot.judge.calibration import CalibrationFile, PlattCalibration, read_calibration
from faithbot.judge.protocol import JudgeFingerprint
from faithbot.probe.run import JudgedProbe, count_found
from git_repository import make_repository
from shared_examples import make_verity

EXAMPLE = Path(__file__).parents[2] / "examples" / "bike-shop"
FINGERPRINT = JudgeFingerprint(method="evidence", version="test")


@pytest.fixture
def bike_shop(tmp_path: Path) -> Path:
    files = {str(file.relative_to(EXAMPLE)): file.read_bytes() for file in EXAMPLE.rglob("*") if file.is_file()}
    return make_repository(tmp_path / "shop", files)


def probe(repository: Path, *arguments: str | Path) -> Result:
    command = ["probe", "--repo", str(repository), "--cache", str(repository.parent / "cache"), *map(str, arguments)]
    return CliRunner().invoke(cli, command)


def test_faults_are_counted_and_shown(bike_shop: Path, tmp_path: Path) -> None:
    outcome = probe(bike_shop, "--json", tmp_path / "probe.json")
    assert outcome.exit_code == 0, outcome.output
    assert "The judge `evidence` on" in outcome.stdout
    assert "at most 30 of a kind, made of" in outcome.stdout
    assert "with 1 passage each, of 500 characters and 0 overlap" in outcome.stdout
    assert "sentences judged after" in outcome.stderr
    assert "changed numbers" in outcome.stdout
    assert "word for word" in outcome.stdout
    report = json.loads((tmp_path / "probe.json").read_text())
    result = report["result"]
    assert sum(counts["of"] for part in ("faults", "sound") for counts in result[part].values()) == len(
        report["probes"]
    )
    assert result["faults"]["number"]["found"] == sum(
        judged["kind"] == "number" and judged["support"] != "supported" for judged in report["probes"]
    )
    assert result["sound"]["verbatim"]["rejected"] < result["sound"]["verbatim"]["of"] / 2


def test_the_result_stands_beside_what_the_file_already_holds_of_this_judge(bike_shop: Path, tmp_path: Path) -> None:
    file = tmp_path / "judge.json"
    probe(bike_shop, "--output", file, "--per-kind", "2")
    first = read_calibration(file)
    assert first.probe is not None
    assert first.probe.judge == first.fingerprint.digest
    file.write_text(CalibrationFile.blank(first.fingerprint.model_copy(update={"version": "old"})).model_dump_json())
    outcome = probe(bike_shop, "--output", file, "--per-kind", "2")
    assert "was of another judge (other version of the method): it is replaced" in outcome.stdout
    assert read_calibration(file) == first


def test_the_result_is_of_the_judge_as_its_file_calibrates_it(bike_shop: Path, tmp_path: Path) -> None:
    file = tmp_path / "judge.json"
    probe(bike_shop, "--output", file, "--per-kind", "2")
    uncalibrated = read_calibration(file)
    calibration = PlattCalibration(slope=1.0, intercept=-20.0, decides_support=True)  # holds nothing supported
    file.write_text(uncalibrated.model_copy(update={"calibration": calibration}).model_dump_json())
    outcome = probe(bike_shop, "--output", file, "--per-kind", "2")
    assert outcome.exit_code == 0, outcome.output
    calibrated = read_calibration(file).probe
    assert calibrated is not None
    assert uncalibrated.probe is not None
    assert calibrated.judge != uncalibrated.probe.judge
    assert calibrated.sound["verbatim"].rejected == 2


def test_documents_in_a_judge_file_that_is_none_are_refused_before_any_work(bike_shop: Path, tmp_path: Path) -> None:
    (tmp_path / "judge.json").write_text("[]")
    outcome = probe(bike_shop, "--output", tmp_path / "judge.json")
    assert isinstance(outcome.exception, UsageError)
    assert str(outcome.exception).endswith("write it anew with `faithbot calibrate` or `faithbot probe --output`.")
    assert outcome.stderr == ""


def test_recorded_scores_are_no_judge(tmp_path: Path) -> None:
    config = (
        "golden: golden.jsonl\nsystem: {recorded: {files: [run.jsonl]}}\nruns: 1\n"
        "judge: {method: recorded, scores: {faithfulness: score}}\n"
    )
    row = {"question": "a?", "answer": "x", "contexts": ["The tour takes two hours."], "score": 1}
    repository = make_repository(tmp_path / "r", {"faithbot.yaml": config, "run.jsonl": json.dumps(row)})
    outcome = probe(repository)
    assert isinstance(outcome.exception, UsageError)
    assert str(outcome.exception) == (
        "faithbot.yaml (working tree), line 4, judge.method: `recorded` reads scores, it cannot judge: "
        "name a judge with --method."
    )
    judged = probe(repository, "--method", "evidence")
    assert judged.exit_code == 0
    assert "with the passages that were recorded with each" in judged.stdout


def test_names_of_real_documents_are_swapped(tmp_path: Path) -> None:
    outcome = probe(make_verity(tmp_path / "r", "ollama/none"), "--per-kind", "5")
    assert "swapped names" in outcome.stdout


def judged(support: str | None, *, is_sound: bool = False, unscored: str | None = None) -> JudgedProbe:
    return JudgedProbe.model_validate(
        {
            "kind": "verbatim" if is_sound else "number",
            "is_sound": is_sound,
            "text": "t",
            "sentence": "s",
            "document": "d",
            "support": support,
            "probability": None,
            "unscored": unscored,
        }
    )


def test_whatever_is_not_supported_is_found_or_rejected_and_no_support_counts_nowhere() -> None:
    probes = [judged("supported"), judged("contradicted"), judged("not_found"), judged(None, unscored="timed out")]
    result = count_found([*probes, judged("not_found", is_sound=True)], FINGERPRINT)
    number, verbatim = result.faults["number"], result.sound["verbatim"]
    assert (number.found, number.of, verbatim.rejected, verbatim.of, result.unscored) == (2, 3, 1, 1, 1)
    assert number.interval == pytest.approx((0.208, 0.939), abs=0.001)


def test_a_judge_that_judges_nothing_is_no_result() -> None:
    with pytest.raises(EvaluationError, match="could not judge one of 2 sentences: timed out"):
        count_found([judged(None, unscored="timed out")] * 2, FINGERPRINT)
