#!/usr/bin/env python3
"""How much of a comparison's wall time a model is at work: Contoso's manuals, questions and prompt, 48 answers.

    python benchmarks/busy_share.py ollama/smollm2:135m     # the server that OLLAMA_HOST names
    python benchmarks/busy_share.py embedded/smollm2-135m

The rest is faithbot's own. Bound: 95 %.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from faithbot.job import run_comparison
from faithbot.plan import CompareRequest
from faithbot.progress import PlainLines
from faithbot.report.wording import headline
from shared_examples import make_contoso

BOUND = 0.95


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    model = parser.parse_args().model
    with tempfile.TemporaryDirectory() as folder:
        request = CompareRequest(
            repository=make_contoso(Path(folder) / "contoso", model),
            base="main",
            head="ungrounded",
            config="faithbot.yaml",
            cache=Path(folder) / "cache",
        )
        results = asyncio.run(run_comparison(request, PlainLines()))
    usage = results.usage
    share = usage.busy_share or 0.0
    print(headline(results))
    print(f"{usage.model_calls} calls in {usage.seconds:.0f} s, a model at work {share:.1%}, bound {BOUND:.0%}")
    return int(share < BOUND)


if __name__ == "__main__":
    sys.exit(main())
