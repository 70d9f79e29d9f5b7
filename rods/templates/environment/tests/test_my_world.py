"""The world keeps what every world must, and does what it says."""

from __future__ import annotations

import pytest
from rods.testing import check_environment, play, reference
from rods.types import ToolCall

from my_world.environment import MyWorldEnvironment
from my_world.world import MyWorldSession

WORLD = MyWorldEnvironment()
TASK = WORLD.tasks("train")[0]


def test_the_world_conforms() -> None:
    """All that ``rods check my-world`` asks for within one process."""
    failed = [check for check in check_environment(WORLD) if not check.ok]
    assert not failed, "\n".join(f"{c.name}: {c.detail}\n  {c.fix}" for c in failed)


def test_the_reference_earns_everything() -> None:
    rollout = play(WORLD, TASK, reference)
    assert rollout.reward is not None
    assert rollout.reward.value == 1


def test_watering_twice_adds_up() -> None:
    session = MyWorldSession(TASK.initial_state)
    plant = next(iter(session.data["plants"]))
    water = ToolCall(name="water_plant", arguments={"plant": plant, "ml": 200})
    session.call(water)
    assert session.call(water).content == '{"water": 400}'


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (ToolCall(name="find_plant", arguments={"name": "oak"}), "no plant called 'oak'"),
        (ToolCall(name="water_plant", arguments={"plant": "p-1", "ml": 5}), "no plant 'p-1'"),
        (ToolCall(name="water_plant", arguments={"plant": "p-1", "ml": 0}), "ml: Input should be"),
    ],
)
def test_a_bad_call_is_answered_and_nothing_changes(call: ToolCall, answer: str) -> None:
    session = WORLD.open(TASK)
    result = session.call(call)
    assert result.error
    assert answer in result.content
    assert session.state() == TASK.initial_state
