"""Tasks come from a file, or exploring the tools makes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rods.errors import ConfigError, DataError
from rods.structure.constants import constants
from rods.structure.profile import profile
from rods.structure.sources import Labeller
from rods.structure.trace import idle_turns, replay
from rods.types import SourceKind, content_id

from .conftest import World

QUIET = ("clear", "save", "load_saved", "crash", "hang", "flood", "where")
LINE: dict[str, Any] = {
    "turns": [
        {
            "user": "put 2 cup on the shelf",
            "reference": [{"name": "put", "arguments": {"name": "cup", "count": 2}}],
        }
    ]
}


def written(path: Path, *lines: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_what_a_line_leaves_out_is_filled_in(world: World, tmp_path: Path) -> None:
    path = written(tmp_path / "t.jsonl", LINE, {**LINE, "id": "b", "split": "eval"})
    environment = world(tasks=path)
    (train,) = environment.tasks("train")
    assert (train.environment, train.tools) == ("mcp", tuple(environment.tools()))
    assert train.id == content_id(train)
    assert [task.id for task in environment.tasks("eval")] == ["b"]
    assert environment.data_hashes().keys() == {"t.jsonl"}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"turns": 3}, r"line 1: turns"),
        ({**LINE, "tools": ["putt"]}, r"line 1: there is no tool 'putt'. Did you mean 'put'"),
        ({**LINE, "initial_state": {"files": {"/x": "y"}}}, r"line 1: initial_state.files"),
        ({**LINE, "initial_state": {"calls": [{"nme": "put"}]}}, r"line 1: .*nme"),
    ],
)
def test_a_fault_of_a_file_names_the_line(
    line: dict[str, Any], said: str, world: World, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=said):
        world(tasks=written(tmp_path / "t.jsonl", line)).tasks("train")


def test_a_task_that_stands_twice_is_named(world: World, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"line 2 is the task of line 1"):
        world(tasks=written(tmp_path / "t.jsonl", LINE, LINE)).tasks("train")


def test_exploring_gives_tasks_that_repeat_and_have_a_source_for_every_argument(
    world: World,
) -> None:
    options: dict[str, Any] = {"deny": QUIET, "reset": "files", "n_train": 3, "n_eval": 2}
    environment = world(**options)
    tasks = {split: list(environment.tasks(split)) for split in ("train", "eval")}
    assert {split: len(found) for split, found in tasks.items()} == {"train": 3, "eval": 2}
    labeller = Labeller(constants(environment.tools()))
    kinds = set()
    for task in [*tasks["train"], *tasks["eval"]]:
        trace = replay(environment, task, states=range(-1, len(task.turns)))
        assert not trace.failed
        assert idle_turns(task, trace) == []
        sources = labeller.label(task, trace)
        kinds |= {source.kind for source in sources}
        assert profile(task, trace, sources).turns == len(task.turns)
    assert SourceKind.UNKNOWN not in kinds
    assert SourceKind.USER in kinds
    ids = [content_id(task) for found in tasks.values() for task in found]
    assert len(set(ids)) == 5
    assert world(**options).tasks("train") == tasks["train"]


def test_tools_that_change_nothing_give_no_tasks_and_say_so(world: World) -> None:
    with pytest.raises(ConfigError, match=r"gave no task.*environment\.tasks"):
        world(allow=("listing",)).tasks("train")


def test_exploring_refuses_a_server_that_does_not_repeat(world: World) -> None:
    with pytest.raises(ConfigError, match=r"does not repeat.*\$\.receipt"):
        world("--fault uuid", deny=QUIET, probe=True, reset="files").tasks("train")
