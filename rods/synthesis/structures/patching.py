"""II. Config patches: one typed change of an initial state in which a call of a plan fails.

The arguments stay fixed. Code says where a state may change (the places at which the train tasks
differ) and what type belongs there; rules try first, then a model chooses a place and a value.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from rods.digests import canonical_json
from rods.interfaces import Environment
from rods.structure.leaves import Path
from rods.structure.proposal import Patch
from rods.synthesis.structures.assistant import Assistant, PatchTask
from rods.types import JsonObject, JsonValue, Stage, ToolCall

_SHOWN = 40  # places a model chooses among
_KEPT = 4  # values or entries remembered for one place
_SIZE = 4000  # characters of a value
_STEM = 5  # letters: "authenticate" asks for "authenticated"
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


@dataclass(frozen=True, slots=True)
class Failed:
    """A call of a plan that a fresh world refused; ``call`` is None where it could not be made."""

    index: int
    error: str
    name: str
    call: ToolCall | None = None

    @property
    def text(self) -> str:
        """As rejections say it."""
        return f"{self.name}: {self.error}"


@dataclass(slots=True)
class Place:
    """Where initial states of train tasks differ: a leaf to set, or a container to add to."""

    path: Path
    kind: Literal["set", "add"]
    seen: dict[str, JsonValue] = field(default_factory=dict)

    def accepts(self, value: Any) -> bool:
        """The value has the type of what is known there."""
        return any(alike(value, known) for known in self.seen.values())


class StatePatcher:
    """Proposes changes; whether one helps only a fresh world can tell."""

    def __init__(self, environment: Environment, assistant: Assistant, tries: int = 3) -> None:
        """``tries``: executions that may be spent on one plan."""
        self.tries = tries
        self._environment, self._assistant = environment, assistant

    def patches(
        self, failed: Failed, state: JsonObject, rng: random.Random, rules: int
    ) -> Iterator[Patch]:
        """Up to ``rules`` changes by rule, then what a model answers, as long as it is asked."""
        if failed.call is None:
            return
        places = sorted(self._places(state), key=lambda place: -_relevance(place, failed))
        yield from self._by_rule(places, failed, state)[:rules]
        tried: list[str] = []
        while places and self._assistant.helps(Stage.EXECUTE):
            patch = self._by_model(places[:_SHOWN], failed, state, rng, tried)
            if patch is None:
                return
            tried.append(f"{_named(patch.path)} = {json.dumps(patch.value)[:80]} did not help")
            yield patch

    def _places(self, state: JsonObject) -> list[Place]:
        return [place for place in self._learned.values() if _applies(place, state)]

    @cached_property
    def _learned(self) -> Mapping[tuple[str, Path], Place]:
        """The places at which the train tasks differ, with what they have there."""
        found: dict[tuple[str, Path], Place] = {}
        for task in self._environment.tasks("train"):
            for kind, path, value in _parts(task.initial_state):
                seen = found.setdefault((kind, path), Place(path, kind)).seen
                text = canonical_json(value)
                if len(seen) < _KEPT and len(text) <= _SIZE:
                    seen.setdefault(text, value)
        return {key: place for key, place in found.items() if len(place.seen) > 1}

    @staticmethod
    def _by_rule(places: list[Place], failed: Failed, state: JsonObject) -> list[Patch]:
        """What other train tasks have at places that the failure speaks of, flags first."""
        patches = [
            Patch(place.path, value, failed.text)
            for place in places
            if place.kind == "set" and _relevance(place, failed)
            for value in place.seen.values()
            if value != at(state, place.path) and alike(value, at(state, place.path))
        ]
        return sorted(patches, key=lambda patch: not isinstance(patch.value, bool))

    def _by_model(
        self,
        places: list[Place],
        failed: Failed,
        state: JsonObject,
        rng: random.Random,
        tried: list[str],
    ) -> Patch | None:
        assert failed.call is not None
        task = PatchTask(
            call=f"{failed.name}({json.dumps(failed.call.arguments)})",
            error=failed.error[:500],
            places=[_described(place, state) for place in places],
            tried=list(tried),
        )
        key = f"{failed.name}/{rng.getrandbits(32)}"
        answer = self._assistant.patch(key, task)
        if answer is None or not 0 <= answer.place < len(places):
            return None
        found = checked(places[answer.place], answer.key, answer.value, state, failed.text)
        return None if found is None else replace(found, by_model=True)


def checked(place: Place, key: str, text: str, state: JsonObject, why: str) -> Patch | None:
    """The change that an answer describes; None where it does not fit the place."""
    try:
        value = json.loads(text[: _SIZE + 1], parse_constant=_no_number)
        present = at(state, place.path)
    except (ValueError, LookupError, RecursionError):
        return None
    if place.kind == "set":
        fits = alike(value, present) and value != present
        return Patch(place.path, value, why) if fits else None
    if not (0 < len(key) <= 100) or key in present or not place.accepts(value):
        return None
    return Patch((*place.path, key), value, why)


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no JSON")


def alike(value: Any, known: Any) -> bool:
    """Of one JSON type; objects of the same keys, lists of items like the first known one."""
    if isinstance(value, bool) or isinstance(known, bool):
        return type(value) is type(known)
    if isinstance(known, dict):
        same_keys = isinstance(value, dict) and value.keys() == known.keys()
        return same_keys and all(alike(value[key], known[key]) for key in known)
    if isinstance(known, list):
        return isinstance(value, list) and all(alike(item, known[0]) for item in value if known)
    if isinstance(known, int | float):
        return isinstance(value, int | float) and not isinstance(value, bool)
    return type(value) is type(known)


def at(state: Any, path: Path) -> Any:
    """What stands at the path; LookupError where nothing does."""
    for step in path:
        if not isinstance(state, dict):
            raise LookupError(step)
        state = state[step]
    return state


def _parts(value: Any, path: Path = ()) -> Iterator[tuple[Literal["set", "add"], Path, JsonValue]]:
    """Leaves, and entries of containers, below dictionaries; lists are leaves."""
    if not isinstance(value, dict):
        if value is not None:
            yield "set", path, value
        return
    for key, item in value.items():
        if path:
            yield "add", path, item
        yield from _parts(item, (*path, key))


def _applies(place: Place, state: JsonObject) -> bool:
    """The state has such a leaf there, or a container whose entries are of one shape."""
    try:
        present = at(state, place.path)
    except LookupError:
        return False
    if place.kind == "set":
        return place.accepts(present)
    if not isinstance(present, dict):
        return False
    entries = [*present.values(), *place.seen.values()]
    return all(alike(entry, entries[0]) for entry in entries)


def _relevance(place: Place, failed: Failed) -> int:
    """How many words of the failure stand in the place's path."""
    arguments = json.dumps(failed.call.arguments) if failed.call else ""
    return len(_stems(_named(place.path)) & _stems(f"{failed.text} {arguments}"))


def _stems(text: str) -> set[str]:
    return {word[:_STEM].lower() for word in _WORDS.findall(text) if len(word) > 2}


def _named(path: Path) -> str:
    return ".".join(map(str, path))


def _described(place: Place, state: JsonObject) -> str:
    known = "; ".join(text[:120] for text in place.seen)
    if place.kind == "add":
        return f"add an entry to {_named(place.path)}; entries look like: {known}"
    present = json.dumps(at(state, place.path))[:120]
    return f"set {_named(place.path)}, now {present}; elsewhere: {known}"
