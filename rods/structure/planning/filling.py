"""Gives a sequence of functions its values, call by call in a live world."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field

from rods.interfaces import Environment
from rods.structure.planning.assigning import Assignment
from rods.structure.planning.catalog import Catalog
from rods.structure.planning.effects import Judgement
from rods.structure.planning.search import Names, Search, Space, feeders
from rods.structure.planning.values import Draw, Place, Values
from rods.structure.planning.world import Donor, Said, World
from rods.structure.schema import CallValidator
from rods.types import ToolCall

_ASSIGNMENTS = 3
_TRIES = 6  # values for one assignment
_UNLUCKY, _LUCKY = 0.6, 1.1


@dataclass(slots=True)
class Filled:
    """A plan that has run once; nothing about it is proven yet."""

    donor: Donor
    names: Names
    calls: list[ToolCall]
    said: list[list[str]]  # by turn
    holes: list[frozenset[str]]  # by call


@dataclass(slots=True)
class _Made:
    """A call that worked."""

    said: tuple[str, ...]
    holes: frozenset[str]


@dataclass(slots=True)
class Failures:
    """Why plans did not come about."""

    reasons: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)


class Filler:
    """Tries values, then other functions."""

    def __init__(
        self,
        environment: Environment,
        catalog: Catalog,
        judgement: Judgement,
        values: Values,
        search: Search,
        max_swaps: int,
    ) -> None:
        self._environment, self._catalog = environment, catalog
        self._judgement, self._values, self._search = judgement, values, search
        self._validator = CallValidator(environment.tools())
        self._max_swaps = max_swaps

    def fill(
        self, space: Space, donor: Donor, names: Names, rng: random.Random, failures: Failures
    ) -> Filled | None:
        """The plan with values, or None; ``failures`` counts why."""
        world = World(self._environment, donor, self._catalog, self._judgement)
        try:
            return self._filled(space, world, list(names), rng, failures)
        finally:
            world.close()

    def _filled(
        self,
        space: Space,
        world: World,
        names: list[str],
        rng: random.Random,
        failures: Failures,
    ) -> Filled | None:
        said, holes, swaps = Said(), [], 0
        turns = [t for t, n in enumerate(space.skeleton.calls_per_turn) for _ in range(n)]
        call = 0
        while call < len(names):
            made = self._call(space, world, said, names, call, rng, failures)
            luck = space.luck[call]
            name = names[call]
            if made is not None:
                luck[name] = min(1.5, luck.get(name, 1.0) * _LUCKY)
                said.say(turns[call], made.said)
                holes.append(made.holes)
                call += 1
                continue
            luck[name] = max(0.02, luck.get(name, 1.0) * _UNLUCKY)
            other = self._other(space, tuple(names), call, rng) if swaps < self._max_swaps else None
            if other is None:
                failures.reasons["no_values"] += 1
                return None
            swaps += 1
            names[call] = other
        said.say(len(space.skeleton.calls_per_turn) - 1, ())
        return Filled(world.donor, tuple(names), world.calls, said.lines, holes)

    def _other(
        self, space: Space, names: Names, call: int, rng: random.Random
    ) -> str | None:
        found = [
            name
            for name in self._search.replacements(space, names, call)
            if self._search.plausible((*names[:call], name, *names[call + 1 :]))
            and self._search.assignable(space, names, call, name)
        ][:4]
        weights = [space.luck[call].get(name, 1.0) for name in found]
        return rng.choices(found, weights)[0] if found else None

    def _call(
        self,
        space: Space,
        world: World,
        said: Said,
        names: list[str],
        call: int,
        rng: random.Random,
        failures: Failures,
    ) -> _Made | None:
        """The call has been made with values that carry its labels."""
        labels, name = space.skeleton.labels[call], names[call]
        options = self._search.assigner.assignments(name, labels, feeders(labels, names))
        reason = "no_assignment"
        for assignment in options[:_ASSIGNMENTS]:
            places = [
                Place(name, p, label) for p, label in zip(assignment, labels, strict=True)
            ]
            pools = [self._values.draws(place, world, said, rng) for place in places]
            if not all(pools):
                empty = next(p for p, pool in zip(places, pools, strict=True) if not pool)
                reason = f"no value for {empty.parameter}: {empty.label.kind.value}"
                continue
            made, reason = self._tried(world, name, assignment, pools, rng)
            if made is not None:
                return made
        failures.calls[f"{name}: {reason[:60]}"] += 1
        return None

    def _tried(
        self,
        world: World,
        name: str,
        assignment: Assignment,
        pools: list[list[Draw]],
        rng: random.Random,
    ) -> tuple[_Made | None, str]:
        reason, seen = "", set()
        for attempt in range(_TRIES):
            drawn = [
                pool[0] if attempt == 0 else pool[rng.randrange(len(pool))] for pool in pools
            ]
            arguments = {p: draw.value for p, draw in zip(assignment, drawn, strict=True)}
            mark = repr(arguments)
            if mark in seen:
                continue
            seen.add(mark)
            texts = [v for v in arguments.values() if isinstance(v, str) and len(v) > 1]
            if len(texts) != len(set(texts)):
                reason = "one value twice"
                continue
            call = ToolCall(name=name, arguments=arguments)
            reason = self._validator.problem(call) or world.attempt(call) or ""
            if not reason:
                said = tuple(text for draw in drawn for text in draw.said)
                holes = {p for p, draw in zip(assignment, drawn, strict=True) if draw.hole}
                return _Made(said, frozenset(holes)), ""
        return None, reason
