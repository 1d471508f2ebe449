"""Results to render: one outdoor shop, told in the cases that a reader meets."""

from __future__ import annotations

from typing import Any

from faithbot.judge.protocol import Claim, JudgeFingerprint, Judgement
from faithbot.levels import read_level
from faithbot.results import (
    AcceptedClaim,
    AnswerRecord,
    ClaimChange,
    ClaimSource,
    Failure,
    Look,
    MetricComparison,
    Question,
    Results,
    ResultWarning,
    SettingChange,
    Side,
    SideName,
    Stopping,
    Usage,
)

QUESTIONS = tuple(
    Question(id=id_, text=text)
    for id_, text in {
        "return-tent": "How long can I return a tent?",
        "stove-indoors": "Is the Alpine stove safe indoors?",
        "sleeping-bag": "Down to which temperature is the CozyNights sleeping bag rated?",
        "boots-warranty": "What warranty do the TrekReady boots have?",
        "jacket-wash": "How do I wash the RainGuard jacket?",
        "backpack-size": "How many litres does the SummitClimber backpack hold?",
        "table-load": "How much weight does the BaseCamp folding table carry?",
        "tent-people": "How many people sleep in the TrailMaster tent?",
        "lantern-battery": "How long does the lantern's battery last?",
        "pants-material": "What are the hiking pants made of?",
        "shipping-abroad": "Do you ship abroad?",
        "stove-fuel": "Which fuel does the stove burn?",
    }.items()
)


def side(name: SideName, **changes: Any) -> Side:
    """A side on which every answer of both runs was scored."""
    answers = tuple(
        AnswerRecord(
            question_id=question.id,
            run=run,
            answer="An answer.",
            judgement=Judgement(claims=(Claim(text="An answer.", support="supported"),), faithfulness=1.0),
        )
        for question in QUESTIONS
        for run in (1, 2)
    )
    labels = {"base": ("main", "3f2c1ab" + "0" * 33), "head": ("shorter-answers", "9d0e77c" + "0" * 33)}
    label, commit = labels[name]
    fields = {"name": name, "label": label, "commit": commit, "answers": answers}
    return Side(**(fields | {"model": "ollama/llama3.2:3b", "model_digest": "a80c4f17acd5"} | changes))


def metric(base: float | None, head: float | None, noise: float | None = 0.04, **changes: Any) -> MetricComparison:
    """A gated share for which higher is better, both sides scored on all questions."""
    fields: dict[str, Any] = {
        "base": base,
        "head": head,
        "delta": None if base is None or head is None else head - base,
        "noise_band": noise,
        "p_value": 0.31,
        "flagged": False,
        "smallest_detectable": 0.07,
        "n_questions": len(QUESTIONS),
        "n_either": len(QUESTIONS),
        "gated": True,
        "better": "higher",
        "method": "relabelling",
    }
    return MetricComparison(**(fields | changes))


def results(**changes: Any) -> Results:
    """A pull request that changes nothing beyond noise."""
    fields: dict[str, Any] = {
        "faithbot_version": "0.1.0",
        "verdict": "pass",
        "reason": "No gated metric is worse by more than the noise of measuring.",
        "metrics": {"faithfulness": metric(0.91, 0.90, 0.03), "hit_rate": metric(0.92, 0.92, 0.0, gated=False)},
        "expected_by_chance": 0.4,
        "fingerprint": JudgeFingerprint(
            method="claims", model="ollama/qwen2.5:7b", model_digest="845dbda0", version="1"
        ),
        "sides": {"base": side("base"), "head": side("head")},
        "questions": QUESTIONS,
        "runs": 2,
        "usage": Usage(answers=48, model_calls=212, cached_calls=30, seconds=190.0, busy_share=0.97),
    }
    made = Results(**(fields | changes))
    read = {name: read_level(name, metric.head) for name, metric in made.metrics.items()}
    metrics = {name: metric.model_copy(update={"reading": read[name]}) for name, metric in made.metrics.items()}
    return made.model_copy(update={"metrics": metrics})


PROMPT_DIFF = """\
@@ -1,4 +1,3 @@
 You answer questions about our products.
-Use only the passages below. If they do not hold the answer, say so.
-Quote numbers exactly.
+Answer in a friendly voice, in two or three sentences.
 {% for context in contexts %}"""

CHANGES = (
    SettingChange(kind="setting", name="retrieval.top_k", before="4", after="1"),
    SettingChange(
        kind="prompt", name="prompts/answer.md", before="prompts/answer.md", after="prompts/answer.md", diff=PROMPT_DIFF
    ),
)

