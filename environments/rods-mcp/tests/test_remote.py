"""A server with an address: reset as declared, its faults outages, its credentials nowhere."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from rods_mcp.background import background
from rods_mcp.environment import McpEnvironment
from rods_mcp.session import McpSession

from rods.errors import ConfigError, WorldError
from rods.testing import play, script
from rods.types import AssistantMessage, ToolCall, Turn

from .conftest import World, task
from .servers.remote import Shelf, serving

PUT = ToolCall(name="put", arguments={"name": "cup", "count": 2})
MORE = ToolCall(name="put", arguments={"name": "jug", "count": 1})
TOKEN = "s3cret-0123456789"
CUP, EMPTY = {"listing": {"cup": 2}}, {"listing": {}}
CLEAR: dict[str, Any] = {"reset": "tool", "reset_tool": {"tool": "clear"}}
WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "tool, one state for all": ("all", CLEAR),
    "tool, each session's state": ("session", {**CLEAR, "shared": False}),
    "session": ("session", {"reset": "session"}),
    "argument": ("key", {"reset": "argument", "reset_argument": "key"}),
}
Serve = Callable[..., tuple[str, Shelf]]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts a shelf over HTTP; all end with the test."""
    with ExitStack() as stack:

        def start(scope: str = "all", **options: Any) -> tuple[str, Shelf]:
            shelf = Shelf(scope, **options)
            return stack.enter_context(serving(shelf)), shelf

        yield start


def opened(environment: McpEnvironment) -> McpSession:
    session = environment.opened(task(environment))
    assert isinstance(session, McpSession)
    return session


def state(session: McpSession) -> Any:
    answer = session.state()["listing"]
    return {"listing": answer.get("result", answer) if isinstance(answer, dict) else answer}


def tasks_file(folder: Path, *calls: ToolCall) -> Path:
    turn = {"user": "put 2 cup", "reference": [call.model_dump(mode="json") for call in calls]}
    path = folder / "tasks.jsonl"
    path.write_text(json.dumps({"turns": [turn], "tools": ["put", "listing"]}) + "\n")
    return path


@pytest.mark.parametrize("way", WAYS)
def test_sessions_open_in_the_first_state_and_do_not_see_each_other(
    way: str, serve: Serve, world: World, tmp_path: Path
) -> None:
    scope, options = WAYS[way]
    url, shelf = serve(scope)
    path = tasks_file(tmp_path, PUT)
    environment = world(server=url, probe=True, tasks=path, deny=("hang", "whoami"), **options)
    assert len(environment.tasks("train")) == 1
    one = opened(environment)
    assert state(one) == EMPTY
    one.call(PUT)
    snapshot = one.snapshot()
    other = opened(environment)
    assert state(other) == EMPTY
    other.call(MORE)
    assert (state(one), state(other)) == (CUP, {"listing": {"jug": 1}})
    one.call(MORE)
    one.restore(snapshot)
    assert state(one) == CUP
    assert "key" not in environment.tools()["put"].properties or way != "argument"
    one.close()
    assert state(opened(environment)) == EMPTY
    environment.close()
    assert len(shelf.ended) == len(set(shelf.ended))
    assert bool(shelf.ended) or way in ("argument", "tool, one state for all")


@pytest.mark.parametrize(
    ("scope", "options", "said"),
    [
        ("all", {**CLEAR, "shared": False}, r"while another session is open.*shared = true"),
        ("all", {"reset": "session"}, r"does not repeat.*state.*differs"),
        ("all", {"reset": "hook", "reset_hook": "true"}, r"does not repeat.*state.*differs"),
    ],
)
def test_a_reset_that_is_declared_wrongly_is_refused(
    scope: str, options: dict[str, Any], said: str, serve: Serve, world: World, tmp_path: Path
) -> None:
    url, _ = serve(scope)
    path = tasks_file(tmp_path, PUT)
    with pytest.raises(ConfigError, match=said):
        world(server=url, probe=True, tasks=path, **options).tasks("train")


