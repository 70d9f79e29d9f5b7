"""What a user says so that a value follows from it, yet does not stand there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rods.structure.in_words import date_in_words, number_in_words
from rods.structure.leaves import Scalar
from rods.structure.sources import Tables, holds
from rods.structure.transforms import squash

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
        if date := date_in_words(value):
            yield date
        elif value.count(" ") >= 2:
            yield ", ".join(reversed(_BETWEEN.sub(" ", value).split())).lower()
        elif not any(c.isspace() for c in value) and len(squash(value)) >= 3:
            stem = _EXTENSION.sub("", value)
            spoken = _BETWEEN.sub(" ", stem).strip().lower()
            if spoken != value.lower() and len(squash(stem)) >= 3:
                yield spoken


def _of_number(value: int | float) -> Iterator[str]:
    hundreds, rest = divmod(value, 100)
    if value < 100 and (words := number_in_words(value)):
        yield words
    elif value < 2000 and rest == 0:
        yield f"{number_in_words(hundreds)} hundred"
    half = value / 2
    if value > 10 and round(half, 2) == half:
        yield f"twice {half:g}" if "e" not in f"{half:g}" else ""
