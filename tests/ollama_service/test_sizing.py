"""How much of a machine Ollama gets: the rest of the job keeps some, and nothing of our environment goes along."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithbot.ollama_service.gpus import RUNTIME, find_gpus, request_gpus
from faithbot.ollama_service.sizing import GIB, Machine, Sizing, describe, environment, proxies, size_for

MACHINES = st.builds(
    Machine,
    cpus=st.integers(1, 256),
    memory=st.integers(GIB // 2, 2048 * GIB),
    gpus=st.sampled_from([None, RUNTIME, "amd.com/gpu=all"]),
)


@pytest.mark.parametrize(
    ("cpus", "gib", "gpu", "limit", "parallel"),
    [
        (1, 2, False, 1.0, 1),
        (2, 8, False, 7.0, 1),
        (4, 16, False, 14.0, 1),
        (8, 32, False, 28.0, 2),
        (16, 8, False, 7.0, 1),
        (32, 128, False, 124.0, 4),
        (4, 16, True, 14.0, 4),
    ],
)
def test_machines_that_people_have(cpus: int, gib: int, gpu: bool, limit: float, parallel: int) -> None:
    sizing = size_for(Machine(cpus, gib * GIB, RUNTIME if gpu else None))
    assert (sizing.memory_limit / GIB, sizing.parallel) == (limit, parallel)


@given(MACHINES)
def test_the_job_keeps_memory_and_ollama_gets_at_least_half(machine: Machine) -> None:
    sizing = size_for(machine)
    assert machine.memory // 2 <= sizing.memory_limit < machine.memory
    assert sizing.memory_limit <= machine.memory - min(GIB, machine.memory // 2)


@given(MACHINES, st.integers(0, 64 * GIB), st.integers(0, 8))
def test_a_larger_machine_never_gets_less(machine: Machine, memory: int, cpus: int) -> None:
    small, large = size_for(machine), size_for(Machine(machine.cpus + cpus, machine.memory + memory, machine.gpus))
    assert large.memory_limit >= small.memory_limit
    assert large.parallel >= small.parallel >= 1


def test_the_engine_tells_what_the_machine_has() -> None:
    info = {"NCPU": 4, "MemTotal": 16 * GIB, "Runtimes": {"runc": {"path": "runc"}}}
    assert Machine.of(info) == Machine(4, 16 * GIB)
    assert Machine.of(info | {"Runtimes": {"runc": {}, "nvidia": {}}}).gpus == RUNTIME


@pytest.mark.parametrize(
    ("listed", "found"),
    [
        ([], None),
        (["nvidia.com/gpu=0", "nvidia.com/gpu=all"], "nvidia.com/gpu=all"),
        (["amd.com/gpu=all"], "amd.com/gpu=all"),
        (["vendor.com/camera=all"], None),
    ],
)
def test_gpus_that_the_engine_lists_as_devices(listed: list[str], found: str | None) -> None:
    devices = [{"Source": "cdi", "ID": name} for name in listed]
    assert find_gpus({"Runtimes": {"runc": {}}, "DiscoveredDevices": devices}) == found
    requested = request_gpus(found)
    assert (requested and requested[0]["DeviceIDs"]) == (found and [found])


def test_ollama_gets_an_environment_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghs_secret")
    monkeypatch.setenv("OLLAMA_API_KEY", "secret")
    names = {"HOST", "NO_CLOUD", "KEEP_ALIVE", "NUM_PARALLEL", "MAX_LOADED_MODELS", "NOPRUNE"}
    on_gpu = environment(Machine(8, 32 * GIB, RUNTIME), Sizing(28 * GIB, 4), "127.0.0.1")
    assert set(on_gpu) == {f"OLLAMA_{name}" for name in names}
    on_cpu = environment(Machine(8, 32 * GIB), Sizing(28 * GIB, 4), "127.0.0.1")
    assert set(on_cpu) - set(on_gpu) == {"GOMP_SPINCOUNT"}
    assert (on_cpu["OLLAMA_NUM_PARALLEL"], on_cpu["OLLAMA_HOST"]) == ("4", "127.0.0.1:11434")


def test_of_our_own_environment_it_gets_the_proxies_and_nothing_else() -> None:
    out = {
        "HTTPS_PROXY": "http://proxy:3128", "https_proxy": "http://proxy:3128", "NO_PROXY": "10.0.0.0/8",
        "no_proxy": "10.0.0.0/8", "HTTP_PROXY": "http://proxy:3128", "http_proxy": "http://proxy:3128",
    }  # fmt: skip
    other = {"GITHUB_TOKEN": "ghs_secret", "PATH": "/bin", "ALL_PROXY": "socks5://proxy", "OLLAMA_HOST": "gpu"}
    assert proxies(out | other) == out
    assert proxies({"HTTPS_PROXY": "", "https_proxy": "http://proxy:3128"}) == {"https_proxy": "http://proxy:3128"}


def test_the_log_says_it_in_one_line() -> None:
    assert describe(Machine(4, 16 * GIB), Sizing(14 * GIB, 3)) == (
        "Ollama gets 4 CPUs, 14.0 of 16.0 GiB, 3 requests at a time"
    )
    assert describe(Machine(1, 24 * GIB, RUNTIME), Sizing(21 * GIB, 1)) == (
        "Ollama gets 1 CPU and all GPUs, 21.0 of 24.0 GiB, one request at a time"
    )
