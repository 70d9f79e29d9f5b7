"""Which values of an executed seed could be others. Candidates only: execution has the last word.

A value qualifies where nothing ties it to its meaning: it is no constant of a schema, the world
does not fix it, and no number or date in the user's words depends on it in a way that code cannot
follow.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from rods.interfaces import Environment
from rods.structure import transforms
from rods.structure.leaves import Scalar, walk
from rods.structure.sources import Source, holds
from rods.structure.trace import Trace
from rods.synthesis.fresh import lowered
from rods.synthesis.recognition import (
    entity,
    json_text,
    listed,
    marked,
    opaque,
    phrase,
    state_keys,
    state_values,
)
from rods.synthesis.slots import Slot, Style
from rods.synthesis.substitution import occurrences
from rods.types import SourceKind, Task

_PARTS = re.compile(r"[A-Za-z]+")
_COMPARED = re.compile(
    r"\b(if|unless|below|above|less|more|under|over|exceed\w*|lower|higher|cheaper|enough|"
    r"at least|at most|threshold|between|maximum|minimum|half|double|twice|percent)\b|%",
    re.IGNORECASE,
)
_CALENDAR = re.compile(
    r"\b(christmas|easter|halloween|thanksgiving|birthday|today|tomorrow|yesterday|tonight|weekend|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b",
    re.IGNORECASE,
)
_VERBAL = r"\b(?:to|please|and|then|will|can|could|should|must|you|we|let's|kindly) "
_COMMON_FIELD = 0.05  # share of the tasks whose states have the key
_GENERIC = frozenset(("file", "folder", "document", "text", "name", "item", "user", "card"))
_MOST = 48  # slots of one seed
_TRACEABLE = (SourceKind.USER, SourceKind.RESULT, SourceKind.STATE)


class SlotFinder:
    """Finds the slots of the seeds of one environment."""

    def __init__(self, environment: Environment, tables: Mapping[str, Mapping[str, str]]) -> None:
        self.environment, self.tables = environment, tables
        self.specs = environment.tools()

    def find(self, task: Task, trace: Trace, sources: Sequence[Source]) -> tuple[Slot, ...]:
        """All candidates, arguments first, in the order in which they occur."""
        return tuple(_Search(self, task, trace, sources).slots())[:_MOST]

    @cached_property
    def keys(self) -> Mapping[str, float]:
        """Key of an initial state -> share of the train tasks that have it."""
        tasks = self.environment.tasks("train")
        counts = Counter(key for task in tasks for key in set(state_keys(task.initial_state)))
        return {key: count / len(tasks) for key, count in counts.items()}

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of functions and parameters."""
        return frozenset(n for s in self.specs.values() for n in (s.name, *s.properties))

    def is_field(self, key: str) -> bool:
        """So many states have the key that it may name a field rather than an entity."""
        return key in self.names or self.keys.get(key, 0.0) > _COMMON_FIELD


