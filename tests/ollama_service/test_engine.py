"""What the engine's client knows without an engine: who we are, and where the host keeps what we see."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from faithbot.errors import UsageError
from faithbot.ollama_service.engine import connect_engine, container_id, translate

ID = "4f9d" * 16
# As a container action of a runner has them.
MOUNTS = [
    {"Source": "/var/run/docker.sock", "Destination": "/var/run/docker.sock"},
    {"Source": "/home/runner/work/_temp/_github_home", "Destination": "/github/home"},
    {"Source": "/home/runner/work/shop/shop", "Destination": "/github/workspace"},
    {"Source": "/mnt/models", "Destination": "/github/workspace/models"},
]


@pytest.mark.parametrize(
    ("inside", "on_the_host"),
    [
        ("/github/workspace", "/home/runner/work/shop/shop"),
        ("/github/workspace/.ollama", "/home/runner/work/shop/shop/.ollama"),
        ("/github/workspace/models/small", "/mnt/models/small"),
        ("/github/workspace-2", None),
        ("/root/.ollama", None),
    ],
)
def test_our_mounts_tell_the_path_on_the_host(inside: str, on_the_host: str | None) -> None:
    expected = PurePosixPath(on_the_host) if on_the_host else None
    assert translate(MOUNTS, PurePosixPath(inside)) == expected


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (f"612 598 8:1 /var/lib/docker/containers/{ID}/hostname /etc/hostname rw,relatime - ext4 /dev/sda1 rw", ID),
        (f"612 598 8:2 /docker/containers/{ID}/hostname /etc/hostname rw - xfs /dev/sdb rw", ID),
        # The host itself sees mounts of the containers that it runs.
        (f"612 598 0:50 / /var/lib/docker/containers/{ID}/mounts/shm rw - tmpfs shm rw", None),
        ("612 598 8:1 / / rw,relatime - ext4 /dev/sda1 rw", None),
    ],
)
def test_the_mount_of_the_host_name_tells_our_id(line: str, found: str | None) -> None:
    assert container_id(f"1 0 0:5 / /proc rw - proc proc rw\n{line}\n") == found


def test_no_engine_is_one_sentence_with_both_cures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:9")
    with pytest.raises(UsageError, match=r"^no Docker socket and no ollama-url: .* ollama-url\. \(.*refused"):
        connect_engine()
