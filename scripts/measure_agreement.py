"""Measure how far the judge without a model agrees with people, and keep it with the package.

    python scripts/measure_agreement.py [FOLDER]      (default ../shared/data/judging)

To be run after every change of that judge: reports say the figures of `evidence_agreement.json` only where they are of
the very judge that was used.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from judging_data import test_claims

from faithbot.judge.calibration import CalibrationFile, write_calibration
from faithbot.judge.evidence import EvidenceJudge
from faithbot.labelled_claims import LabelledClaim
from faithbot.measure_agreement import measure_agreement
from faithbot.output_files import OutputFile

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "src/faithbot/judge/evidence_agreement.json"
NAMES = {"dialfact_small": "DialFact", "q2": "Q²"}


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared/data/judging"
    measured = asyncio.run(measure(folder))
    write_calibration(OutputFile(FILE), measured)
    print(measured.model_dump_json(include={"agreement"}, indent=1))


async def measure(folder: Path) -> CalibrationFile:
    """The judge on the sets that it was not fitted on, all claims alike."""
    judge = EvidenceJudge()
    labelled = [
        LabelledClaim(row.claim, row.contexts, "supported" if row.supported else "unsupported", NAMES[name])
        for name, rows in test_claims(folder).items()
        for row in rows
    ]
    judged = [await judge.check(row.claim, row.contexts) for row in labelled]
    agreement = measure_agreement(labelled, judged, "evidence").as_it_is
    of_others = agreement.model_copy(update={"moments": None})  # whose mean is nobody's to correct by
    return CalibrationFile.blank(await judge.fingerprint()).model_copy(update={"agreement": of_others})


if __name__ == "__main__":
    main()
