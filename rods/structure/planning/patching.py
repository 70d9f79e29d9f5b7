"""Changes of an initial state that make a failing call work: typed, few, and learned by trying.

Kinds: ``set`` a place to a value that other train tasks have there (log in, open, fund, copy a
key), ``assign`` to the place where a parameter's value stands what the call says, and ``insert``
what the call names into the container where its like stand (create a file here, a record of that
id, an entry of that name). The arguments stay fixed while a change is tried.
"""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rods.structure.leaves import Path, parse, walk
from rods.structure.planning.catalog import Catalog, Home, Recipe
from rods.structure.planning.patterns import ANY, KEY, WORD
from rods.structure.planning.world import World
from rods.structure.proposal import Patch
from rods.types import JsonObject, JsonValue, Task, ToolCall

_MASKED = re.compile(r"'[^']*'|\"[^\"]*\"|[\d.]+")
_DONATED = 3  # values of other tasks for one place
_SHAPES = 3  # kinds of entries of one container
_CONTAINERS = 4
_SAME_PLACE = 0.6  # share of names: calls have added and removed some since the beginning
_ENDING = re.compile(r"[^\W\d]\w*\.[^\W_]{1,5}$")
_RARE = 0.05  # share of the names of one shape
_SIZE = 4000  # characters of a value worth copying


def template_of(call: ToolCall, error: str) -> str:
    """The failure without what it names."""
    told = [leaf for _, leaf in walk(parse(error)) if isinstance(leaf, str)]
    error = " ".join(told) or error
    for value in call.arguments.values():
        if isinstance(value, str) and len(value) > 1:
            error = error.replace(value, "_")
    return f"{call.name}: {_MASKED.sub('_', error)}"[:120]


