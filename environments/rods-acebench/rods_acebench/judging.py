"""The end state against the wanted one: upstream's check, and how much of the way was made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Literal, NamedTuple

from rods.types import JsonObject, TurnVerdict
from rods_acebench.world import COMPARED

Names = Literal["aliases", "literal"]
_ABSENT = object()
DEVICE = "BaseApi"  # its switches come before the goal


class Aspect(NamedTuple):
    """Something of the end state that is compared by itself."""

    class_name: str
    attribute: str
    key: str  # of an attribute that is a dict, else empty
    wanted: Any


class Goal:
    """The wanted end state of a task that starts in this state."""

    def __init__(
        self, answers: Sequence[Mapping[str, JsonObject]], names: Names, start: JsonObject
    ) -> None:
        self._count = len(answers)
        self._wanted: list[tuple[str, JsonObject]] = [
            (_name(name, attributes, start) if names == "aliases" else name, attributes)
            for answer in answers
            for name, attributes in answer.items()
        ]

    def reached(self, state: JsonObject) -> bool:
        """Upstream's verdict: as many classes as wanted, and each wanted attribute equal.

        A class that the world does not have by that name is not looked at, as upstream has it.
        """
        if self._count != len(state):
            return False
        known = [(name, wanted) for name, wanted in self._wanted if name in state]
        return all(_equal(wanted, _attributes(state, name)) for name, wanted in known)

    def share(self, start: JsonObject, state: JsonObject) -> float:
        """Of what was missing at the start, but for the device's switches, how much is there.

        What was right and is not any more counts against it; 1 exactly where the goal is reached.
        """
        if self.reached(state):
            return 1.0
        aspects = [a for a in self._aspects(start) if a.class_name != DEVICE]
        missing = [a for a in aspects if not _holds(a, start)]
        right = sum(_holds(a, state) for a in missing)
        spoilt = sum(_holds(a, start) and not _holds(a, state) for a in aspects)
        return min(max(0, right - spoilt) / max(1, len(missing)), 0.99)

    def _aspects(self, state: JsonObject) -> Iterator[Aspect]:
        for name, wanted in self._wanted:
            for attribute, value in wanted.items() if name in state else ():
                if isinstance(value, dict):
                    yield from (Aspect(name, attribute, key, v) for key, v in value.items())
                else:
                    yield Aspect(name, attribute, "", value)


def meant(name: str) -> str:
    """The class that an answer means: the nearest, where it misspells (ReminderAPI, Reminderpi)."""
    near = get_close_matches(name, COMPARED, n=1, cutoff=0.75)
    return name if name in COMPARED or not near else near[0]


def _name(written: str, wanted: JsonObject, start: JsonObject) -> str:
    """The class to compare; as written where the answer was written for another start.

    Such an answer wants another entry where the class has one from the start. Nobody saw that,
    because upstream does not compare a misspelt class; no call would get there.
    """
    name = meant(written)
    had: JsonObject = _attributes(start, name) if name in start else {}
    return name if all(_keeps(value, had.get(key)) for key, value in wanted.items()) else written


def _keeps(wanted: Any, had: Any) -> bool:
    """Of an attribute that is a dict, every entry from the start that is wanted, is as it was."""
    if not isinstance(wanted, dict) or not isinstance(had, dict):
        return True
    return all(had.get(key, value) == value for key, value in wanted.items())


def verdict(goal: Goal, start: JsonObject, end: JsonObject, *, acted: bool) -> TurnVerdict:
    """Without an executed call there is no end state, and nothing is right."""
    share = goal.share(start, end) if acted else 0.0
    return TurnVerdict(state_ok=goal.reached(end), response_ok=True, acted=acted, share=share)


def _equal(wanted: JsonObject, attributes: JsonObject) -> bool:
    """Every attribute is wanted, and equal; of a dict, every wanted entry."""
    return all(name in wanted and _same(wanted[name], value) for name, value in attributes.items())


def _same(wanted: Any, value: Any) -> bool:
    if not isinstance(wanted, dict):
        return bool(wanted == value)
    return isinstance(value, dict) and all(k in value and value[k] == v for k, v in wanted.items())


def _holds(aspect: Aspect, state: JsonObject) -> bool:
    value: Any = _attributes(state, aspect.class_name).get(aspect.attribute)
    if aspect.key:
        return isinstance(value, dict) and value.get(aspect.key, _ABSENT) == aspect.wanted
    return bool(value == aspect.wanted)


def _attributes(state: JsonObject, name: str) -> JsonObject:
    attributes = state[name]
    assert isinstance(attributes, dict)
    return attributes
