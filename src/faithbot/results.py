"""The recorded outcome of a comparison: what `results.json` holds and what every report is made from.

These types are the border between the slow part (systems, models, judges) and the pure part (statistics, reports).
`results.schema.json`, published with the package, is generated from them.
"""

from __future__ import annotations

import json
from typing import Literal

from pydantic import BaseModel, ConfigDict
from pydantic_core import PydanticSerializationError

from faithbot.golden import Question
from faithbot.judge.blind_spots import ProbeResult
from faithbot.judge.calibration import Estimate
from faithbot.judge.protocol import JudgeFingerprint, Judgement, NumberCheck, Support
from faithbot.systems.protocol import Context

SideName = Literal["base", "head"]
MeasuredOn = Literal["own", "public"]
NotCorrected = Literal["weak", "unlike"]
"""Why no share is corrected: judge and people may hardly agree, or the labelled claims are not like those of a side."""
Verdict = Literal["pass", "regression", "inconclusive", "first"]
Reason = Literal["retrieval", "generation", "new_passage", "no_passage"]
"""Why a claim lost its support. Its passage is no longer retrieved, or still is; or the claim rests on a passage that
only head retrieved, or on none that either side retrieved."""


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class AnswerRecord(_Record):
    """One run of one question on one side: what was answered and what the judge said."""

    question_id: str
    run: int
    """1, 2, ..."""
    answer: str | None
    """None where the system failed."""
    contexts: tuple[Context, ...] = ()
    request_key: str | None = None
    """Equal keys mean equal requests: same weights, prompt, options, seed, run and contexts. None: not known."""
    is_cut: bool = False
    """The answer ended at the limit of tokens."""
    judgement: Judgement | None = None
    judged_again: tuple[Judgement, ...] = ()
    """Further judgements of the same answer, which only tell how far the judge wavers."""
    correctness: float | None = None
    """Share of the reference's claims that the answer supports, 0 to 1; None where it was not measured."""
    context_recall: float | None = None
    """Share of the reference's claims that the contexts support, 0 to 1; None where it was not measured."""
    not_measured: dict[str, str] = {}
    """By metric that takes a judgement of its own: why there is none."""
    failure: str | None = None
    """Why there is no answer or no judgement; None where there are both."""
    seconds: float = 0.0


class Side(_Record):
    """One side of the comparison: what was tested, and all of its answers."""

    name: SideName
    label: str
    """As the user named it: a branch, a tag, `working tree`."""
    commit: str | None
    """Full commit id; None for the working tree."""
    model: str
    model_digest: str | None
    """None where the model was not asked: nothing changed, or the evaluation failed before."""
    answers: tuple[AnswerRecord, ...]


class SettingChange(_Record):
    """Something that differs between the sides and that the answers depend on."""

    kind: Literal["setting", "prompt", "document", "trigger", "grading"]
    """`trigger`: a file that `triggers` names. `grading`: golden set, judge or gate, which are taken from base whatever
    head says."""
    name: str
    """Dotted key (`retrieval.top_k`) or path of the file."""
    before: str | None
    """Value or None where it is new."""
    after: str | None
    """Value or None where it was removed."""
    diff: str | None = None
    """Unified diff, for files."""
    file: str | None = None
    """File on head that holds the change; None where head does not have it."""
    line: int | None = None
    """Line of the setting in that file; the lines of a file's own changes stand in its diff."""