def test_a_server_that_is_full_already_is_not_taken_for_a_clean_one(
    serve: Serve, world: World, tmp_path: Path
) -> None:
    url, _ = serve("key")
    path = tasks_file(tmp_path, ToolCall(name="put", arguments={"name": "cup", "count": 0}))
    options = {"reset": "hook", "reset_hook": "true", "shared": False}
    environment = world(server=url, tasks=path, **options)
    environment.open(environment.tasks("train")[0]).call(PUT)
    with pytest.raises(ConfigError, match=r"No reference changes the state.*they call put"):
        world(server=url, probe=True, tasks=path, **options).tasks("train")


def test_a_hook_resets_what_all_share(serve: Serve, world: World, tmp_path: Path) -> None:
    url, shelf = serve()
    done = tmp_path / "reset"
    environment = world(server=url, reset="hook", reset_hook=f"echo x >> {done}")
    opened(environment)
    before = len(done.read_text())
    opened(environment)
    assert len(done.read_text()) > before
    assert environment.options.shared is None
    shelf.items.clear()


# ------------------------------------------------------------------------------- faults
def fault(environment: McpEnvironment, call: ToolCall = PUT) -> str:
    """What a rollout is told; it has no reward, and its connection is over."""
    session = opened(environment)
    with pytest.raises(WorldError) as caught:
        session.call(call)
    assert not session._here.server.alive
    session.close()
    turn = Turn(user="put 2 cup", reference=(PUT,))
    played = task(environment).model_copy(update={"turns": (turn,)})
    rollout = play(environment, played, script(AssistantMessage(calls=(call,))))
    assert (rollout.reward, rollout.trajectory.stop) == (None, "error")
    return str(caught.value)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (500, r"ended during put: HTTP 500 \(Internal Server Error\)\."),
        (404, r"ended during put: it has dropped the session \(HTTP 404\)\."),
    ],
)
def test_what_http_refuses_is_an_outage_and_no_answer_of_a_tool(
    status: int, said: str, serve: Serve, world: World
) -> None:
    url, shelf = serve("session")
    environment = world(server=url, reset="session")
    environment.tools()
    shelf.status_of_calls = status
    assert_matches(said, fault(environment))
    shelf.status_of_calls = 0
    assert not opened(environment).call(PUT).error


def assert_matches(pattern: str, text: str) -> None:
    with pytest.raises(AssertionError, match=pattern):
        raise AssertionError(text)


def test_a_hang_is_an_outage(serve: Serve, world: World) -> None:
    url, _ = serve()
    environment = world(server=url, call_timeout_s=0.5, **CLEAR)
    said = fault(environment, ToolCall(name="hang"))
    assert "gave no answer to hang within 0.5 s" in said


def test_a_server_that_goes_down_is_an_outage_and_comes_back(world: World) -> None:
    shelf = Shelf("all")
    with serving(shelf) as url:
        environment = world(server=url, **CLEAR)
        session = opened(environment)
    with pytest.raises(WorldError, match=r"put: it cannot be reached \(ConnectError"):
        session.call(PUT)
    with pytest.raises(WorldError, match=r"did not start: it cannot be reached \(ConnectError"):
        opened(environment)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (401, r"did not start: HTTP 401 \(Unauthorized\); is environment.headers"),
        (404, r"did not start: HTTP 404 \(Not Found\); is the path right"),
    ],
)
def test_a_server_that_does_not_let_us_in_is_named(
    status: int, said: str, serve: Serve, world: World
) -> None:
    url, shelf = serve()
    shelf.status = status
    with pytest.raises(WorldError, match=said):
        world(server=url, **CLEAR).tools()


def test_an_error_of_a_tool_is_a_result(serve: Serve, world: World) -> None:
    url, _ = serve()
    session = opened(world(server=url, **CLEAR))
    wrong = session.call(ToolCall(name="put", arguments={"name": "cup", "count": -1}))
    assert wrong.error
    assert "negative" in wrong.content
    assert not session.call(PUT).error


