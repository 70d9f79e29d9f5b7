"""The server speaks both generations of the protocol, and its list of tools follows the task."""

from __future__ import annotations

from typing import Any, Literal

import anyio
import pytest
from mcp import Client
from mcp.client.subscriptions import ToolsListChanged as Changed

from rods.serving import TaskIndex
from rods.serving.mcp_server import EnvironmentServer, Sessions
from rods.serving.tool_handler import ToolHandler
from rods.testing import FakeEnvironment
from rods.testing.agents import reference, silent
from rods.types import Task

WORLD = FakeEnvironment()
INDEX = TaskIndex(WORLD)
HANDED_OVER = next(task for task in WORLD.tasks("train") if task.kind == "miss_func")
ERAS: list[Literal["legacy", "auto"]] = ["legacy", "auto"]


def server() -> EnvironmentServer:
    return EnvironmentServer("fake", "1", Sessions(lambda: ToolHandler(WORLD, INDEX)), http=False)


async def names(client: Client) -> list[str]:
    return sorted(tool.name for tool in (await client.list_tools()).tools)


@pytest.mark.parametrize("era", ERAS)
def test_tools_are_listed_with_the_worlds_own_schemas(era: Literal["legacy", "auto"]) -> None:
    async def check() -> None:
        async with Client(server(), mode=era) as client:
            listed = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert listed.keys() == WORLD.tools().keys()
            for name, spec in WORLD.tools().items():
                assert listed[name].input_schema == spec.parameters
                assert listed[name].description == spec.description
                hints = listed[name].annotations
                assert hints is not None
                assert hints.read_only_hint == (spec.effect == "read")

    anyio.run(check)


async def _to_the_hand_over(client: Client) -> None:
    await client.call_tool("rods_reset", {"task_id": HANDED_OVER.id})
    before = await names(client)
    assert "cancel" not in before
    refused = await client.call_tool("cancel", {"order": "o-1"})
    assert refused.is_error
    for turn in HANDED_OVER.turns[1:]:
        told = await client.call_tool("rods_end_turn", {})
        assert told.structured_content is not None
        assert told.structured_content["user"] == turn.user
    assert await names(client) == sorted([*before, "cancel"])


def test_older_clients_are_notified_of_tools_handed_over_later() -> None:
    heard: list[Any] = []

    async def listen(message: Any) -> None:
        heard.append(getattr(message, "method", None))

    async def check() -> None:
        async with Client(server(), mode="legacy", message_handler=listen) as client:
            assert client.server_capabilities.tools is not None
            assert client.server_capabilities.tools.list_changed
            await _to_the_hand_over(client)
            await client.call_tool("count", {"item": "bolts"})

    anyio.run(check)
    assert heard == ["notifications/tools/list_changed"] * 2  # at the reset, at the hand-over


def test_newer_clients_hear_it_where_they_listen() -> None:
    async def check() -> None:
        async with Client(server()) as client, client.listen(tools_list_changed=True) as changes:
            await _to_the_hand_over(client)
            with anyio.fail_after(20):
                assert isinstance(await anext(aiter(changes)), Changed)

    anyio.run(check)


def test_each_session_has_its_own_world_and_gives_it_back() -> None:
    made: list[ToolHandler] = []

    def handler() -> ToolHandler:
        made.append(ToolHandler(WORLD, INDEX))
        return made[-1]

    sessions = Sessions(handler, idle_s=1000)
    assert sessions.client("a") is sessions.client("a")
    assert sessions.client("a").handler is not sessions.client("b").handler
    for session in ("a", "b"):
        sessions.client(session).handler.call("rods_reset", {})
    sessions.end("a")
    sessions.end("never there")
    assert [handler.play.done for handler in made] == [True, False]
    sessions.close()
    assert all(handler.play.done for handler in made)
    assert sessions.client("a").handler is not made[0]


def test_a_session_that_nobody_uses_is_forgotten() -> None:
    sessions = Sessions(lambda: ToolHandler(WORLD, INDEX), idle_s=0)
    first = sessions.client("a").handler
    first.call("rods_reset", {})
    sessions.client("b")
    assert first.play.done
    assert sessions.client("a").handler is not first


async def _verdict(client: Client, task: Task, agent: Any) -> dict[str, Any]:
    await client.call_tool("rods_reset", {"task_id": task.id})
    for message in agent(task):
        for call in message.calls:
            await client.call_tool(call.name, call.arguments)
        if not message.calls:
            await client.call_tool("rods_end_turn", {"content": message.content})
    verdict = (await client.call_tool("rods_verify", {})).structured_content
    assert verdict is not None
    return dict(verdict)


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("rods_office.environment", "OfficeEnvironment"),
        ("rods_bfcl.environment", "BfclEnvironment"),
    ],
)
def test_the_reference_earns_one_in_real_worlds_and_silence_passes_nothing(
    module: str, name: str
) -> None:
    world = getattr(pytest.importorskip(module), name)()
    tasks = {task.kind: task for task in world.tasks("eval")}  # one of each kind
    index = TaskIndex(world, ("eval",))
    server = EnvironmentServer(
        world.name, "1", Sessions(lambda: ToolHandler(world, index)), http=False
    )

    async def check() -> None:
        async with Client(server) as client:
            for task in tasks.values():
                solved = await _verdict(client, task, reference)
                assert (solved["reward"], solved["solved"]) == (1.0, True), task.id
                idle = await _verdict(client, task, silent)
                judged = [turn for turn in idle["turns"] if turn["judged"]]
                assert judged
                assert not any(t["state_ok"] and t["response_ok"] and t["acted"] for t in judged)

    anyio.run(check)
    world.close()