class MetricComparison(_Record):
    """One metric on both sides. All values are in the metric's own unit (shares: 0 to 1)."""

    base: float | None
    head: float | None
    delta: float | None
    noise_band: float | None
    """Half-width: a change within ± this is what measuring alone gives."""
    p_value: float | None
    flagged: bool
    """Worse by more than the noise (gated metrics only, Holm-corrected)."""
    smallest_detectable: float | None
    """The smallest change for the worse that a comparison like this sees in 8 of 10 cases."""
    n_questions: int
    """Questions that both sides scored."""
    n_either: int
    """Questions that at least one side scored: where it is larger, the rest was answered on one side only."""
    gated: bool
    better: Literal["higher", "lower"]
    worsened: bool = False
    """Of a metric that is not gated: worse by the rule of the gated ones. Those that are not gated share its 5 %."""
    improved: bool = False
    """Better by more than the noise, by the same rule."""
    interval: tuple[float, float] | None = None
    """95 % interval of the change over other questions of this kind; for reading only."""
    n_unchanged: int = 0
    """Questions whose requests are the same on both sides."""
    method: Literal["relabelling", "sign-flip", "unchanged", "none"] = "none"
    measured_noise: bool = True
    run_means: dict[SideName, tuple[float | None, ...]] = {}
    min_effect: float = 0.0
    reading: Literal["good", "room", "often_invents", "broken"] | None = None
    """What head's level says by itself, for faithfulness."""
    floor: float | None = None
    """The worst level that the gate allows; a ceiling where lower is better."""
    floor_standing: Literal["kept", "within_noise", "below_before", "broken"] | None = None
    """Head's mean against the floor: beyond it by less than the noise, beyond it as base was, or led there."""

    @property
    def turns_red(self) -> bool:
        """Reason enough for a regression: worse by more than the noise, or beyond its floor."""
        return self.flagged or self.floor_standing == "broken"


class Look(_Record):
    """The gate after some runs."""

    runs: int
    level: float
    """The p-value at which a metric that is gated alone is flagged at this look."""
    alpha_spent: float
    """Chance, at most, that a pull request that changed nothing is red by now."""
    p_values: dict[str, float]
    """Of the gated metrics, for a change for the worse."""
    chance_of_regression: float
    """That the runs that are left would turn the verdict red."""


class Stopping(_Record):
    """How the number of runs came about, where the configuration gives a range."""

    fewest: int
    most: int
    looks: tuple[Look, ...]
    reason: Literal["worse", "unlikely", "unchanged", "no_noise", "all_runs"] | None
    """Why the last look was the last. None where something besides the change settled the verdict, a floor or too few
    questions, and where a comparison of recorded runs ends before the rule would."""


class NoiseSources(_Record):
    """Variances of one run's score of a question, in the metric's unit squared."""

    generator: float
    """Of answering anew."""
    judge: float
    """Of judging the same answer anew."""


class ClaimSource(_Record):
    """Where the evidence of a claim stands."""

    document: str | None
    start: int | None
    """Character offset of the quote in the document's text; None where the system does not tell offsets."""
    retrieved: Literal["both", "base", "head"]
    """Which side's contexts hold the passage."""


class ClaimChange(_Record):
    """A claim whose support changed between the sides."""

    question_id: str
    claim: str
    support: Support
    """On head for newly unsupported claims, on base for those no longer unsupported."""
    head_runs: int
    """Head runs in which the claim is unsupported."""
    base_runs: int
    """Base runs in which the claim is unsupported."""
    evidence: str | None
    """The nearest passage, word for word."""
    source: ClaimSource | None = None
    numbers: NumberCheck | None = None
    """Whether the contexts state the claim's numbers; None: it has none, or the judge does not tell."""
    reason: Reason | None = None
    """For claims that only head makes without support."""
    head_abstained: bool = False
    """For claims that are no longer unsupported: they vanished because head does not answer any more."""


class AcceptedClaim(_Record):
    """A claim without support that the team accepts: no news, but still counted in every metric."""

    question_id: str
    claim: str
    """As accepted."""
    reason: str
    by: str | None
    date: str | None
    head_runs: int
    """Head runs in which the claim is unsupported."""
    base_runs: int
    """Base runs in which the claim is unsupported."""


class ResultWarning(_Record):
    """Something that the reader of the verdict must know. The code is stable, the message is for people."""

    code: str
    message: str
    question_ids: tuple[str, ...] = ()
    """All that a `head_failed` is about; other codes name none."""


class CorrectedShare(_Record):
    """Share of all claims of a side that are supported, over questions and runs alike."""

    judged: float
    """As the judge says."""
    corrected: Estimate | None
    """As people would, by prediction-powered inference; None where `not_corrected` says why."""
    n_claims: int


