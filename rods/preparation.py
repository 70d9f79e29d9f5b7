"""What a policy plays before the tasks of an evaluation; an interrupted one goes on with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from pydantic import ValidationError

from rods.errors import DataError
from rods.files import append_line, read_lines, repair_lines, write_atomic
from rods.interfaces import Environment
from rods.types import Rollout, RolloutGroup, Task


class Policy(Protocol):
    """Whoever plays tasks: a trainer with its present policy, or a model of a server."""

    def evaluate(
        self,
        tasks: Sequence[Task],
        environment: Environment,
        *,
        k: int,
        seed: int,
        progress: Callable[[int, int], None] | None = None,
    ) -> list[RolloutGroup]:
        """k sampled rollouts of every task, in the order of ``tasks``."""
        ...


class Preparation:
    """Plays tasks once each. With a file, what was played under its terms is not played again."""

    def __init__(
        self,
        policy: Policy,
        environment: Environment,
        *,
        seed: int,
        file: Path | None = None,
        terms: str = "",
        progress: Callable[[], None] | None = None,
    ) -> None:
        """``terms`` names all that the rollouts depend on; a file of other terms is replaced."""
        self._policy, self._environment, self._seed = policy, environment, seed
        self._file, self._terms, self._progress = file, terms, progress
        self._known = _read(file, terms) if file is not None else {}

    def play(self, tasks: Sequence[Task]) -> list[Rollout]:
        """One rollout a task, in order."""
        fresh = [task for task in tasks if task.id not in self._known]
        played = self._sampled(fresh) if fresh else []
        for task, rollout in zip(fresh, played, strict=True):
            if rollout.trajectory.stop != "error":  # an outage is tried again another time
                self._keep(task, rollout)
        new = dict(zip((task.id for task in fresh), played, strict=True))
        return [new[t.id] if t.id in new else self._known[t.id] for t in tasks]

    def _sampled(self, tasks: Sequence[Task]) -> list[Rollout]:
        groups = self._policy.evaluate(
            tasks, self._environment, k=1, seed=self._seed, progress=self._moved
        )
        return [group.rollouts[0] for group in groups]

    def _moved(self, done: int, total: int) -> None:
        if self._progress is not None:
            self._progress()

    def _keep(self, task: Task, rollout: Rollout) -> None:
        if self._file is None:
            return
        if not self._known:
            write_atomic(self._file, json.dumps({"terms": self._terms}) + "\n")
        self._known[task.id] = rollout
        line = {"task_id": task.id, "rollout": rollout.model_dump(mode="json")}
        append_line(self._file, json.dumps(line))


def _read(file: Path, terms: str) -> dict[str, Rollout]:
    """Task id -> its rollout, if the terms are these; a line that a kill tore is cut off."""
    repair_lines(file)
    first, *lines = read_lines(file) or [{}]
    if first.get("terms") != terms:
        return {}
    try:
        return {line["task_id"]: Rollout.model_validate(line["rollout"]) for line in lines}
    except (KeyError, ValidationError) as error:
        raise DataError(f"{file} is damaged; begin anew with --force.") from error
