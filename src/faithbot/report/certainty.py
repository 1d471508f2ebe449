"""How sure is the verdict? Noise, coverage and judge in plain sentences."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from faithbot.metrics import label
from faithbot.plain_text import count, cut, one_line, two_decimals
from faithbot.report import wording
from faithbot.report.blind_spots import blind_spots_sentence
from faithbot.report.table import split_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faithbot.judge.protocol import JudgeFingerprint
    from faithbot.results import AnswerRecord, JudgeAgreement, MetricComparison, NoiseSources, Results, Side, SideName

_SIDES: dict[SideName, str] = {"base": "base", "head": "this PR"}
_MOST_REASONS = 3
_MOST_PLACES = 4
_REASON_LIMIT = 200
_QUESTION_LIMIT = 80
_KAPPA = "κ is how far they agree beyond chance: 0 is chance, 1 is always."


_SHARES = {
    0.0: "Almost nothing",
    0.1: "About a tenth",
    0.25: "About a quarter",
    1 / 3: "About a third",
    0.5: "About half",
    2 / 3: "About two thirds",
    0.75: "About three quarters",
    1.0: "Almost all",
}
_FEWEST_FOR_INTERVAL = 6
"""Questions below which an interval over questions promises a precision that nobody has."""


def certainty(results: Results) -> list[str]:
    """Paragraphs of plain text: what was measured, what was scored, who judged, what it cost."""
    gated = next(((name, metric) for name, metric in results.metrics.items() if metric.gated), None)
    paragraphs = [_noise(*gated, results) if gated else [], _coverage(results), _judge(results), _usage(results)]
    return [" ".join(sentences) for sentences in paragraphs if sentences]


def _noise(name: str, metric: MetricComparison, results: Results) -> list[str]:
    sources = results.noise_sources.get(name)
    return [
        *_compared_questions(metric, len(results.questions)),
        *_unchanged_questions(metric),
        *_run_means(name, metric, results.runs),
        *([noise_sources(sources)] if sources else []),
        *_p_value(metric),
        *_smallest_detectable(metric, split_rows(results)[0][0].row.visible_from),  # gated metrics come first
        *_other_questions(metric),
    ]


def _compared_questions(metric: MetricComparison, asked: int) -> Iterator[str]:
    if metric.delta is not None and not wording.is_unchanged(metric):
        yield f"{metric.n_questions} of {count(asked, 'question')} {'was' if asked == 1 else 'were'} compared."


def _run_means(name: str, metric: MetricComparison, runs: int) -> Iterator[str]:
    """The means themselves: how far two of them are expected to differ is what the warning ``too_noisy`` tells."""
    if runs == 1:
        yield "With one run a side the noise from run to run was not measured."
        return
    told = []
    for side, means in sorted(metric.run_means.items()):
        known = [wording.number(mean) for mean in means if mean is not None]
        if len(known) > 1:
            told.append(f"{', '.join(known)} ({_SIDES[side]})")
    if told:
        yield f"Mean {label(name)} of each run: {' and '.join(told)}."


def noise_sources(sources: NoiseSources) -> str:
    """Where the noise comes from, and what helps against it."""
    share = sources.judge / (sources.generator + sources.judge)
    if share == 0:
        return "All of the noise comes from answering anew: the judge gave the same answer the same score."
    words = min(_SHARES, key=lambda known: abs(known - share))
    cure = "a stronger judge helps more than more questions" if share >= 0.5 else "more questions help most"
    return f"{_SHARES[words]} of the noise is the judge's: {cure}."


def _unchanged_questions(metric: MetricComparison) -> Iterator[str]:
    if wording.is_unchanged(metric):
        yield "Every question went to the model unchanged, so there is no difference and no noise."
    elif metric.n_unchanged:
        yield (f"{metric.n_unchanged} of them went to the model unchanged: no difference there, and no noise.")


def _p_value(metric: MetricComparison) -> Iterator[str]:
    if "(p " in wording.meaning(metric):
        ties = " (just as bad counts half)" if metric.method == "relabelling" else ""
        yield f"p is how often noise alone would look at least this bad{ties}."


def _smallest_detectable(metric: MetricComparison, visible_from: str) -> Iterator[str]:
    if metric.smallest_detectable and not wording.is_unchanged(metric):
        worse = "drop" if metric.better == "higher" else "rise"
        would = "would be" if metric.delta is None else "would have been"
        yield f"A {worse} of {visible_from} {would} seen in 8 of 10 cases."


def _other_questions(metric: MetricComparison) -> Iterator[str]:
    if metric.interval and metric.n_questions >= _FEWEST_FOR_INTERVAL and not wording.is_unchanged(metric):
        low, high = (wording.signed(bound) for bound in metric.interval)
        yield f"On other questions of this kind the change is likely between {low} and {high}."


def _coverage(results: Results) -> list[str]:
    """Every answer is scored, an abstention, or missing with its reason."""
    records = [(side, record) for side in results.sides.values() for record in side.answers]
    asked = {question.id: question.text for question in results.questions}
    missing: dict[str, list[str]] = defaultdict(list)
    abstained = 0
    for side, record in records:
        if (reason := _why_missing(record)) is not None:
            question = cut(one_line(asked.get(record.question_id, record.question_id)), _QUESTION_LIMIT)
            missing[reason].append(f"“{question}” ({_SIDES[side.name]})")
        elif record.judgement is not None:
            abstained += record.judgement.abstained
    n_missing = sum(map(len, missing.values()))
    scored = len(records) - n_missing - abstained
    share = "All" if scored == len(records) else f"{scored} of"
    sentences = [f"{share} {count(len(records), 'answer')} were scored."]
    if abstained:
        sentences.append(f"{abstained} said that there is no answer in the sources: neither faithful nor unfaithful.")
    return [*sentences, *_missing_answers(missing, n_missing), *_unjudged_claims(records)]


def _why_missing(record: AnswerRecord) -> str | None:
    if record.failure is not None:
        return record.failure
    if record.judgement is None:
        return "no judgement was recorded"
    return record.judgement.unscored


def _missing_answers(missing: dict[str, list[str]], n_missing: int) -> Iterator[str]:
    if not missing:
        return
    reasons = [_reason(reason, places) for reason, places in list(missing.items())[:_MOST_REASONS]]
    if len(missing) > _MOST_REASONS:
        reasons.append(count(len(missing) - _MOST_REASONS, "more reason"))
    yield f"{n_missing} could not be scored: {'; '.join(reasons)}."


def _reason(reason: str, places: list[str]) -> str:
    """``the judge timed out: “How heavy is it?” (base), 2 more``; a question's runs count once."""
    distinct = list(dict.fromkeys(places))
    more = [f"{len(distinct) - _MOST_PLACES} more"] if len(distinct) > _MOST_PLACES else []
    return f"{cut(one_line(reason), _REASON_LIMIT).rstrip('.')}: {', '.join(distinct[:_MOST_PLACES] + more)}"


