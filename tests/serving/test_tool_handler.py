"""What a client can ask for: everything is answered, and nothing raises."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rods.errors import ConfigError
from rods.serving import TaskIndex
from rods.serving.controls import CONTROLS
from rods.serving.tool_handler import ToolHandler
from rods.testing import FakeEnvironment
from rods.types import ToolSpec

WORLD = FakeEnvironment()


def handler(list_control: bool = False) -> ToolHandler:
    return ToolHandler(WORLD, TaskIndex(WORLD, ("eval",)), list_control=list_control)


def ask(handler: ToolHandler, name: str, **arguments: Any) -> Any:
    answer = handler.call(name, arguments)
    assert not answer.error, answer.text
    assert json.loads(answer.text) == answer.content
    return answer.content


def test_without_an_id_the_tasks_come_one_after_the_other() -> None:
    client, ids = handler(), [task.id for task in WORLD.tasks("eval")]
    listed = ask(client, "rods_tasks", offset=1, limit=2)
    assert [row["id"] for row in listed["tasks"]] == ids[1:3]
    assert listed["total"] == len(ids)
    played = [ask(client, "rods_reset")["task_id"] for _ in range(len(ids) + 1)]
    assert played == [*ids, ids[0]]
    assert ask(client, "rods_reset", task_id=ids[3])["task_id"] == ids[3]


def test_the_trainers_tools_answer_but_are_listed_only_if_asked_for() -> None:
    world = set(WORLD.tools())
    assert {spec.name for spec in handler().tools()} == world
    assert {spec.name for spec in handler(list_control=True).tools()} == world | set(CONTROLS)
    assert ask(handler(), "rods_reset")["task_id"]


def test_a_client_that_never_resets_can_find_a_task() -> None:
    task = WORLD.tasks("eval")[2]
    client = ToolHandler(WORLD, TaskIndex(WORLD, ("eval",)), task_id=task.id)
    assert [spec.name for spec in client.tools()] == list(task.tools)
    assert not client.call("count", {"item": "lamps"}).error
    down = FakeEnvironment(FakeEnvironment.Config(outage_every=1))
    answer = ToolHandler(down, TaskIndex(down), task_id=task.id).call("count", {"item": "lamps"})
    assert answer.error
    assert "does not answer" in answer.text


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("count", {}, "No episode has begun"),
        ("rods_verify", {}, "No episode has begun"),
        ("rods_reset", {"task_id": "fake_train_base_0"}, "There is no task 'fake_train_base_0'"),
        ("rods_reset", {"task": 1}, "rods_reset: task: Extra inputs"),
        ("rods_reset", {"task_id": 7}, "rods_reset: task_id: Input should be a valid string"),
        ("rods_tasks", {"limit": 0}, "rods_tasks: limit: "),
        ("rods_restore", {"snapshot": {}}, "rods_restore: task_id: Field required"),
        ("rods_restore", {"snapshot": "x"}, "rods_restore: snapshot: "),
    ],
)
def test_what_cannot_be_done_is_one_clear_line(
    name: str, arguments: dict[str, Any], said: str
) -> None:
    answer = handler().call(name, arguments)
    assert answer.error
    assert said in answer.text
    assert "\n" not in answer.text


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
NAMES = st.sampled_from([*CONTROLS, *WORLD.tools(), "", "__class__", "close"])


@settings(max_examples=25)
@given(st.lists(st.tuples(NAMES, st.dictionaries(st.text(max_size=8), JSON)), max_size=6))
def test_no_client_can_make_it_raise_or_make_it_say_what_is_no_json(
    calls: list[tuple[str, dict[str, Any]]],
) -> None:
    client = handler()
    client.call("rods_reset", {})
    for name, arguments in calls:
        answer = client.call(name, arguments)
        json.dumps(answer.content, allow_nan=False)
    client.close()


class Taken(FakeEnvironment):
    """Has a tool with the name of a control tool."""

    def tools(self) -> Mapping[str, ToolSpec]:
        count = WORLD.tools()["count"]
        return {**WORLD.tools(), "rods_reset": count.model_copy(update={"name": "rods_reset"})}


def test_a_world_cannot_hide_a_control_tool() -> None:
    with pytest.raises(ConfigError, match="rename the tool"):
        ToolHandler(Taken(), TaskIndex(Taken()))
