"""What was recorded is replayed exactly without a server; anything else is refused aloud."""

from __future__ import annotations

from pathlib import Path

import pytest
from rods_mcp.environment import McpEnvironment

from rods.errors import DataError, WorldError
from rods.testing import play, script
from rods.types import AssistantMessage, ToolCall, Turn

from .conftest import World, task

PUT = ToolCall(name="put", arguments={"name": "cup", "count": 2})
FIND = ToolCall(name="find", arguments={"name": "cup"})


def transcript(environment: McpEnvironment) -> list[object]:
    session = environment.open(task(environment))
    try:
        first = session.call(PUT)
        snapshot = session.snapshot()
        rest = [session.state(), session.call(ToolCall(name="clear")), session.state()]
        session.restore(snapshot)
        return [first, *rest, session.call(FIND), session.state()]
    finally:
        session.close()


@pytest.fixture
def recorded(world: World, tmp_path: Path) -> tuple[Path, list[object]]:
    path = tmp_path / "shelf.jsonl"
    return path, transcript(world(cassette=path, cassette_mode="record"))


def test_a_replay_is_exact_and_starts_no_server(
    world: World, recorded: tuple[Path, list[object]]
) -> None:
    path, live = recorded
    environment = world(server="no-such-server", cassette=path)
    assert transcript(environment) == live
    assert environment.tools().keys() >= {"put", "find"}
    assert environment.data_hashes().keys() == {"shelf.jsonl"}


def test_a_reading_call_does_not_hide_what_comes_after(
    world: World, recorded: tuple[Path, list[object]]
) -> None:
    environment = world(server="", cassette=recorded[0])
    session = environment.open(task(environment))
    session.call(PUT)
    assert session.call(FIND) == session.call(FIND)
    assert not session.call(ToolCall(name="clear")).error


def test_a_miss_says_what_was_asked_and_how_to_record_it(
    world: World, recorded: tuple[Path, list[object]]
) -> None:
    environment = world(server="", cassette=recorded[0])
    session = environment.open(task(environment))
    session.call(PUT)
    with pytest.raises(WorldError, match=r"no answer to find .*pan.* after 1 calls.*cassette_mode"):
        session.call(ToolCall(name="find", arguments={"name": "pan"}))
    assert session.call(ToolCall(name="find", arguments={"pan": 1})).error  # by the schema alone


def test_a_miss_leaves_the_rollout_without_a_reward(
    world: World, recorded: tuple[Path, list[object]]
) -> None:
    environment = world(server="", cassette=recorded[0])
    turn = Turn(user="put 9 pan", reference=(PUT,))
    played = task(environment).model_copy(update={"turns": (turn,)})
    wrong = AssistantMessage(calls=(ToolCall(name="put", arguments={"name": "pan", "count": 9}),))
    rollout = play(environment, played, script(wrong))
    assert rollout.reward is None
    assert rollout.trajectory.stop == "error"


def test_recording_goes_on_in_the_same_file(
    world: World, recorded: tuple[Path, list[object]]
) -> None:
    path, live = recorded
    size = path.stat().st_size
    assert transcript(world(cassette=path, cassette_mode="record")) == live
    assert path.stat().st_size == size


def test_another_answer_to_the_same_calls_is_refused(world: World, tmp_path: Path) -> None:
    environment = world("--fault uuid", cassette=tmp_path / "c.jsonl", cassette_mode="record")
    environment.open(task(environment)).call(PUT)
    with pytest.raises(WorldError, match=r"already holds another answer to put"):
        environment.open(task(environment)).call(PUT)


def test_what_is_no_cassette_is_refused(world: World, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": 1}\n')
    with pytest.raises(DataError, match=r"no cassette of this version"):
        world(cassette=path).tools()
    path.write_text("")
    with pytest.raises(DataError, match=r"empty"):
        world(cassette=path).tools()
    with pytest.raises(DataError, match=r"Cannot read"):
        world(cassette=tmp_path / "none.jsonl").tools()
