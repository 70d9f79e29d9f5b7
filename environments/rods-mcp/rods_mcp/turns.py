"""One state for all sessions: one of them acts on it at a time, put back where it was."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class Turns:
    """Whose state a server holds; whoever comes next is put back first."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._holder: Any = None

    @contextmanager
    def of(self, session: Any, put_back: Callable[[], None] | None) -> Iterator[None]:
        """Nobody else acts meanwhile; None: what is done here puts the session's state there."""
        with self._lock:
            if self._holder is not session:
                self._holder = None  # until all of it is there
                if put_back is not None:
                    put_back()
            yield
            self._holder = session

    def leave(self, session: Any) -> None:
        """The session is over; its state is nobody's."""
        with self._lock:
            if self._holder is session:
                self._holder = None
