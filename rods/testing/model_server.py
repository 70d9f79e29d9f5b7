"""An OpenAI-compatible server whose answers a function gives; it can be killed and come back."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

Reply = Callable[[dict[str, Any]], str | dict[str, Any]]


class ModelServer:
    """Serves ``/v1/models`` and ``/v1/chat/completions`` on a local port while it is entered.

    ``reply`` gets the request's JSON body and returns the message's text, or the whole message
    with its ``tool_calls``. ``requests`` keeps the bodies. With ``key`` other keys are refused;
    ``fail_with`` answers every completion with that HTTP status. ``stop`` and ``start`` keep the
    port, as a server that crashes and is restarted.
    """

    def __init__(self, reply: Reply, *, models: Sequence[str] = ("tiny",), key: str = "") -> None:
        self.reply, self.models, self.key = reply, models, key
        self.requests: list[dict[str, Any]] = []
        self.fail_with = 0
        self._server: ThreadingHTTPServer | None = None
        self._port = 0

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """What ``--lm-url`` gets."""
        return f"http://127.0.0.1:{self._port}/v1"

    def start(self) -> None:
        """Answer; on the port of before, if there was one."""
        handler = type("Handler", (_Handler,), {"owner": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", self._port), handler)
        self._server.daemon_threads = True
        self._port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        """Refuse connections; safe to call twice."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None


class _Handler(BaseHTTPRequestHandler):
    owner: ModelServer

    def do_GET(self) -> None:
        if self._is_welcome():
            rows = [{"id": name, "object": "model"} for name in self.owner.models]
            self._send(200, {"object": "list", "data": rows})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self._is_welcome():
            return
        self.owner.requests.append(body)
        if self.owner.fail_with:
            self._send(self.owner.fail_with, {"error": {"message": "scripted failure"}})
        else:
            self._send(200, _completion(body, self.owner.reply(body)))

    def _is_welcome(self) -> bool:
        given = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if self.owner.key and given != self.owner.key:
            self._send(401, {"error": {"message": "another key, please"}})
            return False
        return True

    def _send(self, status: int, body: dict[str, Any]) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Connection", "close")  # a stopped server leaves nobody connected
        self.end_headers()
        with suppress(BrokenPipeError):  # who asked did not wait
            self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on the screen."""


def _completion(body: dict[str, Any], reply: str | dict[str, Any]) -> dict[str, Any]:
    """A token is a word."""
    said: dict[str, Any] = {"content": reply} if isinstance(reply, str) else reply
    message = {"role": "assistant", "content": None, **said}
    sent = sum(len(str(message["content"]).split()) for message in body["messages"])
    received = len(str(message["content"]).split())
    return {
        "id": "scripted",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": _finish(message)}],
        "usage": {
            "prompt_tokens": sent,
            "completion_tokens": received,
            "total_tokens": sent + received,
        },
    }


def _finish(message: dict[str, Any]) -> str:
    return "tool_calls" if message.get("tool_calls") else "stop"
