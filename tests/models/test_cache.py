"""The cache of calls: which calls are the same, what is kept, and what survives."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cache_writer import LONG, Echo
from hypothesis import given
from hypothesis import strategies as st
from model_requests import YES_OR_NO, ask

from faithbot.errors import CallError, EvaluationError, UsageError
from faithbot.models.cache import BusyClock, CachedModel, request_key
from faithbot.models.protocol import ChatRequest, Message, ModelIdentity, Reply, TokenLogprob

if TYPE_CHECKING:
    from collections.abc import Callable

ACCENT = "é"
IDENTITY = ModelIdentity(provider="test", name="echo", digest="d0")


class CountingModel(Echo):
    """Counts its calls; each takes as long as it is told to, and fails if it is told to."""

    def __init__(self, seconds: float = 0.0, error: Exception | None = None) -> None:
        self.asked: list[ChatRequest] = []
        self.closed = False
        self._seconds = seconds
        self._error = error

    async def chat(self, request: ChatRequest) -> Reply:
        self.asked.append(request)
        await asyncio.sleep(self._seconds)
        if self._error:
            raise self._error
        logprobs = (TokenLogprob(token=ACCENT, logprob=-1 / 3, alternatives={ACCENT: -1 / 3, "\ufffd": -1e300}),)
        return Reply(text=f"reply {len(self.asked)}", finish="stop", logprobs=logprobs, seconds=1.5)

    async def aclose(self) -> None:
        self.closed = True


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_a_repeated_call_is_answered_from_the_cache_word_for_word(tmp_path: Path) -> None:
    async def call() -> tuple[Reply, Reply]:
        model = CachedModel(CountingModel(), tmp_path)
        first, second = await model.chat(ask("a")), await model.chat(ask("a"))
        assert (model.calls, model.hits) == (1, 1)
        return first, second

    first, second = asyncio.run(call())
    assert not first.cached
    assert second == first.model_copy(update={"cached": True})


def test_another_process_finds_it_too(tmp_path: Path) -> None:
    async def call(model: CountingModel) -> str:
        return (await CachedModel(model, tmp_path).chat(ask("a"))).text

    assert asyncio.run(call(CountingModel())) == "reply 1"
    later = CountingModel(error=AssertionError("asked again"))
    assert asyncio.run(call(later)) == "reply 1"


@pytest.mark.parametrize(
    "other",
    [
        ask("b"),
        ask("a", temperature=0.5),
        ask("a", max_tokens=9),
        ask("a", seed=1),
        ask("a", run=2),
        ask("a", json_schema=YES_OR_NO),
        ask("a", top_logprobs=1),
        ChatRequest(messages=(Message(role="system", content="a"),), options=ask("a").options),
        ChatRequest(messages=ask("a").messages * 2, options=ask("a").options),
    ],
)
def test_whatever_decides_the_reply_makes_another_call(other: ChatRequest) -> None:
    assert request_key(IDENTITY, other) != request_key(IDENTITY, ask("a"))


def test_other_weights_make_another_call_and_another_name_for_them_does_not() -> None:
    def key(**changes: str) -> str:
        return request_key(IDENTITY.model_copy(update=changes), ask("a"))

    assert key(digest="d1") != key()
    assert key(provider="other") != key()
    assert key(name="echo:latest") == key()


def test_the_order_of_a_schemas_properties_counts_because_the_model_writes_in_it() -> None:
    def key(*names: str) -> str:
        return request_key(IDENTITY, ask("a", json_schema={"properties": {name: {} for name in names}}))

    assert key("verdict", "reason") != key("reason", "verdict")


@given(st.text(), st.text())
def test_two_texts_have_the_same_key_only_if_they_are_the_same(one: str, other: str) -> None:
    assert (request_key(IDENTITY, ask(one)) == request_key(IDENTITY, ask(other))) == (one == other)


def test_identical_calls_in_flight_are_one_call(tmp_path: Path) -> None:
    async def call() -> list[Reply]:
        model = CachedModel(inner, tmp_path)
        replies = await asyncio.gather(*(model.chat(ask("a")) for _ in range(5)))
        assert (model.calls, model.hits) == (1, 4)
        return replies

    inner = CountingModel(seconds=0.01)
    replies = asyncio.run(call())
    assert len(inner.asked) == 1
    assert {reply.text for reply in replies} == {"reply 1"}
    assert [reply.cached for reply in replies] == [False, True, True, True, True]


def test_an_error_reaches_all_who_wait_and_is_not_kept(tmp_path: Path) -> None:
    async def call() -> None:
        model = CachedModel(inner, tmp_path)
        outcomes = await asyncio.gather(*(model.chat(ask("a")) for _ in range(3)), return_exceptions=True)
        assert [str(outcome) for outcome in outcomes] == ["too long"] * 3
        with pytest.raises(CallError, match="too long"):
            await model.chat(ask("a"))
        assert (model.calls, model.hits) == (2, 0)

    inner = CountingModel(seconds=0.01, error=CallError("too long"))
    asyncio.run(call())
    assert files(tmp_path) == []


def test_a_caller_that_goes_away_does_not_take_the_call_from_the_others(tmp_path: Path) -> None:
    async def call() -> None:
        model = CachedModel(CountingModel(seconds=0.05), tmp_path)
        impatient, patient = (asyncio.create_task(model.chat(ask("a"))) for _ in range(2))
        await asyncio.sleep(0.01)
        impatient.cancel()
        assert (await patient).text == "reply 1"
        assert model.calls == 1

    asyncio.run(call())


def test_closing_ends_the_calls_in_flight_and_closes_the_model(tmp_path: Path) -> None:
    async def call() -> None:
        model = CachedModel(inner, tmp_path)
        waiting = asyncio.create_task(model.chat(ask("a")))
        await asyncio.sleep(0.01)
        await model.aclose()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    inner = CountingModel(seconds=60)
    asyncio.run(call())
    assert inner.closed
    assert files(tmp_path) == []


def damage_half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def damage_reply(path: Path) -> None:
    path.write_text(path.read_text().replace("reply 1", "reply 7"))


def damage_key(path: Path) -> None:
    path.write_text(path.read_text().replace('"content": "a"', '"content": "b"'))


def damage_all(path: Path) -> None:
    path.write_bytes(b"\0" * path.stat().st_size)


def damage_form(path: Path) -> None:
    path.write_text("[1, 2]")


@pytest.mark.parametrize("damage", [damage_half, damage_reply, damage_key, damage_all, damage_form])
def test_a_damaged_file_is_asked_again_and_replaced(damage: Callable[[Path], None], tmp_path: Path) -> None:
    async def call() -> tuple[CachedModel, Reply]:
        model = CachedModel(CountingModel(), tmp_path)
        return model, await model.chat(ask("a"))

    asyncio.run(call())
    (kept,) = files(tmp_path)
    whole = kept.read_bytes()
    damage(kept)
    assert kept.read_bytes() != whole
    model, reply = asyncio.run(call())
    assert (model.calls, model.hits, reply.cached) == (1, 0, False)
    assert kept.read_bytes() == whole


def test_a_file_lies_under_its_key_and_is_readable_json(tmp_path: Path) -> None:
    asyncio.run(CachedModel(CountingModel(), tmp_path).chat(ask("a")))
    key = request_key(IDENTITY, ask("a"))
    record: dict[str, Any] = json.loads((tmp_path / "calls" / key[:2] / f"{key}.json").read_text())
    assert record["key"]["messages"] == [{"role": "user", "content": "a"}]
    assert record["reply"]["text"] == "reply 1"


def incomplete(folder: Path) -> list[Path]:
    return list(folder.rglob("*.incomplete"))


def write_until_killed(folder: Path, first: int, moment: Callable[[], None]) -> int:
    """Let a process write replies ``first``, ``first`` + 1, ... and kill it; the number after the last it reported."""
    writer = Path(__file__).with_name("cache_writer.py")
    with subprocess.Popen([sys.executable, writer, folder, str(first)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()  # the first is written: it is at work
        moment()
        process.kill()
        return max((int(line) for line in process.stdout.read().split()), default=first) + 1


def test_a_writer_killed_at_any_moment_leaves_only_whole_replies(tmp_path: Path) -> None:
    moments, written, kills = random.Random(3), 0, 0

    def amid_a_write() -> None:
        known = len(incomplete(tmp_path))
        while len(incomplete(tmp_path)) == known:
            pass

    while kills < 8 or not incomplete(tmp_path):
        assert kills < 60, "no kill ever hit a write"
        written = write_until_killed(tmp_path, written, amid_a_write)
        written = write_until_killed(tmp_path, written, lambda: time.sleep(moments.uniform(0, 0.02)))
        kills += 2

    async def read_back() -> None:
        model = CachedModel(CountingModel(error=AssertionError("lost")), tmp_path)
        for number in range(written):
            assert (await model.chat(ask(str(number)))).text == f"{number}{LONG}"
        assert (model.calls, model.hits) == (0, written)

    asyncio.run(read_back())


def test_what_a_killed_writer_left_is_removed_once_it_is_old(tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    calls.mkdir()
    old, new = calls / "old.incomplete", calls / "new.incomplete"
    for leftover in (old, new):
        leftover.write_text('{"key"')
    os.utime(old, (0, 0))
    CachedModel(CountingModel(), tmp_path)
    assert files(tmp_path) == [new]


def test_a_folder_that_cannot_be_written_to_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"the cache folder .*file.* cannot be written to: Not a directory"):
        CachedModel(CountingModel(), tmp_path / "file")


def test_a_full_disk_is_one_clear_error(tmp_path: Path) -> None:
    async def call() -> None:
        model = CachedModel(CountingModel(), tmp_path)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
        await model.chat(ask("a"))

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        with pytest.raises(EvaluationError, match=r"cannot write to the cache .*: File too large\. Free some space"):
            asyncio.run(call())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert files(tmp_path) == []


def test_a_kept_reply_is_read_in_less_than_a_millisecond(tmp_path: Path) -> None:
    question = ask("context " * 500)

    async def call() -> float:
        model = CachedModel(CountingModel(), tmp_path)
        await model.chat(question)
        times = []
        for _ in range(50):
            started = time.perf_counter()
            await model.chat(question)
            times.append(time.perf_counter() - started)
        return sorted(times)[len(times) // 2]

    assert asyncio.run(call()) < 0.001


def test_busy_time_counts_overlapping_calls_once() -> None:
    clock, spans = BusyClock(), []

    async def span(seconds: float) -> None:
        with clock:
            await asyncio.sleep(seconds)

    async def call() -> None:
        for _ in range(2):
            started = time.perf_counter()
            await asyncio.gather(span(0.05), span(0.02), span(0.03))
            spans.append(time.perf_counter() - started)
            await asyncio.sleep(0.05)

    asyncio.run(call())
    assert 0.1 <= clock.seconds <= sum(spans)


def test_busy_time_runs_while_a_call_is_open() -> None:
    clock = BusyClock()
    with clock:
        time.sleep(0.01)
        assert clock.seconds >= 0.01
    with contextlib.suppress(ValueError), clock:
        raise ValueError
    stopped = clock.seconds
    time.sleep(0.01)
    assert clock.seconds == stopped
