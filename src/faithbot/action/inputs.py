"""The inputs of the GitHub Action, as types. The runner hands each over as a variable `INPUT_NAME`."""

from __future__ import annotations

import difflib
import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from faithbot.config import JudgeSettings, Line
from faithbot.errors import UsageError
from faithbot.github.sections import WORD
from faithbot.userinfo import without_userinfo

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping

FailOn = Literal["regression", "inconclusive", "never"]
CommentWhen = Literal["always", "changes", "never"]

_SHOWN = 60
"""Characters of a wrong value that an error repeats."""

_TOKENS = (
    "INPUT_TOKEN",
    "GITHUB_TOKEN",
    "GH_TOKEN",
    "ACTIONS_RUNTIME_TOKEN",  # writes artifacts and the cache that later runs trust
    "ACTIONS_ID_TOKEN_REQUEST_TOKEN",  # signs in to clouds as this workflow
)


def _split(value: Any) -> Any:
    return [part.strip() for part in re.split(r"[,\n]", value) if part.strip()] if isinstance(value, str) else value


def _known_method(value: str) -> str:
    known = get_args(JudgeSettings.model_fields["method"].annotation)
    if value not in known:
        raise PydanticCustomError("unknown", "{message}", {"message": _not_known(value, known)})
    return value


def _inside_workspace(value: str) -> str:
    path = PurePosixPath(value)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise PydanticCustomError("outside", "must be a folder inside the workspace, such as faithbot-report")
    return value


def _models_place(value: str) -> str:
    path = PurePosixPath(value)
    if ".." in path.parts or not path.name or value.startswith("//"):
        raise PydanticCustomError(
            "outside",
            "must be a folder inside runner.temp, such as models, or an absolute path on the runner without ..",
        )
    return value


def _address(value: str) -> str:
    parts = urlsplit(value)  # which raises ValueError for half a bracket, as `port` does for 123456
    if parts.hostname is None or parts.port == 0:
        raise ValueError("no host or port")
    return value


class ActionInputs(BaseModel):
    """What a workflow says under `with:`; None where it says nothing and the action finds out by itself."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=lambda name: name.replace("_", "-"), populate_by_name=True
    )

    config: Line = "faithbot.yaml"
    base: Line | None = None
    head: Line | None = None
    token: SecretStr | None = None
    judge_model: Line | None = None
    judge_method: Annotated[str, AfterValidator(_known_method)] | None = None
    runs: int | None = Field(default=None, ge=1, le=50)
    only: Annotated[tuple[str, ...], BeforeValidator(_split)] = ()
    limit: int | None = Field(default=None, ge=1)
    fail_on: FailOn = "inconclusive"
    """The mildest verdict that ends the job red: `inconclusive` includes `regression`."""
    comment: CommentWhen = "always"
    comment_key: str = Field(default="faithbot", max_length=40, pattern=rf"^{WORD.pattern}$")
    """Tells apart the comments of several jobs on one pull request."""
    ollama_url: Annotated[str, Field(pattern=r"^https?://[^\s/]+\S*$"), AfterValidator(_address)] | None = None
    ollama_image: str | None = Field(default=None, pattern=r"^[A-Za-z0-9]\S*$")
    models_dir: Annotated[Line, AfterValidator(_models_place)] | None = None
    """Inside runner.temp; absolute: on the runner's own machine."""
    ollama_network: str | None = Field(default=None, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")
    artifact_dir: Annotated[Line, AfterValidator(_inside_workspace)] = "faithbot-report"


class WrongInputsError(UsageError):
    """Some inputs are wrong: a line for each."""

    def __init__(self, message: str, others: ActionInputs) -> None:
        super().__init__(message)
        self.others = others
        """The inputs with the defaults in place of the wrong ones: where and how to tell it."""


def read_inputs(environ: Mapping[str, str]) -> ActionInputs:
    """The inputs among the environment's variables; :class:`WrongInputsError` where there are wrong ones.

    The runner turns `fail-on` into `INPUT_FAIL-ON`. An empty value is as good as none.
    """
    names = [name.replace("_", "-") for name in ActionInputs.model_fields]
    given = {name: environ.get(f"INPUT_{name.upper()}", "").strip() for name in names}
    given = {name: value for name, value in given.items() if value}
    try:
        return ActionInputs.model_validate(given)
    except ValidationError as error:
        wrong = {problem["loc"][0] for problem in error.errors()}
        others = ActionInputs.model_validate({name: value for name, value in given.items() if name not in wrong})
        raise WrongInputsError("\n".join(_describe(problem) for problem in error.errors()), others) from None


def forget_tokens(environ: MutableMapping[str, str]) -> None:
    """Take every token out of the environment, so that no process started from here on inherits one.

    The runner gives a container more of them than the one that the workflow names.
    """
    for name in _TOKENS:
        environ.pop(name, None)


_ALLOWED = {
    "runs": "a whole number from 1 to 50",
    "limit": "a whole number from 1",
    "comment-key": "1 to 40 letters and digits, with single dots, dashes or underscores between them",
    "ollama-url": "an address such as http://ollama:11434",
    "ollama-image": "the name of an image such as ollama/ollama",
    "ollama-network": "the name of a Docker network",
}


def _describe(problem: ErrorDetails) -> str:
    name = str(problem["loc"][0])
    found = without_userinfo(str(problem["input"]))
    if name in _ALLOWED:
        message = f"use {_ALLOWED[name]}; found {found[:_SHOWN]!r}"
    elif problem["type"] == "literal_error":
        message = _not_known(found, get_args(FailOn if name == "fail-on" else CommentWhen))
    elif problem["type"] == "unknown":
        message = problem["msg"]
    else:
        message = f"{problem['msg']}; found {found[:_SHOWN]!r}"
    return f"input `{name}`: {message}."


def _not_known(found: str, known: tuple[str, ...]) -> str:
    close = difflib.get_close_matches(found, known, n=1)
    meant = f"did you mean `{close[0]}`? Known are" if close else "use"
    return f"{found[:_SHOWN]!r} is not known: {meant} {', '.join(known[:-1])} or {known[-1]}"
