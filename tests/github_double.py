"""GitHub's API for tests: a real HTTP server with pull requests, comments and statuses that remembers what it was told.

Every request and every response is held to GitHub's own OpenAPI description, and responses start from the examples in
it. Where the description is silent (limits, permissions, links between pages), it answers as GitHub does.
"""

from __future__ import annotations

import itertools
import json
import re
import socket
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import parse_qsl, urlencode, urlsplit

from openapi_description import Description, Operation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

HEAD = "6dcb09b5b57875f334f61aebed695e2e4193db5e"
"""A commit for tests."""

_DESCRIPTION = Description(Path(__file__).parent / "github" / "api.github.com.json")
_REPOSITORY_ID = 1296269
_FORK_ID = 1296270
_STORAGE = "/storage/"
"""Where the archives of artifacts lie. With GitHub that is another host, and a request with a token is refused."""
_LONGEST_COMMENT = 65_536
_LONGEST_STATUS = 140

_READ_CONVERSATION = {"issues": "read", "pull_requests": "read"}
_WRITE_CONVERSATION = {"issues": "write", "pull_requests": "write"}
_WRONG_IN_THE_DESCRIPTION = re.compile(r"\$(\[\d+\])?\.head\.repo: None is not of type 'object'")
"""A fork that has been deleted: github/rest-api-description#1811."""
_PERMISSIONS: dict[str, dict[str, str]] = {
    "pulls/list": {"pull_requests": "read"},
    "pulls/get": {"pull_requests": "read"},
    "issues/list-comments": _READ_CONVERSATION,
    "issues/get-comment": _READ_CONVERSATION,
    "issues/create-comment": _WRITE_CONVERSATION,
    "issues/update-comment": _WRITE_CONVERSATION,
    "issues/delete-comment": _WRITE_CONVERSATION,
    "repos/create-commit-status": {"statuses": "write"},
    "actions/list-artifacts-for-repo": {"actions": "read"},
    "actions/get-workflow-run": {"actions": "read"},
    "actions/download-artifact": {"actions": "read"},
}
"""What an app's token needs for an operation: any one of these."""


@dataclass(frozen=True)
class Token:
    """Whom a token speaks for, and what it may do."""

    author: str = "github-actions[bot]"
    type: str = "Bot"
    permissions: Mapping[str, str] = field(
        default_factory=lambda: {"pull_requests": "write", "statuses": "write", "actions": "read"}
    )

    @property
    def is_of_an_app(self) -> bool:
        return self.type == "Bot"

    def may(self, wanted: Mapping[str, str]) -> bool:
        if not self.is_of_an_app or not wanted:
            return True
        return any(self.permissions.get(name) in {level, "write"} for name, level in wanted.items())


@dataclass(frozen=True)
class Failure:
    """What the next request gets instead of its answer."""

    status: int
    message: str = "Server Error"
    headers: Mapping[str, str] = field(default_factory=dict)
    processed: bool = False
    """The request is carried out all the same: only its answer is lost."""
    delay: float = 0.0
    """Seconds before the answer."""
    only: str | None = None
    """Strikes requests of this method alone."""


def secondary_limit(retry_after: int) -> Failure:
    message = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
    return Failure(403, message, {"Retry-After": str(retry_after)})


@dataclass(frozen=True)
class Request:
    """A request as it arrived."""

    method: str
    path: str
    query: Mapping[str, str]
    body: Any
    token: str
    at: float
    """Seconds on the monotonic clock."""


