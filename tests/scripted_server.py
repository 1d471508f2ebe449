"""A real HTTP server that replays scripted answers, for what a healthy server will not do on demand."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True)
class Answer:
    """One answer: pieces of the body, each sent as a chunk of its own; a number pauses for so many seconds."""

    pieces: tuple[bytes | float, ...] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    drop: bool = False
    """Close the connection before the body is complete."""


def json_answer(value: Any, status: int = 200, **headers: str) -> Answer:
    return Answer((json.dumps(value).encode(),), status, {"Content-Type": "application/json", **headers})


def lines_answer(*values: Any, drop: bool = False) -> Answer:
    """NDJSON, as Ollama streams it."""
    return Answer(tuple(json.dumps(value).encode() + b"\n" for value in values), drop=drop)


class ScriptedServer:
    """Answers the n-th request for a path with the n-th answer of its script.

    Leaving the context fails if the server was asked for more than the script holds, or for less.
    """

    def __init__(self, script: dict[str, list[Answer]]) -> None:
        self.requests: list[tuple[str, Any]] = []
        """Path and JSON body of each request so far."""
        self.headers: list[dict[str, str]] = []
        self._script = {path: list(answers) for path, answers in script.items()}
        self._surprises: list[str] = []
        self._ended = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def bodies(self, path: str) -> list[Any]:
        return [body for asked, body in self.requests if asked == path]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._ended.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        if kind is None:
            left = {path: len(answers) for path, answers in self._script.items() if answers}
            assert not self._surprises, f"requests that the script does not hold: {self._surprises}"
            assert not left, f"answers that nobody asked for: {left}"

    def _next(self, path: str) -> Answer:
        answers = self._script.get(path)
        if not answers:
            self._surprises.append(path)
            return json_answer({"error": "the script holds no answer"}, 400)
        return answers.pop(0)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        scripted = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                scripted.requests.append((self.path, json.loads(body) if body else None))
                scripted.headers.append(dict(self.headers))
                self._send(scripted._next(self.path))

            do_GET = do_POST  # noqa: N815 - the name is http.server's

            def _send(self, answer: Answer) -> None:
                self.close_connection = True
                self.send_response(answer.status)
                for name, value in {**answer.headers, "Connection": "close", "Transfer-Encoding": "chunked"}.items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                for piece in answer.pieces:
                    if isinstance(piece, float):
                        scripted._ended.wait(piece)
                    else:
                        self._chunk(piece)
                if not answer.drop:
                    self._chunk(b"")

            def _chunk(self, data: bytes) -> None:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                self.wfile.flush()

            def log_message(self, *_: object) -> None:
                """Tests are quiet."""

        return Handler