class Patcher:
    """Knows what other train tasks have in the places of an initial state."""

    def __init__(self, catalog: Catalog, tasks: Iterable[Task]) -> None:
        self._catalog = catalog
        self._donated: dict[Path, dict[str, JsonValue]] = {}
        self._filled: dict[Path, JsonValue] = {}  # a collection with a record that a call has made
        self._watched: set[Path] = set()
        self._extremes: dict[Path, list[int | float]] = {}  # least and most of a number's place
        self._entries: dict[str, dict[str, JsonValue]] = {}  # container's name -> entries by shape
        self._names: dict[tuple[str, str], Counter[bool]] = {}  # with an ending, and without
        for task in tasks:
            self._read(task.initial_state, ())
        self._ending: dict[Any, list[Path]] = {}  # a place's last step -> places
        for path in self._donated:
            self._ending.setdefault(path[-1], []).append(path)

    def _read(self, value: Any, path: Path) -> None:
        if isinstance(value, dict):
            for key, item in value.items():
                self._remember((*path, key), item)
                self._read(item, (*path, key))
        elif isinstance(value, list):
            for item in value[:20]:
                self._shape(path, item)
                self._read(item, (*path, ANY))

    def watch(self, value: Any, before: Any, path: Path = ()) -> None:
        """Entries of a live state are examples too: some containers are empty at first."""
        if isinstance(value, dict):
            if isinstance(before, dict):
                self._watch_records(value, before, path)
            for key, item in value.items():
                self._shape(path, item)
                earlier = before.get(key) if isinstance(before, dict) else None
                self.watch(item, earlier, (*path, key))
        elif isinstance(value, list):
            for item in value[:20]:
                self._shape(path, item)

    def _watch_records(self, value: JsonObject, before: JsonObject, path: Path) -> None:
        """A call's record is complete; it goes under a name as the train tasks have them."""
        new = [key for key, item in value.items() if key not in before and isinstance(item, dict)]
        if not new or not path or path in self._watched:
            return
        self._watched.add(path)
        for place, known in self._donated.items():
            if place[-len(path) :] == path:
                names = [name for one in known.values() if isinstance(one, dict) for name in one]
                self._filled[place] = {(names or new)[0]: value[new[0]]}

    def _remember(self, path: Path, item: Any) -> None:
        self._shape(path[:-1], item)
        kind = (_container_of(path), _shape_of(item))
        self._names.setdefault(kind, Counter())[_has_ending(path[-1])] += 1
        if isinstance(item, int | float) and not isinstance(item, bool) and ANY not in path:
            numbers = [*self._extremes.get(path, ()), item]
            self._extremes[path] = [max(numbers), min(numbers)]
        known = self._donated.setdefault(path, {})
        if len(known) < _DONATED and ANY not in path and len(text := repr(item)) < _SIZE:
            known.setdefault(text, item)

    def _shape(self, container: Path, item: Any) -> None:
        names = [step for step in container if step != ANY]
        known = self._entries.setdefault(str(names[-1]) if names else "", {})
        if len(known) < _SHAPES:
            known.setdefault(_shape_of(item), item)

    # ------------------------------------------------------------------------ candidates
    def recipes(self, call: ToolCall, world: World) -> Iterator[Recipe]:
        """Changes that might help, insertions first."""
        facts = self._catalog.tools[call.name]
        for parameter, value in call.arguments.items():
            if isinstance(value, str | int) and not isinstance(value, bool):
                for home in facts.parameters[parameter].homes:
                    yield from self._insertions(parameter, home, world)
        yield from self._settings(facts.group, world.donor.task.initial_state)

    def _insertions(self, parameter: str, home: Home, world: World) -> Iterator[Recipe]:
        if not home.probe and len(home.pattern) > 1 and not {ANY, KEY, WORD} & set(home.pattern):
            yield Recipe("assign", [], home, parameter)
            return
        for path in _containers(home, world)[:_CONTAINERS]:
            container = _at(world.donor.task.initial_state, path)
            entries = list(container.values()) if isinstance(container, dict) else container
            shapes = {_shape_of(entry): entry for entry in entries}
            names = [step for step in path if isinstance(step, str)]
            shapes = {**self._entries.get(names[-1] if names else "", {}), **shapes}
            field = "" if home.pattern[-1] in (KEY, ANY, WORD) else home.pattern[-1]
            for entry in sorted(shapes.values(), key=lambda e: len(repr(e))):
                yield Recipe("insert", [], home, parameter, field, entry)

    def _settings(self, group: int, state: JsonObject) -> Iterator[Recipe]:
        flags: list[Recipe] = []
        others: list[Recipe] = []
        roots = set(self._catalog.roots.get(group, []))
        for path, values in self._donated.items():
            if not roots & set(path[:-1]):
                continue
            try:
                present = _at(state, path)
            except LookupError:
                present = None
            if isinstance(present, bool):
                flags.append(Recipe("set", list(path), value=not present))
                continue
            for value in values.values():
                if value != present:
                    others.append(Recipe("set", list(path), value=value))
        yield from (*flags, *others)

    def completed(self, recipes: Sequence[Recipe]) -> list[Recipe]:
        """Of recipes that set records: the same with a record as the calls make them."""
        places = dict.fromkeys(tuple(r.path) for r in recipes if r.kind == "set")
        filled = [(path, self._filled[path]) for path in places if path in self._filled]
        return [Recipe("set", list(path), value=value) for path, value in filled]

    # ------------------------------------------------------------------------ application
    def patches(self, recipe: Recipe, call: ToolCall, world: World, why: str) -> Iterator[Patch]:
        """The recipe's changes of this world, one for each place it fits."""
        state = world.donor.task.initial_state
        if recipe.kind == "set":
            path = tuple(recipe.path)
            try:
                parent = _at(state, path[:-1])
            except LookupError:
                return
            if isinstance(parent, dict) and parent.get(str(path[-1])) != recipe.value:
                yield Patch(path, recipe.value, why)
        elif recipe.home is not None and recipe.parameter in call.arguments:
            value = call.arguments[recipe.parameter]
            if recipe.kind == "assign":
                *above, last = recipe.home.pattern
                paths = [p for p, _ in _collections(state) if p[-len(above) :] == tuple(above)]
                yield from (Patch((*path, last), value, why) for path in paths[:1])
                return
            for path in _containers(recipe.home, world)[:_CONTAINERS]:
                container = _at(state, path)
                entry = _named(recipe, value)
                if not _fits_in(entry, container):
                    continue
                if isinstance(container, list):
                    yield Patch(path, [*container, entry], why)
                elif self._is_usual(place := (*path, str(value)), entry):
                    yield Patch(place, entry, why)

    def _is_usual(self, place: Path, entry: Any) -> bool:
        """Such entries have such names there: no directory is called ``report.pdf``."""
        known = self._names.get((_container_of(place), _shape_of(entry)))
        return not known or known[_has_ending(place[-1])] >= _RARE * known.total()

    def undoing(
        self, change: tuple[JsonObject, JsonObject], world: World, why: str
    ) -> Iterator[Patch]:
        """Other beginnings of what a call has set: without the call they stay as they are."""
        state, places = world.donor.task.initial_state, _differing(*change)
        for place in places:
            for path in self._ending.get(place[-1], ()):
                if path[-len(place) :] != place:
                    continue
                try:
                    present = _at(state, path)
                except LookupError:
                    continue
                for value in self._others(path, present):
                    yield Patch(path, value, why)

    def _others(self, path: Path, present: Any) -> list[JsonValue]:
        """What else the place can hold, other than what stands there."""
        if isinstance(present, bool):
            return [not present]
        known = [*self._extremes.get(path, ()), *self._donated[path].values()]
        return [value for value in known if value != present]


