#!/usr/bin/env python3
"""Make the container images that the end-to-end tests run.

    .venv/bin/python scripts/test_images.py base        # what the Dockerfile builds on
    .venv/bin/python scripts/test_images.py ollama
    .venv/bin/python scripts/test_images.py faithbot    # the project's own image, by `docker build`

Each prints the image's name. Where the engine reaches its registry, base and Ollama are the published images. Elsewhere
they are made of packages, once: a Debian with Python by mmdebstrap, kept as a tar file in
``~/.cache/faithbot/test-images`` (1 minute), and Ollama by ``build_ollama.py`` (20 minutes, kept as well).
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from build_ollama import OLLAMA_VERSION

from faithbot.ollama_service import OLLAMA_IMAGE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).parents[1]
FAITHBOT_IMAGE = "faithbot-test:latest"

SUITE = "trixie"
PACKAGES = ("python3", "python3-venv", "python3-pip", "ca-certificates")
LEFT_OUT = ("doc", "man", "info", "locale", "bug", "lintian")
"""Folders of /usr/share that nothing reads at run time."""
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
PIP_SETTINGS = f"[global]\ncert = {CERTIFICATES}\n"
"""pip trusts the authorities that this machine trusts, which may have one of its own."""

OLLAMA_DOCKERFILE = """\
FROM {base}
RUN apt-get update -qq && apt-get install -qq -y --no-install-recommends libgomp1 libstdc++6 \
    && rm -rf /var/lib/apt/lists/*
COPY bin/ollama /usr/bin/ollama
COPY lib/ollama /usr/lib/ollama
ENV OLLAMA_HOST=0.0.0.0:11434
EXPOSE 11434
ENTRYPOINT ["/usr/bin/ollama"]
CMD ["serve"]
"""


def run(*command: str | Path, env: Mapping[str, str] | None = None) -> None:
    """Run a build step with its output on standard error, so that standard output holds the result alone."""
    print("+", *command, file=sys.stderr, flush=True)
    subprocess.run([str(part) for part in command], check=True, stdin=subprocess.DEVNULL, stdout=sys.stderr, env=env)


def is_present(image: str) -> bool:
    command = ["docker", "image", "inspect", image]
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


@functools.cache
def is_pulled(image: str) -> bool:
    """Whether the published image is here, or could be fetched."""
    return (
        is_present(image) or subprocess.run(["docker", "pull", image], stdout=sys.stderr, check=False).returncode == 0
    )


def cache_folder() -> Path:
    """Folder that survives a fresh checkout."""
    folder = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "faithbot" / "test-images"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def digest(*parts: str | bytes) -> str:
    """Short name of what an image is made of."""
    return hashlib.sha256(b"\0".join(p if isinstance(p, bytes) else p.encode() for p in parts)).hexdigest()[:12]


@contextlib.contextmanager
def appearing(path: Path) -> Iterator[Path]:
    """A temporary file that becomes ``path`` only when it is complete."""
    with tempfile.TemporaryDirectory(dir=path.parent, prefix="incomplete-") as folder:
        yield Path(folder) / path.name
        (Path(folder) / path.name).rename(path)


def bootstrap(tar: Path) -> None:
    """Write the root file system of a Debian with Python, named as in the published Python images."""
    if not shutil.which("mmdebstrap"):
        sys.exit("mmdebstrap is needed where no image can be pulled: apt-get install mmdebstrap")
    with appearing(tar) as incomplete:
        run(
            "mmdebstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}",
            *(f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in LEFT_OUT),
            f"--customize-hook=copy-in {CERTIFICATES} {CERTIFICATES.parent}",
            f"--customize-hook=printf %s {shlex.quote(PIP_SETTINGS)} > $1/etc/pip.conf",
            "--customize-hook=ln -s ../../bin/python3 $1/usr/local/bin/python",
            SUITE, incomplete,
        )  # fmt: skip


def published_base() -> str:
    """The image that the Dockerfile names."""
    found = re.search(r"^ARG BASE=(\S+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    if found is None:
        sys.exit("Dockerfile has no line 'ARG BASE=IMAGE'")
    return found[1]


def base_image() -> str:
    """The published base, or a Debian with the same Python."""
    tag = digest(SUITE, *PACKAGES, *LEFT_OUT, PIP_SETTINGS, CERTIFICATES.read_bytes())
    image = f"faithbot-test-base:{tag}"
    if is_present(image):
        return image
    if is_pulled(published_base()):
        return published_base()
    tar = cache_folder() / f"base-{tag}.tar"
    if not tar.exists():
        bootstrap(tar)
    run("docker", "import", tar, image)
    return image


def ollama_image() -> str:
    """The published image, or one that has everything in the same places."""
    base = base_image()
    if base == published_base() and is_pulled(OLLAMA_IMAGE):
        return OLLAMA_IMAGE
    image = f"faithbot-test-ollama:{OLLAMA_VERSION}-{digest(OLLAMA_DOCKERFILE, base)}"
    if not is_present(image):
        script = ROOT / "scripts" / "build_ollama.py"
        built = subprocess.run([sys.executable, script], check=True, stdout=subprocess.PIPE, text=True)
        home = Path(built.stdout.strip()).parents[1]
        with tempfile.TemporaryDirectory(prefix="faithbot-ollama-") as folder:
            Path(folder, "Dockerfile").write_text(OLLAMA_DOCKERFILE.format(base=base))
            build(home, image, "--file", f"{folder}/Dockerfile")
    return image


def faithbot_image() -> str:
    """The project's image. The engine itself builds only the layers whose files changed."""
    build(ROOT, FAITHBOT_IMAGE, "--build-arg", f"BASE={base_image()}")
    return FAITHBOT_IMAGE


def build(context: Path, image: str, *options: str) -> None:
    """``docker build`` with the classic builder: Debian's engine comes without the newer one's plugin."""
    run("docker", "build", "--tag", image, *options, context, env=os.environ | {"DOCKER_BUILDKIT": "0"})


IMAGES = {"base": base_image, "ollama": ollama_image, "faithbot": faithbot_image}


def main() -> None:
    if len(sys.argv) != 2 or sys.argv[1] not in IMAGES:
        sys.exit(f"usage: {sys.argv[0]} {'|'.join(IMAGES)}")
    with (cache_folder() / "build.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two test runs at once must not build twice
        print(IMAGES[sys.argv[1]]())


if __name__ == "__main__":
    main()