def test_nothing_of_a_client_is_left_after_closing(
    serve: Serve, world: World, caplog: pytest.LogCaptureFixture
) -> None:
    url, _ = serve("session")
    environment = world(server=url, reset="session", call_timeout_s=0.5)
    sessions = [opened(environment) for _ in range(3)]
    with pytest.raises(WorldError):
        sessions[0].call(ToolCall(name="hang"))
    environment.close()
    assert not any(session._here.server.alive for session in sessions)

    async def left() -> list[str]:
        own = asyncio.current_task()
        return [str(one) for one in asyncio.all_tasks() if one is not own]

    assert asyncio.run_coroutine_threadsafe(left(), background().loop).result(5) == []
    assert not [one for one in caplog.records if one.name.startswith("mcp.client")]


# ------------------------------------------------------------------------------- credentials
def test_a_token_is_sent_and_shown_nowhere(
    serve: Serve,
    world: World,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(0)
    monkeypatch.setenv("SHELF_TOKEN", TOKEN)
    url, shelf = serve(token=TOKEN)
    cassette = tmp_path / "shelf.jsonl"
    headers = {"Authorization": "Bearer ${SHELF_TOKEN}"}
    environment = world(
        server=url, headers=headers, cassette=cassette, cassette_mode="record", **CLEAR
    )
    session = environment.open(task(environment))
    told = session.call(ToolCall(name="whoami", arguments={"who": "Ada"}))
    assert told.content == "Ada: Bearer ${SHELF_TOKEN}"
    shelf.token = "another"
    with pytest.raises(WorldError, match="HTTP 401") as caught:
        session.call(PUT)
    kept = [str(caught.value), repr(caught.value.__cause__), cassette.read_text(), caplog.text]
    kept += [repr(environment.config), environment.config.model_dump_json(), repr(vars(session))]
    assert not [one for one in kept if TOKEN in one]


def test_a_variable_that_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch, world: World) -> None:
    monkeypatch.delenv("SHELF_TOKEN", raising=False)
    headers = {"Authorization": "Bearer ${SHELF_TOKEN}"}
    with pytest.raises(ConfigError, match=r"headers\.Authorization takes \$\{SHELF_TOKEN\}"):
        world(server="http://127.0.0.1:1/mcp", headers=headers, **CLEAR)


URL = "http://127.0.0.1:1/mcp"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, r"environment\.reset is not set, but .* runs already"),
        ({"reset": "respawn"}, r"environment\.reset = 'respawn', but .* runs already"),
        ({"reset": "files"}, r"environment\.reset = 'files', but .* runs already"),
        ({**CLEAR, "env": {"A": "b"}}, r"environment\.env is for servers that rods starts"),
        ({**CLEAR, "prepare": "true"}, r"environment\.prepare is for"),
        ({**CLEAR, "state_files": ("*",)}, r"environment\.state_files is for"),
        ({**CLEAR, "fixed": {"a": "{workdir}"}}, r"\{workdir\} is the folder of"),
        ({**CLEAR, "headers": {"X-Api-Key": "abc"}}, r"headers\.X-Api-Key holds its value"),
        ({**CLEAR, "server": "http://ada:b@h/mcp"}, r"server holds a credential"),
        ({**CLEAR, "server": "https://h/mcp?token=b"}, r"server holds a credential"),
        ({**CLEAR, "server": "http:///mcp"}, r"names no host"),
        ({**CLEAR, "server": "http://h:x/mcp"}, r"environment\.server = "),
        ({"reset": "session", "shared": True}, r"shared = true needs a reset of the one state"),
        ({"server": "shelf", "reset": "session"}, r"'session' is for a server with an address"),
        ({"server": "shelf", "headers": {"A": "b"}}, r"headers are for a server with an address"),
    ],
)
def test_settings_that_cannot_be_are_refused_in_one_line(
    options: dict[str, Any], said: str, world: World
) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        world(**{"server": URL, **options})
    assert "\n" not in str(caught.value)


def test_several_processes_do_not_share_a_state(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ConfigError, match="cannot take turns"):
        world(server=URL, **CLEAR)
    world(server=URL, shared=False, **CLEAR)