def _unjudged_claims(records: list[tuple[Side, AnswerRecord]]) -> Iterator[str]:
    claims = [claim for _, record in records if record.judgement for claim in record.judgement.claims]
    unscored = sum(claim.unscored is not None for claim in claims)
    if unscored:
        yield f"{unscored} of {count(len(claims), 'claim')} could not be judged and do not count."


def _judge(results: Results) -> list[str]:
    fingerprint = results.fingerprint
    if fingerprint is None:
        return []
    model = f" with {fingerprint.model}" if fingerprint.model else ", no model"
    if fingerprint.method == "recorded":
        return list(_recorded_scores(fingerprint))
    return [
        f"Judge: {fingerprint.method}{model} (fingerprint {_short(fingerprint.digest)}).",
        *_agreement(results.agreement),
        *blind_spots_sentence(results.blind_spots),
    ]


def _agreement(agreement: JudgeAgreement | None) -> Iterator[str]:
    """How far people agree, on which claims, and what they would say of these."""
    if agreement is None:
        yield "How often it agrees with people on your answers has not been measured."
        return
    kappa = agreement.kappa
    likely = f"likely {two_decimals(kappa.low)} to {two_decimals(kappa.high)}"
    figures = f"(κ {two_decimals(kappa.value)}, {likely}, n = {agreement.n})"
    agrees = f"It agrees with people in {_of_ten(agreement)} claims"
    source = cut(one_line(agreement.source), _REASON_LIMIT)
    if agreement.measured_on == "public":
        yield f"{agrees} of public data sets {figures}: {source}. {_KAPPA}"
        yield "How it is on yours, `faithbot calibrate` measures."
        return
    calibrated = ", and its probabilities are calibrated by them" if agreement.is_calibrated else ""
    yield f"{agrees} {figures}, as {source} says{calibrated}. {_KAPPA}"
    yield from _corrected(agreement)