class _Search:
    def __init__(
        self, finder: SlotFinder, task: Task, trace: Trace, sources: Sequence[Source]
    ) -> None:
        self.finder, self.environment, self.specs = finder, finder.environment, finder.specs
        self.task, self.trace, self.sources = task, trace, sources
        self.words = "\n".join(turn.user for turn in task.turns)
        self.shown = "\n".join(trace.contents)
        self.said_numbers = transforms.numbers(self.words)

    # ------------------------------------------------------------------ which
    def slots(self) -> Iterator[Slot]:
        found: dict[Scalar, Slot] = {}
        arguments: dict[Scalar, list[Source]] = {}
        for source in self.sources:
            arguments.setdefault(source.value, []).append(source)
        for value, uses in arguments.items():
            slots = [self._argument(source) for source in uses if not self._follows(source)]
            if slots and all(slots) and slots[0]:
                found[value] = slots[0]
        for value in dict.fromkeys(state_values(self.task.initial_state)):
            if value not in arguments and (slot := self._bystander(value)):
                found[value] = replace(slot, bystander=True)
        spelled = [s for slot in found.values() for s in slot.spellings]
        yield from (s for s in found.values() if not self._composed(s, spelled))

    def _argument(self, source: Source) -> Slot | None:
        value = source.value
        if isinstance(value, bool) or value is None or value in self._pinned:
            return None
        if isinstance(value, str) and transforms.iso_date(value):
            return self._date(value)
        if source.kind not in _TRACEABLE and source.transform not in ("table", "spelling"):
            return None
        tool = self.trace.calls[source.call].name
        if choices := self._choices(tool, source.parameter):
            if value not in choices and source.kind is not SourceKind.USER:
                choices = next((sorted(s, key=str) for s in self._closed_sets if value in s), ())
            return self._closed(value, tuple(choices))
        if not isinstance(value, str):
            return self._number(value, source)
        return self._text(value, source)

    def _bystander(self, value: Scalar) -> Slot | None:
        """A value of the state that results show, and that no argument is."""
        if isinstance(value, bool) or value is None or value in self._pinned:
            return None
        if not isinstance(value, str):
            return self._state_number(value) if holds(self.shown, value) else None
        for choices in self._closed_sets:
            if value in choices:
                found = tuple(sorted(choices, key=str))
                return self._closed(value, found) if holds(self.shown, value) else None
        if not entity(value) or self._repeated[value] > 1 or self.finder.is_field(value):
            return None
        shown = holds(self.shown, json_text(value)) and not self._related(value)
        return self._name(value) if shown else None

    def _follows(self, source: Source) -> bool:
        """The value comes from a result alone: it changes with whatever the result tells."""
        value = str(source.value)
        said = holds(self.words.casefold(), value.casefold())
        known = said or source.value in self._state_values
        return source.kind is SourceKind.RESULT and not known

    # ------------------------------------------------------------------ what may not change
    @cached_property
    def _pinned(self) -> frozenset[Scalar]:
        kept = self.environment.constants(self.task.initial_state)
        pinned: set[Scalar] = {v for v in kept if not isinstance(v, dict | list)}
        for source in self.sources:
            value, tool = source.value, self.trace.calls[source.call].name
            if source.kind is SourceKind.CONSTANT or self._fixed(tool, source.parameter, value):
                pinned.add(value)
        return frozenset(v for v in pinned if not isinstance(v, bool) and v is not None)

    def _fixed(self, tool: str, parameter: str, value: Scalar) -> bool:
        if len(self._suggested(tool, parameter)) == 1:
            return True
        schema = self.specs[tool].properties.get(parameter)
        return isinstance(schema, dict) and isinstance(value, str) and listed(schema, value)

    def _suggested(self, tool: str, parameter: str) -> Sequence[Any]:
        return self.environment.suggest(tool, parameter, self.task.initial_state)

    def _choices(self, tool: str, parameter: str) -> Sequence[Scalar]:
        return tuple(v for v in self._suggested(tool, parameter) if not isinstance(v, dict | list))

    @cached_property
    def _closed_sets(self) -> list[frozenset[Scalar]]:
        sets = {
            frozenset(v for v in self._choices(name, parameter) if isinstance(v, str))
            for name in self.task.tools_at(len(self.task.turns))
            for parameter in self.specs[name].properties
        }
        return sorted((s for s in sets if len(s) > 1), key=lambda s: sorted(map(str, s)))

    @cached_property
    def _numbers_open(self) -> bool:
        """Every number among the arguments is said or shown: none is computed from others."""
        traced = (*_TRACEABLE, SourceKind.CONSTANT)
        numbers = (s for s in self.sources if not isinstance(s.value, str))
        return all(s.kind in traced or s.producer is not None for s in numbers)

    @cached_property
    def _compared(self) -> bool:
        return _COMPARED.search(self.words) is not None

    @cached_property
    def _related_numbers(self) -> frozenset[float]:
        """Numbers in the user's words of which one is the sum or product of two others."""
        said = sorted({n for _, n in self.said_numbers if n > 2})
        return frozenset(
            n
            for a in said
            for b in said
            if a <= b and (together := {a + b, a * b} & set(said))
            for n in (a, b, *together)
        )

    # ------------------------------------------------------------------ slots
    def _closed(self, value: Scalar, choices: tuple[Scalar, ...]) -> Slot | None:
        links = self._links(value)
        choices = tuple(c for c in choices if all(str(c) in table for table in links.values()))
        if len(choices) < 2 or isinstance(value, bool) or value is None:
            return None
        if isinstance(value, str):
            spellings = self._spellings(value)
            return (
                Slot(value, Style.CLOSED, spellings, choices=choices, links=links)
                if spellings
                else None
            )
        if not self._numbers_open or value in self._related_numbers:
            return None
        narrow = abs(value) < 10
        spellings = self._digits(value)
        if narrow and len(self._occurrences(value)) != 1:
            return None
        return Slot(value, Style.CLOSED_NUMBER, spellings, narrow, choices=choices)

    def _links(self, value: Scalar) -> dict[str, Mapping[str, str]]:
        """What else names the same thing: the code of a place, the place of a code."""
        used = {s.value for s in self.sources}
        links: dict[str, Mapping[str, str]] = {}
        for table in self.finder.tables.values():
            code = table.get(str(value))
            if code is not None and (code in used or holds(self.shown, code)):
                links[code] = table
            places = {found: place for place, found in reversed(list(table.items()))}
            for place, found in table.items():
                if found == value and holds(self.words, place):
                    links[place] = places
        return links

    def _text(self, value: str, source: Source) -> Slot | None:
        """A name, an id or a phrase. What the user does not say must be opaque: an id."""
        if len(value) < 3 or value in self.finder.names or self._repeated[value] > 1:
            return None
        shown = source.kind is SourceKind.RESULT and marked(value)
        if source.kind in (SourceKind.STATE, SourceKind.RESULT) and not (shown or opaque(value)):
            return None
        if not holds(self.words.casefold(), value.casefold()) and self._related(value):
            return None
        return self._name(value)

    def _name(self, value: str) -> Slot | None:
        spellings = self._spellings(value)
        if not spellings or not self._changeable(value):
            return None
        return Slot(value, Style.PHRASE if phrase(value) else Style.NAME, spellings)

    def _changeable(self, value: str) -> bool:
        """It stands in the state or in the user's words, and there as a noun."""
        if value.isalpha() and value.islower() and re.search(rf"{_VERBAL}{value}\b", self.words):
            return False
        said = holds(self.words.casefold(), value.casefold())
        return said or value in self._state_values

    def _number(self, value: int | float, source: Source) -> Slot | None:
        if not self._numbers_open or value in self._related_numbers or value < 0:
            return None
        if source.kind is not SourceKind.USER:
            return self._state_number(value)
        narrow = value < 10 and float(value).is_integer()
        if self._glued(value):
            return None
        if narrow and (value < 2 or len(self._occurrences(value)) != 1):
            return None
        return Slot(value, Style.NUMBER, self._digits(value), narrow)

    def _state_number(self, value: int | float) -> Slot | None:
        """Amounts of the world: only where the user compares nothing with anything."""
        if value < 10 or not self._numbers_open or self._compared:
            return None
        if value in self._related_numbers or value in self._pinned:
            return None
        return Slot(value, Style.NUMBER, self._digits(value))

    def _date(self, value: str) -> Slot | None:
        date = transforms.iso_date(value)
        assert date is not None
        spoken = [d for d in transforms.dates(self.words) if d.matches(*date)]
        rest = self.words
        for one in spoken:
            rest = rest.replace(one.spelling, " ")
        day_left = re.search(rf"(?<![\w.$]){date[2]}(?:st|nd|rd|th)?\b", rest)
        if not spoken or day_left or _CALENDAR.search(self.words):
            return None
        spellings = dict.fromkeys([value, *(one.spelling for one in spoken)])
        return Slot(value, Style.DATE, tuple(spellings), dates=tuple(spoken))

    # ------------------------------------------------------------------ spellings
    def _spellings(self, value: str) -> tuple[str, ...]:
        """The value and its variants in the user's words; none where one could not be followed."""
        stem = re.sub(r"\.[A-Za-z0-9]{1,5}$", "", value)
        spaced = re.sub(r"[_\-]+", " ", stem)
        variants = {value.lower(), value.upper(), lowered(value), value.capitalize()}
        variants.add(value[:1].upper() + value[1:])
        if " " in spaced and " " not in value:
            variants |= {spaced, spaced.lower(), spaced.title(), lowered(spaced)}
        if not holds(self.words.casefold(), value.casefold()):
            variants |= {stem, value.lstrip("#@")}
        variants |= {value.title()} if " " in value else set()
        found = sorted(v for v in variants if v != value and len(v) > 2 and holds(self.words, v))
        if self._uncovered([value, *found], value) or f"({value})" in self.words:
            return ()  # "London Heathrow (LHR)": the words before say the same
        escaped = {json_text(value)} - {value}
        return (value, *found, *sorted(escaped))

    def _uncovered(self, spellings: list[str], value: str) -> bool:
        """The user writes the value in a further way that no spelling covers."""
        covered = sum(occurrences(self.words, s) for s in spellings if s.lower() == value.lower())
        return occurrences(self.words.lower(), value.lower()) > covered

    def _abbreviated(self, name: str) -> bool:
        """The user also writes the initials of the name, which would stay: SF, LA."""
        initials = "".join(word[0] for word in name.split())
        return len(initials) > 1 and holds(self.words, initials)

    def _glued(self, value: int | float) -> bool:
        """The user's words hold the number next to a letter or inside a code."""
        digits = re.escape(f"{value:g}")
        loose = re.findall(rf"(?<!\d)(?<!\d[.,]){digits}(?!\d)(?![.,]\d)", self.words)
        plain = [s for s in self._occurrences(value) if "," not in s and "." not in s]
        return len(loose) > len(plain)

    def _digits(self, value: int | float) -> tuple[str, ...]:
        """The number as the user and the results spell it."""
        return tuple(sorted({s for s, n in self._all_numbers if n == value}))

    def _occurrences(self, value: int | float) -> list[str]:
        return [s for s, n in self.said_numbers if n == value]

    # ------------------------------------------------------------------ surroundings
    @cached_property
    def _state_values(self) -> frozenset[Scalar]:
        return frozenset(state_values(self.task.initial_state))

    @cached_property
    def _repeated(self) -> Counter[str]:
        """Key -> how often it occurs in the state: fields of records do again and again."""
        return Counter(state_keys(self.task.initial_state))

    @cached_property
    def _state_strings(self) -> list[str]:
        return [leaf for _, leaf in walk(self.task.initial_state) if isinstance(leaf, str)]

    @cached_property
    def _all_numbers(self) -> frozenset[tuple[str, float]]:
        texts = (self.shown, *self._state_strings)
        return frozenset(self.said_numbers).union(*map(transforms.numbers, texts))

    @cached_property
    def _user_stems(self) -> frozenset[str]:
        words = (w.lower() for w in _PARTS.findall(self.words) if len(w) >= 4)
        return frozenset(w[:5] for w in words if w.rstrip("s") not in _GENERIC)

    def _related(self, value: str) -> bool:
        """A part of the value is spoken of: another name would no longer fit the request."""
        return any(p[:5].lower() in self._user_stems for p in _PARTS.findall(value) if len(p) >= 4)

    @staticmethod
    def _composed(slot: Slot, spelled: Iterable[str]) -> bool:
        """A longer text that holds another slot's value changes through that value."""
        if not isinstance(slot.value, str) or " " not in slot.value:
            return False
        own = set(slot.spellings)
        return any(s not in own and holds(slot.value, s) for s in spelled)
