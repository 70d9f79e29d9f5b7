"""An MCP server in front of an environment, with the official SDK: one episode a client session.

Over stdio one process serves one client. Over HTTP a session is what the protocol's handshake
opens; clients of revisions without sessions (2026-07-28) are told so, and fall back to it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from rods.serving.tool_handler import Answer, ToolHandler
from rods.types import ToolSpec

IDLE_S = 1800.0  # after which a session over HTTP ends by itself
_HEADER = "mcp-session-id"
_NO_SESSION = Answer(
    "Over HTTP an episode needs a session: connect with the handshake of protocol "
    f"{HANDSHAKE_PROTOCOL_VERSIONS[-1]} or older.",
    error=True,
)


@dataclass(slots=True)
class ClientSession:
    """What serves one client; one call at a time."""

    handler: ToolHandler
    turn: anyio.Lock = field(default_factory=anyio.Lock)
    used: float = field(default_factory=time.monotonic)


class Sessions:
    """The clients by session id. A session that ended, or was idle for long, has none."""

    def __init__(self, make: Callable[[], ToolHandler], idle_s: float = IDLE_S) -> None:
        self._make = make
        self._idle_s = idle_s
        self._clients: dict[str, ClientSession] = {}

    def client(self, session: str) -> ClientSession:
        """The session's client, a new one at its first request."""
        self._sweep()
        if session not in self._clients:
            self._clients[session] = ClientSession(self._make())
        client = self._clients[session]
        client.used = time.monotonic()
        return client

    def end(self, session: str) -> None:
        """The session's world is closed."""
        if (client := self._clients.pop(session, None)) is not None:
            client.handler.close()

    def close(self) -> None:
        """Every world is closed."""
        for session in list(self._clients):
            self.end(session)

    def _sweep(self) -> None:
        last = time.monotonic() - 2 * self._idle_s  # the SDK has ended these sessions long ago
        for session in [s for s, client in self._clients.items() if client.used < last]:
            self.end(session)


class EnvironmentServer(Server[Any]):
    """The environment's tools as MCP tools; the list follows the task, and says when it changed."""

    def __init__(self, name: str, version: str, sessions: Sessions, *, http: bool) -> None:
        self._sessions, self._http = sessions, http
        self._bus = InMemorySubscriptionBus()
        super().__init__(
            name,
            version=version,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_subscriptions_listen=None if http else ListenHandler(self._bus),
        )
        if http:
            self.add_request_handler("server/discover", types.RequestParams, self._sessions_only)

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        *options: Any,
        **more: Any,
    ) -> InitializationOptions:
        """Clients are told that the list of tools can change, whoever asks."""
        changes = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(changes, *options, **more)

    # ---------------------------------------------------------------- requests
    async def _list_tools(self, ctx: Any, params: Any) -> types.ListToolsResult:
        client = self._client(ctx)
        specs = client.handler.tools() if client is not None else []
        return types.ListToolsResult(tools=[_shown(spec) for spec in specs])

    async def _call_tool(
        self, ctx: Any, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        client = self._client(ctx)
        if client is None:
            return _result(_NO_SESSION)
        async with client.turn:
            before = client.handler.tools()
            answer = await anyio.to_thread.run_sync(
                client.handler.call, params.name, params.arguments or {}
            )
            changed = client.handler.tools() != before
        if changed:
            await ctx.session.send_tool_list_changed()  # up to 2025-11-25
            await self._bus.publish(ToolsListChanged())  # since then to those who listen
        return _result(answer)

    def _client(self, ctx: Any) -> ClientSession | None:
        """The client that asks; None for a request over HTTP without a session."""
        session = ctx.request.headers.get(_HEADER) if self._http else "stdio"
        return self._sessions.client(session) if session else None

    async def _sessions_only(self, ctx: Any, params: Any) -> types.DiscoverResult:
        """Names the revisions that have sessions, so that newer clients fall back to one."""
        return types.DiscoverResult(
            supported_versions=list(HANDSHAKE_PROTOCOL_VERSIONS),
            capabilities=self.get_capabilities(NotificationOptions(tools_changed=True)),
            result_type="complete",
            ttl_ms=0,
            cache_scope="public",
        )


def _shown(spec: ToolSpec) -> types.Tool:
    """The tool as MCP describes it; what is known of its effect is a hint."""
    known = spec.effect != "unknown"
    return types.Tool(
        name=spec.name,
        description=spec.description,
        input_schema=spec.parameters,
        annotations=types.ToolAnnotations(read_only_hint=spec.effect == "read") if known else None,
    )


def _result(answer: Answer) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=answer.text)],
        structured_content=answer.content,
        is_error=answer.error,
    )
