"""Values for the parameters of tools: new ones by what a name asks for, and those of the world."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rods.structure.leaves import Path, Scalar, walk
from rods_mcp.seeds.inventing import TEXTS, parts_of

_WEAK = frozenset({"id", "name", "the", "new", "old", "s", "type", "number"})
_LONGEST = 60  # characters of a value that a user would repeat
Origin = tuple[int, Path]  # the call whose result holds a value, and where


@dataclass(frozen=True, slots=True)
class Known:
    """A value that exists in the world."""

    value: Scalar
    field: str
    origin: Origin | None = None  # None: the user has to say it


@dataclass(frozen=True, slots=True)
class Leaf:
    """One value of an argument, and where it was taken from."""

    parameter: str
    path: Path
    value: Scalar
    field: str
    origin: Origin | None = None
    known: bool = False
    source: str = ""  # the field that a result gives it in


@dataclass(slots=True)
class Experience:
    """Which source of values led to calls that did something, by tool and field."""

    tried: Counter[tuple[str, str, bool]] = field(default_factory=Counter)
    worked: Counter[tuple[str, str, bool]] = field(default_factory=Counter)

    def prefers_known(self, tool: str, name: str, rng: random.Random) -> bool:
        """Drawn by the rates of success so far; either is tried now and then."""
        rates = [
            (self.worked[tool, name, known] + 1) / (self.tried[tool, name, known] + 2)
            for known in (True, False)
        ]
        return rng.random() < rates[0] ** 2 / (rates[0] ** 2 + rates[1] ** 2)

    def learn(self, tool: str, leaves: list[Leaf], *, worked: bool) -> None:
        """One more call."""
        for leaf in leaves:
            self.tried[tool, leaf.field, leaf.known] += 1
            self.worked[tool, leaf.field, leaf.known] += worked


class Filler:
    """Fills the arguments of one call."""

    def __init__(
        self,
        rng: random.Random,
        experience: Experience,
        same: Mapping[str, str | list[str]],
        fresh: Callable[[str], str | None],
        renamed: Mapping[str, str],
        choices: Mapping[str, Sequence[Scalar]],
    ) -> None:
        """``same``: field -> the fields whose values it takes; ``fresh``: a text for a field.

        ``renamed``: tool.field -> the field that it is in truth, where its name says too little;
        ``choices``: tool.field -> all its values, where the schema does not list them.
        """
        self.rng, self.experience, self.same, self.fresh = rng, experience, same, fresh
        self.renamed, self.choices = renamed, choices

    def arguments(
        self, tool: str, schema: Mapping[str, Any], pool: list[Known]
    ) -> tuple[dict[str, Any], list[Leaf]] | None:
        """Arguments and their leaves; None where some parameter finds no value."""
        leaves: list[Leaf] = []
        made: dict[str, Any] = {}
        required = set(schema.get("required") or ())
        for name, part in (schema.get("properties") or {}).items():
            if name not in required and not self._optional(part):
                continue
            try:
                made[name] = self._value(tool, name, (), name, part, pool, leaves)
            except LookupError:
                if name in required:
                    return None
        return made, leaves

    def _optional(self, part: Any) -> bool:
        """Optional texts are given now and then; switches and numbers keep their defaults."""
        return _plain(part).get("type") == "string" and self.rng.random() < 0.2

    def _value(
        self,
        tool: str,
        parameter: str,
        path: Path,
        name: str,
        schema: Any,
        pool: list[Known],
        leaves: list[Leaf],
    ) -> Any:
        part = _plain(schema)
        if isinstance(part.get("enum"), list) and part["enum"]:
            return self.rng.choice(part["enum"])
        match part.get("type"):
            case "object":
                wanted = part.get("required") or list(part.get("properties") or ())
                properties = part.get("properties") or {}
                return {
                    n: self._value(tool, parameter, (*path, n), n, properties[n], pool, leaves)
                    for n in wanted
                }
            case "array":
                item = part.get("items") or {}
                return [self._value(tool, parameter, (*path, 0), name, item, pool, leaves)]
            case "boolean":
                return self.rng.random() < 0.5
        leaf = self._leaf(tool, name, part, pool, leaves)
        leaves.append(
            Leaf(parameter, path, leaf.value, name, leaf.origin, leaf in pool, leaf.field)
        )
        return leaf.value

    def _leaf(
        self,
        tool: str,
        name: str,
        part: Mapping[str, Any],
        pool: list[Known],
        leaves: Sequence[Leaf],
    ) -> Known:
        if closed := self.choices.get(f"{tool}.{name}"):
            return Known(self.rng.choice(closed), name)
        listed = self.same.get(f"{tool}.{name}", self.same.get(name, ""))
        if not listed and parts_of(name) & TEXTS:
            return Known(self.fresh(name) or "", name)
        wanted = [listed] if isinstance(listed, str) and listed else list(listed)
        kinds = (int, float) if part.get("type") in ("integer", "number") else (str,)
        used = {leaf.value for leaf in leaves}
        fits = [
            k
            for k in pool
            if k.value not in used and any(_fits(k, one, kinds) for one in wanted or [name])
        ]
        if fits and (wanted or self.experience.prefers_known(tool, name, self.rng)):
            shown = [k for k in fits if k.origin is not None]
            return self.rng.choice(shown if shown and self.rng.random() < 0.8 else fits)
        if wanted and not fits:
            raise LookupError(name)
        if kinds != (str,):
            low = int(part.get("minimum", 2))
            return Known(self.rng.randint(max(low, 2), min(int(part.get("maximum", 90)), 90)), name)
        text = self.fresh(self.renamed.get(f"{tool}.{name}", name))
        if text is None:
            raise LookupError(name)
        return Known(text, name)


def leaves_of(answer: Any, call: int) -> list[Known]:
    """The values that a result shows, by the field that they stand in."""
    found = []
    for path, value in walk(answer):
        names = [step for step in path if isinstance(step, str)]
        if names and _sayable(value):
            found.append(Known(value, names[-1], (call, path)))
    return found


def _sayable(value: Any) -> bool:
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, str):
        return 1 < len(value) <= _LONGEST and value.isprintable()
    return isinstance(value, int | float) and abs(value) >= 10


def _fits(known: Known, name: str, kinds: tuple[type, ...]) -> bool:
    if isinstance(known.value, bool) or not isinstance(known.value, kinds):
        return False
    if known.field == name:
        return True
    ours, theirs = _parts(name), _parts(known.field)
    return bool((ours & theirs) - _WEAK) and bool(ours & theirs)


def _parts(name: str) -> set[str]:
    return {part.rstrip("s") or "s" for part in parts_of(name)}


def _plain(schema: Any) -> Mapping[str, Any]:
    """A schema that may be null as the one it is otherwise."""
    if not isinstance(schema, Mapping):
        return {"type": "string"}
    for option in schema.get("anyOf") or schema.get("oneOf") or ():
        if isinstance(option, Mapping) and option.get("type") != "null":
            return option
    kind = schema.get("type")
    if isinstance(kind, list):
        return {**schema, "type": next((k for k in kind if k != "null"), "string")}
    return schema