NEWLY_UNSUPPORTED = (
    ClaimChange(
        question_id="return-tent",
        claim="Returns are accepted for 60 days after delivery.",
        support="contradicted",
        head_runs=2,
        base_runs=0,
        reason="generation",
        evidence="You may return any tent within 30 days of delivery for a full refund.",
        source=ClaimSource(document="docs/returns.md", start=120, retrieved="both"),
    ),
    ClaimChange(
        question_id="stove-indoors",
        claim="It is safe in well ventilated rooms.",
        support="not_found",
        head_runs=2,
        base_runs=0,
        reason="retrieval",
        evidence="Use outdoors only. Keep away from tents and other fabrics.",
        source=ClaimSource(document="docs/stove.md", start=40, retrieved="base"),
    ),
    ClaimChange(
        question_id="sleeping-bag",
        claim="The sleeping bag keeps you warm down to 10°F, about −12°C.",
        support="contradicted",
        head_runs=2,
        base_runs=0,
        reason="generation",
        evidence="Temperature rating: 20°F (−7°C).",
        source=ClaimSource(document="docs/cozynights.md", start=310, retrieved="both"),
    ),
    ClaimChange(
        question_id="boots-warranty",
        claim="The boots come with a lifetime warranty.",
        support="not_found",
        head_runs=2,
        base_runs=0,
        reason="no_passage",
        evidence=None,
    ),
    ClaimChange(
        question_id="jacket-wash",
        claim="Wash it at 60 degrees with any detergent.",
        support="contradicted",
        head_runs=1,
        base_runs=0,
        reason="new_passage",
        evidence="Machine wash cold, 30 degrees at most, with a mild detergent.",
        source=ClaimSource(document="docs/rainguard.md", start=77, retrieved="head"),
    ),
    ClaimChange(
        question_id="shipping-abroad",
        claim="We ship to more than 40 countries.",
        support="not_found",
        head_runs=2,
        base_runs=1,
        reason="generation",
        evidence="Orders are shipped within two working days.",
        source=ClaimSource(document="docs/shipping.md", start=0, retrieved="both"),
    ),
)

NO_LONGER_UNSUPPORTED = (
    ClaimChange(
        question_id="lantern-battery",
        claim="The battery lasts a whole week.",
        support="not_found",
        head_runs=0,
        base_runs=2,
        evidence="Runtime: 12 hours at full brightness.",
        source=ClaimSource(document="docs/lantern.md", start=9, retrieved="both"),
        head_abstained=True,
    ),
)

SPORADIC = tuple(
    ClaimChange(
        question_id="tent-people",
        claim=claim,
        support="not_found",
        head_runs=head_runs,
        base_runs=1 - head_runs,
        evidence=None,
    )
    for claim, head_runs in (("It sleeps a small family.", 1), ("It is loved by families.", 0))
)
ACCEPTED = (
    AcceptedClaim(
        question_id="stove-fuel",
        claim="Gas cartridges are sold everywhere.",
        reason="Marketing wants it said; checked with sales.",
        by="Kim",
        date="2026-11-03",
        head_runs=2,
        base_runs=2,
    ),
)


def regression(**changes: Any) -> Results:
    """The prompt lost its grounding lines and retrieval was cut: faithfulness falls, claims lose their support."""
    fields: dict[str, Any] = {
        "verdict": "regression",
        "reason": "Worse by more than the noise of measuring: faithfulness.",
        "metrics": {
            "faithfulness": metric(
                0.91,
                0.79,
                p_value=0.004,
                flagged=True,
                interval=(-0.20, -0.04),
                run_means={"base": (0.905, 0.915), "head": (0.775, 0.805)},
            ),
            "contradiction_rate": metric(0.03, 0.05, 0.05, better="lower", gated=False, p_value=0.2),
            "unsupported_per_answer": metric(
                0.25, 0.71, 0.14, better="lower", gated=False, p_value=0.002, worsened=True, smallest_detectable=0.24
            ),
            "abstention_rate": metric(0.083, 0.0, 0.06, better="lower", gated=False, improved=True),
            "hit_rate": metric(
                0.92, 0.92, 0.0, gated=False, n_unchanged=12, method="unchanged", smallest_detectable=None
            ),
        },
        "newly_unsupported": NEWLY_UNSUPPORTED,
        "no_longer_unsupported": NO_LONGER_UNSUPPORTED,
        "sporadic": SPORADIC,
        "accepted": ACCEPTED,
        "changes": CHANGES,
    }
    return results(**(fields | changes))


