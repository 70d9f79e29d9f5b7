"""The clock of the world stands still, so that a rollout gives the same results on any day.

Only ``verify_traveler_information`` reads the date (is the traveller of age?), and files keep a
time stamp that nothing compares.
"""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import Self


class FrozenDatetime(datetime):
    """``datetime`` whose now is the day of the pinned release."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        """2026-03-23 12:00, always."""
        return FROZEN_NOW if tz is None else FROZEN_NOW.astimezone(tz)  # type: ignore[return-value]

    @classmethod
    def today(cls) -> Self:
        """2026-03-23 12:00, always."""
        return FROZEN_NOW  # type: ignore[return-value]


FROZEN_NOW = FrozenDatetime(2026, 3, 23, 12)
