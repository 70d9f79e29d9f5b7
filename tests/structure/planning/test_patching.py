"""Changes of an initial state come from what train tasks and calls have put there."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from rods.structure.planning.catalog import Catalog, Home, Recipe
from rods.structure.planning.patching import NoSuchPlaceError, Patcher, patched
from rods.structure.planning.world import World
from rods.structure.proposal import Patch
from rods.types import JsonObject, Task, ToolCall

PLACE = ["config", "shop", "orders"]


def task_of(limit: float, **orders: Any) -> Task:
    state: JsonObject = {"config": {"shop": {"limit": limit, "orders": orders, "open": True}}}
    return cast(Task, SimpleNamespace(initial_state=state))


def world_of(task: Task) -> World:
    return cast(World, SimpleNamespace(donor=SimpleNamespace(task=task)))


@pytest.fixture
def patcher() -> Patcher:
    tasks = [task_of(5.0), task_of(20.0), task_of(10.0, A1={"cost": 1}), task_of(900.0)]
    return Patcher(Catalog(tools={}), tasks)


def test_what_a_call_has_set_can_begin_as_elsewhere_or_at_an_extreme(patcher: Patcher) -> None:
    """The call is then needed by those that fail with the other beginning."""
    before: JsonObject = {"shop": {"limit": 5.0, "open": True, "orders": {}}}
    after: JsonObject = {"shop": {"limit": 7.0, "open": True, "orders": {"B": {}}}}
    patches = list(patcher.undoing((before, after), world_of(task_of(5.0)), "too easy"))
    assert {patch.path for patch in patches} == {("config", "shop", "limit")}
    assert [patch.value for patch in patches][:1] == [900.0]  # the most of all
    assert {patch.value for patch in patches} == {900.0, 20.0, 10.0}
    changed = patched(task_of(5.0).initial_state, patches[:1])
    assert changed == task_of(900.0).initial_state


def test_a_truth_value_begins_as_the_other_one(patcher: Patcher) -> None:
    change: tuple[JsonObject, JsonObject] = ({"shop": {"open": True}}, {"shop": {"open": False}})
    (patch,) = patcher.undoing(change, world_of(task_of(5.0)), "too easy")
    assert (patch.path[-1], patch.value) == ("open", False)


def test_a_record_is_completed_as_a_call_has_made_it_under_a_name_that_tasks_use(
    patcher: Patcher,
) -> None:
    recipe = Recipe("set", PLACE, value={"A1": {"cost": 1}})
    assert patcher.completed([recipe]) == []  # no call has made a record yet
    made = {"cost": 3, "card": "c1", "date": "2026-01-01"}
    old: JsonObject = {"A1": {"cost": 1}}
    patcher.watch({"shop": {"orders": old}}, {"shop": {"orders": old}})
    assert patcher.completed([recipe]) == []
    patcher.watch({"shop": {"orders": {**old, "77": made}}}, {"shop": {"orders": old}})
    assert patcher.completed([recipe]) == [Recipe("set", PLACE, value={"A1": made})]


@pytest.mark.parametrize("path", [("a", "b", "c"), ("list", 3), ("list", "key"), ("text", "x")])
def test_a_change_of_what_a_state_does_not_have_is_an_error_that_says_so(
    path: tuple[str | int, ...],
) -> None:
    state: JsonObject = {"a": None, "list": [1, 2, 3], "text": "no container"}
    with pytest.raises(NoSuchPlaceError, match="no "):
        patched(state, [Patch(path, 1, "")])
    assert patched(state, [Patch(("list", 2), 7, "")])["list"] == [1, 2, 7]
    assert state["list"] == [1, 2, 3]


def disk(**entries: Any) -> Task:
    return cast(Task, SimpleNamespace(initial_state={"disk": {"root": entries}}))


def test_no_directory_is_made_under_the_name_of_a_file_nor_the_other_way() -> None:
    file, folder = {"content": "x"}, {"contents": {}}
    tasks = [disk(**{f"report{n}.pdf": file, f"folder{n}": folder}) for n in range(20)]
    patcher = Patcher(Catalog(tools={}), tasks)
    home = Home("", ("disk", "root", "#key"))
    for entry, name, made in (
        (folder, "archive", True),
        (folder, "file3.txt", False),
        (file, "file3.txt", True),
        (file, "archive", False),
    ):
        call = ToolCall(name="open", arguments={"name": name})
        recipe = Recipe("insert", [], home, "name", "", entry)
        patches = list(patcher.patches(recipe, call, world_of(disk(**{"a.txt": file})), ""))
        assert [patch.path for patch in patches] == ([("disk", "root", name)] if made else [])


def test_the_names_of_fields_say_nothing_of_the_names_of_files() -> None:
    task = disk(**{"a.txt": "some text", "b.txt": "more text"})
    fields: JsonObject = {f"field{n}": "a text" for n in range(50)}
    other = cast(Task, SimpleNamespace(initial_state={"settings": fields}))
    call = ToolCall(name="open", arguments={"name": "report.pdf"})
    recipe = Recipe("insert", [], Home("", ("disk", "root", "#key")), "name", "", "text")
    patches = Patcher(Catalog(tools={}), [task, other]).patches(recipe, call, world_of(task), "")
    assert [patch.path for patch in patches] == [("disk", "root", "report.pdf")]
