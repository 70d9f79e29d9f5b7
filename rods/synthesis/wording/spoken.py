"""How a value is said: as it is written, or in the plain form that it is derived from."""

from __future__ import annotations

import re
from collections.abc import Mapping

from rods.structure import transforms
from rods.structure.in_words import date_in_words, number_in_words
from rods.structure.leaves import Scalar
from rods.structure.sources import said

PLACEHOLDER = re.compile(r"\{([vh]\d+)\}")
_MARKED = re.compile(r"[\d_./#@:;,!?\\|<>=+*&%$^~\[\](){}-]")
_EXTENSION = re.compile(r"\.[A-Za-z0-9]{1,5}$")
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


def spelling(value: Scalar) -> str:
    """The value in the user's words; numbers in digits, without a needless ``.0``."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def quoted(label: str, value: str, *, terse: bool) -> str:
    """The placeholder, in quotes where a reader could not tell where the value ends."""
    slot = f"{{{label}}}"
    if terse or (len(value.split()) < 3 and not _MARKED.search(value)) or '"' in value:
        return slot
    return f'"{slot}"' if "'" in value else f"'{slot}'"


def plain_form(value: Scalar, tables: Mapping[str, Mapping[str, str]]) -> str | None:
    """What a user says for a DERIVED value: the place of a code, a date or a number in words.

    None where no such form is known; the literal itself is never returned.
    """
    if isinstance(value, bool) or value is None:
        return None
    if not isinstance(value, str):
        return number_in_words(value)
    if transforms.iso_date(value):
        return date_in_words(value)
    for table in tables.values():
        phrases = [phrase for phrase, looked_up in table.items() if looked_up == value]
        if phrases:
            return min(phrases, key=lambda phrase: (len(phrase), phrase))
    return respelled(value)


def respelled(value: str) -> str | None:
    """``annual_report.txt`` as "annual report"; None where that is the value itself."""
    text = " ".join(_WORDS.findall(_EXTENSION.sub("", value))).lower()
    if len(transforms.squash(text)) < 3 or said(value, text, text.casefold(), ()):
        return None
    return text if transforms.respelled(value, transforms.squash(text)) else None


def fill(template: str, spellings: Mapping[str, str]) -> str:
    """The template with its placeholders replaced; unknown ones stay and are found by the check."""
    return PLACEHOLDER.sub(lambda found: spellings.get(found[1], found[0]), template)
