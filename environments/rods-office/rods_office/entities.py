"""Names, phones, numbers and ids; a fixed part of the names appears in evaluation tasks only.

Days and money have three digits: a value that long does not turn up elsewhere by chance.

A name is two different syllables. Whether it is held out follows from the two syllables alone, and
both parts use every syllable in both places, so an unseen name is a new combination of seen parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rods.types import JsonValue

_VOWELS = {
    "b": "aeio", "d": "aeio", "f": "ao", "g": "aou", "k": "aeio", "l": "aeou", "m": "aio",
    "n": "aeo", "p": "ao", "r": "aiu", "s": "ao", "t": "aio", "v": "ai", "z": "o",
}  # fmt: skip
SYLLABLES = tuple(consonant + vowel for consonant, vowels in _VOWELS.items() for vowel in vowels)


def _names(held_out: bool) -> tuple[str, ...]:
    return tuple(
        first + second
        for i, first in enumerate(SYLLABLES)
        for j, second in enumerate(SYLLABLES)
        if i != j and ((2 * i + 3 * j) % 5 < 2) is held_out
    )


TRAIN_NAMES = _names(held_out=False)
HELD_OUT_NAMES = _names(held_out=True)

PHONES: tuple[str, ...] = tuple(str(n) for n in range(100, 1000))
MONEY: tuple[int, ...] = tuple(range(100, 1000))
DAYS: tuple[int, ...] = tuple(range(100, 366))
COUNTS: tuple[int, ...] = tuple(range(2, 10))


#: First letter -> all ids of that kind.
IDS: Mapping[str, tuple[str, ...]] = {
    prefix: tuple(f"{prefix}{n}" for n in range(10, 100)) for prefix in "eioa"
}

#: Kind of entity (see ``apps.tooling``) -> the values that training may use for it.
TRAIN_VALUES: Mapping[str, Sequence[JsonValue]] = {
    **dict.fromkeys(("file", "text", "person", "title", "thing"), TRAIN_NAMES),
    "phone": PHONES,
    "day": DAYS,
    "amount": MONEY,
    "count": COUNTS,
    "event": IDS["e"],
    "item": IDS["i"],
    "order": IDS["o"],
    "account": IDS["a"],
}
