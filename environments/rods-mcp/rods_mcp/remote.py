"""A server that is there already, spoken to over streamable HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from rods.errors import ConfigError, reason
from rods_mcp.connection import Connection
from rods_mcp.credentials import Credentials

_SESSION = "mcp-session-id"
_INVALID_PARAMS, _INVALID_REQUEST, _PARSE_ERROR = -32602, -32600, -32700
_HINTS = {
    401: "; is environment.headers as it wants it?",
    403: "; is environment.headers as it wants it?",
    404: "; is the path right (many have it at /mcp)?",
}


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is and what is sent along, every variable filled in."""

    url: str
    headers: Mapping[str, str]
    start_timeout_s: float
    call_timeout_s: float
    by_session: bool  # its state is that of the MCP session


class Remote(Connection):
    """The client of a server that others run."""

    def __init__(self, address: Address, credentials: Credentials) -> None:
        super().__init__(address.start_timeout_s, address.call_timeout_s, credentials)
        self._address = address
        # The newest revision of the protocol has no sessions: ask by the older handshake.
        self.mode = "legacy" if address.by_session else "auto"
        self._status = 0  # of the last request of ours that the server refused
        self._lost = ""  # why the last request got no answer at all
        self._session = ""

    @property
    def name(self) -> str:
        """Its address."""
        return self._address.url

    @asynccontextmanager
    async def transport(self) -> AsyncIterator[Any]:
        """The SDK's transport over a client that notes what HTTP said."""
        from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

        client: Any = _noting_client(self, self._address)
        async with client, streamable_http_client(self._address.url, http_client=client) as pipes:
            yield pipes

    def start(self) -> None:
        """It has introduced itself; where its state is the session's, it has opened one."""
        super().start()
        if self._address.by_session and not self._session:
            self.end()
            raise ConfigError(
                f"The server {self.name!r} opens no MCP sessions, so that each could have a state "
                "of its own. Declare another environment.reset, or environment.shared = true."
            )

    def left(self) -> None:
        """The transport has closed its HTTP client itself."""

    def forget_stderr(self) -> None:
        """Nothing of it is seen here."""

    def is_outage(self, error: Any) -> bool:
        """Whatever HTTP refused, but for arguments that the tool does not take."""
        if error.code == _INVALID_PARAMS:
            return False
        refused = bool(self._status or self._lost)
        broken = error.code in (_INVALID_REQUEST, _PARSE_ERROR)
        return refused or broken or super().is_outage(error)

    def told(self, what: str, error: BaseException | None) -> str:
        """What happened, by what HTTP said of it."""
        if self._lost:
            return f"{what}: it cannot be reached ({self._lost})."
        if self._status == HTTPStatus.NOT_FOUND and self._session:
            return f"{what}: it has dropped the session (HTTP 404)."
        if self._status:
            phrase = HTTPStatus(self._status).phrase if self._status in _KNOWN else "refused"
            return f"{what}: HTTP {self._status} ({phrase}){_HINTS.get(self._status, '')}."
        if error is not None and not isinstance(error, TimeoutError):
            return f"{what}: {reason(error)}."
        return f"{what}."

    # ------------------------------------------------------------------ what HTTP says
    def answered(self, status: int, session: str) -> None:
        """A request of ours was answered."""
        self._status, self._lost = (status if status >= HTTPStatus.BAD_REQUEST else 0), ""
        self._session = session or self._session

    def unanswered(self, error: BaseException) -> None:
        """A request of ours got no answer."""
        self._status, self._lost = 0, reason(error)


_KNOWN = frozenset(int(status) for status in HTTPStatus)


def _noting_client(remote: Remote, address: Address) -> Any:
    """An HTTP client that tells ``remote`` how each message to the server fared."""
    import httpx2  # noqa: PLC0415 - comes with the SDK

    class Noting(httpx2.AsyncClient):
        async def send(self, request: Any, **options: Any) -> Any:
            noted = request.method == "POST"  # the rest is a matter of the transport's
            try:
                response = await super().send(request, **options)
            except httpx2.TransportError as error:
                if noted:
                    remote.unanswered(error)
                raise
            if noted:
                remote.answered(response.status_code, response.headers.get(_SESSION, ""))
            return response

    # Answers are waited for as long as environment.call_timeout_s says, in the connection.
    limits = httpx2.Timeout(min(address.start_timeout_s, address.call_timeout_s), read=None)
    return Noting(headers=dict(address.headers), timeout=limits)
