"""An episode driven call by call earns what a rollout earns, and goes back to where it was."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence

import pytest

from rods.episode import EpisodeLimits
from rods.errors import DataError, WorldError
from rods.serving import InteractiveEpisode, Snapshot
from rods.testing import FakeEnvironment
from rods.testing.agents import play, reference, silent
from rods.testing.world import FakeSession, story_task
from rods.types import KINDS, Kind, Task, ToolCall, ToolResult, Turn

WORLD = FakeEnvironment()
TASK = story_task("train", "base", 0)


def solve(episode: InteractiveEpisode, turns: Sequence[Turn]) -> list[float]:
    """Progress after each turn of the reference."""
    earned = []
    for turn in turns:
        for call in turn.reference:
            assert not episode.call(call.name, call.arguments).error
        episode.end_turn(turn.answer or "Done.")
        earned.append(episode.progress())
    return earned


@pytest.mark.parametrize("kind", KINDS)
def test_the_reference_earns_one_call_by_call_and_silence_what_a_rollout_earns(kind: Kind) -> None:
    task = story_task("train", kind, 0)
    episode = InteractiveEpisode(WORLD)
    episode.reset(task)
    assert episode.progress() == 0.0
    earned = solve(episode, task.turns)
    assert earned == pytest.approx([(i + 1) / len(task.turns) for i in range(len(task.turns))])
    assert episode.done
    assert episode.verify().solved
    episode.reset(task)
    while not episode.done:
        episode.end_turn()
    rollout = play(WORLD, task, silent)
    assert rollout.reward is not None
    assert episode.progress() == rollout.reward.value < 1
    assert episode.verify().turns == rollout.reward.verdicts


def test_the_trajectory_is_that_of_the_same_agent_in_a_rollout() -> None:
    episode = InteractiveEpisode(WORLD)
    episode.reset(TASK)
    solve(episode, TASK.turns)

    def one_call_a_message(task: Task):  # type: ignore[no-untyped-def]
        for message in reference(task):
            parts = [message.model_copy(update={"calls": (call,)}) for call in message.calls]
            yield from parts or [message]

    assert play(WORLD, TASK, one_call_a_message).trajectory == episode.episode.trajectory


def test_the_user_and_the_tools_come_turn_by_turn() -> None:
    task = story_task("train", "miss_func", 0)
    episode = InteractiveEpisode(WORLD)
    opening = episode.reset(task.id)
    assert opening.user == task.turns[0].user
    assert opening.system == WORLD.instructions(task)
    names = {spec.name for spec in opening.tools}
    assert episode.call("cancel", {"order": "o-1"}).error  # not handed over yet
    heard = [episode.end_turn(str(i)) for i in range(len(task.turns) - 1)]
    assert heard == [turn.user for turn in task.turns[1:]]
    assert {spec.name for spec in episode.tools} == names | {"cancel"}
    assert episode.end_turn() is None
    assert episode.tools == ()


def test_every_point_of_an_episode_can_be_come_back_to_in_another_episode() -> None:
    first = InteractiveEpisode(WORLD)
    first.reset(TASK)
    taken: list[Snapshot] = []
    for turn in TASK.turns:
        for call in turn.reference:
            taken.append(first.snapshot())
            first.call(call.name, call.arguments)
        taken.append(first.snapshot())
        first.end_turn()
    expected = first.verify()
    for snapshot in taken:
        again = InteractiveEpisode(FakeEnvironment())
        again.restore(Snapshot.model_validate_json(snapshot.model_dump_json()))
        assert again.snapshot() == snapshot
        done = sum(not message.calls for message in snapshot.messages)
        left = TASK.turns[done].reference[len(snapshot.messages) - _until(snapshot) :]
        solve(again, (TASK.turns[done].model_copy(update={"reference": left}),))
        solve(again, TASK.turns[done + 1 :])
        assert again.verify() == expected


def _until(snapshot: Snapshot) -> int:
    """How many messages came before the open turn."""
    ends = [i + 1 for i, message in enumerate(snapshot.messages) if not message.calls]
    return ends[-1] if ends else 0


class Drifting(FakeEnvironment):
    """Every session counts its orders from another number."""

    name = "fake"
    opened = itertools.count(1)

    def open(self, task: Task) -> FakeSession:
        state = {**task.initial_state, "next": next(self.opened)}
        return FakeSession(state)


def test_a_world_that_does_not_repeat_itself_is_found_and_the_episode_stays() -> None:
    episode = InteractiveEpisode(Drifting())
    episode.reset(TASK)
    episode.call("order", {"item": "bolts", "amount": 2})
    here = episode.snapshot()
    with pytest.raises(WorldError, match=r"message 1 \(order\) was answered otherwise"):
        episode.restore(here)
    assert episode.snapshot() == here
    assert not episode.call("count", {"item": "bolts"}).error


def test_a_snapshot_that_was_tampered_with_is_refused() -> None:
    episode = InteractiveEpisode(WORLD)
    episode.reset(TASK)
    episode.call("count", {"item": "bolts"})
    data = json.loads(episode.snapshot().model_dump_json())
    data["messages"][0]["calls"][0]["arguments"]["item"] = "nuts"
    with pytest.raises(WorldError, match="cannot be restored"):
        episode.restore(Snapshot.model_validate(data, strict=False))
    with pytest.raises(ValueError, match="differ in length"):
        Snapshot.model_validate({**data, "shown": []})
    with pytest.raises(DataError, match="Did you mean"):
        episode.restore(Snapshot(task_id=TASK.id + "0", messages=(), shown=()))


def test_an_outage_is_an_error_and_never_a_zero() -> None:
    episode = InteractiveEpisode(FakeEnvironment(FakeEnvironment.Config(outage_every=1)))
    episode.reset(TASK)
    with pytest.raises(WorldError, match="does not answer"):
        episode.call("count", {"item": "bolts"})
    with pytest.raises(WorldError, match="no reward"):
        episode.progress()
    verdict = episode.verify()
    assert (verdict.stop, verdict.reward) == ("error", None)
    assert "does not answer" in (verdict.error or "")
    with pytest.raises(WorldError, match="episode over"):
        episode.end_turn()


class Broken(FakeEnvironment):
    """A defect of the world: it raises what no world should."""

    def open(self, task: Task) -> FakeSession:
        class Session(FakeSession):
            def call(self, call: ToolCall) -> ToolResult:
                raise KeyError("stock")

        return Session(task.initial_state)


def test_a_defect_of_the_world_earns_no_reward_either() -> None:
    episode = InteractiveEpisode(Broken())
    episode.reset(TASK)
    with pytest.raises(KeyError):
        episode.call("count", {"item": "bolts"})
    assert episode.verify().reward is None


def test_bad_use_is_told_and_bad_calls_are_results() -> None:
    episode = InteractiveEpisode(WORLD, EpisodeLimits(max_steps_per_turn=3))
    with pytest.raises(DataError, match="No episode has begun"):
        episode.call("count")
    with pytest.raises(DataError, match="Did you mean 'fake_train_base_0'"):
        episode.reset("fake_train_base_00")
    episode.reset(TASK)
    assert episode.call("count", {"item": float("nan")}).error
    assert episode.call("no such tool").error
    assert episode.call("count", {"item": ["bolts"]}).error
    assert not episode.done
    assert [episode.call("count", {"item": "bolts"}).error for _ in range(2)] == [False, True]
    assert episode.verify().stop == "max_steps"
    with pytest.raises(DataError, match="has ended: max_steps"):
        episode.call("count")
