"""Tasks from a file: what a line leaves out is filled in, what it gets wrong is named."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rods.errors import DataError, did_you_mean
from rods.jsonl import JsonlReader
from rods.types import Split, Task, ToolSpec
from rods_mcp.places import files_of
from rods_mcp.session import opening_calls

FORMAT = '{"split": "train", "initial_state": {}, "turns": [{"user": "...", "reference": [...]}]}'


@dataclass(frozen=True, slots=True)
class TaskFile:
    """A file that was read: its tasks by split, and its digest."""

    tasks: Mapping[Split, Sequence[Task]]
    digest: str


def read_tasks(path: Path, environment: str, specs: Mapping[str, ToolSpec]) -> TaskFile:
    """The tasks of a file, in its order; a DataError names the line that is wrong."""
    reader = JsonlReader(path)
    found: dict[Split, list[Task]] = {"train": [], "eval": []}
    known: dict[str, int] = {}
    sha = hashlib.sha256()
    for number, line in reader:
        sha.update(line)
        task = _task(reader.parse(number, line), f"{path} line {number}", environment, specs)
        if task.id in known:
            raise DataError(
                f"{path} line {number} is the task of line {known[task.id]} ({task.id})."
            )
        known[task.id] = number
        found[task.split].append(task)
    if not known:
        raise DataError(f"{path} holds no task. One JSON object a line: {FORMAT}")
    return TaskFile(found, sha.hexdigest())


def _task(
    values: dict[str, Any], where: str, environment: str, specs: Mapping[str, ToolSpec]
) -> Task:
    filled = {"id": "", "environment": environment, "tools": tuple(specs), "initial_state": {}}
    try:
        task = Task.model_validate({**filled, **values})
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise DataError(f"{where}: {key}: {first['msg']}. Expected {FORMAT}") from error
    for name in {
        *task.tools_at(len(task.turns)),
        *(c.name for t in task.turns for c in t.reference),
    }:
        if name not in specs:
            raise DataError(f"{where}: there is no tool {name!r}. {did_you_mean(name, specs)}")
    if task.environment != environment:
        raise DataError(f"{where}: environment is {task.environment!r}, not {environment!r}.")
    try:
        files_of(task.initial_state)
        opening_calls(task.initial_state)
    except (DataError, ValidationError) as error:
        raise DataError(f"{where}: {' '.join(str(error).split())}") from error
    return task if task.id else task.with_content_id()
