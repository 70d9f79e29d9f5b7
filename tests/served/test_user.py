"""A served model as the user of a world: its words, its calls, its end, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from pydantic import ValidationError

from rods.episode import Episode, EpisodeLimits
from rods.errors import ConfigError
from rods.interfaces import Session, SimulatedUser
from rods.preflight import play_reference
from rods.served.user import ModelUser, PeopledEnvironment, UserOptions
from rods.testing import FakeEnvironment
from rods.testing.model_server import ModelServer
from rods.types import AssistantMessage, Message, Step, Task, ToolCall, ToolResult, Trajectory

LOOK = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
DONE = AssistantMessage(content="Done.")


class Peopled(FakeEnvironment, PeopledEnvironment):
    """The stockroom, where somebody looks at a shelf before they speak."""

    class Config(FakeEnvironment.Config, UserOptions):
        """Who the user is."""

    config: Config
    limit: int | None = None

    def user(self, task: Task) -> SimulatedUser | None:
        return Customer(self.user_model, self.limit) if self.config.user_is_model else None

    def open(self, task: Task) -> Session:
        session = super().open(task)
        session.user_call = looked  # type: ignore[method-assign]
        return session


def looked(call: ToolCall) -> ToolResult:
    return ToolResult(content=f"{call.name}: empty", error=call.name != "look")


class Customer(ModelUser):
    """Leaves with the word BYE; with a limit, after so many messages of both sides."""

    def __init__(self, model: Any, limit: int | None) -> None:
        said = [Message(role="system", content="Buy."), Message(role="user", content="Hello.")]
        super().__init__(model, said, ["BYE"], sampling={"temperature": 0.5})
        self.keeps_limits = limit is not None  # type: ignore[misc]
        self.limit = limit or 0
        self.seen = 0

    def before(self) -> Sequence[Message]:
        return [Message(role="assistant", content="Hello.")]

    def over(self, trajectory: Trajectory) -> bool:
        self.seen = sum(map(len, (*trajectory.user, *trajectory.turns)))
        return self.seen >= self.limit

    def weary(self, fresh: Sequence[Step]) -> bool:
        return self.keeps_limits and self.seen + len(fresh) >= self.limit


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(lambda body: "Well?") as server:
        yield server


def peopled(server: ModelServer, limit: int | None = None, **options: Any) -> Peopled:
    config = Peopled.Config(user="openai/tiny", user_url=server.url, user_retries=0, **options)
    world = Peopled(config)
    world.limit = limit
    return world


def in_turn(server: ModelServer, *answers: str | dict[str, Any]) -> None:
    left = iter(answers)
    server.reply = lambda body: next(left)


def test_it_speaks_after_its_calls_and_the_policy_sees_its_words_alone(server: ModelServer) -> None:
    in_turn(server, {"tool_calls": [LOOK], "content": "I look."}, "It is empty.", "So BYE then.")
    world = peopled(server)
    episode = Episode(world, world.tasks("eval")[0])
    shown = [(m.role, m.content) for m in episode.opening() if m.role != "system"]
    assert shown == [("assistant", "Hello."), ("user", "It is empty.")]
    assert episode.advance(DONE) == ()
    trajectory = episode.finish().trajectory
    assert trajectory.stop == "completed"
    assert [[s.message.content for s in turn] for turn in trajectory.user] == [
        ["I look.", "It is empty."],
        ["So BYE then."],
    ]
    assert trajectory.user[0][0].results == (ToolResult(content="look: empty"),)
    assert Trajectory.model_validate_json(trajectory.model_dump_json()) == trajectory
    heard = server.requests[-1]["messages"]
    assert [m["role"] for m in heard][2:] == ["assistant", "tool", "assistant", "user"]
    assert heard[3] == {"role": "tool", "tool_call_id": "1", "content": "look: empty"}


def test_a_user_who_ends_it_at_once_leaves_a_whole_rollout_without_turns(
    server: ModelServer,
) -> None:
    in_turn(server, "BYE")
    world = peopled(server)
    episode = Episode(world, world.tasks("eval")[0])
    assert all(message.role != "user" for message in episode.opening())
    rollout = episode.finish()
    assert (rollout.trajectory.stop, rollout.trajectory.turns) == ("completed", ())
    assert rollout.reward is not None


def test_limits_of_the_world_take_the_place_of_the_episodes(server: ModelServer) -> None:
    world = peopled(server, limit=9)
    episode = Episode(world, world.tasks("eval")[0], EpisodeLimits(max_user_turns=1))
    episode.opening()
    while not episode.done:
        episode.advance(DONE)
    trajectory = episode.finish().trajectory
    assert (trajectory.stop, len(trajectory.user), len(trajectory.turns)) == ("max_steps", 5, 4)


def test_a_user_who_only_calls_is_cut_by_the_limits_and_else_an_outage(
    server: ModelServer,
) -> None:
    server.reply = lambda body: {"tool_calls": [LOOK]}
    cut = Episode(world := peopled(server, limit=3), world.tasks("eval")[0])
    cut.opening()
    assert cut.finish().trajectory.stop == "max_steps"
    endless = Episode(world := peopled(server), world.tasks("eval")[0])
    endless.opening()
    rollout = endless.finish()
    assert rollout.reward is None
    assert "call after call" in str(rollout.trajectory.error)


@pytest.mark.parametrize("status", [401, 500])
def test_an_outage_leaves_it_unscored_and_keeps_what_was_said(
    server: ModelServer, status: int
) -> None:
    world = peopled(server)
    episode = Episode(world, world.tasks("eval")[0])
    episode.opening()
    server.fail_with = status
    assert episode.advance(DONE) == ()
    rollout = episode.finish()
    assert (rollout.trajectory.stop, rollout.reward) == ("error", None)
    assert "user 'openai/tiny' does not answer" in str(rollout.trajectory.error)
    assert rollout.trajectory.user[0][0].message.content == "Well?"


def test_requests_tokens_and_price_are_counted(server: ModelServer) -> None:
    world = peopled(server, user_price_in=1e6, user_price_out=1e7)
    episode = Episode(world, world.tasks("eval")[0])
    episode.opening()
    episode.advance(DONE)
    sent, said = 2 + 4, 2  # "Buy. Hello.", then with "Well?" and "Done."; "Well?" twice
    assert world.user_usage() == {
        "requests": 2,
        "tokens_in": sent,
        "tokens_out": said,
        "price": sent + 10 * said,
    }
    assert "price" not in peopled(server).user_usage()
    assert Peopled(Peopled.Config()).user_usage() == {}


def test_references_are_replayed_without_the_user(server: ModelServer) -> None:
    world = peopled(server)
    reward = play_reference(world, world.tasks("train")[0]).reward
    assert reward is not None
    assert reward.solved
    assert server.requests == []


def test_a_server_that_is_down_or_lacks_the_model_is_one_line(server: ModelServer) -> None:
    peopled(server).require_user()
    with pytest.raises(ConfigError, match=r"not serve 'big', but tiny; .* environment.user=openai"):
        Peopled(Peopled.Config(user="openai/big", user_url=server.url)).require_user()
    server.stop()
    with pytest.raises(ConfigError, match=r"No server answers at .*-o environment.user_url=URL"):
        peopled(server).require_user()
    Peopled(Peopled.Config()).require_user()


@pytest.mark.parametrize("options", [{"user": "tiny"}, {"user": "openai/"}, {"user_url": "x"}])
def test_a_user_that_is_none_is_refused(options: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match="user"):
        Peopled.Config(**options)
