"""A session is a server in its first state: read, called, reset and put back."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from rods_mcp.environment import McpEnvironment
from rods_mcp.session import McpSession

from rods.errors import ConfigError, DataError, WorldError
from rods.types import ToolCall

from .conftest import World, task

PUT = ToolCall(name="put", arguments={"name": "cup", "count": 2})
MORE = ToolCall(name="put", arguments={"name": "jug", "count": 1})
EMPTY: dict[str, Any] = {"listing": {"items": {}}}
CUP = {"listing": {"items": {"cup": {"count": 2, "owner": "nobody"}}}}


def pid(session: McpSession) -> int:
    return int(session._here.server.launch.pid_file.read_text())


def alive(number: int) -> bool:
    """Runs, and is no zombie that only waits to be read."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def opened(environment: McpEnvironment, **initial_state: Any) -> McpSession:
    session = environment.opened(task(environment, **initial_state))
    assert isinstance(session, McpSession)
    return session


def test_tools_schemas_and_effects_are_read_from_the_server(world: World) -> None:
    environment = world(deny=("crash", "ha*"), effects={"where": "read"})
    tools = environment.tools()
    assert {"crash", "hang"}.isdisjoint(tools)
    assert {name: tools[name].effect for name in ("put", "find", "where", "clear")} == {
        "put": "write",
        "find": "read",
        "where": "read",
        "clear": "write",
    }
    assert tools["put"].required == ("name", "count")
    assert tools["put"].description == "Puts an item on the shelf."


def test_an_allowed_tool_that_there_is_not_is_named(world: World) -> None:
    with pytest.raises(ConfigError, match=r"no tool is called 'putt'. Did you mean 'put'"):
        world(allow=("putt",)).tools()


def test_answers_are_results_and_errors_of_tools_are_results_with_error(world: World) -> None:
    session = opened(world())
    assert session.call(PUT).content == '{"name": "cup", "place": "p103"}'
    missing = session.call(ToolCall(name="find", arguments={"name": "pan"}))
    assert (missing.error, missing.content) == (True, "Error: there is no pan")
    for bad in (ToolCall(name="puts"), ToolCall(name="put", arguments={"name": 1, "count": 1})):
        assert session.call(bad).error
    assert session.state() == CUP


def test_the_sessions_folder_has_one_name_towards_the_policy(world: World) -> None:
    environment = world(env={"SHELF_NAME": "{workdir}/x"})
    said = "items are kept in /world/shelf.json of /world/x"
    assert opened(environment).call(ToolCall(name="where")).content == said


def test_a_part_of_the_answer_can_be_the_result(world: World) -> None:
    assert opened(world(answer="$.place")).call(PUT).content == "p103"


def test_an_initial_state_is_files_and_calls(world: World) -> None:
    files = {"shelf.json": json.dumps({"pot": {"count": 1, "owner": "ada"}})}
    calls = [{"name": "put", "arguments": {"name": "cup", "count": 2}}]
    session = opened(world(), files=files, calls=calls)
    assert set(session.state()["listing"]["items"]) == {"pot", "cup"}  # type: ignore[arg-type, index, call-overload]
    with pytest.raises(DataError, match="relative path"):
        opened(world(), files={"../x": ""})
    with pytest.raises(DataError, match="gives the error 'Error: there is no cup'"):
        opened(world(), calls=[{"name": "find", "arguments": {"name": "cup"}}])


@pytest.mark.parametrize(
    ("arguments", "options", "reused"),
    [
        ("", {"reset": "respawn"}, False),
        ("", {"reset": "files"}, True),
        ("--in-memory", {"reset": "tool", "reset_tool": {"tool": "clear"}}, True),
        ("", {"reset": "hook", "reset_hook": "rm {workdir}/shelf.json"}, True),
    ],
    ids=lambda value: value.get("reset", "") if isinstance(value, dict) else str(value),
)
def test_a_used_world_opens_again_in_its_first_state(
    arguments: str, options: dict[str, Any], reused: bool, world: World
) -> None:
    environment = world(arguments, **options)
    used = opened(environment)
    used.call(PUT)
    first = pid(used)
    used.close()
    used.close()
    again = opened(environment)
    assert again.state() == EMPTY
    assert (pid(again) == first) == reused
    assert alive(first) == reused


def test_sessions_that_are_open_at_once_share_nothing(world: World) -> None:
    environment = world()
    one, other = opened(environment), opened(environment)
    one.call(PUT)
    assert (one.state(), other.state()) == (CUP, EMPTY)


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ("", {"snapshot": "replay"}),
        ("", {"reset": "files"}),
        (
            "--in-memory",
            {
                "snapshot": "tool",
                "snapshot_tools": {"save": {"tool": "save"}, "restore": {"tool": "load_saved"}},
            },
        ),
    ],
    ids=["replay", "files", "tool"],
)
def test_a_snapshot_restores_twice(arguments: str, options: dict[str, Any], world: World) -> None:
    session = opened(world(arguments, **options))
    session.call(PUT)
    snapshot = session.snapshot()
    for _ in range(2):
        answer = session.call(MORE).content
        assert session.state() != CUP
        session.restore(snapshot)
        assert session.state() == CUP
        assert session.call(MORE).content == answer


