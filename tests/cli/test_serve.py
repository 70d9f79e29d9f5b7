"""``rods serve``: the real server process, driven by the official client."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, StdioServerParameters

from rods.testing import FakeEnvironment
from rods.testing.agents import play, reference, silent
from rods.types import AssistantMessage, Task

Rods = Callable[..., subprocess.CompletedProcess[str]]
WORLD = FakeEnvironment()
TASKS = WORLD.tasks("train")


async def ask(client: Client, name: str, **arguments: Any) -> Any:
    answer = await client.call_tool(name, arguments)
    assert not answer.is_error, answer.content
    return answer.structured_content


async def act(client: Client, message: AssistantMessage) -> None:
    """Say a message of an agent through the server."""
    for call in message.calls:
        await client.call_tool(call.name, call.arguments)
    if not message.calls:
        await ask(client, "rods_end_turn", content=message.content)


async def earns(client: Client, task: Task, agent: Callable[[Task], Any]) -> float:
    """What an agent earns through the server."""
    await ask(client, "rods_reset", task_id=task.id)
    for message in agent(task):
        await act(client, message)
    verdict = await ask(client, "rods_verify")
    assert verdict["stop"] == "completed"
    return float((await ask(client, "rods_progress"))["progress"])


async def play_all(client: Client) -> None:
    """Reference and silence earn what they earn in a rollout; a snapshot leads back."""
    for task in TASKS[:4]:  # the four kinds
        silence = play(WORLD, task, silent).reward
        assert silence is not None
        assert await earns(client, task, reference) == 1.0
        assert await earns(client, task, silent) == silence.value < 1.0
    await ask(client, "rods_reset", task_id=TASKS[0].id)
    messages = list(reference(TASKS[0]))
    for message in messages[:3]:
        await act(client, message)
    here = await ask(client, "rods_snapshot")
    for _ in range(2):
        await ask(client, "rods_restore", snapshot=here)
        for message in messages[3:]:
            await act(client, message)
        assert (await ask(client, "rods_verify"))["solved"]


async def annoy(client: Client) -> None:
    """Nonsense is answered with a tool error, and the episode goes on."""
    await ask(client, "rods_reset", task_id=TASKS[0].id)
    nonsense: list[tuple[str, dict[str, Any]]] = [
        ("", {}),
        ("rods_restore", {"snapshot": {"task_id": TASKS[0].id, "messages": [1], "shown": []}}),
        ("rods_reset", {"task_id": "x" * 100_000}),
        ("count", {"item": {"deep": [[[[[["x"]]]]]]}}),
        ("add", {"item": "bolts", "amount": -1}),
        ("count", {"item": "\x00" * 1000}),
    ]
    for name, arguments in nonsense:
        answer = await client.call_tool(name, arguments)
        assert answer.is_error
        (text,) = [part.text for part in answer.content if part.type == "text"]
        assert 0 < len(text) < 400
        assert "\n" not in text
    assert not (await ask(client, "rods_progress"))["done"]


@pytest.mark.slow
@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_over_stdio_the_reference_earns_one(
    environment: dict[str, str], tmp_path: Path, era: Any
) -> None:
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "rods", "serve", "stockroom"],
        env=environment,
        cwd=tmp_path,
    )

    async def check() -> None:
        async with Client(command, mode=era) as client:
            await play_all(client)
            await annoy(client)

    anyio.run(check)


def lines(*messages: Any) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


HANDSHAKE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2024-11-05",
        "capabilities": {},
        "clientInfo": {"name": "old", "version": "0"},
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("ended_by", ["end of stdin", "Ctrl-C"])
def test_garbage_ends_nothing_and_stdout_holds_the_protocol_only(
    environment: dict[str, str], tmp_path: Path, ended_by: str
) -> None:
    """Spoken by hand, in the oldest revision: what a client of protocol 1.0 sends."""
    said = (
        b"garbage\n[]\n\xff\xfe\n"
        + b"[" * 100_000
        + b"\n"
        + lines(
            HANDSHAKE,
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": 2, "method": "no/such"},
            {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": 7}},
        )
        + b'{"jsonrpc":"2.0","id":4,"method":"tools/call","params":'
        b'{"name":"rods_reset","arguments":{"task_id":"\\ud800"}}}\n'
        + lines({"jsonrpc": "2.0", "id": 5, "method": "tools/list"})
    )
    command = [sys.executable, "-m", "rods", "serve", "stockroom"]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(said)
        server.stdin.flush()
        answers = {}
        while 5 not in answers:
            line = server.stdout.readline()
            assert line, server.stderr and server.stderr.read()
            answer = json.loads(line)
            answers[answer.get("id")] = answer
        if ended_by == "Ctrl-C":
            server.send_signal(signal.SIGINT)  # and stdin stays open
            server.wait(100)
        rest, errors = server.communicate(timeout=100)
    assert server.returncode == (130 if ended_by == "Ctrl-C" else 0)
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in rest.splitlines())
    assert b"Traceback" not in errors
    assert answers[1]["result"]["protocolVersion"] == "2024-11-05"
    assert "error" in answers[2]
    assert "error" in answers[3]
    listed = {tool["name"] for tool in answers[5]["result"]["tools"]}
    assert listed == set(WORLD.tools())


# ------------------------------------------------------------------------------- HTTP
@pytest.fixture(scope="module")
def server(stockroom_path: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The address of a server over HTTP, and its process."""
    command = [sys.executable, "-m", "rods", "serve", "stockroom", "--port", "0"]
    process = subprocess.Popen(
        command,
        env={**os.environ, "PYTHONPATH": str(stockroom_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    yield process.stderr.readline().split()[-1], process
    process.kill()
    process.communicate()


@asynccontextmanager
async def clients(url: str, n: int) -> AsyncIterator[list[Client]]:
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(Client(url)) for _ in range(n)]


@pytest.mark.slow
def test_over_http_each_client_has_its_own_episode(
    server: tuple[str, subprocess.Popen[str]],
) -> None:
    async def check() -> None:
        async with clients(server[0], 2) as (first, second):
            await ask(first, "rods_reset", task_id=TASKS[0].id)
            await play_all(second)
            await annoy(second)
            assert (await ask(first, "rods_snapshot"))["messages"] == []

    anyio.run(check)


@pytest.mark.slow
def test_a_client_without_a_session_is_told_what_to_do(
    server: tuple[str, subprocess.Popen[str]],
) -> None:
    async def check() -> None:
        async with Client(server[0], mode="2026-07-28") as client:
            answer = await client.call_tool("rods_reset", {})
            assert answer.is_error
            assert "needs a session" in str(answer.content)
        async with httpx2.AsyncClient() as plain:
            bad = await plain.post(server[0], content=b"garbage")
            assert 400 <= bad.status_code < 500
            elsewhere = await plain.post(server[0], headers={"Host": "evil.example"})
            assert 400 <= elsewhere.status_code < 500

    anyio.run(check)


@pytest.mark.slow
def test_ctrl_c_ends_it_without_a_traceback(server: tuple[str, subprocess.Popen[str]]) -> None:
    process = server[1]
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert errors.strip().splitlines()[-1:] == ["Interrupted."]
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("stokroom",), "Did you mean 'stockroom'?"),
        ((), "Missing argument 'PLUGIN'"),
        (("stockroom", "--port", "99999"), "99999 is not in the range"),
        (("stockroom", "--task", "fake_train_bas_0"), "Did you mean 'fake_train_base_0'?"),
        (("stockroom", "--split", "test"), "Invalid value for '--split'"),
        (("stockroom", "-o", "environment.nope=1"), "nope"),
        (("stockroom", "--port", "0", "--host", "256.1.1.1"), "Cannot listen on 256.1.1.1"),
    ],
)
def test_bad_input_is_one_line(here: Rods, arguments: tuple[str, ...], said: str) -> None:
    done = here("serve", *arguments)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert said in done.stderr
