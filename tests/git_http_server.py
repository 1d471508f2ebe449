"""Git over real HTTP, as GitHub serves it: git's own server program behind a token."""

from __future__ import annotations

import base64
import os
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Self

from faithbot.git import git_environment
from git_repository import git

if TYPE_CHECKING:
    from pathlib import Path


class GitHttpServer:
    """Serves the repositories of a folder to who brings the token in exactly one `Authorization` header."""

    def __init__(self, folder: Path, token: str, host: str = "127.0.0.1") -> None:
        self.authorizations: list[list[str]] = []
        """The `Authorization` headers of each request so far."""
        self._folder = folder
        self._expected = "basic " + base64.b64encode(f"x-access-token:{token}".encode()).decode()
        self._program = os.path.join(git(folder, "--exec-path"), "git-http-backend")
        self._server = ThreadingHTTPServer((host, 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def port(self) -> int:
        return self._server.server_port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(server) -> type[BaseHTTPRequestHandler]:  # noqa: N805 - `self` is the request's handler inside
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                given = self.headers.get_all("Authorization", [])
                server.authorizations.append(given)
                if len(given) > 1:
                    self.send_error(400, "Duplicate header: Authorization")
                elif given != [server._expected]:
                    self.send_response(401)
                    self.send_header("WWW-Authenticate", 'Basic realm="GitHub"')
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                else:
                    self._serve()

            def do_POST(self) -> None:
                self.do_GET()

            def _serve(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                path, _, query = self.path.partition("?")
                done = subprocess.run(
                    [server._program], input=body, capture_output=True, check=True, env=server._cgi(self, path, query)
                )
                head, _, content = done.stdout.partition(b"\r\n\r\n")
                self.send_response(200)
                for line in head.decode().splitlines():
                    self.send_header(*line.split(": ", 1))
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        return Handler

    def _cgi(self, request: BaseHTTPRequestHandler, path: str, query: str) -> dict[str, str]:
        return git_environment() | {
            "GIT_PROJECT_ROOT": str(self._folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": request.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": request.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": request.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
        }
