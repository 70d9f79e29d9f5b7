"""A clock that stands still for good, for a world whose day is part of its data."""

from __future__ import annotations

import datetime as real
from types import ModuleType
from typing import Any

from rods.determinism.following import FollowedDate, FollowedDatetime, FollowedModule


def stand_still(module: ModuleType, now: real.datetime) -> None:
    """The ``datetime`` and ``date`` that ``module`` holds, or their module, show ``now`` for good.

    Of upstream's modules, which no one else uses: it costs a call nothing, where a context costs
    microseconds. ``now`` has a time zone, and is shown without one where none is asked for.
    """
    if now.tzinfo is None:
        raise ValueError(f"The clock {now} has no time zone; write tzinfo=datetime.UTC.")
    clock, day = _classes(now)
    instead: dict[int, Any] = {id(real): FollowedModule(clock, day)}
    instead |= {id(real.datetime): clock, id(real.date): day}
    for name, value in list(vars(module).items()):
        if id(value) in instead:
            setattr(module, name, instead[id(value)])


def _classes(now: real.datetime) -> tuple[type[real.datetime], type[real.date]]:
    class StandingDatetime(FollowedDatetime):
        """``datetime`` on the world's day."""

        @classmethod
        def _now(cls) -> real.datetime:
            return now

    class StandingDate(FollowedDate):
        """``date`` on the world's day."""

        @classmethod
        def _now(cls) -> real.datetime:
            return now

    return StandingDatetime, StandingDate
