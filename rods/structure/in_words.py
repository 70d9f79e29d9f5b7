"""Numbers and dates in the words a user has for them; ``transforms`` reads them back."""

from __future__ import annotations

from rods.structure.transforms import MONTHS, TENS, UNITS, iso_date, number_words


def date_in_words(value: str) -> str | None:
    """``2026-03-04`` as "March 4, 2026"; None for what is no date."""
    date = iso_date(value)
    if date is None or not 1 <= date[1] <= len(MONTHS):
        return None
    year, month, day = date
    return f"{MONTHS[month - 1].capitalize()} {day}, {year}"


def number_in_words(value: int | float) -> str | None:
    """Whole numbers up to a hundred thousand that are understood: 42 as "forty-two"."""
    if float(value) != int(value) or not 0 <= value < 100_000:
        return None
    words = _whole(int(value))
    return words if float(value) in number_words(words) else None


def _whole(number: int) -> str:
    if number < 20:
        return UNITS[number]
    if number < 100:
        tens, units = divmod(number, 10)
        return TENS[tens] + (f"-{UNITS[units]}" if units else "")
    size, name = (1000, "thousand") if number >= 1000 else (100, "hundred")
    high, rest = divmod(number, size)
    return f"{_whole(high)} {name}" + (f" {_whole(rest)}" if rest else "")
