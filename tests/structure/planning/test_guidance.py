"""Arguments are looked for where the calls that must be needed have put them."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from rods.interfaces import Session
from rods.structure.planning.catalog import Home
from rods.structure.planning.effects import Shadows, hard_edges
from rods.structure.planning.guidance import Guide
from rods.structure.planning.skeleton import Skeleton
from rods.types import JsonObject, ToolCall, ToolResult

ON_TABLE = Home("", ("table", "#key"))
LISTED = Home("look", ("*",))


class Table(Session):
    """Things can be put on a table, renamed, and looked at."""

    def __init__(self) -> None:
        self._table: dict[str, Any] = {"cup": {}, "pen": {}}

    def call(self, call: ToolCall) -> ToolResult:
        thing = str(call.arguments.get("thing", ""))
        if call.name == "look":
            return ToolResult(content=str(sorted(self._table)).replace("'", '"'))
        if (thing in self._table) == (call.name == "put"):
            return ToolResult(content="no", error=True)
        if call.name == "put":
            self._table[thing] = {}
        else:
            self._table[str(call.arguments["to"])] = self._table.pop(thing)
        return ToolResult(content="done")

    def state(self) -> JsonObject:
        return {"table": copy.deepcopy(self._table)}

    def snapshot(self) -> Any:
        return dict(self._table)

    def restore(self, snapshot: Any) -> None:
        self._table = dict(snapshot)


def call(tool: str, **arguments: Any) -> ToolCall:
    return ToolCall(name=tool, arguments=arguments)


CALLS = (call("put", thing="box"), call("look"), call("rename", thing="box", to="chest"))


def shadows_of(calls: Sequence[ToolCall]) -> Shadows:
    shadows = Shadows(Table(), lambda _, result: result.error, {"look"})
    for made in calls:
        shadows.needed_by(made)
        shadows.keep(made)
    return shadows


def guide_after(
    calls: Sequence[ToolCall], wanted: set[int], kin: frozenset[int] = frozenset()
) -> Guide:
    guide = Guide(shadows_of(calls), ["look", "put", "rename"])
    guide.turn_to(frozenset(wanted), kin)
    return guide


def test_the_shadows_of_a_growing_plan_show_the_edges_of_the_whole_one() -> None:
    edges = hard_edges(Table(), CALLS, lambda _, result: result.error)
    needed = shadows_of(CALLS[:2]).needed_by(CALLS[2])
    assert {(earlier, 2) for earlier in needed} == edges == {(0, 2)}


def test_a_call_that_only_reads_leaves_no_shadow() -> None:
    assert set(shadows_of(CALLS).left_out) == {0, 2}


def test_what_is_there_thanks_to_the_wanted_calls_comes_first() -> None:
    for home in (ON_TABLE, LISTED):
        assert guide_after(CALLS, {0, 2}).ranked(home, ["cup", "pen", "chest"])[0] == "chest"
    assert guide_after(CALLS[:1], {0}).ranked(ON_TABLE, ["cup", "box"]) == ["box", "cup"]


def test_what_a_later_call_needs_along_with_this_one_is_a_good_value_for_it() -> None:
    skeleton = Skeleton((4,), ((), (), (), ()), frozenset({(0, 3), (1, 3), (2, 3), (1, 2)}), 0)
    assert skeleton.kin(2) == {0}  # it needs 1 itself, and 3 needs all of them
    assert skeleton.kin(3) == frozenset()
    calls = (call("put", thing="box"), call("put", thing="pot"))
    strange = guide_after(calls, set())
    strange.sharp = True
    assert strange.ranked(ON_TABLE, ["box", "cup"]) == ["cup", "box"]
    related = guide_after(calls, set(), frozenset({0}))
    assert related.ranked(ON_TABLE, ["pot", "cup", "box"]) == ["box", "cup", "pot"]


def test_where_nothing_is_wanted_the_order_stays_until_calls_were_needed_in_vain() -> None:
    guide = guide_after(CALLS, set())
    assert guide.ranked(ON_TABLE, ["chest", "pen"]) == ["chest", "pen"]
    guide.sharp = True
    assert guide.ranked(ON_TABLE, ["chest", "pen"]) == ["pen", "chest"]


def test_names_that_are_free_only_thanks_to_a_call_are_found_without_it() -> None:
    guide = guide_after(CALLS, {2})
    assert guide.elsewhere([ON_TABLE], {"cup", "pen", "chest"}) == ["box"]
    assert guide_after(CALLS, {0}).elsewhere([ON_TABLE], {"cup", "pen", "chest"}) == []


def test_a_tool_that_is_not_offered_shows_nothing() -> None:
    guide = Guide(shadows_of(CALLS), ["put"])
    guide.turn_to(frozenset({2}))
    assert guide.elsewhere([LISTED], set()) == []
