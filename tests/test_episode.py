"""How a conversation goes on, and what it earns."""

from __future__ import annotations

import pytest

from rods.episode import Episode, EpisodeLimits
from rods.testing import FakeEnvironment, play, reference, script, silent
from rods.types import AssistantMessage, Kind, Task, ToolCall


def task_of(kind: Kind, environment: FakeEnvironment) -> Task:
    return next(task for task in environment.tasks("train") if task.kind == kind)


@pytest.fixture
def environment() -> FakeEnvironment:
    return FakeEnvironment()


def test_the_reference_solves_every_turn(environment: FakeEnvironment) -> None:
    for task in environment.tasks("train"):
        rollout = play(environment, task, reference)
        assert rollout.reward is not None
        assert rollout.reward.value == 1
        assert rollout.trajectory.stop == "completed"
        assert len(rollout.trajectory.turns) == len(task.turns)


def test_a_silent_policy_earns_nothing_where_something_was_asked(
    environment: FakeEnvironment,
) -> None:
    for task in environment.tasks("train"):
        rollout = play(environment, task, silent)
        assert rollout.reward is not None
        assert rollout.reward.under("judged") == 0


def test_a_truncated_rollout_never_scores_1(environment: FakeEnvironment) -> None:
    task = task_of("base", environment)
    first = AssistantMessage(calls=task.turns[0].reference, ends_turn=True)
    rollout = play(environment, task, script(first))
    assert rollout.trajectory.stop == "max_tokens"
    assert rollout.reward is not None
    assert rollout.reward.value == pytest.approx(1 / len(task.turns))


def test_a_malformed_call_gets_an_error_and_the_turn_goes_on(environment: FakeEnvironment) -> None:
    episode = Episode(environment, task_of("base", environment))
    shown = episode.advance(AssistantMessage(malformed="no closing bracket", ends_turn=True))
    assert [message.role for message in shown] == ["tool"]
    assert "no closing bracket" in shown[0].content
    assert not episode.done


def test_calls_and_the_end_of_the_turn_fit_into_one_message(environment: FakeEnvironment) -> None:
    task = task_of("base", environment)
    episode = Episode(environment, task)
    shown = episode.advance(AssistantMessage(calls=task.turns[0].reference, ends_turn=True))
    assert [message.role for message in shown] == ["tool", "tool", "user"]
    assert shown[-1].content == task.turns[1].user


def test_a_tool_that_is_not_handed_over_yet_is_refused_and_not_replayed(
    environment: FakeEnvironment,
) -> None:
    task = task_of("miss_func", environment)
    cancel = task.turns[-1].reference[0]
    early = [
        AssistantMessage(calls=turn.reference + (cancel,) * (not turn.reference), ends_turn=True)
        for turn in task.turns
    ]
    refused = play(environment, task, script(*early))
    assert refused.reward is not None
    assert refused.reward.under("judged") == 1  # the early call never reached the world
    assert refused.trajectory.turns[-2][0].results[0].refused

    allowed = play(environment, task, script(*early), EpisodeLimits(refuse_hidden_tools=False))
    assert allowed.trajectory.calls == refused.trajectory.calls + 1


def test_a_hand_over_shows_the_new_tools(environment: FakeEnvironment) -> None:
    task = task_of("miss_func", environment)
    episode = Episode(environment, task)
    assert "cancel" not in {tool.name for tool in episode.tools}
    shown = episode.opening()
    for _ in range(len(task.turns) - 1):
        shown = episode.advance(AssistantMessage(content="I cannot."))
    assert [tool.name for tool in shown[-1].reveals] == ["cancel"]
    assert "cancel" in {tool.name for tool in episode.tools}


def test_too_many_steps_in_one_turn_end_the_episode(environment: FakeEnvironment) -> None:
    task = task_of("base", environment)
    look = AssistantMessage(calls=task.turns[0].reference[:1])
    rollout = play(environment, task, script(*[look] * 9), EpisodeLimits(max_steps_per_turn=3))
    assert rollout.trajectory.stop == "max_steps"
    assert len(rollout.trajectory.turns[0]) == 4  # the limit, and the step that crosses it


def test_calls_beyond_the_limit_of_a_message_are_answered_and_not_run(
    environment: FakeEnvironment,
) -> None:
    task = task_of("base", environment)
    episode = Episode(environment, task, EpisodeLimits(max_calls_per_message=1))
    shown = episode.advance(AssistantMessage(calls=task.turns[0].reference))
    assert len(shown) == 2
    assert "At most 1" in shown[1].content
    episode.cut()
    assert episode.finish().trajectory.calls == 1


def test_an_outage_leaves_the_rollout_unscored() -> None:
    environment = FakeEnvironment(FakeEnvironment.Config(outage_every=1))
    rollout = play(environment, environment.tasks("train")[0], reference)
    assert rollout.reward is None
    assert rollout.trajectory.stop == "error"
    assert rollout.trajectory.error is not None
    assert "does not answer" in rollout.trajectory.error


def test_an_ended_episode_takes_no_more_messages(environment: FakeEnvironment) -> None:
    episode = Episode(environment, task_of("base", environment))
    episode.cut()
    with pytest.raises(RuntimeError, match="has ended: max_tokens"):
        episode.advance(AssistantMessage(calls=(ToolCall(name="count"),)))
