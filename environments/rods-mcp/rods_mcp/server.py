"""A server that rods starts: a process group, spoken to over its standard input and output."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rods.errors import reason
from rods_mcp.background import background
from rods_mcp.connection import Connection
from rods_mcp.credentials import Credentials
from rods_mcp.reaper import kill_group
from rods_mcp.stderr import StderrTail

# The process names itself before it becomes the server: whatever happens later, it can be killed.
_WRAPPER = 'echo $$ > "$0" && exec "$@"'


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


class Server(Connection):
    """A process and the client that talks to it."""

    def __init__(self, launch: Launch, credentials: Credentials) -> None:
        super().__init__(launch.start_timeout_s, launch.call_timeout_s, credentials)
        self.launch = launch
        self._stderr: StderrTail | None = None

    @property
    def name(self) -> str:
        """Its command."""
        return " ".join(self.launch.command)

    def transport(self) -> Any:
        """The process is started when the client enters it."""
        from mcp import StdioServerParameters, stdio_client  # noqa: PLC0415

        launch, loop = self.launch, asyncio.get_running_loop()
        parameters = StdioServerParameters(
            command="sh",
            args=["-c", _WRAPPER, str(launch.pid_file), *launch.command],
            env=dict(launch.env),
            cwd=launch.cwd,
        )
        self._stderr = StderrTail(loop, launch.max_stderr, lambda: kill_group(launch.pid_file))
        return stdio_client(parameters, errlog=self._stderr.writer)

    def left(self) -> None:
        """Nothing more is read of stderr."""
        if self._stderr is not None:
            self._stderr.close()

    def forget_stderr(self) -> None:
        """The next session starts with its own allowance."""
        if self._stderr is not None:
            background().loop.call_soon_threadsafe(self._stderr.forget)

    def end(self) -> None:
        """The process and all its children are gone; safe to call twice."""
        kill_group(self.launch.pid_file)
        super().end()
        kill_group(self.launch.pid_file)  # started between the two

    def told(self, what: str, error: BaseException | None) -> str:
        """What happened, and what it wrote last."""
        said = self._stderr.text if self._stderr else ""
        if self._stderr is not None and self._stderr.flooded:
            kb = self.launch.max_stderr // 1024
            what = f"wrote more than {kb} kB to stderr and was ended (environment.max_stderr_kb)"
        elif error is not None and not isinstance(error, TimeoutError):
            what += f": {reason(error)}"
        return f"{what}." + (f" It wrote: {said}" if said else "")
