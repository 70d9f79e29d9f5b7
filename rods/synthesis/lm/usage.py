"""What language models cost: counted where a call is made, whoever made it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from rods.types import ModelUsage, Stage

_meters: ContextVar[tuple[Meter, ...]] = ContextVar("rods_meters", default=())


class Meter:
    """Calls, tokens, seconds and price of what happens while it runs, by stage and backbone."""

    def __init__(self) -> None:
        self._rows: dict[tuple[Stage, str], ModelUsage] = {}
        self._lock = threading.Lock()

    def add(self, row: ModelUsage) -> None:
        """One more call; from any thread."""
        key = (row.stage, row.model)
        with self._lock:
            known = self._rows.get(key)
            self._rows[key] = row if known is None else known + row

    def rows(self) -> tuple[ModelUsage, ...]:
        """One row for each stage and backbone, in a fixed order."""
        with self._lock:
            return tuple(self._rows[key] for key in sorted(self._rows))

    def taken(self) -> tuple[ModelUsage, ...]:
        """The rows, which are gone from here afterwards."""
        with self._lock:
            rows, self._rows = self._rows, {}
        return tuple(rows.values())

    @property
    def calls(self) -> int:
        """Calls that were answered, retries of failed ones not counted."""
        return sum(row.calls for row in self.rows())

    @property
    def tokens_in(self) -> int:
        """Tokens sent."""
        return sum(row.tokens_in for row in self.rows())

    @property
    def tokens_out(self) -> int:
        """Tokens received."""
        return sum(row.tokens_out for row in self.rows())

    @property
    def tokens(self) -> int:
        """Tokens sent and received."""
        return self.tokens_in + self.tokens_out

    @property
    def seconds(self) -> float:
        """Time spent waiting for models."""
        return sum(row.seconds for row in self.rows())

    @property
    def price(self) -> float:
        """In the unit of the configured prices."""
        return sum(row.price for row in self.rows())


def record(row: ModelUsage) -> None:
    """Tell every meter that runs in this context."""
    for meter in _meters.get():
        meter.add(row)


@contextmanager
def counting() -> Iterator[Meter]:
    """A meter that sees the calls made inside, in this thread and in copies of its context."""
    meter = Meter()
    token = _meters.set((*_meters.get(), meter))
    try:
        yield meter
    finally:
        _meters.reset(token)
