"""A value of a seed that can be another: its spellings, and how a new one is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from rods.structure.leaves import Scalar
from rods.structure.transforms import SpokenDate, iso_date
from rods.synthesis.fresh import Dice, cased, lowered, spelled, with_day


class Style(StrEnum):
    """What kind of value it is."""

    NAME = "name"  # a name or an id
    PHRASE = "phrase"  # a title or sentences
    NUMBER = "number"
    DATE = "date"
    CLOSED = "closed"  # drawn from what the environment suggests
    CLOSED_NUMBER = "closed_number"


@dataclass(slots=True)
class Drawn:
    """What one draw replaces: spellings in texts, numbers in JSON leaves."""

    texts: dict[str, str] = field(default_factory=dict)
    numbers: dict[int | float, int | float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Slot:
    """One value with all its spellings.

    ``narrow``: only the user's words and the arguments are changed; the state is left alone.
    ``links``: a text that says the same in other words (the city of an airport's code) -> what it
    becomes for each choice.
    """

    value: Scalar
    style: Style
    spellings: tuple[str, ...] = ()
    narrow: bool = False
    bystander: bool = False  # no argument, only shown
    choices: tuple[Scalar, ...] = ()
    dates: tuple[SpokenDate, ...] = ()
    links: Mapping[str, Mapping[str, str]] = field(default_factory=dict, hash=False)

    @property
    def moves(self) -> bool:
        """Numbers in results may change with this value, and nothing else."""
        return self.style is not Style.NAME

    @property
    def numeric(self) -> bool:
        """Occurs as a JSON number."""
        return self.style in (Style.NUMBER, Style.CLOSED_NUMBER)


def draw(slots: Sequence[Slot], dice: Dice, world: frozenset[str]) -> Drawn | None:
    """New values for all slots at once; None where some value finds no unused one.

    New values differ from all old ones, from each other, and from ``world`` (lower-case words and
    values that occur in the seed). Closed values may change places among themselves and with others
    of this world: nothing is renamed into something that is there already.
    """
    return _Draw(slots, dice, world).all()


class _Draw:
    """One draw of all slots."""

    def __init__(self, slots: Sequence[Slot], dice: Dice, world: frozenset[str]) -> None:
        self.slots, self.dice, self.world = slots, dice, world
        self.drawn = Drawn()
        self.used: set[str] = set()
        self.own = {str(s.value).lower() for s in slots if s.style is Style.CLOSED}

    def all(self) -> Drawn | None:
        shift = _shift([s for s in self.slots if s.style is Style.DATE], self.dice)
        for slot in self.slots:
            if slot.style is Style.DATE:
                self.drawn.texts.update(_dated(slot, shift))
            elif not self.one(slot):
                return None
        return self.drawn

    def one(self, slot: Slot) -> bool:
        """The slot has a new value."""
        for _ in range(12):
            new = _candidate(slot, self.dice)
            if new is None or new == slot.value or str(new).lower() in self.used:
                continue
            if self.free(slot, new):
                self.used.add(str(new).lower())
                _spell(slot, new, self.dice, self.drawn)
                return True
        return False

    def free(self, slot: Slot, new: Scalar) -> bool:
        """Nothing else is called so, or what is can take the old value in turn."""
        key = str(new).lower().removesuffix(".0")
        if key not in self.world or (slot.style is Style.CLOSED and key in self.own):
            return True
        old = str(slot.value)
        if slot.style is not Style.CLOSED or old.lower() in self.used:
            return False
        self.used.add(old.lower())
        self.drawn.texts[str(new)] = old
        for spelling, table in slot.links.items():
            self.drawn.texts[table[str(new)]] = spelling
        return True


def _candidate(slot: Slot, dice: Dice) -> Scalar:
    if slot.choices:
        return dice.rng.choice(slot.choices)
    if slot.style is Style.NUMBER:
        assert isinstance(slot.value, int | float)
        return dice.number(slot.value)
    assert isinstance(slot.value, str)
    return dice.phrase(slot.value) if slot.style is Style.PHRASE else dice.renamed(slot.value)


def _swap(slot: Slot, new: Scalar, slots: Sequence[Slot], drawn: Drawn) -> bool:
    """The new value stands in this world already: whatever was called so is now called as ours."""
    if isinstance(new, str) and isinstance(slot.value, str):
        if new in drawn.texts or any(new in other.spellings for other in slots):
            return False
        drawn.texts[new] = slot.value
        return True
    return False


def _spell(slot: Slot, new: Scalar, dice: Dice, drawn: Drawn) -> None:
    if slot.numeric:
        assert isinstance(new, int | float)
        assert isinstance(slot.value, int | float)
        drawn.numbers[slot.value] = new
        drawn.texts.update({old: spelled(new, old) for old in slot.spellings})
        return
    for spelling in slot.spellings:
        drawn.texts[spelling] = _respelled(slot, spelling, str(new), dice)
    for linked, table in slot.links.items():
        drawn.texts[linked] = table[str(new)]


def _respelled(slot: Slot, spelling: str, new: str, dice: Dice) -> str:
    if spelling == slot.value:
        return new
    if slot.style is Style.NAME:
        return dice.renamed(spelling)
    if spelling.islower() or spelling.isupper():
        return new.lower() if spelling.islower() else new.upper()
    return cased(new, spelling) if spelling[:1].isupper() else lowered(new)


# ---------------------------------------------------------------------- dates
def _shift(slots: Sequence[Slot], dice: Dice) -> int:
    """Days by which all dates move, so that each stays in its month and their order is kept."""
    days = [date[2] for s in slots if (date := iso_date(str(s.value)))]
    days += [spoken.day for s in slots for spoken in s.dates]
    if not days:
        return 0
    shifts = [d for d in range(1 - min(days), 29 - max(days)) if d]
    return dice.rng.choice(shifts) if shifts else 0


def _dated(slot: Slot, shift: int) -> dict[str, str]:
    texts = {d.spelling: with_day(d.spelling, d.day_at, d.day + shift) for d in slot.dates}
    value = str(slot.value)
    if iso_date(value):
        texts[value] = with_day(value, (8, 10), int(value[8:]) + shift)
    return texts