class RefusedError(Exception):
    """An answer other than success."""

    def __init__(self, status: int, message: str, errors: list[dict[str, str]] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.errors = errors


class GitHubDouble:
    """The API of one repository. Leaving the context fails if anything broke GitHub's description of it."""

    def __init__(self, repository: str = "octocat/Hello-World") -> None:
        self.repository = repository
        self.requests: list[Request] = []
        self.violations: list[str] = []
        self.tokens: dict[str, Token] = {}
        self.failures: list[Failure] = []
        """Each strikes one request, the first one first."""
        self.pull_requests: dict[int, dict[str, Any]] = {}
        self.locked: set[int] = set()
        """Numbers of the pull requests whose conversation is locked."""
        self.vanishing: set[int] = set()
        """Comments that somebody deletes as soon as they have been listed."""
        self.overtaken_by: list[str] = []
        """Bodies that another run with the same token posts a moment before the next comment."""
        self.meanwhile: list[tuple[str, Callable[[], object]]] = []
        """What others do, each once: after the next request "METHOD PATH" is carried out, before its answer arrives."""
        self.commits: set[str] = set()
        self._comment_ids = itertools.count(1001)
        self._comments: dict[int, tuple[int, dict[str, Any]]] = {}
        self._statuses: list[tuple[str, dict[str, Any]]] = []
        self._runs: dict[int, dict[str, Any]] = {}
        self._artifacts: list[tuple[dict[str, Any], bytes]] = []
        self._quiet_until = 0.0
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("0.0.0.0", 0), _handler(self))  # noqa: S104 - containers must reach it
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        if kind is None:
            assert not self.violations, "\n".join(self.violations)
            assert not self.failures, f"failures that struck nobody: {self.failures}"
            assert not self.meanwhile, f"requests that were never made: {[request for request, _ in self.meanwhile]}"

    @property
    def port(self) -> int:
        return self._server.server_port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def add_token(self, text: str = "ghs_workflow", **properties: Any) -> str:
        """A token that the API accepts: a workflow's own with all permissions, unless told otherwise."""
        self.tokens[text] = Token(**properties)
        return text

    def add_pull_request(
        self,
        number: int,
        head_sha: str,
        *,
        head: str = "octocat:topic",
        base: str = "main",
        state: str = "open",
        draft: bool = False,
        head_deleted: bool = False,
    ) -> None:
        """A pull request; ``head`` is OWNER:BRANCH, and another owner than the repository's makes it a fork's."""
        owner, _, branch = head.partition(":")
        pull = _DESCRIPTION.example("pull-request")
        url = f"https://api.github.com/repos/{self.repository}/pulls/{number}"
        pull.update(number=number, url=url, state=state, draft=draft, requested_teams=[])
        pull["html_url"] = f"https://github.com/{self.repository}/pull/{number}"
        pull["merge_commit_sha"] = None if state == "closed" else f"{number:040x}"
        own_owner, _, name = self.repository.partition("/")
        self._fill_side(pull["base"], own_owner, name, base)
        self._fill_side(pull["head"], owner, name, branch)
        pull["head"]["sha"] = head_sha
        if head_deleted:
            pull["head"]["repo"] = None
        self.pull_requests[number] = pull
        self.commits.add(head_sha)

    def add_comment(self, number: int, body: str, author: str = "octocat", type: str = "User") -> int:  # noqa: A002
        """A comment that somebody has written before; its id."""
        return int(self._new_comment(number, body, Token(author, type))["id"])

    def add_artifact(
        self, head_sha: str, archive: bytes, *, name: str = "faithbot-report", event: str = "pull_request", **more: Any
    ) -> str:
        """What a finished run at a commit left behind; the address of the run's page. ``more``: is_fork, expired."""
        run_id = len(self._runs) + 7001
        run = _DESCRIPTION.example("workflow-run")
        page = f"https://github.com/{self.repository}/actions/runs/{run_id}"
        run.update(id=run_id, event=event, head_sha=head_sha, status="completed", html_url=page)
        self._runs[run_id] = run
        artifact = _DESCRIPTION.example("artifact-paginated")["artifacts"][0]
        artifact.update(id=run_id + 1000, name=name, size_in_bytes=len(archive), expired=more.get("expired", False))
        artifact["archive_download_url"] = (
            f"https://api.github.com/repos/{self.repository}/actions/artifacts/{artifact['id']}/zip"
        )
        head_repository = _FORK_ID if more.get("is_fork") else _REPOSITORY_ID
        artifact["workflow_run"].update(id=run_id, head_sha=head_sha, head_repository_id=head_repository)
        self._artifacts.insert(0, (artifact, archive))
        return page

    def comments(self, number: int) -> list[dict[str, Any]]:
        """The comments of a pull request, oldest first."""
        return [comment for at, comment in self._comments.values() if at == number]

    def bodies(self, number: int) -> list[str]:
        return [comment["body"] for comment in self.comments(number)]

    def statuses(self, sha: str) -> list[dict[str, Any]]:
        """The statuses of a commit, oldest first."""
        return [status for of, status in self._statuses if of == sha]

    def writes(self) -> list[Request]:
        return [request for request in self.requests if request.method != "GET"]

    # --- one request ---

    def answer(self, request: Request, host: str) -> tuple[int, Any, dict[str, str]]:
        """Status, body and headers for a request, both checked."""
        with self._lock:
            self.requests.append(request)
            self._check_patience(request)
            if request.path.startswith(_STORAGE):
                return self._serve_archive(request)
            failure = self._next_failure(request)
            found = _DESCRIPTION.find(request.method, request.path)
            if found is None:
                self._violation(request, "GitHub's description, as pruned for these tests, has no such operation")
                return 404, {"message": "Not Found"}, {}
            status, body, headers = self._perform(request, *found, host, failure)
            for problem in _DESCRIPTION.response_violations(found[0], status, body):
                if not _WRONG_IN_THE_DESCRIPTION.fullmatch(problem):
                    self._violation(request, f"response {status}: {problem}")
        if failure is not None:
            time.sleep(failure.delay)
        self._let_others_act(request)
        return status, body, headers

    def _let_others_act(self, request: Request) -> None:
        """Outside the lock, so that they can make requests of their own."""
        path = request.path.removeprefix(f"/repos/{self.repository}")
        for planned in self.meanwhile:
            if planned[0] == f"{request.method} {path}":
                self.meanwhile.remove(planned)
                planned[1]()
                return

    def _perform(
        self, request: Request, operation: Operation, path: dict[str, str], host: str, failure: Failure | None
    ) -> tuple[int, Any, dict[str, str]]:
        problems = list(_DESCRIPTION.request_violations(operation, path, request.query, request.body))
        for problem in problems:
            self._violation(request, problem)
        try:
            if failure is not None and not failure.processed:
                raise RefusedError(failure.status, failure.message)
            if problems:
                raise RefusedError(422, "Validation Failed")
            headers = self._check_token(request, operation)
            status, answer, more = _ROUTES[operation.name](self, request, path)
            if failure is not None:
                raise RefusedError(failure.status, failure.message)
        except RefusedError as error:
            return error.status, _error_body(error, operation), dict(failure.headers) if failure else {}
        return status, _at_host(answer, host), {**headers, **_at_host(more, host)}

    def _check_patience(self, request: Request) -> None:
        if request.at < self._quiet_until:
            self._violation(request, "asked again before the time that retry-after named")

    def _next_failure(self, request: Request) -> Failure | None:
        for failure in self.failures:
            if failure.only in {None, request.method}:
                self.failures.remove(failure)
                if "Retry-After" in failure.headers:
                    self._quiet_until = time.monotonic() + float(failure.headers["Retry-After"])
                return failure
        return None

    def _check_token(self, request: Request, operation: Operation) -> dict[str, str]:
        token = self.tokens.get(request.token)
        if token is None:
            raise RefusedError(401, "Bad credentials")
        owner_and_name = re.match(r"/repos/([^/]+/[^/]+)", request.path)
        if owner_and_name and owner_and_name[1].casefold() != self.repository.casefold():
            raise RefusedError(404, "Not Found")
        wanted = _PERMISSIONS.get(operation.name, {})
        if not token.may(wanted) or (token.is_of_an_app and operation.name == "users/get-authenticated"):
            raise RefusedError(403, "Resource not accessible by integration")
        return {"X-Accepted-GitHub-Permissions": "; ".join(f"{name}={level}" for name, level in wanted.items())}

    def _violation(self, request: Request, problem: str) -> None:
        self.violations.append(f"{request.method} {request.path}: {problem}")

    # --- operations ---

    def _get_user(self, request: Request, _path: dict[str, str]) -> tuple[int, Any, dict[str, str]]:
        user = _DESCRIPTION.example("private-user-response-with-public-profile-information")
        user["login"] = self.tokens[request.token].author
        return 200, user, {}

    def _list_pulls(self, request: Request, _path: dict[str, str]) -> tuple[int, Any, dict[str, str]]:
        query = request.query
        owner, _, branch = query.get("head", "").partition(":")
        state = query.get("state", "open")
        matches = [
            pull
            for pull in self.pull_requests.values()
            if state in {"all", pull["state"]}
            and (not branch or (pull["head"]["user"]["login"], pull["head"]["ref"]) == (owner, branch))
        ]
        return 200, *_page(request, [self._simple(pull) for pull in matches])

    def _get_pull(self, _request: Request, path: dict[str, str]) -> tuple[int, Any, dict[str, str]]:
        return 200, self._pull_request(path["pull_number"]), {}

    def _list_comments(self, request: Request, path: dict[str, str]) -> tuple[int, Any, dict[str, str]]:
        number = self._pull_request(path["issue_number"])["number"]
        answer = _page(request, self.comments(number))
        for comment_id in self.vanishing & {comment["id"] for comment in answer[0]}:
            del self._comments[comment_id]
        return 200, *answer

    def _get_comment(self, _request: Request, path: dict[str, str]) -> tuple[int, Any, dict[str, str]]:
        return 200, self._comment(path), {}

    def _create_comment(self, request: Request, path: dict[str, str]) -> tuple[int, Any, dict[str, str]]:
        number = self._pull_request(path["issue_number"])["number"]
        if number in self.locked:
            raise RefusedError(403, "Unable to create comment because issue is locked.")
        _check_comment(request.body["body"])
        while self.overtaken_by:
            self._new_comment(number, self.overtaken_by.pop(0), self.tokens[request.token])
        return 201, self._new_comment(number, request.body["body"], self.tokens[request.token]), {}

    def _update_comment(self, request: Request, path: dict[str, str]) -> tuple[int, Any, dict[str, str]]:
        comment = self._own_comment(request, path)
        _check_comment(request.body["body"])
        comment["body"] = request.body["body"]
        return 200, comment, {}

    def _delete_comment(self, request: Request, path: dict[str, str]) -> tuple[int, Any, dict[str, str]]:
        del self._comments[self._own_comment(request, path)["id"]]
        return 204, None, {}

    def _create_status(self, request: Request, path: dict[str, str]) -> tuple[int, Any, dict[str, str]]:
        if path["sha"] not in self.commits:
            raise RefusedError(422, f"No commit found for SHA: {path['sha']}")
        if len(request.body.get("description") or "") > _LONGEST_STATUS:
            message = f"description is too long (maximum is {_LONGEST_STATUS} characters)"
            raise RefusedError(422, "Validation Failed", [{"resource": "Status", "code": "custom", "message": message}])
        status = _DESCRIPTION.example("status")
        status.update({"context": "default", "description": None, "target_url": None} | request.body)
        status["url"] = f"https://api.github.com/repos/{self.repository}/statuses/{path['sha']}"
        self._statuses.append((path["sha"], status))
        return 201, status, {}

    def _list_artifacts(self, request: Request, _path: dict[str, str]) -> tuple[int, Any, dict[str, str]]:
        named = [artifact for artifact, _ in self._artifacts if request.query.get("name") in {None, artifact["name"]}]
        page, links = _page(request, named)
        return 200, {"total_count": len(named), "artifacts": page}, links

    def _get_run(self, _request: Request, path: dict[str, str]) -> tuple[int, Any, dict[str, str]]:
        if int(path["run_id"]) not in self._runs:
            raise RefusedError(404, "Not Found")
        return 200, self._runs[int(path["run_id"])], {}

    def _download_artifact(self, _request: Request, path: dict[str, str]) -> tuple[int, Any, dict[str, str]]:
        found = next((each for each, _ in self._artifacts if each["id"] == int(path["artifact_id"])), None)
        if found is None or path["archive_format"] != "zip":
            raise RefusedError(404, "Not Found")
        if found["expired"]:
            raise RefusedError(410, "Artifact has expired")
        return 302, None, {"Location": f"https://api.github.com{_STORAGE}{found['id']}"}

    def _serve_archive(self, request: Request) -> tuple[int, Any, dict[str, str]]:
        if request.token:
            self._violation(request, "the token was sent to the storage")
        identifier = int(request.path.removeprefix(_STORAGE))
        return 200, next(archive for artifact, archive in self._artifacts if artifact["id"] == identifier), {}

    def _own_comment(self, request: Request, path: dict[str, str]) -> dict[str, Any]:
        """A comment to change, which no app may do to another app's."""
        comment, token = self._comment(path), self.tokens[request.token]
        author = comment["user"]
        if token.is_of_an_app and author["type"] == "Bot" and author["login"] != token.author:
            raise RefusedError(403, "Resource not accessible by integration")
        return comment

    def _comment(self, path: dict[str, str]) -> dict[str, Any]:
        if int(path["comment_id"]) not in self._comments:
            raise RefusedError(404, "Not Found")
        return self._comments[int(path["comment_id"])][1]

    def _pull_request(self, number: str) -> dict[str, Any]:
        if int(number) not in self.pull_requests:
            raise RefusedError(404, "Not Found")
        return self.pull_requests[int(number)]

    # --- objects, from the description's examples ---

    def _new_comment(self, number: int, body: str, token: Token) -> dict[str, Any]:
        comment_id = next(self._comment_ids)
        comment = _DESCRIPTION.example("issue-comment")
        comment.update(id=comment_id, body=body)
        comment["url"] = f"https://api.github.com/repos/{self.repository}/issues/comments/{comment_id}"
        comment["issue_url"] = f"https://api.github.com/repos/{self.repository}/issues/{number}"
        comment["html_url"] = f"https://github.com/{self.repository}/pull/{number}#issuecomment-{comment_id}"
        comment["user"].update(login=token.author, type=token.type)
        self._comments[comment_id] = (number, comment)
        return comment

    def _fill_side(self, side: dict[str, Any], owner: str, name: str, branch: str) -> None:
        side.update(ref=branch, label=f"{owner}:{branch}")
        side["user"]["login"] = owner
        side["repo"].update(name=name, full_name=f"{owner}/{name}")
        side["repo"]["owner"]["login"] = owner

    def _simple(self, pull: dict[str, Any]) -> dict[str, Any]:
        """A pull request as it stands in a list."""
        [simple] = _DESCRIPTION.example("pull-request-simple-items")
        return {name: pull.get(name, value) for name, value in simple.items()}


