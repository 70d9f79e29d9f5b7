"""What a server writes to stderr: read all the time, its end kept, its amount limited."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import TextIO

_TAIL = 2000  # bytes kept for error messages


class StderrTail:
    """A pipe for the server's stderr, drained in the loop's thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop, limit: int, on_flood: Callable[[], None]):
        self._loop, self._limit, self._on_flood = loop, limit, on_flood
        self._reading, writing = os.pipe()
        os.set_blocking(self._reading, False)
        self.writer: TextIO = os.fdopen(writing, "w")
        self._tail, self._count = b"", 0
        loop.add_reader(self._reading, self._read)

    @property
    def text(self) -> str:
        """The last lines, on one line; empty where nothing was written."""
        text = self._tail.decode(errors="replace")
        return " / ".join(line.strip() for line in text.splitlines() if line.strip())[-600:]

    @property
    def flooded(self) -> bool:
        """More was written than one session may write."""
        return self._count > self._limit

    def forget(self) -> None:
        """A new session starts counting at zero."""
        self._tail, self._count = b"", 0

    def close(self) -> None:
        """Both ends are closed; called in the loop's thread."""
        self._loop.remove_reader(self._reading)
        os.close(self._reading)
        self.writer.close()

    def _read(self) -> None:
        try:
            chunk = os.read(self._reading, 65536)
        except BlockingIOError:
            return
        if not chunk:
            self._loop.remove_reader(self._reading)
        before = self.flooded
        self._count += len(chunk)
        self._tail = (self._tail + chunk)[-_TAIL:]
        if self.flooded and not before:
            self._on_flood()
