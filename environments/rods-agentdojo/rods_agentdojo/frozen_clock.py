"""The clock of the world stands still: mails and files that an agent makes get one time stamp."""

from __future__ import annotations

import datetime
from types import SimpleNamespace
from typing import Any


class FrozenDatetime(datetime.datetime):
    """``datetime`` whose now is the day that the suites play on, after all that has happened."""

    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> Any:
        """2024-05-15 12:00, always."""
        return datetime.datetime(2024, 5, 15, 12, tzinfo=tz)


def frozen_datetime_module() -> SimpleNamespace:
    """What takes the place of the module ``datetime``: all of it, with another now."""
    names = {name: value for name, value in vars(datetime).items() if not name.startswith("_")}
    return SimpleNamespace(**{**names, "datetime": FrozenDatetime})
