"""Which values can be had only thanks to which calls: the search for arguments is guided by it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from rods.structure.leaves import Scalar, parse
from rods.structure.planning.catalog import Home
from rods.structure.planning.effects import Shadows
from rods.structure.planning.patterns import values_at
from rods.types import ToolCall


class Guide:
    """Compares the live world with the worlds in which one call each has been left out.

    A call that must need others gets values that stand where they stand thanks to these; one that
    must need none gets values that were there before.
    """

    def __init__(self, shadows: Shadows, tools: Collection[str]) -> None:
        self._shadows, self._tools = shadows, tools
        self._there: dict[tuple[int, Home], frozenset[str]] = {}
        self._states: dict[int, Any] = {}
        self.wanted: frozenset[int] = frozenset()
        self.kin: frozenset[int] = frozenset()  # calls that a later one needs along with the next
        self.sharp = False

    def turn_to(self, wanted: frozenset[int], kin: frozenset[int] = frozenset()) -> None:
        """The next call must fail without the ``wanted`` ones, and without no other.

        A value that its ``kin`` have made does no harm where the call works without it too.
        """
        self.wanted, self.kin, self.sharp = wanted, kin - wanted, bool(wanted or kin)

    def forget(self) -> None:
        """The worlds have moved on."""
        self._there.clear()
        self._states.clear()

    def ranked(self, home: Home, values: Sequence[Any]) -> list[Any]:
        """The values of the home, best first; as they came where nothing tells them apart."""
        if not self.sharp or len(values) < 2:
            return list(values)
        return sorted(values, key=lambda value: self._off(home, value))

    def _off(self, home: Home, value: Any) -> tuple[int, int, int]:
        needed = {i for i in self._shadows.left_out if str(value) not in self._at(i, home)}
        strange = needed - self.wanted - self.kin
        return len(strange), -len(needed & self.wanted), -len(needed & self.kin)

    def elsewhere(self, homes: Iterable[Home], here: Collection[Any]) -> list[str]:
        """Names taken in the worlds without a wanted call and free in this one, best first."""
        taken: dict[str, set[int]] = {}
        for home in homes:
            for left_out in self._shadows.left_out:
                for value in sorted(self._at(left_out, home)):
                    taken.setdefault(value, set()).add(left_out)
        free = [v for v in taken if v not in here and taken[v] & self.wanted]
        return sorted(free, key=lambda value: len(taken[value] ^ self.wanted))

    def _at(self, left_out: int, home: Home) -> frozenset[str]:
        """What stands at the home without that call."""
        key = (left_out, home)
        if key not in self._there:
            found: list[Scalar] = values_at(self._shown(left_out, home.probe), home.pattern)
            self._there[key] = frozenset(str(value) for value in found)
        return self._there[key]

    def _shown(self, left_out: int, probe: str) -> Any:
        if not probe:
            if left_out not in self._states:
                self._states[left_out] = self._shadows.look(left_out).state()
            return self._states[left_out]
        if probe not in self._tools:
            return None
        result = self._shadows.look(left_out).call(ToolCall(name=probe))
        return None if result.error else parse(result.content)
