"""Names, phones, numbers and ids; a fixed part of the names appears in evaluation tasks only.

Days and money have three digits: a value that long does not turn up elsewhere by chance.

A name is two different syllables. A hash decides whether it is held out, and both parts use every
syllable in both places: an unseen name is a new combination of seen parts. A rule on the syllables
instead would be learned, as a reason not to say the other names: seen twice in one warm start each,
unseen names lagged behind the seeds by .10 and .19 of the reward, with the hash by .00 and .10.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

from rods.types import JsonValue

_VOWELS = {
    "b": "aeio", "d": "aeio", "f": "ao", "g": "aou", "k": "aeio", "l": "aeou", "m": "aio",
    "n": "aeo", "p": "ao", "r": "aiu", "s": "ao", "t": "aio", "v": "ai", "z": "o",
}  # fmt: skip
SYLLABLES = tuple(consonant + vowel for consonant, vowels in _VOWELS.items() for vowel in vowels)


def _names(held_out: bool) -> tuple[str, ...]:
    pairs = (a + b for a in SYLLABLES for b in SYLLABLES if a != b)
    return tuple(name for name in pairs if (zlib.crc32(name.encode()) % 5 < 2) is held_out)


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