def test_tools_that_save_and_restore_are_hidden_from_the_policy(world: World) -> None:
    tools = {"save": {"tool": "save"}, "restore": {"tool": "load_saved"}}
    names = world(snapshot="tool", snapshot_tools=tools).tools()
    assert {"save", "load_saved"}.isdisjoint(names)


def test_a_replay_that_differs_names_the_call(world: World) -> None:
    session = opened(world("--fault uuid"))
    session.call(PUT)
    snapshot = session.snapshot()
    with pytest.raises(WorldError, match=r"call 1 of 1, put\(.*'cup'.* instead of .*masks"):
        session.restore(snapshot)


def test_a_mask_hides_what_varies(world: World) -> None:
    for mask in ("$.receipt", "put:$..receipt", r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"):
        session = opened(world("--fault uuid", masks=(mask,)))
        assert '"receipt": "<masked>"' in session.call(PUT).content
        session.restore(session.snapshot())
    with pytest.raises(ConfigError, match=r"no JSON path such as \$\.items"):
        opened(world(masks=("$.a[",)))


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ("hang", r"gave no answer to hang within 1 s"),
        ("crash", r"ended during crash.*the shelf fell down"),
        ("flood", r"wrote more than 64 kB to stderr"),
    ],
)
def test_a_fault_of_the_server_is_an_outage(tool: str, said: str, world: World) -> None:
    environment = world(call_timeout_s=1, max_stderr_kb=64)
    session = opened(environment)
    number = pid(session)
    with pytest.raises(WorldError, match=said):
        session.call(ToolCall(name=tool))
    with pytest.raises(WorldError, match=r"is not running|was ended"):
        session.call(PUT)
    assert not alive(number)
    session.close()
    assert opened(environment).call(PUT).error is False


def test_a_server_that_does_not_start_says_why(world: World) -> None:
    with pytest.raises(WorldError, match=r"did not start.*no shelf here"):
        world("--fault dies-at-start").tools()
    with pytest.raises(WorldError, match="no-such-server: not found"):
        world(server="no-such-server").tools()


def test_tools_that_change_in_mid_run_are_an_outage(world: World) -> None:
    session = opened(world("--fault new-tool"))
    session.call(PUT)
    with pytest.raises(WorldError, match="changed its tools in mid-run: new_tool"):
        session.call(MORE)


def test_closing_ends_servers_that_do_not_want_to_end(world: World) -> None:
    environment = world("--fault survives", reset="files")
    open_one, idle = opened(environment), opened(environment)
    numbers = [pid(open_one), pid(idle)]
    root = open_one._here.folder.parent
    idle.close()
    environment.close()
    environment.close()
    assert not any(map(alive, numbers))
    assert not root.exists()


def test_a_rods_process_that_is_killed_leaves_no_server(tmp_path: Path) -> None:

    script = Path(__file__).parent / "servers" / "holder.py"
    command = [sys.executable, str(script), "--fault survives"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        number, folder = holder.stdout.readline().split()
        assert alive(int(number))
        os.kill(holder.pid, signal.SIGKILL)
    deadline = time.monotonic() + 20
    while (alive(int(number)) or Path(folder).exists()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(int(number))
    assert not Path(folder).exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"server": ""}, "environment.server is not set"),
        ({"server": "a 'b"}, "No closing quotation"),
        ({"profile": "memry"}, "Did you mean 'memory'"),
        ({"reset": "tool"}, "needs environment.reset_tool"),
        ({"reset": "hook"}, "needs environment.reset_hook"),
        ({"reset": "argument"}, "needs environment.reset_argument"),
        ({"snapshot": "tool"}, "needs environment.snapshot_tools"),
        ({"snapshot": "files"}, "environment.reset = 'files'"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_before_anything_starts(
    options: dict[str, Any], said: str, world: World
) -> None:
    with pytest.raises(ConfigError, match=said):
        world(**options)


def test_settings_written_out_in_full_mean_the_same(world: World) -> None:
    known = world(server="npx -y @modelcontextprotocol/server-filesystem", warm=5)
    again = type(known)(type(known).Config.model_validate(known.config.model_dump(mode="json")))
    assert again.options == known.options
    assert known.options.reset == "files"
    assert "read_media_file" in known.options.deny
    chosen = world(server="npx server-filesystem", allow=("read_media_file",), reset="respawn")
    assert (chosen.options.deny, chosen.options.reset) == ((), "respawn")


def test_a_variable_of_the_users_reaches_the_server_and_is_shown_nowhere(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELF_TOKEN", "s3cret-0123456789")
    environment = world(env={"SHELF_NAME": "key ${SHELF_TOKEN}"})
    told = opened(environment).call(ToolCall(name="where")).content
    assert told.endswith("of key ${SHELF_TOKEN}")
    monkeypatch.delenv("SHELF_TOKEN")
    with pytest.raises(ConfigError, match=r"environment\.env\.SHELF_NAME takes \$\{SHELF_TOKEN\}"):
        opened(world(env={"SHELF_NAME": "key ${SHELF_TOKEN}"}))