_ROUTES: dict[str, Callable[[GitHubDouble, Request, dict[str, str]], tuple[int, Any, dict[str, str]]]] = {
    "users/get-authenticated": GitHubDouble._get_user,
    "pulls/list": GitHubDouble._list_pulls,
    "pulls/get": GitHubDouble._get_pull,
    "issues/list-comments": GitHubDouble._list_comments,
    "issues/get-comment": GitHubDouble._get_comment,
    "issues/create-comment": GitHubDouble._create_comment,
    "issues/update-comment": GitHubDouble._update_comment,
    "issues/delete-comment": GitHubDouble._delete_comment,
    "repos/create-commit-status": GitHubDouble._create_status,
    "actions/list-artifacts-for-repo": GitHubDouble._list_artifacts,
    "actions/get-workflow-run": GitHubDouble._get_run,
    "actions/download-artifact": GitHubDouble._download_artifact,
}


def _check_comment(body: str) -> None:
    if not body.strip():
        problem = "Body cannot be blank"
    elif len(body) > _LONGEST_COMMENT:
        problem = f"Body is too long (maximum is {_LONGEST_COMMENT} characters)"
    else:
        return
    error = {"resource": "IssueComment", "code": "unprocessable", "field": "data", "message": problem}
    raise RefusedError(422, "Validation Failed", [error])


