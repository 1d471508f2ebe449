"""What the engine's client knows without an engine: who we are, and where the host keeps what we see."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest
from docker.models.containers import Container

from faithbot.errors import UsageError
from faithbot.ollama_service.engine import connect_engine, container_id, refuse_checkout, translate

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


OWN = Container(attrs={"Mounts": MOUNTS})
CHECKOUT = Path("/github/workspace")


@pytest.mark.parametrize(
    "models",
    ["/home/runner/work/shop/shop", "/home/runner/work/shop/shop/.ollama/models", "/home/runner/work/shop", "/"],
)
def test_models_share_no_file_with_the_checkout(models: str) -> None:
    with pytest.raises(UsageError, match=rf"^models-dir: {models} shares its files with the workspace"):
        refuse_checkout(OWN, PurePosixPath(models), CHECKOUT)


@pytest.mark.parametrize(
    "models", ["/home/runner/work/_temp/faithbot/models", "/mnt/models", "/home/runner/work/shop/b"]
)
def test_models_beside_the_checkout_are_fine(models: str) -> None:
    refuse_checkout(OWN, PurePosixPath(models), CHECKOUT)


def test_outside_of_any_container_the_checkout_is_where_we_see_it(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "checkout")
    with pytest.raises(UsageError, match="shares its files with the workspace"):
        refuse_checkout(None, PurePosixPath(tmp_path / "checkout" / "models"), tmp_path / "link")
    refuse_checkout(None, PurePosixPath(tmp_path / "models"), tmp_path / "link")


def test_no_engine_is_one_sentence_with_both_cures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:9")
    with pytest.raises(UsageError, match=r"^no Docker socket and no ollama-url: .* ollama-url\. \(.*refused"):
        connect_engine()
