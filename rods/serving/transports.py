"""What carries the protocol: stdin and stdout, or HTTP."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import closing
from typing import Any, cast

import anyio
from mcp.server.stdio import stdio_server

from rods.errors import ConfigError
from rods.serving.mcp_server import IDLE_S, EnvironmentServer, Sessions
from rods.serving.stdin import Lines, own_stdin

PATH = "/mcp"
_GRACE_S = 2  # of open streams, when the server is asked to end


def serve_stdio(server: EnvironmentServer, sessions: Sessions) -> None:
    """Serve the one client until it closes stdin, or until Ctrl-C (KeyboardInterrupt)."""

    async def serve() -> None:
        said = cast(Any, Lines(own_stdin()))  # the SDK only iterates over it
        async with stdio_server(stdin=said) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    with closing(sessions):
        anyio.run(serve)


def serve_http(
    server: EnvironmentServer,
    sessions: Sessions,
    host: str,
    port: int,
    ready: Callable[[str], None],
) -> None:
    """Serve any number of clients until Ctrl-C (KeyboardInterrupt); ``ready`` hears the address.

    Port 0 takes a free one. ConfigError where the port cannot be had.
    """
    import uvicorn  # noqa: PLC0415 - comes with mcp; stdio has no use for it

    listening = _bound(host, port)
    app = server.streamable_http_app(host=host, session_idle_timeout=IDLE_S)
    config = uvicorn.Config(
        _ending_sessions(app, sessions),
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=_GRACE_S,
    )
    shown = f"[{host}]" if ":" in host else host
    with closing(listening), closing(sessions):
        ready(f"http://{shown}:{listening.getsockname()[1]}{PATH}")
        uvicorn.Server(config).run(sockets=[listening])


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen()  # whoever hears the address can connect
    except (OSError, OverflowError) as error:
        listening.close()
        raise ConfigError(
            f"Cannot listen on {host} port {port}: {error}; give another --port, or --port 0."
        ) from error
    return listening


def _ending_sessions(app: Any, sessions: Sessions) -> Any:
    """The app; a session that its client ends (DELETE) gives its world back at once."""

    async def served(scope: Any, receive: Any, send: Any) -> None:
        await app(scope, receive, send)
        if scope["type"] == "http" and scope["method"] == "DELETE":
            headers = dict(scope["headers"])
            sessions.end(headers.get(b"mcp-session-id", b"").decode("latin-1"))

    return served
