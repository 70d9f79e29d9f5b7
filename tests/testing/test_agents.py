"""What the scripted agents do, and what the fake world gives them for it."""

from __future__ import annotations

import pytest

from rods.testing import FakeEnvironment, idle, play, random_calls, reference, script, silent
from rods.testing.world import TOOLS
from rods.types import KINDS, AssistantMessage, Task, ToolCall, Turn

TASKS = FakeEnvironment().tasks("train")


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_the_reference_completes_every_task_with_full_reward(task: Task) -> None:
    rollout = play(FakeEnvironment(), task, reference)
    assert rollout.trajectory.stop == "completed"
    assert rollout.reward is not None
    assert rollout.reward.value == 1


@pytest.mark.parametrize("agent", [silent, idle, random_calls(TOOLS)])
def test_an_agent_without_a_plan_solves_nothing(agent: object) -> None:
    for task in TASKS:
        reward = play(FakeEnvironment(), task, agent).reward  # type: ignore[arg-type]
        assert reward is not None
        assert not reward.solved


def test_random_calls_fit_the_schemas_and_repeat_for_a_seed() -> None:
    first, again = (list(random_calls(TOOLS, seed=5)(TASKS[0])) for _ in range(2))
    assert first == again
    for call in (call for message in first for call in message.calls):
        assert set(call.arguments) == set(TOOLS[call.name].properties)


def test_an_agent_that_falls_silent_is_cut() -> None:
    rollout = play(FakeEnvironment(), TASKS[0], script(AssistantMessage(content="Hello.")))
    assert rollout.trajectory.stop == "max_tokens"
    assert len(rollout.trajectory.turns) == 1


def test_an_outage_leaves_the_rollout_without_a_reward() -> None:
    world = FakeEnvironment(FakeEnvironment.Config(outage_every=1))
    rollout = play(world, TASKS[0], reference)
    assert rollout.reward is None
    assert rollout.trajectory.stop == "error"


def test_a_long_reference_is_sent_in_parts() -> None:
    count = ToolCall(name="count", arguments={"item": "nuts"})
    task = TASKS[0].model_copy(update={"turns": (Turn(user="Count.", reference=(count,) * 40),)})
    rollout = play(FakeEnvironment(), task, reference)
    assert rollout.reward is not None
    assert rollout.reward.solved


def test_four_tasks_of_different_kinds_share_a_story() -> None:
    assert tuple(task.kind for task in TASKS[:4]) == KINDS
    assert len({str(task.initial_state["next"]) for task in TASKS[:4]}) == 1
    assert len({task.turns[0].user for task in TASKS[:4]}) == 1
