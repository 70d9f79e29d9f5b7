"""Walks in a world: calls that execute and do something, and where their values came from."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rods.digests import canonical_json
from rods.interfaces import Session
from rods.structure.leaves import walk
from rods.structure.sources import holds
from rods.types import JsonObject, ToolCall, ToolResult, ToolSpec
from rods_mcp.seeds.inventing import Inventor
from rods_mcp.seeds.values import Experience, Filler, Known, Leaf, leaves_of
from rods_mcp.translation import loaded

_TRIES = 24  # calls that are tried for one that works
_LONGEST = 3000  # characters of a result that a task is made of


@dataclass(frozen=True, slots=True)
class Move:
    """A call that did something, the leaves of its arguments, and what it gave."""

    call: ToolCall
    leaves: tuple[Leaf, ...]
    result: ToolResult
    changed: bool


@dataclass
class Walk:
    """A session that is explored; what is known of it grows with every call."""

    session: Session
    specs: Mapping[str, ToolSpec]
    rng: random.Random
    experience: Experience
    hints: Mapping[str, Any]  # a declaration's `seeds`
    inventor: Inventor
    pool: list[Known] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)
    said: str = ""
    tools: dict[str, int] = field(default_factory=dict)  # how often each one is used already
    shown: set[str] = field(default_factory=set)
    setting_up: bool = True  # results are not shown to anyone yet
    _now: JsonObject | None = None

    def look(self) -> None:
        """What the state shows can be spoken of."""
        for key, value in self._state().items():
            parts = value.values() if key == "files" and isinstance(value, dict) else [value]
            for part in parts:
                self.pool += [Known(k.value, k.field) for k in leaves_of(part, 0)]

    def step(self, names: Sequence[str], *, chained: bool = False) -> Move | None:
        """One more call that does something; ``chained``: it takes a value from a result."""
        for _ in range(_TRIES):
            name = self._chosen(names)
            drawn = self._filler.arguments(name, self.specs[name].parameters, self._open_pool())
            if drawn is None:
                continue
            arguments, leaves = drawn
            if chained and not any(leaf.origin for leaf in leaves):
                continue
            move = self._tried(ToolCall(name=name, arguments=arguments), leaves)
            if move is not None:
                return move
        return None

    # ------------------------------------------------------------------ inside
    @property
    def _filler(self) -> Filler:
        same, renamed, values = (self.hints.get(key, {}) for key in ("same", "fields", "values"))
        fresh = self.inventor.text
        return Filler(self.rng, self.experience, same, fresh, renamed, values)

    def _chosen(self, names: Sequence[str]) -> str:
        """Tools that were used less come more often."""
        weights = [1.0 / (1 + self.tools.get(name, 0)) for name in names]
        return self.rng.choices(list(names), weights)[0]

    def _open_pool(self) -> list[Known]:
        """What can be used: a result's value that the user also said is the user's."""
        return [
            Known(k.value, k.field) if k.origin and holds(self.said, k.value) else k
            for k in self.pool
        ]

    def _tried(self, call: ToolCall, leaves: list[Leaf]) -> Move | None:
        reads = self.specs[call.name].effect == "read"
        snapshot = None if reads else self.session.snapshot()
        before = self._state()
        result = self.session.call(call)
        after = before if reads or result.error else self.session.state()
        works = self._works(call, result, leaves, changed=after != before)
        self.experience.learn(call.name, leaves, worked=works)
        if not works:
            if after != before:
                self.session.restore(snapshot)
            return None
        move = Move(call, tuple(leaves), result, after != before)
        self._now = after
        self._learn(move)
        return move

    def _state(self) -> JsonObject:
        """The present state, asked for once."""
        if self._now is None:
            self._now = self.session.state()
        return self._now

    def _works(
        self, call: ToolCall, result: ToolResult, leaves: Sequence[Leaf], *, changed: bool
    ) -> bool:
        """It changed the world, or a reading call with a value showed something new."""
        if result.error or len(result.content) > _LONGEST:
            return False
        if changed:
            return True
        if self.specs[call.name].effect == "write" or not leaves:
            return False
        return result.content not in self.shown and _tells(loaded(result.content))

    def _learn(self, move: Move) -> None:
        index = len(self.moves)
        self.moves.append(move)
        self.tools[move.call.name] = self.tools.get(move.call.name, 0) + 1
        self.shown.add(move.result.content)
        told = [str(leaf.value) for leaf in move.leaves if leaf.origin is None]
        if not self.setting_up:
            self.said += "\n" + "\n".join(told)
        own = [Known(leaf.value, leaf.field) for leaf in move.leaves if leaf.origin is None]
        if gone := self._gone(move):
            self.pool = [known for known in self.pool if known.value not in gone]
            own = [known for known in own if known.value not in gone]
        values = {known.value for known in own}
        self.pool = [k for k in self.pool if k.value not in values or k.origin is None] + own
        if self.setting_up:
            self.pool += [
                Known(k.value, k.field) for k in leaves_of(loaded(move.result.content), 0)
            ]
        else:
            self.pool += self._given(move, index)

    def _gone(self, move: Move) -> set[Any]:
        """Values that name nothing any more."""
        fields = self.hints.get("gone", {}).get(move.call.name)
        if fields is None and not move.call.name.startswith(("delete", "remove")):
            return set()
        return {leaf.value for leaf in move.leaves if fields is None or leaf.field in fields}

    def _given(self, move: Move, index: int) -> list[Known]:
        """What the result alone tells, and tells but one of: "that order" is then clear."""
        found = leaves_of(loaded(move.result.content), index)
        once = {
            name: sum(known.field == name for known in found)
            for name in {known.field for known in found}
        }
        own = {leaf.value for leaf in move.leaves}
        return [k for k in found if once[k.field] == 1 and k.value not in own]


def _tells(answer: Any) -> bool:
    """More than empty containers and an echo of nothing."""
    if isinstance(answer, str):
        return bool(answer.strip()) and not answer.lower().startswith(("no ", "nothing"))
    return any(leaf not in (None, "", 0, False) for _, leaf in walk(answer))


def distinct(calls: Sequence[ToolCall]) -> str:
    """What two tasks must not share: the calls as text."""
    return canonical_json([[call.name, call.arguments] for call in calls])
