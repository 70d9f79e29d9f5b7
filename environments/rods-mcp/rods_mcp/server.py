"""One running server: started, asked and ended from any thread."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rods.errors import WorldError, reason
from rods.types import JsonObject
from rods_mcp.background import background
from rods_mcp.reaper import kill_group
from rods_mcp.stderr import StderrTail

logger = logging.getLogger(__name__)

# The process names itself before it becomes the server: whatever happens later, it can be killed.
_WRAPPER = 'echo $$ > "$0" && exec "$@"'
_END_S = 10.0
_LOST = (-32000, -32001)  # JSON-RPC codes of the client: connection closed, no answer in time


@dataclass(frozen=True, slots=True)
class Launch:
    """How a process is started, every placeholder replaced."""

    command: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path
    pid_file: Path
    start_timeout_s: float
    call_timeout_s: float
    max_stderr: int  # bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool answered: its text, and its structured part if it has one."""

    text: str
    structured: Any = None
    error: bool = False


class Server:
    """A process and the client that talks to it. Every fault of it is a WorldError."""

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.tools_changed = False
        self._client: Any = None
        self._stderr: StderrTail | None = None
        self._ending = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    # ------------------------------------------------------------------ from any thread
    def start(self) -> None:
        """The server runs and has introduced itself."""
        import mcp  # noqa: F401, PLC0415 - takes 1.5 s and more, which are not the server's

        limit = self.launch.start_timeout_s
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

    def forget_stderr(self) -> None:
        """The next session starts with its own allowance."""
        if self._stderr is not None:
            background().loop.call_soon_threadsafe(self._stderr.forget)

    @property
    def alive(self) -> bool:
        """It was started and nothing has ended it."""
        return self._task is not None and not self._task.done() and self._client is not None

    def end(self) -> None:
        """The process and all its children are gone; safe to call twice."""
        kill_group(self.launch.pid_file)
        self._client = None
        try:
            background().run(self._end(), _END_S)
        except Exception as error:  # noqa: BLE001 - the processes are dead, only a task is left
            logger.debug("The client of an ended server did not close: %s", reason(error))
        kill_group(self.launch.pid_file)  # started between the two

    # ------------------------------------------------------------------ in the loop
    async def _start(self) -> None:
        ready: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._live(ready))
        self._client = await ready

    async def _live(self, ready: asyncio.Future[Any]) -> None:
        """Enter and leave the client in one task, as its cancel scopes demand."""
        from mcp import Client, StdioServerParameters, stdio_client  # noqa: PLC0415

        launch = self.launch
        parameters = StdioServerParameters(
            command="sh",
            args=["-c", _WRAPPER, str(launch.pid_file), *launch.command],
            env=dict(launch.env),
            cwd=launch.cwd,
        )
        loop = asyncio.get_running_loop()
        self._stderr = StderrTail(loop, launch.max_stderr, lambda: kill_group(launch.pid_file))
        try:
            pipes = stdio_client(parameters, errlog=self._stderr.writer)
            async with Client(pipes, message_handler=self._heard, cache=None) as client:
                ready.set_result(client)
                await self._ending.wait()
        except Exception as error:  # noqa: BLE001 - told where the start is waited for
            if not ready.done():
                ready.set_exception(_inner(error))
        finally:
            self._stderr.close()

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
                return listed

    async def _call(self, name: str, arguments: dict[str, Any]) -> Answer:
        from mcp.shared.exceptions import MCPError  # noqa: PLC0415 - loaded with the client

        try:
            result = await self._client.call_tool(name, arguments)
        except MCPError as error:
            if error.code in _LOST:
                raise
            return Answer(f"error: {error.error.message}", error=True)
        except RuntimeError as error:  # an answer that breaks the tool's own output schema
            return Answer(f"error: {error}", error=True)
        text = "\n".join(map(_block, result.content))
        return Answer(text, result.structured_content, bool(result.is_error))

    async def _end(self) -> None:
        self._ending.set()
        if self._task is not None:
            done, _ = await asyncio.wait({self._task}, timeout=_END_S / 2)
            if not done:
                self._task.cancel()

    # ------------------------------------------------------------------ faults
    def _asked(self, question: Any, what: str) -> Any:
        if not self.alive:
            question.close()
            raise self._fault(f"is not running ({what})")
        limit = self.launch.call_timeout_s
        try:
            return background().run(question, limit)
        except TimeoutError as error:
            self.end()
            raise self._fault(f"gave no answer to {what} within {limit:g} s", error) from error
        except Exception as error:
            self.end()
            raise self._fault(f"ended during {what}", error) from error

    def _fault(self, what: str, error: BaseException | None = None) -> WorldError:
        command = " ".join(self.launch.command)
        said = self._stderr.text if self._stderr else ""
        if self._stderr is not None and self._stderr.flooded:
            kb = self.launch.max_stderr // 1024
            what = f"wrote more than {kb} kB to stderr and was ended (environment.max_stderr_kb)"
        elif error is not None and not isinstance(error, TimeoutError):
            what += f": {reason(error)}"
        said = f" It wrote: {said}" if said else ""
        return WorldError(f"The server {command!r} {what}.{said}")


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
