"""Who may use what the stages share: one thread at a time, but not while a model thinks."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self


class Turn:
    """A lock that its holder can give up for a while: training redraws while a worker waits."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holder: int | None = None
        self._depth = 0

    def __enter__(self) -> Self:
        if self._holder != threading.get_ident():
            self._lock.acquire()
            self._holder = threading.get_ident()
        self._depth += 1
        return self

    def __exit__(self, *error: object) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._holder = None
            self._lock.release()

    @contextmanager
    def given_up(self) -> Iterator[None]:
        """Others may take the turn inside; it is taken again at the end. Nothing if not held."""
        if self._holder != threading.get_ident():
            yield
            return
        depth, self._depth, self._holder = self._depth, 0, None
        self._lock.release()
        try:
            yield
        finally:
            self._lock.acquire()
            self._holder, self._depth = threading.get_ident(), depth