def _of_ten(agreement: JudgeAgreement) -> str:
    """``7 of 10``; all and none only where it is so."""
    tenths = round(10 * agreement.agreed / agreement.n)
    if 0 < agreement.agreed < agreement.n:
        tenths = min(9, max(1, tenths))
    return f"{tenths} of 10"


def _corrected(agreement: JudgeAgreement) -> Iterator[str]:
    """What the judge says of all claims, and what people would, or why that is not told."""
    sides = [(_SIDES[name], agreement.corrected[name]) for name in _SIDES if name in agreement.corrected]
    if not sides:
        return
    judged = " and ".join(f"{wording.number(share.judged)} ({side})" for side, share in sides)
    estimates = [share.corrected for _, share in sides if share.corrected is not None]
    told = f"Claim by claim (the table averages over questions) it holds {judged} supported"
    if agreement.not_corrected is not None or not estimates:
        yield f"{told}."
        yield from _why_not_corrected(agreement, [(side, share.judged) for side, share in sides])
        return
    corrected = " and ".join(
        f"{wording.number(estimate.value)} (between {wording.number(estimate.low)} and {wording.number(estimate.high)})"
        for estimate in estimates
    )
    yield f"{told}; corrected by the labelled ones it is {corrected}, if those are like these."


def _why_not_corrected(agreement: JudgeAgreement, judged: list[tuple[str, float]]) -> Iterator[str]:
    """``Not corrected: the judge holds 53 % of the labelled claims supported and 98 % of these, so they are not
    alike.``"""
    if agreement.not_corrected == "weak":
        low = two_decimals(agreement.kappa.low)
        yield f"Not corrected: κ may be as low as {low}, and a judge that hardly agrees with people corrects nothing."
    elif agreement.not_corrected == "unlike" and agreement.labelled_share is not None:
        here = [f"{100 * share:.0f} %" + (f" ({side})" if len(judged) > 1 else "") for side, share in judged]
        yield (
            f"Not corrected: the judge holds {100 * agreement.labelled_share:.0f} % of the labelled claims supported "
            f"and {' and '.join(here)} of these, so they are not alike."
        )


def _recorded_scores(fingerprint: JudgeFingerprint) -> Iterator[str]:
    """Which columns were read, and how their scale became 0 to 1; nothing is known of who filled them."""
    columns = [f"{column} as {label(metric)}" for metric, column in fingerprint.options["scores"].items()]
    worst, best = fingerprint.options["scale"]
    yield f"Scores as they were recorded with the answers: {' and '.join(columns)} ({worst:g} to {best:g} is 0 to 1)."
    yield "Who gave them and how is not known, nor how often people would agree."


def _usage(results: Results) -> list[str]:
    usage = results.usage
    cached = f", {usage.cached_calls} more from the cache" if usage.cached_calls else ""
    busy = "" if usage.busy_share is None else f"; a model was at work {usage.busy_share:.0%} of that time"
    models = dict.fromkeys(f"{side.model} ({_short(side.model_digest or '')})" for side in results.sides.values())
    return [
        f"Answers by {' and '.join(models)}.",
        f"{count(usage.answers, 'answer')}, {count(usage.model_calls, 'model call')}{cached}, "
        f"{wording.duration(usage.seconds)}{busy}.",
    ]


def _short(digest: str) -> str:
    return digest.removeprefix("sha256:")[:6]