def two_regressions() -> Results:
    """Two gated metrics got worse, and the pull request edits its own golden set."""
    edited = SettingChange(
        kind="grading",
        name="evals/golden.jsonl",
        before="evals/golden.jsonl",
        after="evals/golden.jsonl",
        diff='@@ -1,1 +1,1 @@\n-{"question": "Old?"}\n+{"question": "Easier?"}',
    )
    metrics = {
        "faithfulness": metric(0.91, 0.79, p_value=0.004, flagged=True),
        "contradiction_rate": metric(0.02, 0.10, 0.03, better="lower", p_value=0.0004, flagged=True),
    }
    return regression(metrics=metrics, changes=(edited, *CHANGES), newly_unsupported=NEWLY_UNSUPPORTED[:1])


def improvement() -> Results:
    """Faithfulness rises beyond noise, and the system abstains more."""
    warning = ResultWarning(
        code="more_abstentions",
        message="2 more questions are not answered. "
        "An answer that only says that it cannot answer does not count in the faithfulness.",
    )
    return results(
        metrics={
            "faithfulness": metric(0.84, 0.90, 0.03, p_value=0.998, improved=True),
            "abstention_rate": metric(0.0, 2 / 12, 0.06, better="lower", gated=False, p_value=0.02, worsened=True),
        },
        no_longer_unsupported=NO_LONGER_UNSUPPORTED,
        changes=CHANGES[1:],
        warnings=(warning,),
    )


def nothing_changed() -> Results:
    """A commit compared with itself."""
    same = metric(
        0.91, 0.91, 0.0, n_unchanged=len(QUESTIONS), method="unchanged", p_value=1.0, smallest_detectable=None
    )
    return results(metrics={"faithfulness": same}, expected_by_chance=0.0)


def inconclusive() -> Results:
    """The judge did not answer for most questions of head."""
    timeout = "the judge timed out after 60 s"
    answered = side("head").answers[:6]
    failed = tuple(
        AnswerRecord(question_id=question.id, run=run, answer="An answer.", failure=timeout)
        for question in QUESTIONS[3:]
        for run in (1, 2)
    )
    return results(
        verdict="inconclusive",
        reason=f"9 of 12 questions could not be scored ({timeout})",
        metrics={"faithfulness": metric(0.91, 0.88, 0.09, n_questions=3)},
        sides={"base": side("base"), "head": side("head", answers=answered + failed)},
        warnings=(
            ResultWarning(code="timeouts", message="Give the judge more time, or a smaller model, in faithbot.yaml."),
        ),
    )


def first() -> Results:
    """The pull request that introduces faithbot."""
    alone = metric(None, 0.912, 0.03, p_value=None, method="none", run_means={"head": (0.90, 0.924)})
    return results(
        verdict="first", metrics={"faithfulness": alone}, sides={"head": side("head")}, expected_by_chance=None
    )


def failed() -> Results:
    """The model server went away in the middle."""
    failure = Failure(
        kind="evaluation",
        message="ollama at http://ollama:11434 does not answer: connection refused.",
        computed="17 of 48 answers were judged before that: their model calls are in the cache and are not made again.",
    )
    return results(
        verdict="inconclusive",
        reason="the evaluation could not be done",
        metrics={},
        expected_by_chance=None,
        fingerprint=None,
        sides={},
        questions=(),
        failure=failure,
        head_commit="9d0e77c" + "0" * 33,
    )


def no_work() -> Results:
    """Nothing that the answers depend on changed, and no model was asked."""
    sides = {"base": side("base", answers=()), "head": side("head", answers=())}
    metrics = {"faithfulness": metric(None, None, 0.0, delta=0.0, n_unchanged=len(QUESTIONS), method="unchanged")}
    return results(metrics=metrics, fingerprint=None, sides=sides, expected_by_chance=None)


def stopped_early() -> Results:
    """Two to six runs were allowed, and after three of them it was clear enough that nothing got worse."""
    looks = tuple(
        Look(runs=runs, level=level, alpha_spent=spent, p_values={"faithfulness": p}, chance_of_regression=chance)
        for runs, level, spent, p, chance in ((2, 0.023, 0.023, 0.21, 0.29), (3, 0.017, 0.031, 0.33, 0.076))
    )
    return results(runs=3, stopping=Stopping(fewest=2, most=6, looks=looks, reason="unlikely"))


def below_its_floor() -> Results:
    """Faithfulness fell by less than the noise of the change, but clearly below what the team allows."""
    broken = metric(0.66, 0.60, 0.07, p_value=0.08, floor=0.65, floor_standing="broken")
    return results(
        verdict="regression",
        reason="Beyond the floor that is set for it: faithfulness.",
        metrics={"faithfulness": broken},
        changes=CHANGES,
    )
