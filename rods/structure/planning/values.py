"""Values that an argument can have in the live world, given where it must come from."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from rods.interfaces import Environment
from rods.structure.constants import Constants, Key, key
from rods.structure.leaves import Scalar, walk
from rods.structure.planning.arguments import (
    can_be_said,
    is_kind,
    is_prose,
    is_small,
    scaled,
    shuffled,
    silent,
    spelled,
    typed,
    unique,
)
from rods.structure.planning.catalog import Catalog, Flow, Home, ParameterFacts
from rods.structure.planning.derivations import Derivations
from rods.structure.planning.patterns import ANY, KEY, WORD, places
from rods.structure.planning.relations import Relation, misfit, suggestions
from rods.structure.planning.skeleton import Label
from rods.structure.planning.world import Said, World
from rods.structure.sources import field_fits
from rods.types import JsonValue, SourceKind

_MOST = 8
_UNUSUAL = 0.2  # chance of the other truth value first
_NUMBERS = (2, 3, 5, 8, 10, 12, 20, 25, 50, 100)


class Draw(NamedTuple):
    """A value, and what the user says so that it can be known."""

    value: JsonValue
    said: tuple[str, ...] = ()
    hole: bool = False
    plain: bool = False  # the user says the value itself


class Place(NamedTuple):
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
        self._relations = {tuple(k.split(" ")): v for k, v in catalog.relations.items()}

    def draws(self, place: Place, world: World, said: Said, rng: random.Random) -> list[Draw]:
        """Values that would get the wanted label, best first; none where there is no such."""
        draws = self._drawn(place, world, said, rng)
        rules = self._rules(place, world)
        if not rules:
            return draws
        return sorted(draws, key=lambda draw: misfit(rules, draw.value, world.calls, world.answers))

    def _drawn(self, place: Place, world: World, said: Said, rng: random.Random) -> list[Draw]:
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

    def _rules(self, place: Place, world: World) -> Sequence[Relation]:
        """What holds for the place beside the calls so far."""
        rules = self._relations.get((place.tool, place.parameter))
        if not rules:
            return ()
        made = {call.name for call in world.calls}
        return [rule for rule in rules if rule.earlier in made]

    def _related(
        self, place: Place, facts: ParameterFacts, world: World, rng: random.Random
    ) -> list[JsonValue]:
        """What goes with the calls so far: a value of one of them, or a number near an answer's."""
        rules = self._rules(place, world)
        if not rules:
            return []
        values = suggestions(rules, world.calls, world.answers, rng)
        fitting = [typed(value, facts.kind) for value in values]
        return [value for value in fitting if is_kind(value, facts.kind)][:2]

    def _facts(self, place: Place) -> ParameterFacts:
        return self._catalog.tools[place.tool].parameters[place.parameter]

    # ------------------------------------------------------------------------ by label
    def _spoken(
        self, place: Place, facts: ParameterFacts, world: World, said: Said, rng: random.Random
    ) -> Iterator[Draw]:
        related = self._related(place, facts, world, rng)
        known = [v for v in related if not isinstance(v, str) or said.holds(v)]
        known += self._again(place, facts, world, rng)
        for value in known + self.plain(place, facts, world, rng):
            leaves = [leaf for _, leaf in walk(value)]
            if all(can_be_said(leaf) for leaf in leaves):
                texts = tuple(spelled(leaf) for leaf in leaves if not isinstance(leaf, bool))
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
        for value in shuffled(unique(known), rng):
            leaves = [leaf for _, leaf in walk(value)]
            if all(silent(leaf, allowed) and not said.holds(leaf) for leaf in leaves):
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
            told = _tells(facts, place.parameter)
            if all(_is_hidden(leaf, allowed, world, said, told) for leaf in leaves):
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
        known = self._related(place, facts, world, rng) + self._again(place, facts, world, rng)
        for value in known + self.plain(place, facts, world, rng):
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
                yield (spelled(leaf) if can_be_said(leaf) else "", False)

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
        usual = {flow.pattern for flow in flows if flow.weight > 1}
        known = None
        words = any(pattern[-1:] == (WORD,) for pattern in wanted)
        if words and not facts.fresh and (facts.homes or facts.suggested):
            known = self.accepted(place, world)  # a word of a text alone says little
        found: dict[str, Any] = {}
        for pattern, value in places(world.answers[producer]):
            value = typed(value, kind)
            if pattern not in wanted or isinstance(value, bool) or not is_kind(value, kind):
                continue
            if said.holds(value) or key(value) in allowed or world.shown(value, producer + 1):
                continue
            if known is not None and pattern[-1:] == (WORD,) and value not in known:
                continue
            if facts.prose and pattern not in usual and not is_prose(value):
                continue  # the text of a result may become prose, its names may not
            if is_small(value) and not field_fits(pattern, place.parameter):
                continue  # the labels take it for a coincidence
            found.setdefault(repr(value), value)
        return list(found.values())

    # ------------------------------------------------------------------------ any label
    def plain(
        self, place: Place, facts: ParameterFacts, world: World, rng: random.Random
    ) -> list[JsonValue]:
        """Values that the parameter accepts now, whatever they come from."""
        kind = facts.items or facts.kind
        pool = [v for v in self._pool(place, facts, world, rng) if is_kind(v, kind)]
        if facts.kind == "array":
            return self._lists(facts, unique(pool), rng)
        return unique(pool)

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
        at_home = self._ranked(facts, world, rng) if reads or not facts.fresh else []
        if at_home and suggested:
            both = [value for value in at_home if value in suggested]
            others = [value for value in suggested if value not in both]
            return [*both, *shuffled(others, rng)]
        if suggested:
            return shuffled(suggested, rng)
        if at_home:
            new = [v for v in facts.values if v not in at_home and not isinstance(v, list)]
            return [*at_home, *shuffled(new, rng)[:2]]
        if facts.closed:
            return shuffled(facts.closed, rng)
        if facts.prose:
            return [prose(place, world, rng)]
        seen = [v for v in facts.values if not isinstance(v, list)]
        if not facts.fresh:
            return [v for v in seen if isinstance(v, str) and not v.isalnum()]
        numeric = ("number", "integer")
        if facts.items in numeric or (not seen and facts.kind in numeric):
            seen = [*seen, *_NUMBERS]
        elif facts.kind in numeric and not field_fits((place.parameter,), "id_ids"):
            seen = [*seen, *scaled(seen, facts.kind)]
        return [*self._taken_elsewhere(facts, world), *shuffled(seen, rng)]

    def _taken_elsewhere(self, facts: ParameterFacts, world: World) -> list[Any]:
        """Names that are free only thanks to the calls that this one must need."""
        if world.guide is None or not world.guide.wanted or facts.kind != "string":
            return []
        here = {str(value) for home in facts.homes for value in world.values(home)}
        return list(world.guide.elsewhere(facts.homes, here))[:_MOST]

    def _at_home(self, facts: ParameterFacts, world: World) -> list[Any]:
        return self._home(facts, world)[1]

    def _home(self, facts: ParameterFacts, world: World) -> tuple[Home | None, list[Any]]:
        """The first home with values of the parameter's type, and what stands there."""
        kind = facts.items or facts.kind
        for home in facts.homes:
            found = [typed(value, kind) for value in world.values(home)]
            if any(is_kind(value, kind) for value in found):
                return home, found
        return None, []

    def _ranked(self, facts: ParameterFacts, world: World, rng: random.Random) -> list[Any]:
        """What stands at home in random order, but what the call's needs speak for first."""
        home, found = self._home(facts, world)
        values = rng.sample(found, len(found))
        if home is not None and world.guide is not None:
            values = world.guide.ranked(home, values)
        if rng.random() < facts.made:
            values.sort(key=world.donor.holds)
        return values

    def _lists(self, facts: ParameterFacts, pool: list[Any], rng: random.Random) -> list[JsonValue]:
        seen = [v for v in facts.values if isinstance(v, list) and v]
        lists: list[Any] = []
        if facts.closed:
            lists.append(list(facts.closed))
        if pool:
            for size in (1, 2, 3):
                if len(pool) >= size:
                    lists.append(rng.sample(pool, size))
        return unique([*shuffled(lists, rng), *shuffled(seen, rng)])


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


def _tells(facts: ParameterFacts, parameter: str) -> bool:
    """The field that holds the values is named like the parameter: no number is there by chance."""
    return any(
        home.pattern[-1] not in (KEY, ANY, WORD) and field_fits(home.pattern, parameter)
        for home in facts.homes
    )


def _is_hidden(
    leaf: Scalar, allowed: Collection[Key], world: World, said: Said, small: bool
) -> bool:
    """Neither said nor shown nor a constant; a ``small`` number counts where its field says so."""
    if leaf is None or isinstance(leaf, bool) or key(leaf) in allowed:
        return False
    if is_small(leaf) and not small:
        return False
    return not said.holds(leaf) and not world.shown(leaf)
