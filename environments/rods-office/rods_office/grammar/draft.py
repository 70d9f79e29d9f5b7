"""From a structure to turns whose reference has run: values, texts, calls and their results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rods.types import JsonObject, JsonValue, ToolCall, ToolResult
from rods_office.apps import TOOLS
from rods_office.grammar.skill import Skill, fill
from rods_office.grammar.skills import SKILLS
from rods_office.grammar.world import Slot, World
from rods_office.session import OfficeSession

_WHOLE = frozenset({"day", "amount", "count"})  # entities whose values are integers
_HOME = {  # entity -> where it must still exist to be "that ..."
    "file": ("files", "name"),
    "event": ("events", "id"),
    "order": ("orders", "id"),
    "item": ("items", "id"),
}


class Unfit(Exception):  # noqa: N818 - the caller draws another task
    """The structure cannot be played in this world."""


@dataclass(frozen=True, slots=True)
class DraftTurn:
    """One skill in words and calls; ``slots`` are its values by slot and attribute."""

    skill: Skill
    slots: dict[str, Slot]
    user: str
    reference: tuple[ToolCall, ...]


class _Context:
    """What "that file" means: the one thing of its kind that the last turn about one was about."""

    def __init__(self) -> None:
        self._last: dict[str, JsonValue] = {}
        self._touched: dict[str, set[JsonValue]] = {}

    def touch(self, call: ToolCall, result: ToolResult) -> None:
        tool = TOOLS[call.name]
        for name, kind in tool.entities.items():
            self._touched.setdefault(kind, set()).add(call.arguments[name])
        if tool.gives:
            self._touched.setdefault(tool.gives, set()).add(result.content)

    def end_turn(self, session: OfficeSession) -> None:
        for kind, values in self._touched.items():
            home = _HOME.get(kind)
            left = [v for v in values if home is None or session.has(*home, v)]
            self._last.pop(kind, None)
            if len(left) == 1:
                self._last[kind] = left[0]
        self._touched = {}

    def get(self, kind: str) -> JsonValue:
        if kind not in self._last:
            raise Unfit(f"no {kind} to refer to")
        return self._last[kind]


def draft(structure: Sequence[str], world: World, bystanders: int) -> list[DraftTurn]:
    """The turns of ``structure`` in ``world``, which gets what they need; Unfit if they cannot be.

    Every reference has run without an error, and every turn changes the state or ends in reading.
    """
    skills = [SKILLS[name] for name in structure]
    slots = [{name: world.slot(name) for name in skill.slots} for skill in skills]
    world.bystanders(bystanders)
    for records in world.state.values():
        world.rng.shuffle(records)
    session, context = OfficeSession(world.state), _Context()
    turns = []
    for skill, values in zip(skills, slots, strict=True):
        reference = _play(skill, values, session, context)
        user = fill(world.rng.choice(skill.says), values)
        turns.append(DraftTurn(skill, values, user, reference))
    return turns


def _play(
    skill: Skill, slots: Mapping[str, Slot], session: OfficeSession, context: _Context
) -> tuple[ToolCall, ...]:
    before = session.snapshot()
    results: list[str] = []
    calls: list[ToolCall] = []
    for name, sources in skill.calls:
        tool = TOOLS[name]
        arguments: JsonObject = {}
        for (parameter, kind), source in zip(tool.entities.items(), sources, strict=True):
            value = _value(source, slots, results, context)
            arguments[parameter] = int(str(value)) if kind in _WHOLE else str(value)
        call = ToolCall(name=name, arguments=arguments)
        result = session.call(call)
        if result.error:
            raise Unfit(f"{skill.name}: {name} said {result.content}")
        context.touch(call, result)
        calls.append(call)
        results.append(result.content)
    if not session.changes(before) and TOOLS[calls[-1].name].spec.effect != "read":
        raise Unfit(f"{skill.name} changes nothing")
    context.end_turn(session)
    return tuple(calls)


def _value(
    source: str, slots: Mapping[str, Slot], results: Sequence[str], context: _Context
) -> JsonValue:
    if source[0] == "$":
        return results[int(source[1:])]
    if source[0] == "@":
        return context.get(source[1:])
    slot, _, attribute = source.partition(".")
    return slots[slot][attribute or "value"]
