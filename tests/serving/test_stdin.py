"""Lines of a pipe, and an event loop that need not wait for the next one."""

from __future__ import annotations

import os

import anyio
import pytest

from rods.serving.stdin import Lines


def test_lines_arrive_whole_whatever_the_blocks_are() -> None:
    reading, writing = os.pipe()
    sent = [b"one\n", b"tw", b"o\n\n", b"\xff\n", b"x" * 200_000, b"\nlast"]
    heard: list[str] = []

    async def check() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(anyio.to_thread.run_sync, send)
            async for line in Lines(reading):
                heard.append(line)

    def send() -> None:
        for block in sent:
            os.write(writing, block)
        os.close(writing)

    anyio.run(check)
    os.close(reading)
    assert heard == ["one", "two", "", "\ufffd", "x" * 200_000, "last"]


def test_a_loop_that_waits_for_a_line_can_end() -> None:
    reading, writing = os.pipe()

    async def check() -> None:
        with anyio.fail_after(0.05):
            async for _ in Lines(reading):
                pass

    with pytest.raises(TimeoutError):
        anyio.run(check)
    os.write(writing, b"too late\n")  # the thread finds that nobody listens, and ends
    os.close(writing)
