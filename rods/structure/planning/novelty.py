"""Keeps plans apart: so many edits between the function names of any two."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

Names = tuple[str, ...]
_GAP = ""


class Distance(NamedTuple):
    """Fewest edits that a plan must be away from its seed, and from siblings and train tasks."""

    seed: int
    others: int
    of: Literal["sibling", "seed"] | None = None  # to what a plan may be nearer than before


def distances(edits: int, fallback: int) -> list[Distance]:
    """What is asked for, then less: of siblings and train tasks first, of the seed last."""
    asked = [Distance(edits, edits)]
    if fallback < edits:
        asked.append(Distance(edits, fallback, "sibling"))
        asked.append(Distance(fallback, fallback, "seed"))
    return asked


class Novelty:
    """Sequences that are taken, and how near another one is to them."""

    def __init__(self, known: Iterable[Names] = ()) -> None:
        self._known: set[Names] = set()
        self._shorter: set[Names] = set()  # one name left out
        self._masked: set[Names] = set()  # one name masked
        for names in known:
            self.add(names)

    def add(self, names: Names) -> None:
        """The sequence is taken."""
        self._known.add(names)
        self._shorter.update(_without_one(names))
        self._masked.update(_with_gap(names))

    def is_near(self, names: Names, edits: int) -> bool:
        """A sequence that is taken is fewer than ``edits`` edits away."""
        if names in self._known:
            return edits > 0
        if edits <= 1:
            return False
        if self._one_edit_away(names):
            return True
        return edits > 2 and any(
            abs(len(other) - len(names)) < edits and edit_distance(other, names) < edits
            for other in self._known
        )

    def _one_edit_away(self, names: Names) -> bool:
        return (
            names in self._shorter
            or any(shorter in self._known for shorter in _without_one(names))
            or any(masked in self._masked for masked in _with_gap(names))
        )


def _without_one(names: Names) -> Iterator[Names]:
    return (names[:i] + names[i + 1 :] for i in range(len(names)))


def _with_gap(names: Names) -> Iterator[Names]:
    return ((*names[:i], _GAP, *names[i + 1 :]) for i in range(len(names)))


def edit_distance(a: Names, b: Names) -> int:
    """Insertions, deletions and replacements of names that turn one into the other."""
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, right in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (left != right))
    return row[-1]
