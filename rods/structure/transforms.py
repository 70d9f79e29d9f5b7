"""Named transforms that turn a value of the user's words into an argument.

A value that stands nowhere, but follows from what does, is DERIVED: the task is harder than one
that states it, so it keeps a label of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


MONTHS = _words(
    "january february march april may june july august september october november december"
)
_ISO = re.compile(r"(?<![\w-])(?P<year>(?:19|20)\d\d)-(?P<month>\d\d)-(?P<day>\d\d)(?![\w-])")
_SLASHED = (
    re.compile(r"(?<![\d/])(?P<month>\d{1,2})/(?P<day>\d{1,2})/(?P<year>(?:19|20)\d\d)(?![\d/])"),
    re.compile(
        r"(?<![\d/])(?P<year>(?:19|20)\d\d),? ?/?(?P<month>\d{1,2})/(?P<day>\d{1,2})(?![\d/])"
    ),
)
UNITS = _words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
)
TENS = _words("zero ten twenty thirty forty fifty sixty seventy eighty ninety")
_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
_LOOSE = {"once": 1, "single": 1, "twice": 2, "double": 2, "dozen": 12, "half": 0.5}
_WORD = re.compile(r"[a-z]+")
_SEPARATORS = re.compile(r"[\W_]+")
_DIGITS = re.compile(r"\d[\d,]*(?:\.\d+)?")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class SpokenDate:
    """A date in a text: its spelling, where its day stands in it, and what it says."""

    spelling: str
    day_at: tuple[int, int]  # within the spelling
    year: int | None
    month: int
    day: int

    def matches(self, year: int, month: int, day: int) -> bool:
        """The date could be the one spelled here; a missing year matches any."""
        return (self.month, self.day) == (month, day) and self.year in (None, year)


def iso_date(value: str) -> tuple[int, int, int] | None:
    """Year, month and day of ``YYYY-MM-DD``."""
    found = _ISO.fullmatch(value)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def dates(text: str) -> Iterator[SpokenDate]:
    """Every date of a text, however it is written."""
    lower = text.lower()
    named = tuple(m for m in MONTHS if m[:3] in lower) if len(lower) == len(text) else ()
    patterns = [
        *((_ISO,) if "-" in text else ()),
        *(_SLASHED if "/" in text else ()),
        *(_with_months(named) if named else ()),
    ]
    for pattern in patterns:
        for found in pattern.finditer(lower):
            month, day = _month(found["month"]), int(found["day"])
            if 1 <= month <= 12 and 1 <= day <= 31:
                start, end = found.span()
                at = (found.start("day") - start, found.end("day") - start)
                year = int(found["year"]) if found["year"] else None
                yield SpokenDate(text[start:end], at, year, month, day)


@cache
def _with_months(months: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    """Patterns for a month before or after the day; fewer months are searched faster."""
    month = "|".join(f"{name}|{name[:3]}" for name in months)
    return (
        re.compile(
            rf"\b(?P<month>{month})\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d)"
            r"(?:,? (?:this year,? |in |of )?(?P<year>(?:19|20)\d\d)\b)?"
        ),
        re.compile(
            rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<month>{month})\b"
            r"(?:,? (?:in )?(?P<year>(?:19|20)\d\d)\b)?"
        ),
    )


def numbers(text: str) -> list[tuple[str, float]]:
    """Numbers written in digits, with their spelling; not those inside words, ids or dates."""
    return [(spelling, float(spelling.replace(",", ""))) for spelling in _numerals(text)]


def _numerals(text: str) -> Iterator[str]:
    for found in _DIGITS.finditer(text):
        start, end = found.span()
        before, after = text[start - 1 : start], text[end : end + 1]
        if before.isalnum() or after.isalnum() or before in (".", "_") or after == "_":
            continue
        run = found[0].rstrip(",")
        if "," not in run or _GROUPED.fullmatch(run):
            yield run
        else:
            yield from filter(None, run.split(","))  # a list, not one number


def number_words(text: str) -> set[float]:
    """Numbers written in words: "five hundred", "twenty-two", "a dozen", "half"."""
    found: set[float] = set()
    total, current = 0.0, None
    for word in [*_WORD.findall(text.lower()), ""]:
        if word in UNITS or word in TENS:
            value = UNITS.index(word) if word in UNITS else 10 * TENS.index(word)
            current = value if current is None or value >= 20 else current + value
        elif word in _SCALES:
            scaled = (current if current is not None else 1) * _SCALES[word]
            total, current = (total + scaled, None) if word != "hundred" else (total, scaled)
        elif word != "and" or (current is None and not total):
            if current is not None or total:
                found.add(total + (current or 0))
            total, current = 0.0, None
        if word in _LOOSE:
            found.add(_LOOSE[word])
    return found


def arithmetic(value: float, operands: Iterable[float]) -> str | None:
    """The name of a simple calculation that gives ``value``, if there is one."""
    known = sorted({o for o in operands if o and abs(o) < 1e12})[:40]
    for a in known:
        for factor in (2, 3, 4, 5, 10, 12, 24, 60, 100, 1000):
            if _close(value, a * factor) or _close(value, a / factor):
                return "multiple"
        if _rounded(value, a):
            return "rounded"
    for i, a in enumerate(known):
        for b in known[i + 1 :]:
            if _close(value, a + b) or _close(value, b - a):
                return "sum"
            if _close(value, a * b) or _close(value, a / b) or _close(value, b / a):
                return "product"
            if _close(value, a * b / 100):
                return "percentage"
    return None


def squash(text: str) -> str:
    """Letters and digits only, in lower case: "Team Notes" and "team_notes" are one."""
    return _SEPARATORS.sub("", text.lower())


def respelled(value: str, squashed_words: str) -> bool:
    """The words hold the value but for spaces, case, prefix (#, @) or file extension."""
    stem = re.sub(r"\.[A-Za-z0-9]{1,5}$", "", value)
    return any(len(s) >= 3 and s in squashed_words for s in {squash(value), squash(stem)})


def worded(value: str, known_words: set[str]) -> bool:
    """A text composed of words that were said or shown: at least 60 % of them."""
    words = _WORD.findall(value.lower())
    return len(words) >= 2 and sum(w in known_words for w in words) >= 0.6 * len(words)


def _month(text: str) -> int:
    if text.isdigit():
        return int(text)
    return next((i for i, name in enumerate(MONTHS, 1) if name.startswith(text.lower()[:3])), 0)


def _close(a: float, b: float) -> bool:
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b), 1.0)


def _rounded(value: float, exact: float) -> bool:
    return any(value == round(exact, n) for n in range(4)) and value != exact
