"""A user of the world's own speaks in place of the task's turns."""

from __future__ import annotations

import pytest

from rods.episode import Episode, EpisodeLimits
from rods.errors import WorldError
from rods.interfaces import SimulatedUser
from rods.testing import FakeEnvironment
from rods.types import AssistantMessage, Task, ToolCall

COUNT = AssistantMessage(calls=(ToolCall(name="count", arguments={"item": "lamps"}),))


class Asking(SimulatedUser):
    """Asks ``questions`` times, and remembers what it was told."""

    def __init__(self, questions: int, fails_at: int = -1) -> None:
        self.questions, self.fails_at = questions, fails_at
        self.told: list[str] = []

    def opening(self) -> str:
        return self._next()

    def reply(self, said: str) -> str | None:
        self.told.append(said)
        return self._next() if len(self.told) < self.questions else None

    def _next(self) -> str:
        if len(self.told) == self.fails_at:
            raise WorldError("the user is away")
        return f"Question {len(self.told) + 1}?"


class Talkative(FakeEnvironment):
    """The stockroom with somebody in it."""

    somebody: SimulatedUser | None = None

    def user(self, task: Task) -> SimulatedUser | None:
        return self.somebody


def episode(user: SimulatedUser | None, limits: EpisodeLimits | None = None) -> Episode:
    world = Talkative()
    world.somebody = user
    return Episode(world, world.tasks("eval")[0], limits)


def test_the_conversation_goes_on_until_the_user_has_no_more_to_say() -> None:
    user = Asking(3)
    played = episode(user)
    assert played.opening()[-1].content == "Question 1?"
    assert played.advance(AssistantMessage(content="One."))[-1].content == "Question 2?"
    assert [m.role for m in played.advance(COUNT)] == ["tool"]
    assert played.advance(AssistantMessage(content="Two."))[-1].content == "Question 3?"
    assert played.advance(AssistantMessage(content="Three.")) == ()
    rollout = played.finish()
    assert user.told == ["One.", "Two.", "Three."]
    assert (rollout.trajectory.stop, len(rollout.trajectory.turns)) == ("completed", 3)
    assert rollout.reward is not None


def test_without_a_user_the_tasks_turns_are_said() -> None:
    played = episode(None)
    assert played.opening()[-1].content == played.task.turns[0].user


def test_a_conversation_without_end_is_cut() -> None:
    played = episode(Asking(99), EpisodeLimits(max_user_turns=2))
    played.opening()
    assert played.advance(AssistantMessage(content="One."))
    assert played.advance(AssistantMessage(content="Two.")) == ()
    assert played.finish().trajectory.stop == "max_steps"


@pytest.mark.parametrize("fails_at", [0, 1])
def test_a_user_that_is_away_is_an_outage(fails_at: int) -> None:
    played = episode(Asking(3, fails_at))
    played.opening()
    if not played.done:
        played.advance(AssistantMessage(content="One."))
    rollout = played.finish()
    assert (rollout.trajectory.stop, rollout.reward) == ("error", None)
    assert rollout.trajectory.error == "the user is away"
