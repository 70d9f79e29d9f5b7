"""Values that an argument can have in the live world, given where it must come from."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rods.interfaces import Environment
from rods.structure.constants import Constants, Key, key
from rods.structure.leaves import Scalar, walk
from rods.structure.planning.catalog import Catalog, Flow, ParameterFacts
from rods.structure.planning.derivations import Derivations
from rods.structure.planning.patterns import WORD, places
from rods.structure.planning.skeleton import Label
from rods.structure.planning.world import Said, World
from rods.structure.sources import field_fits
from rods.types import JsonValue, SourceKind

_MOST = 8
_UNUSUAL = 0.2  # chance of the other truth value first
_NUMBERS = (2, 3, 5, 8, 10, 12, 20, 25, 50, 100)


@dataclass(frozen=True, slots=True)
class Draw:
    """A value, and what the user says so that it can be known."""

    value: JsonValue
    said: tuple[str, ...] = ()
    hole: bool = False
    plain: bool = False  # the user says the value itself


@dataclass(frozen=True, slots=True)
class Place:
    """The argument that a value is wanted for."""

    tool: str
    parameter: str
    label: Label


class Values:
    """Draws values; the order of preference: the environment's own, the world's, seen ones."""

    def __init__(
        self,
        environment: Environment,
        catalog: Catalog,
        constants: Constants,
        derivations: Derivations,
    ) -> None:
        self._environment, self._catalog = environment, catalog
        self._specs = environment.tools()
        self._insertable = {
            (failure.partition(":")[0], recipe.parameter)
            for failure, recipes in catalog.recipes.items()
            for recipe in recipes
            if recipe.kind == "insert"
        }
        self._constants, self._derivations = constants, derivations

    def draws(self, place: Place, world: World, said: Said, rng: random.Random) -> list[Draw]:
        """Values that would get the wanted label, best first; none where there is no such."""
        facts = self._facts(place)
        if place.label.kind is SourceKind.RESULT or place.label.producers:
            return self._results(place, facts, world, said, rng)
        by_kind: dict[SourceKind, Callable[..., Iterable[Draw]]] = {
            SourceKind.USER: self._spoken,
            SourceKind.CONSTANT: self._constant,
            SourceKind.STATE: self._hidden,
            SourceKind.DERIVED: self._derived,
        }
        return _first(by_kind[place.label.kind](place, facts, world, said, rng))

    def _facts(self, place: Place) -> ParameterFacts:
        return self._catalog.tools[place.tool].parameters[place.parameter]

    # ------------------------------------------------------------------------ by label
    def _spoken(
        self, place: Place, facts: ParameterFacts, world: World, said: Said, rng: random.Random
    ) -> Iterator[Draw]:
        for value in self._again(place, facts, world, rng) + self.plain(place, facts, world, rng):
            leaves = [leaf for _, leaf in walk(value)]
            if all(_can_be_said(leaf) for leaf in leaves):
                texts = tuple(_spelled(leaf) for leaf in leaves if not isinstance(leaf, bool))
                yield Draw(value, texts, facts.prose, plain=True)

    def _again(
        self, place: Place, facts: ParameterFacts, world: World, rng: random.Random
    ) -> list[JsonValue]:
        """What the plan has used for this parameter before, as often as train tasks do that."""
        if facts.prose or rng.random() >= facts.reuse:
            return []
        group = self._catalog.tools[place.tool].group
        used = [
            call.arguments[place.parameter]
            for call in reversed(world.calls)
            if place.parameter in call.arguments and self._catalog.tools[call.name].group == group
        ]
        return [value for value in used[:1] if not isinstance(value, list | dict | bool)]

    def _constant(
        self, place: Place, facts: ParameterFacts, world: World, said: Said, rng: random.Random
    ) -> Iterator[Draw]:
        if facts.kind == "boolean":
            usual = [v for v in facts.values if isinstance(v, bool)]
            pool: list[Any] = [*usual, *(v for v in (True, False) if v not in usual)]
            if rng.random() < _UNUSUAL:
                pool.reverse()
            yield from (Draw(value) for value in pool)
            return
        allowed = self._constants.get((place.tool, place.parameter), frozenset())
        known = [*facts.closed, *(value for _, value in sorted(allowed, key=repr)), *facts.values]
        for value in _shuffled(_unique(known), rng):
            leaves = [leaf for _, leaf in walk(value)]
            if all(_silent(leaf, allowed) and not said.holds(leaf) for leaf in leaves):
                yield Draw(
                    [value] if facts.kind == "array" and not isinstance(value, list) else value
                )

    def _hidden(
        self, place: Place, facts: ParameterFacts, world: World, said: Said, rng: random.Random
    ) -> Iterator[Draw]:
        """What the world holds, though nobody has said or shown it; else what a patch can add."""
        allowed = self._constants.get((place.tool, place.parameter), frozenset())
        missing = []
        for value in self.plain(place, facts, world, rng):
            leaves = [leaf for _, leaf in walk(value)]
            if all(_is_hidden(leaf, allowed, world, said) for leaf in leaves):
                held = all(world.donor.holds(leaf) for leaf in leaves)
                if held:
                    yield Draw(value)
                elif isinstance(value, str | int):
                    missing.append(Draw(value))
        if (place.tool, place.parameter) in self._insertable:
            yield from missing

    def _derived(
        self, place: Place, facts: ParameterFacts, world: World, said: Said, rng: random.Random
    ) -> Iterator[Draw]:
        allowed = self._constants.get((place.tool, place.parameter), frozenset())
        for value in self._again(place, facts, world, rng) + self.plain(place, facts, world, rng):
            texts = list(self._phrased(value, allowed, world, said))
            if any(derived for _, derived in texts) and all(text for text, _ in texts):
                yield Draw(value, tuple(text for text, _ in texts), facts.prose)

    def _phrased(
        self, value: JsonValue, allowed: Collection[Key], world: World, said: Said
    ) -> Iterator[tuple[str, bool]]:
        """What is said for every leaf, and whether the leaf has to be derived from it."""
        for _, leaf in walk(value):
            if leaf is None or isinstance(leaf, bool) or key(leaf) in allowed:
                continue
            known = said.holds(leaf) or world.shown(leaf) or world.donor.holds(leaf)
            phrase = "" if known else next(self._derivations.phrases(leaf), "")
            if phrase:
                yield phrase, True
            else:
                yield (_spelled(leaf) if _can_be_said(leaf) else "", False)

    def _results(
        self, place: Place, facts: ParameterFacts, world: World, said: Said, rng: random.Random
    ) -> list[Draw]:
        columns = [
            self._taken(place, facts, world, said, producer) for producer in place.label.producers
        ]
        if not columns or not all(columns):
            return []
        for column in columns:
            rng.shuffle(column)
        if facts.kind != "array":
            return [Draw(value) for value in columns[0][:_MOST]] if len(columns) == 1 else []
        lists: list[list[Any]] = [[column[0] for column in columns]]
        if len(columns) == 1:
            lists += [[value] for value in columns[0][1:3]]
            lists.append(columns[0][:3])
        return [Draw(value) for value in lists]

    def _taken(
        self, place: Place, facts: ParameterFacts, world: World, said: Said, producer: int
    ) -> list[Any]:
        """Values of one result that the parameter takes and that no later result shows."""
        flows = self._catalog.flows_between(world.calls[producer].name, place.tool)
        flows = [flow for flow in flows if flow.parameter == place.parameter]
        seen = [flow for flow in flows if flow.weight > 1]  # what train tasks do comes first
        return self._read(place, facts, world, said, producer, seen) or self._read(
            place, facts, world, said, producer, flows
        )

    def _read(
        self,
        place: Place,
        facts: ParameterFacts,
        world: World,
        said: Said,
        producer: int,
        flows: Sequence[Flow],
    ) -> list[Any]:
        """Values along these flows."""
        if not flows:
            return []
        wanted = {flow.pattern for flow in flows}
        allowed = self._constants.get((place.tool, place.parameter), frozenset())
        kind = facts.items or facts.kind
        known = None
        if any(pattern[-1:] == (WORD,) for pattern in wanted) and not facts.fresh:
            known = self.accepted(place, world)  # a word of a text alone says little
        found: dict[str, Any] = {}
        for pattern, value in places(world.answers[producer]):
            value = _typed(value, kind)
            if pattern not in wanted or isinstance(value, bool) or not _is_kind(value, kind):
                continue
            if said.holds(value) or key(value) in allowed or world.shown(value, producer + 1):
                continue
            if known and pattern[-1:] == (WORD,) and value not in known:
                continue
            if _is_small(value) and not field_fits(pattern, place.parameter):
                continue  # the labels take it for a coincidence
            found.setdefault(repr(value), value)
        return list(found.values())

    # ------------------------------------------------------------------------ any label
    def plain(
        self, place: Place, facts: ParameterFacts, world: World, rng: random.Random
    ) -> list[JsonValue]:
        """Values that the parameter accepts now, whatever they come from."""
        kind = facts.items or facts.kind
        pool = [v for v in self._pool(place, facts, world, rng) if _is_kind(v, kind)]
        if facts.kind == "array":
            return self._lists(facts, _unique(pool), rng)
        return _unique(pool)

    def accepted(self, place: Place, world: World) -> list[Any]:
        """Values of the world or of the environment that the parameter is known to accept."""
        facts = self._facts(place)
        state = world.donor.task.initial_state
        suggested = list(self._environment.suggest(place.tool, place.parameter, state))
        at_home = [] if facts.fresh else self._at_home(facts, world)
        return [*at_home, *suggested] if len(suggested) != 1 else at_home

    def _pool(
        self, place: Place, facts: ParameterFacts, world: World, rng: random.Random
    ) -> list[Any]:
        suggested = list(
            self._environment.suggest(place.tool, place.parameter, world.donor.task.initial_state)
        )
        reads = self._specs[place.tool].effect == "read"  # of what is not there it tells nothing
        at_home = self._at_home(facts, world) if reads or not facts.fresh else []
        if at_home and suggested:
            both = [value for value in at_home if value in suggested]
            others = [value for value in suggested if value not in both]
            return [*_shuffled(both, rng), *_shuffled(others, rng)]
        if suggested:
            return _shuffled(suggested, rng)
        if at_home:
            new = [v for v in facts.values if v not in at_home and not isinstance(v, list)]
            return [*_shuffled(at_home, rng), *_shuffled(new, rng)[:2]]
        if facts.closed:
            return _shuffled(facts.closed, rng)
        if facts.prose:
            return [prose(place, world, rng)]
        seen = [v for v in facts.values if not isinstance(v, list)]
        if not facts.fresh:
            return [v for v in seen if isinstance(v, str) and not v.isalnum()]
        numeric = ("number", "integer")
        if facts.items in numeric or (not seen and facts.kind in numeric):
            seen = [*seen, *_NUMBERS]
        return _shuffled(seen, rng)

    def _at_home(self, facts: ParameterFacts, world: World) -> list[Any]:
        kind = facts.items or facts.kind
        for home in facts.homes:
            found = [_typed(value, kind) for value in world.values(home)]
            if any(_is_kind(value, kind) for value in found):
                return found
        return []

    def _lists(self, facts: ParameterFacts, pool: list[Any], rng: random.Random) -> list[JsonValue]:
        seen = [v for v in facts.values if isinstance(v, list) and v]
        lists: list[Any] = []
        if facts.closed:
            lists.append(list(facts.closed))
        if pool:
            for size in (1, 2, 3):
                if len(pool) >= size:
                    lists.append(rng.sample(pool, size))
        return _unique([*_shuffled(lists, rng), *_shuffled(seen, rng)])


def prose(place: Place, world: World, rng: random.Random) -> str:
    """A neutral text that names what the plan has dealt with; a writer puts another there."""
    name = place.parameter.replace("_", " ").capitalize()
    topic = (
        world.topics[-1] if world.topics else rng.choice(("today", "this week", "the next steps"))
    )
    return f"{name} about {topic}"


def _first(draws: Iterable[Draw]) -> list[Draw]:
    found = []
    for draw in draws:
        found.append(draw)
        if len(found) >= _MOST:
            break
    return found


def _is_kind(value: Any, kind: str) -> bool:
    if kind == "string":
        return isinstance(value, str) and value != ""
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind == "boolean":
        return isinstance(value, bool)
    return isinstance(value, dict) if kind == "object" else True


def _is_hidden(leaf: Scalar, allowed: Collection[Key], world: World, said: Said) -> bool:
    """Neither said nor shown nor a constant, and more than a number met by chance."""
    if leaf is None or isinstance(leaf, bool) or _is_small(leaf) or key(leaf) in allowed:
        return False
    return not said.holds(leaf) and not world.shown(leaf)


def _is_small(leaf: Scalar) -> bool:
    """A number that stands everywhere by chance."""
    return isinstance(leaf, int | float) and float(leaf).is_integer() and abs(leaf) < 100


def _typed(value: Any, kind: str) -> Any:
    """The value as an argument of this type: keys are text, and answers of digits are numbers."""
    if kind in ("integer", "number") and isinstance(value, str) and value.isdigit():
        return int(value)
    if kind == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value


def _silent(leaf: Scalar, allowed: frozenset[tuple[str, Scalar]]) -> bool:
    if leaf is None or isinstance(leaf, bool):
        return True
    return key(leaf) in allowed or (isinstance(leaf, str) and not any(c.isalnum() for c in leaf))


def _can_be_said(leaf: Scalar) -> bool:
    if isinstance(leaf, str):
        return any(c.isalnum() for c in leaf)
    return leaf is not None and leaf >= 0


def _spelled(leaf: Scalar) -> str:
    if isinstance(leaf, float):
        return str(int(leaf)) if leaf.is_integer() else repr(leaf)
    return str(leaf)


def _unique(values: Iterable[Any]) -> list[Any]:
    return list({repr(value): value for value in values}.values())


def _shuffled(values: Sequence[Any], rng: random.Random) -> list[Any]:
    return rng.sample(list(values), len(values))