def _container_of(place: Path) -> str:
    """The name of what holds the place."""
    names = [step for step in place[:-1] if isinstance(step, str) and step != ANY]
    return names[-1] if names else ""


def _has_ending(name: Any) -> bool:
    """The name ends as those of files do."""
    return isinstance(name, str) and _ENDING.search(name) is not None


def _differing(before: Any, after: Any, path: Path = ()) -> Iterator[Path]:
    """The places of both that hold different plain values."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before:
            if key in after and before[key] != after[key]:
                yield from _differing(before[key], after[key], (*path, key))
    elif path and not isinstance(before, dict | list):
        yield path


def _named(recipe: Recipe, value: JsonValue) -> JsonValue:
    """An entry of the recipe's shape for the value."""
    if recipe.field and isinstance(recipe.value, dict):
        return {**recipe.value, recipe.field: value}
    return copy.deepcopy(recipe.value) if isinstance(recipe.value, dict | list) else value


def _fits_in(entry: JsonValue, container: Any) -> bool:
    """The entries that are there are of its type; in an empty container anything fits."""
    entries = container.values() if isinstance(container, dict) else container
    return all(type(other) is type(entry) for other in entries)


class NoSuchPlaceError(LookupError):
    """A patch that was made for another state."""


def patched(state: JsonObject, patches: Sequence[Patch]) -> JsonObject:
    """The state with the changes; the given one stays as it is, and shares parts with it.

    Raises ``NoSuchPlaceError`` where the state has nothing that a patch could change.
    """
    for patch in patches:
        state = _with(state, patch.path, copy.deepcopy(patch.value))
    return state


def _with(tree: Any, path: Path, value: Any) -> Any:
    """The tree with the value there; it shares with the given one what is not on the path."""
    if not path:
        return value
    key, copied = path[0], copy.copy(tree)
    if isinstance(tree, dict):
        copied[key] = _with(tree.get(key), path[1:], value)
    elif isinstance(tree, list) and isinstance(key, int) and key < len(tree):
        copied[key] = _with(tree[key], path[1:], value)
    else:
        raise NoSuchPlaceError(f"no {key!r} in {str(tree)[:60]}")
    return copied


def _containers(home: Home, world: World) -> list[Path]:
    """Where in the initial state the entries stand that the home shows."""
    state = world.donor.task.initial_state
    if home.probe:
        listed = {str(value) for value in world.first_values(home)}
        shared = {path: _overlap(names, listed) for path, names in _collections(state)}
        alike = [path for path, share in shared.items() if share >= _SAME_PLACE]
        return sorted(alike, key=lambda path: -shared[path])
    end = 1 if home.pattern[-1] in (KEY, ANY) else 2
    wanted = home.pattern[:-end]
    return [path for path, _ in _collections(state) if wanted and path[-len(wanted) :] == wanted]


def _overlap(a: set[str], b: set[str]) -> float:
    """Share of the names that both have; 1: equal."""
    return len(a & b) / len(a | b) if a or b else 1.0


def _collections(value: Any, path: Path = ()) -> Iterator[tuple[Path, set[str]]]:
    """Dictionaries and lists within dictionaries, with their keys or plain items."""
    if isinstance(value, dict):
        if path:
            yield path, set(value)
        for key, item in value.items():
            yield from _collections(item, (*path, key))
    elif isinstance(value, list):
        yield path, {str(item) for item in value if not isinstance(item, dict | list)}


def _shape_of(value: Any) -> str:
    """Values of one shape can stand in for each other: fields, and short words such as a type."""
    if isinstance(value, dict):
        kinds = [f"{k}={v}" if k == "type" else str(k) for k, v in sorted(value.items())]
        return ",".join(kinds)[:200]
    return type(value).__name__


def _at(value: Any, path: Path) -> Any:
    """What stands at the path; LookupError where the value has another shape."""
    for step in path:
        if not isinstance(value, dict | list) or isinstance(value, dict) != isinstance(step, str):
            raise LookupError(f"nothing stands at {path}")
        value = value[step]
    return value
