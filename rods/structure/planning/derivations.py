"""What a user says so that a value follows from it, yet does not stand there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rods.structure.leaves import Scalar
from rods.structure.sources import Tables, holds
from rods.structure.transforms import iso_date, squash


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_MONTHS = _words(
    "January February March April May June July August September October November December"
)
_SMALL = _words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_TENS = _words("zero ten twenty thirty forty fifty sixty seventy eighty ninety")
_EXTENSION = re.compile(r"\.[A-Za-z0-9]{1,5}$")
_BETWEEN = re.compile(r"[\W_]+")


class Derivations:
    """Finds phrases for values; ``tables`` are the world's lookups, phrase -> value."""

    def __init__(self, tables: Tables) -> None:
        self._phrases: dict[str, list[str]] = {}
        for table in tables.values():
            for phrase, value in table.items():
                self._phrases.setdefault(value, []).append(phrase)

    def phrases(self, value: Scalar) -> Iterator[str]:
        """What can be said instead of the value."""
        if isinstance(value, bool) or value is None:
            return
        if isinstance(value, str):
            yield from (p for p in self._of_text(value) if p and not holds(p, value))
        elif value > 0:
            yield from _of_number(value)

    def _of_text(self, value: str) -> Iterator[str]:
        yield from self._phrases.get(value, ())
        if date := iso_date(value):
            yield f"{_MONTHS[date[1] - 1]} {date[2]}, {date[0]}"
        elif value.count(" ") >= 2:
            yield ", ".join(reversed(_BETWEEN.sub(" ", value).split())).lower()
        elif not any(c.isspace() for c in value) and len(squash(value)) >= 3:
            stem = _EXTENSION.sub("", value)
            spoken = _BETWEEN.sub(" ", stem).strip().lower()
            if spoken != value.lower() and len(squash(stem)) >= 3:
                yield spoken


def _of_number(value: int | float) -> Iterator[str]:
    if float(value).is_integer():
        number = int(value)
        if number < 20:
            yield _SMALL[number]
        elif number < 100:
            tens, ones = divmod(number, 10)
            yield _TENS[tens] + (f"-{_SMALL[ones]}" if ones else "")
        elif number < 2000 and number % 100 == 0:
            yield f"{_SMALL[number // 100]} hundred"
    half = value / 2
    if value > 10 and round(half, 2) == half:
        yield f"twice {half:g}" if "e" not in f"{half:g}" else ""
