"""Chance, clock and uuids of one session, and the context in which they are the world's."""

from __future__ import annotations

import datetime
import hashlib
import random
import sys
import uuid
from types import TracebackType
from typing import Any, Self

from rods.determinism.switch import SWITCH, inside

NOON = datetime.datetime(2026, 1, 1, 12, tzinfo=datetime.UTC)


class Determinism:
    """Entered around each call of a session; the streams go on where the last call left them."""

    def __init__(self, seed: int | str, now: datetime.datetime = NOON) -> None:
        if now.tzinfo is None:
            raise ValueError(f"The clock {now} has no time zone; write tzinfo=datetime.UTC.")
        self.seed, self._now = seed, now.timestamp()
        self.random = random.Random(f"{seed}/random")
        self._uuids = random.Random(f"{seed}/uuid")
        self._numpy: Any = None  # made when it is first asked for

    # ------------------------------------------------------------------ what the world gets
    def time(self) -> float:
        """Seconds since 1970 on this session's clock."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Move the clock; nothing else does but ``time.sleep`` inside."""
        self._now += seconds

    def uuid(self, version: int = 4) -> uuid.UUID:
        """The next uuid of the seed."""
        return uuid.UUID(int=self._uuids.getrandbits(128), version=version)

    @property
    def numpy(self) -> Any:
        """A ``numpy.random.RandomState`` of the seed."""
        if self._numpy is None:
            digest = hashlib.sha256(f"{self.seed}/numpy".encode()).digest()
            self._numpy = sys.modules["numpy.random"].RandomState(list(digest))
        return self._numpy

    # ------------------------------------------------------------------ in a session's snapshot
    def snapshot(self) -> Any:
        """Where chance, clock and uuids are."""
        numpy = None if self._numpy is None else self._numpy.get_state()
        return self._now, self.random.getstate(), self._uuids.getstate(), numpy

    def restore(self, snapshot: Any) -> None:
        """Back to where ``snapshot`` was taken."""
        self._now, chance, uuids, numpy = snapshot
        self.random.setstate(chance)
        self._uuids.setstate(uuids)
        self._numpy = None
        if numpy is not None:
            self.numpy.set_state(numpy)

    # ------------------------------------------------------------------ the context
    def __enter__(self) -> Self:
        SWITCH.enter()
        inside.set((*inside.get(), self))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        inside.set(inside.get()[:-1])
        SWITCH.leave()


def active() -> Determinism | None:
    """The innermost context of this thread."""
    stack = inside.get()
    return stack[-1] if stack else None
