"""New values in the pattern of old ones: readable, with the same case, digits and extension."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Sequence

from rods.synthesis import lexicon

_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^A-Za-z0-9]+")
_EXTENSION = re.compile(r"(?<=\w)\.(?=[A-Za-z0-9]{1,5}$)(?=\w*[A-Za-z])")
_YEAR = re.compile(r"(?:19|20)\d\d")
_STEPS = (1, 5, 10, 50, 100, 500, 1000)
_VOWELS, _CONSONANTS = "aeiou", "bdfgklmnprstv"
FIRST_NAMES = frozenset(name.lower() for name in lexicon.FIRST_NAMES)
_LAST = frozenset(name.lower() for name in lexicon.LAST_NAMES)
_AFTER_AN = tuple(noun for noun in lexicon.NOUNS if noun[0] in _VOWELS)
_AFTER_A = tuple(noun for noun in lexicon.NOUNS if noun[0] not in _VOWELS)
_OF_LENGTH = {
    (nouns is _AFTER_AN, length): tuple(noun for noun in nouns if len(noun) == length)
    for nouns in (_AFTER_A, _AFTER_AN)
    for length in range(1, 5)
}


class Dice:
    """The draws of one variant: a word or a run of digits becomes the same new one everywhere.

    So ``report1.txt`` and ``report2.txt`` stay a family, and a card's last digits stay those of its
    number. ``taken`` are words of this world in lower case; no new word is among them.
    """

    def __init__(self, rng: random.Random, taken: Collection[str] = frozenset()) -> None:
        self.rng = rng
        self._taken = taken
        self._words: dict[str, str] = {}
        self._used: set[str] = set()

    # ------------------------------------------------------------------ names and ids
    def renamed(self, name: str) -> str:
        """A new name in the pattern of ``name``; the same one where nothing in it can change."""
        cut = found.start() if (found := _EXTENSION.search(name)) else len(name)
        pieces, kept = _PIECE.findall(name[:cut]), name[cut:]
        opaque = not kept and sum(len(p) for p in pieces if p.isdigit()) >= 3
        return "".join(self._piece(p, i, pieces, opaque) for i, p in enumerate(pieces)) + kept

    def _piece(self, piece: str, index: int, pieces: Sequence[str], opaque: bool) -> str:
        if piece.isdigit():
            return self._digits(piece) if opaque or len(pieces) == 1 else piece
        if not piece.isalpha() or opaque or piece.lower() in lexicon.KEPT:
            return piece
        if len(piece) <= 2 and len(pieces) > 1:
            return piece
        return cased(self._word(piece.lower(), index, pieces), piece)

    def _word(self, word: str, index: int, pieces: Sequence[str]) -> str:
        if word not in self._words:
            self._words[word] = self._fresh_word(word, index, pieces)
        return self._words[word]

    def _fresh_word(self, word: str, index: int, pieces: Sequence[str]) -> str:
        if word in FIRST_NAMES and index == 0:
            return self._unused(lexicon.FIRST_NAMES)
        after_name = index > 0 and any(p.lower() in FIRST_NAMES for p in pieces[:index])
        if word in _LAST or after_name:
            return self._unused(lexicon.LAST_NAMES)
        nouns = _AFTER_AN if word[0] in _VOWELS else _AFTER_A  # "a report" stays right
        if len(word) <= 4 and len(pieces) == 1:
            return self._unused(_OF_LENGTH[nouns is _AFTER_AN, len(word)], len(word))
        return self._unused(nouns)

    def _unused(self, words: Sequence[str], length: int = 6) -> str:
        for _ in range(20):
            word = self.rng.choice(words).lower() if words else ""
            if word and word not in self._taken and word not in self._used:
                self._used.add(word)
                return word
        return self._syllables(length)

    def _syllables(self, length: int) -> str:
        """A word that can be spoken, for when the lexicon has none left."""
        for _ in range(50):
            word = "".join(
                self.rng.choice(_VOWELS if i % 2 else _CONSONANTS) for i in range(max(length, 3))
            )
            if word not in self._taken and word not in self._used:
                self._used.add(word)
                return word
        raise LookupError(f"no unused word of {length} letters")

    def _digits(self, run: str) -> str:
        if set(run) == {"0"}:
            return run
        for _ in range(20):
            if run in self._words:
                break
            lead = str(self.rng.randint(1, 9)) if run[0] != "0" else "0"
            new = lead + "".join(self.rng.choice("0123456789") for _ in run[1:])
            if new != run and new not in self._taken and new not in self._used:
                self._used.add(new)
                self._words[run] = new
        return self._words.get(run, run)

    # ------------------------------------------------------------------ texts
    def phrase(self, text: str) -> str:
        """A title or one or more sentences of about as many words, ended and cased alike."""
        words = text.split()
        end = text[-1] if text[-1] in ".!?" else ""
        titled = sum(w[:1].isupper() for w in words) > 0.6 * len(words)
        if len(words) < 4:
            made = " ".join(self._title()[-len(words) :])
        elif titled:
            made = " ".join([*self._title(), "and", *self._title()[1:]])
        else:
            made = " ".join(self.sentence() for _ in range(1 + (len(words) - 4) // 12))
        made = made.rstrip(".") + end
        if titled:
            return _titled(made)
        return cased(made, text) if text[:1].isupper() else lowered(made)

    def _title(self) -> list[str]:
        return [*map(self.rng.choice, (lexicon.QUALIFIERS, lexicon.TOPICS, lexicon.EVENTS))]

    def title(self) -> str:
        """A title of three words."""
        return _titled(" ".join(self._title()))

    def sentence(self) -> str:
        """A harmless sentence."""
        qualifier, topic, event = self._title()
        sentence = self.rng.choice(lexicon.SENTENCES)
        return sentence.format(qualifier=qualifier, topic=topic, event=event)

    # ------------------------------------------------------------------ numbers
    def number(self, old: int | float, spread: float = 0.3) -> int | float:
        """A number within ``spread`` of the old one, as round and with as many decimals."""
        if isinstance(old, int) or old.is_integer():
            return type(old)(self._whole(int(old), spread))
        decimals = len(repr(old).partition(".")[2])
        low, high = sorted((old * (1 - spread), old * (1 + spread)))
        return round(self.rng.uniform(low, high), min(decimals, 6))

    def _whole(self, old: int, spread: float) -> int:
        if 0 < old < 10:
            return self.rng.choice([n for n in range(max(2, old - 2), old + 3) if n != old])
        step = max(s for s in _STEPS if old % s == 0 and (s == 1 or s <= abs(old) / 10))
        reach = max(1, int(abs(old) * spread) // step)
        return old + step * self.rng.randint(1, reach) * self.rng.choice((-1, 1))


# ---------------------------------------------------------------------- case
def cased(word: str, model: str) -> str:
    """``word`` in the case of ``model``: upper, capitalised, or lower."""
    if len(model) > 1 and model.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if model[:1].isupper() else word.lower()


def lowered(text: str) -> str:
    """The text with a small first letter."""
    return text[:1].lower() + text[1:]


def _titled(text: str) -> str:
    words = text.split(" ")
    return " ".join(w if w == "and" else w[:1].upper() + w[1:] for w in words)


def spelled(new: int | float, spelling: str) -> str:
    """``new`` in digits, with thousands separators and decimals as in ``spelling``."""
    decimals = len(spelling.partition(".")[2])
    whole = float(new).is_integer()
    if not whole:
        decimals = max(decimals, len(repr(float(new)).partition(".")[2]))
    return f"{new:{',' if ',' in spelling else ''}.{decimals}f}"


def with_day(spelling: str, at: tuple[int, int], day: int) -> str:
    """A date with another day of the month; zero padding and the ordinal ending are kept up."""
    start, end = at
    digits, rest = f"{day:02d}" if _padded(spelling, at) else str(day), spelling[end:]
    if rest[:2].lower() in ("st", "nd", "rd", "th"):
        rest = _ordinal(day) + rest[2:]
    return spelling[:start] + digits + rest


def _padded(spelling: str, at: tuple[int, int]) -> bool:
    numeric = not any(ch.isalpha() for ch in spelling)
    return spelling[at[0]] == "0" or (numeric and at[1] - at[0] == 2)


def _ordinal(day: int) -> str:
    return "th" if 10 <= day % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
