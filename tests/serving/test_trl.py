"""An environment as TRL wants it: real tools, real rewards, a real trainer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from rods.serving.trl import NEXT, NO_MORE, trl_export
from rods.testing import FakeEnvironment
from rods.testing.world import FakeSession, story_task
from rods.types import Task, ToolCall, ToolResult, ToolSpec

WORLD = FakeEnvironment()
TASKS = WORLD.tasks("train")


def rollout(instance: Any, row: Mapping[str, Any], task: Task, answer: str = "Done.") -> list[str]:
    """Play the reference as TRL would; what the user said on the way."""
    instance.reset(**{key: value for key, value in row.items() if key != "environment"})
    heard = []
    for turn in task.turns:
        for call in turn.reference:
            getattr(instance, call.name)(**call.arguments)
        heard.append(instance.next_request(message=answer))
    return heard


def test_the_reference_earns_one_in_the_class_that_its_row_names() -> None:
    export = trl_export(WORLD, TASKS)
    assert len(export.rows) == len(TASKS)
    for row, task in zip(export.rows, TASKS, strict=True):
        instance = export.environment_factory[row["environment"]]()
        assert row["prompt"][0]["role"] == "system"
        assert NEXT in row["prompt"][0]["content"]
        assert row["prompt"][-1] == {"role": "user", "content": task.turns[0].user}
        heard = rollout(instance, row, task)
        assert heard == [*(turn.user for turn in task.turns[1:]), NO_MORE]
        assert instance.get_reward() == 1.0


def test_an_instance_is_used_again_and_what_was_not_reached_earns_nothing() -> None:
    task = story_task("train", "miss_param", 0)
    export = trl_export(WORLD, [task])
    (row,) = export.rows
    instance = export.environment_factory["fake"]()
    for _ in range(2):
        instance.reset(**row)
        assert instance.get_reward() == 0.0
        instance.reset(**row)
        for call in task.turns[0].reference:
            getattr(instance, call.name)(**call.arguments)
        assert instance.get_reward() == 1 / len(task.turns)
        rollout(instance, row, task)
        assert instance.get_reward() == 1.0


def test_a_class_has_the_tools_of_its_tasks_and_nothing_else_in_public() -> None:
    export = trl_export(WORLD, TASKS)
    for made in export.environment_factory.values():
        public = {name for name in dir(made) if not name.startswith("_")}
        assert public == {*WORLD.tools(), NEXT, "reset", "get_reward"}


def test_one_turn_needs_no_tool_for_the_next() -> None:
    task = TASKS[0].model_copy(update={"turns": TASKS[0].turns[:1]})
    export = trl_export(WORLD, [task])
    assert not hasattr(export.environment_factory["fake"], NEXT)
    assert NEXT not in str(export.rows)


def test_a_tool_that_is_not_handed_over_yet_is_refused() -> None:
    task = story_task("train", "miss_func", 0)
    export = trl_export(WORLD, [task])
    instance = export.environment_factory["fake"]()
    instance.reset(**export.rows[0])
    assert "no tool 'cancel'" in instance.cancel(order="o-1")


class Awkward(FakeEnvironment):
    """Tools with names that TRL keeps for itself, and parameters that Python keeps."""

    TOOLS = (
        ToolSpec(
            name="reset",
            description="Reset it.",
            parameters={
                "type": "object",
                "properties": {"from": {"type": "string"}, "to": {"type": ["string", "null"]}},
                "required": [],
            },
        ),
        ToolSpec(name="reset_", description="Other.", parameters={"type": "object"}),
        ToolSpec(name="a.b", description="Dotted.", parameters={"type": "object"}),
    )

    def tools(self) -> Mapping[str, ToolSpec]:
        return {spec.name: spec for spec in self.TOOLS}

    def open(self, task: Task) -> FakeSession:
        class Session(FakeSession):
            def call(self, call: ToolCall) -> ToolResult:
                return ToolResult(content=f"{call.name} {call.arguments}")

        return Session(task.initial_state)


def test_names_that_cannot_be_are_changed_and_mapped_back() -> None:
    task = TASKS[0].model_copy(update={"tools": tuple(Awkward().tools())})
    export = trl_export(Awkward(), [task])
    assert export.renamed == {"reset_": "reset", "reset__": "reset_", "a_b": "a.b"}
    instance = export.environment_factory["fake"]()
    instance.reset(**export.rows[0])
    assert instance.reset_(from_="x", to=None) == "reset {'from': 'x', 'to': None}"
    assert instance.reset_(from_=None) == "reset {}"  # left out, as models do it
    assert instance.reset__() == "reset_ {}"
    assert instance.a_b() == "a.b {}"


def test_an_outage_has_no_reward_and_ends_no_training() -> None:
    down = FakeEnvironment(FakeEnvironment.Config(outage_every=1))
    export = trl_export(down, TASKS[:1])
    instance = export.environment_factory["fake"]()
    instance.reset(**export.rows[0])
    with pytest.raises(Exception, match="does not answer"):
        instance.count(item="bolts")
    assert instance.get_reward() is None
