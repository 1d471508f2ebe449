"""The file that binds what is known of a judge to that judge."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from faithbot.errors import UsageError
from faithbot.judge.blind_spots import ProbeResult, found
from faithbot.judge.calibration import (
    CalibrationFile,
    PlattCalibration,
    continue_calibration,
    differences,
    find_calibration,
    parse_calibration,
    read_calibration,
    write_calibration,
)
from faithbot.judge.protocol import JudgeFingerprint
from faithbot.output_files import OutputFile

if TYPE_CHECKING:
    from pathlib import Path

JUDGE = JudgeFingerprint(
    method="claims",
    model="ollama/qwen2.5:7b",
    model_digest="845d",
    prompts_digest="p1",
    options={"seed": 1},
    version="1",
)
FILE = CalibrationFile.blank(JUDGE).model_copy(
    update={"calibration": PlattCalibration(slope=0.5, intercept=-1, decides_support=True)}
)


def written(folder: Path, **changes: Any) -> Path:
    path = folder / "judge.json"
    path.write_text(json.dumps(json.loads(FILE.model_dump_json()) | changes))
    return path


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "evals" / "judge.json"
    write_calibration(OutputFile(path), FILE)
    assert read_calibration(path) == FILE
    assert [file.name for file in path.parent.iterdir()] == ["judge.json"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r"^judge\.json \(main\), column 2: not valid JSON"),
        (
            "[]",
            r"judge\.json \(main\): no calibration: remove it, and write it anew with `faithbot calibrate` or",
        ),
        ("{}", r"not of this version of faithbot \(schema_version 1\): remove it, and write it anew"),
        ('{"schema_version": 2}', r"not of this version of faithbot"),
        ('{"schema_version": 1}', r"fingerprint: Field required: remove it, and write it anew"),
        (FILE.model_dump_json().replace("845d", "beef"), r"fingerprint_digest is not that of the fingerprint"),
        (FILE.model_dump_json().replace('"slope":0.5', '"slope":-1'), r"calibration\.slope: .* greater than 0"),
        (FILE.model_dump_json().replace('"probe"', '"prob"'), r"prob: Extra inputs"),
    ],
)
def test_what_is_no_such_file_is_one_line_with_place_and_cure(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        parse_calibration(text, "judge.json (main)")
    assert len(str(caught.value).splitlines()) == 1


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read .*none\.json: No such file"):
        read_calibration(tmp_path / "none.json")


def continued(path: Path, judge: JudgeFingerprint) -> tuple[CalibrationFile, str | None]:
    return continue_calibration(find_calibration(path), judge, path)


def test_where_there_is_no_file_yet_a_blank_one_is_continued(tmp_path: Path) -> None:
    assert continued(tmp_path / "judge.json", JUDGE) == (CalibrationFile.blank(JUDGE), None)


def test_the_other_commands_part_stays_in_a_file_of_the_same_judge(tmp_path: Path) -> None:
    probed = ProbeResult(judge=JUDGE.digest, faults={"number": found(9, 10)}, sound={})
    path = written(tmp_path, probe=probed.model_dump(mode="json"))
    assert continued(path, JUDGE) == (FILE.model_copy(update={"probe": probed}), None)


def test_nothing_is_kept_of_another_judges_file_and_that_is_said(tmp_path: Path) -> None:
    other = JUDGE.model_copy(update={"model_digest": "beef"})
    file, word = continued(written(tmp_path), other)
    assert file == CalibrationFile.blank(other)
    assert word is not None
    assert word.endswith("was of another judge (other weights of the model): it is replaced, nothing of it is kept.")


def test_what_is_no_calibration_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "faithbot.yaml").write_text("golden: a.jsonl")
    with pytest.raises(UsageError, match="not valid JSON"):
        find_calibration(tmp_path / "faithbot.yaml")


def test_judges_are_told_apart_in_plain_words() -> None:
    changed = JUDGE.model_copy(update={"prompts_digest": "p2", "options": {"seed": 2}, "version": "2"})
    assert differences(JUDGE, changed) == ("prompts", "options", "version of the method")
    assert differences(JUDGE, JUDGE) == ()
