"""A world that rods serves over HTTP is a world again: the foreign server of these tests."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from rods_office.environment import OfficeEnvironment

from rods.testing import play, reference, silent
from rods.types import Task

from .conftest import World

pytestmark = pytest.mark.slow

READING = ("list_files", "list_contacts", "list_events", "list_orders")


@pytest.fixture
def office() -> Iterator[str]:
    """The address of a served office; a call more than the limit would end its episode."""
    command = [sys.executable, "-m", "rods", "serve", "office", "--port", "0"]
    command += ["--calls-per-turn", "100000"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        yield process.stderr.readline().split()[-1]
        process.terminate()


def test_a_served_world_is_a_world_again(office: str, world: World, tmp_path: Path) -> None:
    first, second = OfficeEnvironment().tasks("train")[:2]
    path = tmp_path / "tasks.jsonl"
    with path.open("w") as file:
        for task in (first, second):
            begin = {"name": "rods_reset", "arguments": {"task_id": task.id}}
            update = {"environment": "mcp", "initial_state": {"calls": [begin]}}
            file.write(
                Task.model_validate({**task.model_dump(), **update}).model_dump_json() + "\n"
            )
    environment = world(
        server=office,
        reset="tool",
        reset_tool={"tool": "rods_reset", "arguments": {"task_id": first.id}},
        shared=False,
        state=[{"tool": name} for name in READING],
        tasks=path,
        probe=True,
    )
    tasks = environment.tasks("train")
    assert [task.id for task in tasks] == [first.id, second.id]
    assert environment.determinism == "probed"
    assert [play(environment, task, reference).reward.value for task in tasks] == [1, 1]  # type: ignore[union-attr]
    assert all(play(environment, task, silent).reward.value < 1 for task in tasks)  # type: ignore[union-attr]