def _error_body(error: RefusedError, operation: Operation) -> dict[str, Any]:
    body: dict[str, Any] = {
        "message": error.message,
        "documentation_url": operation.definition["externalDocs"]["url"],
        "status": str(error.status),
    }
    return body | ({"errors": error.errors} if error.errors else {})


def _page(request: Request, items: list[Any]) -> tuple[list[Any], dict[str, str]]:
    """A page of a list, and the links to the others. GitHub writes them with the repository's number, not its name."""
    size = min(int(request.query.get("per_page", 30)), 100)
    page = int(request.query.get("page", 1))
    last = max(1, -(-len(items) // size))
    pages = {"prev": page - 1, "next": page + 1, "last": last, "first": 1}
    path = re.sub(r"^/repos/[^/]+/[^/]+", f"/repositories/{_REPOSITORY_ID}", request.path)
    links = [
        f'<https://api.github.com{path}?{urlencode({**request.query, "page": number})}>; rel="{relation}"'
        for relation, number in pages.items()
        if 1 <= number <= last and number != page
    ]
    return items[(page - 1) * size : page * size], {"Link": ", ".join(links)} if links else {}


def _at_host(value: Any, host: str) -> Any:
    """Addresses of the API as the client reaches it."""
    return json.loads(json.dumps(value).replace("https://api.github.com", f"http://{host}"))


def _handler(double: GitHubDouble) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

        def do_GET(self) -> None:
            text = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            address = urlsplit(self.path)
            request = Request(
                method=self.command,
                path=address.path.replace(f"/repositories/{_REPOSITORY_ID}", f"/repos/{double.repository}"),
                query=dict(parse_qsl(address.query, keep_blank_values=True)),
                body=json.loads(text) if text else None,
                token=self.headers.get("Authorization", "").rpartition(" ")[2],
                at=time.monotonic(),
            )
            self._send(*double.answer(request, self.headers["Host"]))

        do_POST = do_PATCH = do_PUT = do_DELETE = do_GET  # noqa: N815 - the names are http.server's

        def _send(self, status: int, body: Any, headers: dict[str, str]) -> None:
            data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Tests are quiet."""

    return Handler