class JudgeAgreement(_Record):
    """How far the judge that was used agrees with people."""

    n: int
    """Labelled claims."""
    agreed: int
    """Of them, those that judge and people both hold supported, or both not."""
    kappa: Estimate
    """Cohen's."""
    is_calibrated: bool
    """The probabilities of its claims are corrected by the labelled ones."""
    measured_on: MeasuredOn
    """The team's own labelled claims, or the data sets that the package was measured on."""
    source: str
    """Of the team's own: the file. Of the package's: names of the data sets."""
    corrected: dict[SideName, CorrectedShare] = {}
    """Where enough own claims are labelled."""
    not_corrected: NotCorrected | None = None
    labelled_share: float | None = None
    """Share of the own labelled claims that the judge holds supported."""


class Usage(_Record):
    """What the comparison cost."""

    answers: int
    model_calls: int
    """Calls that reached a model; answers from the cache are not counted."""
    cached_calls: int
    seconds: float
    """Wall time."""
    busy_share: float | None
    """Share of the wall time of the evaluation in which a model was at work; None where no call was made."""


NO_USAGE = Usage(answers=0, model_calls=0, cached_calls=0, seconds=0.0, busy_share=None)
"""Of a comparison that asked no model."""


class Failure(_Record):
    """Why there is no comparison: what ended the evaluation, in words for people."""

    kind: Literal["usage", "evaluation", "fault"]
    """Wrong usage or configuration, an evaluation that could not be done, or a fault of faithbot itself."""
    message: str
    computed: str | None = None
    """What was already computed and is kept for the next try; None where there is nothing."""


class Results(_Record):
    """A whole comparison. `faithbot report` and `faithbot publish` need nothing else."""

    schema_version: Literal[1] = 1
    faithbot_version: str
    verdict: Verdict
    reason: str
    """Why this verdict, in one plain sentence."""
    metrics: dict[str, MetricComparison]
    noise_sources: dict[str, NoiseSources] = {}
    """By gated metric; known where answers were judged again (`noise.judge_repeats`) or the judge cannot waver."""
    slices: dict[str, dict[str, MetricComparison]] = {}
    """Gated metrics on the questions of each tag, never flagged."""
    newly_unsupported: tuple[ClaimChange, ...] = ()
    expected_by_chance: float | None = None
    """How many claims would be newly unsupported had nothing changed, as the differences of base's own runs tell."""
    no_longer_unsupported: tuple[ClaimChange, ...] = ()
    sporadic: tuple[ClaimChange, ...] = ()
    """Unsupported in some runs of one side only, or in more runs than on the other side, and no more such claims than
    chance gives: not news."""
    accepted: tuple[AcceptedClaim, ...] = ()
    warnings: tuple[ResultWarning, ...] = ()
    fingerprint: JudgeFingerprint | None
    """None where nothing was judged."""
    agreement: JudgeAgreement | None = None
    """None where it is not known of this very judge."""
    blind_spots: ProbeResult | None = None
    """Planted faults that this very judge finds and overlooks; None where it was not probed."""
    sides: dict[SideName, Side]
    """`base` is missing where the verdict is `first`, both where the evaluation failed. Without any answers where
    nothing that they depend on changed."""
    changes: tuple[SettingChange, ...] = ()
    questions: tuple[Question, ...]
    runs: int
    """Of each side; questions that are known to be unchanged may have fewer."""
    stopping: Stopping | None = None
    usage: Usage
    graded_by: SideName = "base"
    """Whose golden set, judge and gate counted, where both sides have some."""
    failure: Failure | None = None
    """Set where the evaluation could not be done; the verdict is then `inconclusive`."""
    head_commit: str | None = None
    """Head of the pull request, where the commit under test is GitHub's merge of it with base."""
    pull_request: int | None = None
    """Number of the pull request that it is about; None where it is about none, or not on GitHub."""

    def to_json(self) -> str:
        """The text of `results.json`. Half a surrogate pair, which a reply may hold and no file, becomes `?`."""
        try:
            return self.model_dump_json(indent=1)
        except PydanticSerializationError:
            text = json.dumps(self.model_dump(), indent=1, ensure_ascii=False)
            return text.encode(errors="replace").decode()
