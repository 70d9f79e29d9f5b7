"""A client of one server: asked from any thread, and every fault of the server a WorldError."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rods.errors import WorldError, reason
from rods.types import JsonObject
from rods_mcp.background import background
from rods_mcp.credentials import Credentials

logger = logging.getLogger(__name__)

_END_S = 10.0
_LOST = (-32000, -32001)  # JSON-RPC codes of the client: connection closed, no answer in time


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool answered: its text, and its structured part if it has one."""

    text: str
    structured: Any = None
    error: bool = False


class Connection(ABC):
    """The client, which lives in the background's loop from ``start`` to ``end``."""

    mode = "auto"  # the newest revision of the protocol that both sides speak

    def __init__(
        self, start_timeout_s: float, call_timeout_s: float, credentials: Credentials
    ) -> None:
        self.tools_changed = False
        self._start_timeout_s, self._call_timeout_s = start_timeout_s, call_timeout_s
        self._credentials = credentials
        self._client: Any = None
        self._ending = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    # ------------------------------------------------------------------ what it is a client of
    @property
    @abstractmethod
    def name(self) -> str:
        """What messages call the server."""

    @abstractmethod
    def transport(self) -> Any:
        """A new transport of the SDK; called in the loop."""

    @abstractmethod
    def told(self, what: str, error: BaseException | None) -> str:
        """The end of "The server NAME ...", from what happened and what is known of it."""

    def is_outage(self, error: Any) -> bool:
        """An MCPError that is no answer of the server's tool."""
        return error.code in _LOST

    @abstractmethod
    def left(self) -> None:
        """What the transport needed is closed; called in the loop."""

    @abstractmethod
    def forget_stderr(self) -> None:
        """The next session starts with its own allowance of stderr, if there is any."""

    # ------------------------------------------------------------------ from any thread
    def start(self) -> None:
        """The server is there and has introduced itself."""
        import mcp  # noqa: F401, PLC0415 - takes 1.5 s and more, which are not the server's

        _quiet()
        limit = self._start_timeout_s
        try:
            background().run(self._start(), limit)
        except TimeoutError as error:
            self.end()
            raise self._fault(f"did not start within {limit:g} s", error) from error
        except Exception as error:
            self.end()
            raise self._fault("did not start", error) from error

    def tools(self) -> list[JsonObject]:
        """The tools as the server lists them now."""
        listed: list[JsonObject] = self._asked(self._list(), "tools/list")
        self.tools_changed = False
        return listed

    def call(self, name: str, arguments: Mapping[str, Any]) -> Answer:
        """The tool's answer; a refusal of the server is an answer with ``error``."""
        answer: Answer = self._asked(self._call(name, dict(arguments)), name)
        return answer

    @property
    def alive(self) -> bool:
        """It was started and nothing has ended it."""
        return self._task is not None and not self._task.done() and self._client is not None

    def end(self) -> None:
        """The client has left and its task is over; safe to call twice."""
        self._client = None
        try:
            background().run(self._end(), _END_S)
        except Exception as error:  # noqa: BLE001 - only a task is left
            logger.debug("The client of an ended server did not close: %s", reason(error))

    # ------------------------------------------------------------------ in the loop
    async def _start(self) -> None:
        ready: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._live(ready))
        self._client = await ready

    async def _live(self, ready: asyncio.Future[Any]) -> None:
        """Enter and leave the client in one task, as its cancel scopes demand."""
        from mcp import Client  # noqa: PLC0415

        try:
            client = Client(
                self.transport(), message_handler=self._heard, cache=None, mode=self.mode
            )
            async with client:
                ready.set_result(client)
                await self._ending.wait()
        except Exception as error:  # noqa: BLE001 - told where the start is waited for
            if not ready.done():
                ready.set_exception(_inner(error))
        finally:
            self.left()

    async def _heard(self, message: Any) -> None:
        """Notes that the server offers other tools from now on."""
        if "ToolListChanged" in type(getattr(message, "root", message)).__name__:
            self.tools_changed = True

    async def _list(self) -> list[JsonObject]:
        listed: list[JsonObject] = []
        cursor = None
        while True:
            page = await self._client.list_tools(cursor=cursor)
            listed += [tool.model_dump(mode="json", by_alias=True) for tool in page.tools]
            cursor = page.next_cursor
            if cursor is None:
                hidden: list[JsonObject] = self._credentials.hide(listed)
                return hidden

    async def _call(self, name: str, arguments: dict[str, Any]) -> Answer:
        from mcp.shared.exceptions import MCPError  # noqa: PLC0415 - loaded with the client

        hide = self._credentials.hide
        try:
            result = await self._client.call_tool(name, arguments)
        except MCPError as error:
            if self.is_outage(error):
                raise
            return Answer(hide(f"error: {error.error.message}"), error=True)
        except RuntimeError as error:  # an answer that breaks the tool's own output schema
            return Answer(hide(f"error: {error}"), error=True)
        text = "\n".join(map(_block, result.content))
        return Answer(hide(text), hide(result.structured_content), bool(result.is_error))

    async def _end(self) -> None:
        self._ending.set()
        if self._task is not None:
            _, late = await asyncio.wait({self._task}, timeout=_END_S / 4)
            for task in late:
                task.cancel()
                await asyncio.wait({task}, timeout=_END_S / 4)

    # ------------------------------------------------------------------ faults
    def _asked(self, question: Any, what: str) -> Any:
        if not self.alive:
            question.close()
            raise self._fault(f"is not running ({what})")
        limit = self._call_timeout_s
        try:
            return background().run(question, limit)
        except TimeoutError as error:
            self.end()
            raise self._fault(f"gave no answer to {what} within {limit:g} s", error) from error
        except Exception as error:
            self.end()
            raise self._fault(f"ended during {what}", error) from error

    def _fault(self, what: str, error: BaseException | None = None) -> WorldError:
        text = f"The server {self.name!r} {self.told(what, error)}"
        return WorldError(self._credentials.hidden(text))


def _quiet() -> None:
    """The SDK does not log tracebacks of what is told here in one line, unless it was asked to."""
    for name in ("mcp.client", "client"):  # its session logs under the second
        log = logging.getLogger(name)
        if log.level == logging.NOTSET:
            log.setLevel(logging.CRITICAL)


def _block(block: Any) -> str:
    """A block of an answer as text; what is no text is told by kind and size."""
    text = getattr(block, "text", None)
    if isinstance(text, str):
        return text
    size = len(getattr(block, "data", "") or "")
    return f"[{block.type}, {size} characters]" if size else f"[{block.type}]"


def _inner(error: BaseException) -> Exception:
    """The fault inside groups of one."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return error if isinstance(error, Exception) else RuntimeError(repr(error))


def described(tools: Sequence[JsonObject]) -> dict[str, JsonObject]:
    """Tool name -> what is fixed for a run: a server that lists anything else has changed."""
    kept = ("description", "inputSchema", "annotations")
    return {str(tool["name"]): {key: tool.get(key) for key in kept} for tool in tools}
