"""One event loop in a thread of its own: what waits in it is called from any other thread."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from functools import lru_cache
from typing import Any, TypeVar

T = TypeVar("T")


class Background:
    """A running loop; it ends with the process."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        thread = threading.Thread(target=self.loop.run_forever, name="rods-mcp", daemon=True)
        thread.start()

    def run(self, coroutine: Coroutine[Any, Any, T], timeout_s: float) -> T:
        """What the coroutine gives; TimeoutError after ``timeout_s``, and it is cancelled."""
        bounded = asyncio.wait_for(coroutine, timeout_s)
        future = asyncio.run_coroutine_threadsafe(bounded, self.loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()  # Ctrl-C in this thread must not leave a call behind
            raise


def background() -> Background:
    """The loop of this process; a forked child gets its own."""
    return _of_process(os.getpid())


@lru_cache(maxsize=1)
def _of_process(pid: int) -> Background:
    return Background()
