"""A server that does not repeat is refused, with what differed and a mask that hides it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rods.errors import ConfigError
from rods.types import Task, ToolCall, Turn

from .conftest import World


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    path = tmp_path / "tasks.jsonl"
    calls = (
        ToolCall(name="put", arguments={"name": "cup", "count": 2}),
        ToolCall(name="find", arguments={"name": "cup"}),
    )
    task = Task(
        id="one",
        environment="mcp",
        tools=("put", "find"),
        turns=(Turn(user="put 2 cup on the shelf and find cup", reference=calls),),
        initial_state={},
    )
    path.write_text(task.model_dump_json() + "\n")
    return path


def refusal(world: World, arguments: str, tasks: Path, **options: object) -> str:
    with pytest.raises(ConfigError) as caught:
        world(arguments, tasks=tasks, probe=True, **options).tasks("train")
    return str(caught.value)


def proposed(message: str) -> list[str]:
    return json.loads(message.partition("environment.masks=")[2].partition("]")[0] + "]")  # type: ignore[no-any-return]


@pytest.mark.parametrize("fault", ["uuid", "clock", "hidden-clock"])
def test_what_differs_is_told_and_the_proposed_mask_hides_it(
    fault: str, world: World, tasks: Path
) -> None:
    said = refusal(world, f"--fault {fault}", tasks)
    assert "does not repeat" in said
    assert ("call 1 of task one, put" if fault != "hidden-clock" else "in listing") in said
    masks = tuple(proposed(said))
    again = world(f"--fault {fault}", tasks=tasks, probe=True, masks=masks)
    assert [task.id for task in again.tasks("train")] == ["one"]
    assert again.determinism == "probed"


def test_a_reset_that_resets_nothing_is_found(world: World, tasks: Path) -> None:
    said = refusal(world, "", tasks, reset="hook", reset_hook="true")
    assert "in a server that was used before (environment.reset does not reset it)" in said


def test_without_the_probe_nothing_is_claimed(world: World, tasks: Path) -> None:
    environment = world("--fault uuid", tasks=tasks, probe=False)
    assert len(environment.tasks("train")) == 1
    assert environment.determinism == "no"
