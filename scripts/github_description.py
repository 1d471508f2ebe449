#!/usr/bin/env python3
"""Cut GitHub's OpenAPI description down to the operations that faithbot calls, for the tests' double of the API.

    npm pack @octokit/openapi && tar xzf octokit-openapi-*.tgz
    python scripts/github_description.py package/generated/api.github.com.json

Writes tests/github/api.github.com.json: the operations and all that they refer to, word for word as GitHub has them
(MIT license). An operation that is called and not listed here is a violation in the tests: list it and run this again.
"""

from __future__ import annotations

import json
import sys
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

OPERATIONS = (
    ("get", "/user"),
    ("get", "/repos/{owner}/{repo}/pulls"),
    ("get", "/repos/{owner}/{repo}/pulls/{pull_number}"),
    ("get", "/repos/{owner}/{repo}/issues/{issue_number}/comments"),
    ("post", "/repos/{owner}/{repo}/issues/{issue_number}/comments"),
    ("get", "/repos/{owner}/{repo}/issues/comments/{comment_id}"),
    ("patch", "/repos/{owner}/{repo}/issues/comments/{comment_id}"),
    ("delete", "/repos/{owner}/{repo}/issues/comments/{comment_id}"),
    ("post", "/repos/{owner}/{repo}/statuses/{sha}"),
    ("get", "/repos/{owner}/{repo}/actions/artifacts"),
    ("get", "/repos/{owner}/{repo}/actions/artifacts/{artifact_id}/{archive_format}"),
    ("get", "/repos/{owner}/{repo}/actions/runs/{run_id}"),
)
BASIC_ERROR = "#/components/schemas/basic-error"
"""What GitHub answers where an operation does not list an error that every operation may have."""
TARGET = Path(__file__).parents[1] / "tests" / "github" / "api.github.com.json"


def references(node: Any) -> Iterator[str]:
    """All pointers of the form ``#/components/KIND/NAME`` below a node."""
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        node = list(node.values())
    if isinstance(node, list):
        for child in node:
            yield from references(child)


def prune(description: dict[str, Any]) -> dict[str, Any]:
    """The description with :data:`OPERATIONS` alone and the components that they need."""
    paths: dict[str, Any] = {}
    for method, path in OPERATIONS:
        paths.setdefault(path, {})[method] = description["paths"][path][method]
    components: dict[str, Any] = {}
    waiting = [BASIC_ERROR, *references(paths)]
    while waiting:
        _, _, kind, name = waiting.pop().split("/")
        if name not in components.setdefault(kind, {}):
            component = reduce(dict.__getitem__, (kind, name), description["components"])
            components[kind][name] = component
            waiting += references(component)
    ordered = {kind: dict(sorted(named.items())) for kind, named in sorted(components.items())}
    return {"openapi": description["openapi"], "info": description["info"], "paths": paths, "components": ordered}


def main() -> None:
    """Read the whole description, write the small one."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    pruned = prune(json.loads(Path(sys.argv[1]).read_text()))
    TARGET.write_text(json.dumps(pruned, indent=1, ensure_ascii=False) + "\n")
    print(f"{TARGET}: {TARGET.stat().st_size / 1024:.0f} KB")


if __name__ == "__main__":
    main()
