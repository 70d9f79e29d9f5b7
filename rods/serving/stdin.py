"""Lines of stdin for an event loop that can be interrupted while it waits for one.

The SDK's own reader waits in a thread that the end of the program waits for: Ctrl-C would hang
until the client closes stdin.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator
from contextlib import suppress

_AHEAD = 64  # lines that are read before they are asked for


class Lines:
    """Iterates over the lines of a descriptor, read by a thread that holds nothing up."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._room = threading.Semaphore(_AHEAD)
        threading.Thread(target=self._read, name="stdin", daemon=True).start()

    async def __aiter__(self) -> AsyncIterator[str]:
        """Line after line until the end of the file."""
        while (line := await self._queue.get()) is not None:
            self._room.release()
            yield line

    def _read(self) -> None:
        with suppress(RuntimeError):  # the loop has ended: nobody listens
            parts: list[bytes] = []
            while block := os.read(self._descriptor, 1 << 16):
                first, *more = block.split(b"\n")
                parts.append(first)
                for piece in more:
                    self._put(b"".join(parts))
                    parts = [piece]
            if any(parts):
                self._put(b"".join(parts))
            self._put(None)

    def _put(self, line: bytes | None) -> None:
        text = None if line is None else line.decode("utf-8", "replace")
        self._room.acquire()
        self._loop.call_soon_threadsafe(self._queue.put_nowait, text)


def own_stdin() -> int:
    """A descriptor of stdin that is ours alone; whoever else reads stdin meets its end."""
    mine, empty = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.set_inheritable(mine, False)
    os.dup2(empty, 0)
    os.close(empty)
    return mine
