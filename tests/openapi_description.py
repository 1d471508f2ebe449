"""An OpenAPI 3.0 description that HTTP requests and responses are held to."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from jsonschema import Draft4Validator, FormatChecker
from referencing import Registry
from referencing.jsonschema import DRAFT4

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_DOCUMENT = "urn:description"
_FORMATS = FormatChecker(formats=())


@_FORMATS.checks("date-time", raises=ValueError)
def _is_date_time(value: object) -> bool:
    return not isinstance(value, str) or datetime.fromisoformat(value).tzinfo is not None


@_FORMATS.checks("uri")
def _is_uri(value: object) -> bool:
    return not isinstance(value, str) or re.fullmatch(r"[a-z][a-z0-9+.-]*:\S+", value) is not None


@dataclass(frozen=True)
class Operation:
    """One method of one path."""

    method: str
    path: str
    """With its parameters in braces."""
    definition: Mapping[str, Any]

    @property
    def name(self) -> str:
        return str(self.definition["operationId"])


class Description:
    """Finds operations and holds what is sent and answered to their schemas.

    OpenAPI 3.0 schemas are JSON schemas of draft 4 (``$ref`` overrides its siblings) except for ``nullable``, which is
    rewritten when the document is read.
    """

    def __init__(self, file: Path) -> None:
        self._document = _without_nullable(json.loads(file.read_text()))
        resource = DRAFT4.create_resource(self._document)
        self._registry = Registry().with_resource(_DOCUMENT, resource)
        self.operations = [
            Operation(method, path, definition)
            for path, methods in self._document["paths"].items()
            for method, definition in methods.items()
        ]

    def find(self, method: str, path: str) -> tuple[Operation, dict[str, str]] | None:
        """The operation that a request is for, with the values of the path's parameters."""
        for operation in self.operations:
            pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(operation.path))
            match = re.fullmatch(pattern, path)
            if match and operation.method == method.lower():
                return operation, match.groupdict()
        return None

    def example(self, name: str) -> Any:
        """A copy of one of the description's own examples."""
        return deepcopy(self._document["components"]["examples"][name]["value"])

    def request_violations(
        self, operation: Operation, path: Mapping[str, str], query: Mapping[str, str], body: Any
    ) -> Iterator[str]:
        """What is wrong with a request. Parameters and fields that the description does not name are wrong too: a
        server ignores them, so nobody would notice."""
        for place, given in (("path", path), ("query", query)):
            declared = {each["name"]: each for each in self._parameters(operation) if each["in"] == place}
            yield from (f"{place} parameter {name} is unknown" for name in given if name not in declared)
            for name, parameter in declared.items():
                if name in given:
                    yield from self._schema_violations(_typed(given[name], parameter["schema"]), parameter["schema"])
                elif parameter.get("required"):
                    yield f"{place} parameter {name} is missing"
        yield from self._body_violations(operation, body)

    def response_violations(self, operation: Operation, status: int, body: Any) -> Iterator[str]:
        """What is wrong with a response. An error that the operation does not list must be GitHub's basic error."""
        responses = operation.definition["responses"]
        if str(status) in responses:
            response = self._resolved(responses[str(status)])
            if "content" not in response:
                if body is not None:
                    yield f"status {status} has no body"
                return
            schema = response["content"]["application/json"]["schema"]
        elif status >= 400:
            schema = {"$ref": "#/components/schemas/basic-error"}
        else:
            yield f"status {status} is not described"
            return
        yield from self._schema_violations(body, schema)

    def _body_violations(self, operation: Operation, body: Any) -> Iterator[str]:
        described = operation.definition.get("requestBody")
        if described is None:
            if body is not None:
                yield "a body is not described"
            return
        if body is None:
            yield "the body is missing"
            return
        schema = self._resolved(described["content"]["application/json"]["schema"])
        yield from self._schema_violations(body, {**schema, "additionalProperties": False})

    def _schema_violations(self, value: Any, schema: Mapping[str, Any]) -> Iterator[str]:
        validator = Draft4Validator(_with_absolute_references(schema), registry=self._registry, format_checker=_FORMATS)
        for error in validator.iter_errors(value):
            yield f"{error.json_path}: {error.message[:300]}"

    def _parameters(self, operation: Operation) -> list[Mapping[str, Any]]:
        return [self._resolved(each) for each in operation.definition.get("parameters", ())]

    def _resolved(self, node: Mapping[str, Any]) -> Mapping[str, Any]:
        while "$ref" in node:
            node = self._registry.resolver(_DOCUMENT).lookup(node["$ref"]).contents
        return node


def _without_nullable(node: Any) -> Any:
    if isinstance(node, list):
        return [_without_nullable(child) for child in node]
    if not isinstance(node, dict):
        return node
    node = {key: _without_nullable(child) for key, child in node.items()}
    if node.pop("nullable", None) is not True:
        return node
    return {"anyOf": [node, {"type": "null"}]}


def _with_absolute_references(node: Any) -> Any:
    """A schema that is looked at outside its document keeps pointing into it."""
    if isinstance(node, list):
        return [_with_absolute_references(child) for child in node]
    if not isinstance(node, dict):
        return node
    if isinstance(node.get("$ref"), str):
        return {"$ref": _DOCUMENT + node["$ref"]}
    return {key: _with_absolute_references(child) for key, child in node.items()}


def _typed(text: str, schema: Mapping[str, Any]) -> Any:
    """A parameter's text as the type that its schema wants, where it reads as one."""
    if schema.get("type") == "integer" and re.fullmatch(r"-?\d+", text):
        return int(text)
    return text
