"""Which tasks are worth a variant: the train split, tasks of a file, or what rollouts measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from statistics import fmean, pvariance
from typing import Any

from pydantic import ValidationError

from rods.errors import ConfigError, DataError, did_you_mean
from rods.interfaces import Environment, Selector
from rods.jsonl import JsonlReader
from rods.preflight import no_train_tasks
from rods.selectors.evidence import Evidence
from rods.selectors.quotas import QuotaSelector
from rods.types import KINDS, JsonObject, Task


def seed_tasks(
    environment: Environment, files: Sequence[JsonlReader], kinds: Sequence[str] = ()
) -> list[Task]:
    """The train split and what ``files`` hold beside it, of the wanted kinds (empty: all).

    A ConfigError where that is nothing.
    """
    for kind in kinds:
        if kind not in KINDS:
            raise ConfigError(f"There is no kind {kind!r}. {did_you_mean(kind, KINDS)}")
    tasks = {task.id: task for task in environment.tasks("train")}
    for reader in files:
        for number, line in reader:
            task = _read_seed(environment, reader, number, line)
            tasks.setdefault(task.id, task)
    wanted = [task for task in tasks.values() if not kinds or task.kind in kinds]
    if tasks and not wanted:
        there = ", ".join(sorted({task.kind for task in tasks.values()}))
        raise ConfigError(
            f"{environment.name} has no train task of kind {', '.join(kinds)}; there are: {there}."
        )
    if not tasks:
        raise ConfigError(no_train_tasks(environment))
    return interleaved(wanted)


def interleaved(tasks: Sequence[Task]) -> list[Task]:
    """The tasks with their kinds in turn, so that a few variants already are of every kind."""
    by_kind: dict[str, list[Task]] = {}
    for task in tasks:
        by_kind.setdefault(task.kind, []).append(task)
    rounds = zip_longest(*by_kind.values())
    return [task for together in rounds for task in together if task is not None]


def _read_seed(environment: Environment, reader: JsonlReader, number: int, line: bytes) -> Task:
    where = f"{reader.path} line {number}"
    recorded = reader.parse(number, line)
    try:
        task = Task.model_validate(recorded.get("task", recorded))  # an exported row holds one
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(map(str, fault["loc"]))
        raise DataError(f"{where} is no task: {place}: {fault['msg']}.") from error
    if task.environment != environment.name:
        raise DataError(f"{where} is a task of {task.environment!r}, not {environment.name!r}.")
    if task.split == "eval":
        raise DataError(f"{where} is an evaluation task; its variants would contaminate.")
    return task


# ------------------------------------------------------------------------------- rollouts
@dataclass(slots=True)
class Measured:
    """What lines of rollouts say about train tasks, and how many were of tasks that are none."""

    evidence: dict[str, Evidence] = field(default_factory=dict)
    lines: int = 0
    held_out: int = 0  # lines of evaluation tasks: no seeds, their variants would contaminate

    def of_kinds(self, kinds: Sequence[str]) -> list[Evidence]:
        """The evidence on tasks of these kinds; on all of them where none is named."""
        return [one for one in self.evidence.values() if not kinds or one.kind in kinds]


def rollout_files(path: Path) -> list[Path]:
    """The file itself; of a folder its JSON-lines files, of a run's folder those of ``rollouts/``.

    They come in the order of their names, which is that of a run's steps.
    """
    if not path.is_dir():
        return [path]
    folder = path / "rollouts" if (path / "rollouts").is_dir() else path
    files = sorted(p for p in folder.iterdir() if p.name.endswith((".jsonl", ".jsonl.gz")))
    if not files:
        raise DataError(f"{folder} holds no rollouts: no file in it ends in .jsonl or .jsonl.gz.")
    return files


def read_evidence(
    readers: Sequence[JsonlReader],
    tasks: Mapping[str, Task],
    held_out: frozenset[str] = frozenset(),
) -> Measured:
    """What lines ``{"task_id": ..., "rewards": [...]}`` say about tasks with two or more rewards.

    The last line of a task counts: it is the latest policy's. ``null`` is a rollout that an outage
    ended. Other keys are ignored, and so are lines of evaluation tasks; whatever else is wrong is
    a DataError that names the line.
    """
    found = Measured()
    for reader in readers:
        for number, line in reader:
            recorded = reader.parse(number, line)
            found.lines += 1
            if recorded.get("task_id") in held_out:
                found.held_out += 1
                continue
            _measure(found, recorded, tasks, reader.path, f"{reader.path} line {number}")
    return found


def _measure(
    found: Measured, recorded: JsonObject, tasks: Mapping[str, Task], path: Path, where: str
) -> None:
    task = _known_task(recorded, tasks, path, where)
    rewards = _rewards(recorded, where)
    if len(rewards) >= 2:
        mean, variance = fmean(rewards), pvariance(rewards)
        found.evidence[task.id] = Evidence(task.id, task.kind, mean, variance, format_share=0.0)


def boundary_seeds(
    selector: Selector, evidence: Sequence[Evidence], tasks: Mapping[str, Task]
) -> list[Task]:
    """The measured tasks that the selector's rule takes as seeds, best first, without quotas."""
    if not isinstance(selector, QuotaSelector):
        raise ConfigError(
            f"The selector {selector.name!r} cannot rank rollouts of a file; use "
            "-o selector.name=boundary."
        )
    return [tasks[task_id] for task_id, _ in selector.rank(0, evidence)]


def _known_task(recorded: JsonObject, tasks: Mapping[str, Task], path: Path, where: str) -> Task:
    task_id = recorded.get("task_id")
    if not isinstance(task_id, str):
        raise DataError(f"{where} has no column 'task_id' with a string.")
    entry_id = recorded.get("entry_id")  # in our own rollouts, of the task that this is a draw of
    if task_id not in tasks and isinstance(entry_id, str) and entry_id in tasks:
        return tasks[entry_id]
    if task_id in tasks:
        return tasks[task_id]
    if task_id.startswith("syn-"):
        raise DataError(f"{where}: the variant {task_id!r} is not known. {_export_of(path)}")
    hint = did_you_mean(task_id, tasks) if len(tasks) < 20 else _nearest(task_id, tasks)
    raise DataError(f"{where}: no train task is called {task_id!r}. {hint}")


def _export_of(rollouts: Path) -> str:
    """How variants become known: by the pool of the run that they were played in."""
    run = rollouts.absolute().parent.parent
    place = rollouts.parent.parent if (run / "config.toml").is_file() else "RUN"
    return (
        f"Export the tasks of its run's pool (rods pool export {place} --out tasks.jsonl) and add "
        "--seeds tasks.jsonl."
    )


def _nearest(task_id: str, tasks: Mapping[str, Task]) -> str:
    """``did_you_mean`` without a list of hundreds of ids."""
    hint = did_you_mean(task_id, tasks)
    return (
        hint if hint.startswith("Did") else f"There are {len(tasks)}, e.g. {next(iter(tasks))!r}."
    )


def _rewards(recorded: JsonObject, where: str) -> tuple[float, ...]:
    rewards: Any = recorded.get("rewards")
    if not isinstance(rewards, list):
        raise DataError(f"{where} has no column 'rewards' with a list of numbers.")
    for reward in rewards:
        number = isinstance(reward, int | float) and not isinstance(reward, bool)
        if reward is not None and not (number and 0 <= reward <= 1):
            raise DataError(f"{where}: the reward {reward!r} is no number in [0, 1].")
    return tuple(float(reward) for reward in rewards if reward is not None)
