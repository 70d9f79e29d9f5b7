"""A shelf behind streamable HTTP, made with the SDK's server side; runs in a thread of the tests.

Its items are one state for all, or each MCP session's own, or that of a key.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

READ, WRITE = ToolAnnotations(readOnlyHint=True), ToolAnnotations(readOnlyHint=False)


class Shelf:
    """What the server holds, and how it misbehaves from now on."""

    def __init__(self, scope: str, token: str = "") -> None:
        self.scope, self.token = scope, token  # "all", "session" or "key"
        self.items: dict[str, dict[str, int]] = {}
        self.status = 0  # what HTTP answers instead
        self.status_of_calls = 0  # the same, to tools/call alone
        self.ended: list[str] = []  # sessions that their clients ended

    def of(self, context: Any, key: str) -> dict[str, int]:
        """The items that a call is about."""
        if self.scope == "session":
            key = context.request_context.request.headers["mcp-session-id"]
        return self.items.setdefault(key if self.scope != "all" else "", {})


def made(shelf: Shelf) -> MCPServer:
    server = MCPServer("shelf")

    @server.tool(annotations=WRITE)
    def put(name: str, count: int, context: Context, key: str = "") -> str:
        """Puts an item on the shelf."""
        if count < 0:
            raise ToolError(f"count of {name} is negative")
        items = shelf.of(context, key)
        items[name] = items.get(name, 0) + count
        return f"{name} is at p{len(items)}"

    @server.tool(annotations=READ)
    def listing(context: Context, key: str = "") -> dict[str, int]:
        """Lists the items."""
        return shelf.of(context, key)

    @server.tool(annotations=WRITE)
    def clear(context: Context) -> str:
        """Takes everything off the shelf."""
        shelf.of(context, "").clear()
        return "cleared"

    @server.tool(annotations=READ)
    def whoami(context: Context, who: str) -> str:
        """Says what it was told of the caller."""
        return f"{who}: {context.request_context.request.headers.get('authorization')}"

    @server.tool(annotations=WRITE)
    async def hang() -> str:
        """Never answers."""
        await asyncio.sleep(600)
        return ""

    return server


class Guard:
    """The app behind a token, with HTTP's own faults."""

    def __init__(self, app: Any, shelf: Shelf) -> None:
        self.app, self.shelf = app, shelf

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        headers, shelf = dict(scope["headers"]), self.shelf
        if scope["method"] == "DELETE":
            shelf.ended.append(headers.get(b"mcp-session-id", b"").decode())
        body = await receive()
        calls = b'"tools/call"' in body.get("body", b"")
        status = shelf.status or (calls and shelf.status_of_calls)
        if shelf.token and headers.get(b"authorization") != f"Bearer {shelf.token}".encode():
            status = 401
        if status:
            await send({"type": "http.response.start", "status": status, "headers": []})
            return await send({"type": "http.response.body", "body": b"no"})
        first = [body]

        async def again() -> Any:
            return first.pop() if first else await receive()

        await self.app(scope, again, send)


@contextmanager
def serving(shelf: Shelf) -> Iterator[str]:
    """The address while it is served; afterwards nobody listens there."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        app = Guard(made(shelf).streamable_http_app(), shelf)
        config = uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=0)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        finally:
            server.should_exit = True
            thread.join(20)
