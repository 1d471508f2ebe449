"""The work of both sides: every question answered and judged, in an order that is fair and keeps models busy."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from faithbot.errors import CallError, FaithbotError
from faithbot.judge.citations import check_citations
from faithbot.judge.further import FurtherJudge, JudgedAnswer
from faithbot.judge.splitting import finished_part
from faithbot.plain_text import count
from faithbot.results import AnswerRecord, SideName

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from faithbot.golden import Question
    from faithbot.judge.protocol import Judge, Judgement
    from faithbot.progress import Progress
    from faithbot.systems.protocol import Answer, System

    Answers = Mapping[SideName, tuple[AnswerRecord, ...]]


class Step(NamedTuple):
    """One answer to make: a question, a side, a run."""

    question: Question
    side: SideName
    run: int


def schedule(questions: Sequence[Question], sides: Sequence[SideName], runs: Sequence[int]) -> list[Step]:
    """All steps in their order; ``runs`` are the numbers of the runs.

    The sides take turns question by question, so that a machine that slows down or heats up does so for both, and
    change who goes first, so that neither always meets the warmer cache. The runs of a side follow each other: they
    share their prompt.
    """
    steps: list[Step] = []
    for position, question in enumerate(questions):
        order = sides if position % 2 == 0 else tuple(reversed(sides))
        steps.extend(Step(question, side, run) for side in order for run in runs)
    return steps


async def evaluate(
    questions: Sequence[Question],
    systems: Mapping[SideName, System],
    judge: Judge,
    *,
    runs: int,
    parallel: int,
    progress: Progress,
    judge_repeats: int = 1,
    further: FurtherJudge | None = None,
    ask_again: Callable[[Answers, int], Sequence[Question]] | None = None,
) -> dict[SideName, tuple[AnswerRecord, ...]]:
    """Answer and judge every question, ``runs`` times a side, at most ``parallel`` answers at once.

    With ``judge_repeats`` above 1 a judge that may waver judges each answer that often; the first judgement counts.
    ``further`` measures what else there is to measure of a judged answer.

    ``ask_again`` is asked after that, with the answers and the number of runs, which questions one more run is for,
    until it names none.

    A question that fails by itself is recorded with its reason. An error that concerns all (a dead server) ends the
    evaluation and is raised; answers made before are in the models' cache.
    """
    pace = _Pace(judge, judge_repeats, further or FurtherJudge(judge), parallel, progress)
    answers = await _evaluate_runs(questions, systems, range(1, runs + 1), pace)
    while ask_again and (again := ask_again(answers, runs)):
        runs += 1
        progress.say(f"not clear yet: run {runs} of {count(len(again), 'question')} on each side")
        more = await _evaluate_runs(again, systems, [runs], pace)
        answers = {side: (*answers[side], *more[side]) for side in systems}
    return answers


class _Pace(NamedTuple):
    """Who judges, how often, what else, how much at once, and who is told."""

    judge: Judge
    judge_repeats: int
    further: FurtherJudge
    parallel: int
    progress: Progress


async def _evaluate_runs(
    questions: Sequence[Question], systems: Mapping[SideName, System], runs: Sequence[int], pace: _Pace
) -> dict[SideName, tuple[AnswerRecord, ...]]:
    steps = schedule(questions, tuple(systems), runs)
    records: dict[Step, AnswerRecord] = {}
    slots = asyncio.Semaphore(pace.parallel)
    pace.progress.start(len(steps))

    async def work(step: Step) -> None:
        try:
            records[step] = await _answer_and_judge(step, systems[step.side], pace)
            pace.progress.advance(f"{step.side}, run {step.run}")
        finally:
            slots.release()

    try:
        async with asyncio.TaskGroup() as tasks:
            for step in steps:
                await slots.acquire()  # before the task exists: steps start in their order
                tasks.create_task(work(step))
    except* FaithbotError as group:
        error = _first(group)
        if records:
            error.computed = (
                f"{len(records)} of {len(steps)} answers were judged before that: their model calls are in the cache "
                "and are not made again."
            )
        raise error from None
    by_side: dict[SideName, list[AnswerRecord]] = defaultdict(list)
    for step in steps:
        by_side[step.side].append(records[step])
    return {side: tuple(by_side[side]) for side in systems}


def _first(group: BaseExceptionGroup[FaithbotError]) -> FaithbotError:
    error = group.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error


async def _answer_and_judge(step: Step, system: System, pace: _Pace) -> AnswerRecord:
    question, _, run = step
    try:
        answer = await system.answer(question.text, run)
    except CallError as error:
        return AnswerRecord(question_id=question.id, run=run, answer=None, failure=str(error))
    # The half of a sentence that a limit of tokens left is no claim of anybody.
    text = finished_part(answer.text) if answer.is_cut else answer.text
    contexts = [context.text for context in answer.contexts]
    judgements = await _judgements(question.text, answer, text, contexts, pace)
    scores = await pace.further.measure(JudgedAnswer(question, text, contexts, judgements))
    judgement, *judged_again = _with_relevance(judgements, scores.relevance)
    cited = check_citations(answer.text, [context.source for context in answer.contexts], contexts)
    return AnswerRecord(
        question_id=question.id,
        run=run,
        answer=answer.text,
        contexts=answer.contexts,
        request_key=answer.request_key,
        is_cut=answer.is_cut,
        judgement=judgement.model_copy(update={"fabricated_citations": cited.fabricated}),
        judged_again=tuple(judged_again),
        correctness=scores.correctness,
        context_recall=scores.context_recall,
        not_measured=dict(scores.not_measured),
        failure=judgement.unscored,
        seconds=answer.seconds,
    )


async def _judgements(
    question: str, answer: Answer, text: str, contexts: Sequence[str], pace: _Pace
) -> list[Judgement]:
    """The judgement that counts, and the further ones that show how far the judge wavers."""
    if answer.judgement is not None:
        return [answer.judgement]
    times = 1 if pace.judge.repeats_itself else pace.judge_repeats
    return [await pace.judge.judge(question, text, contexts, repeat) for repeat in range(1, times + 1)]


def _with_relevance(judgements: Sequence[Judgement], relevance: Sequence[float] | None) -> Sequence[Judgement]:
    if relevance is None:
        return judgements
    pairs = zip(judgements, relevance, strict=True)
    return [judgement.model_copy(update={"relevance": grade}) for judgement, grade in pairs]
