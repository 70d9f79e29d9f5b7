"""The tasks that can be played, by id and in order."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence

from rods.errors import DataError, did_you_mean
from rods.interfaces import Environment
from rods.types import Split, Task


class TaskIndex:
    """The tasks of some splits of an environment; others, such as variants, can be put beside."""

    def __init__(
        self, environment: Environment, splits: Sequence[Split] = ("train", "eval")
    ) -> None:
        self._environment = environment
        self._splits = splits
        self._extra: dict[str, Task] = {}
        self._loaded: dict[str, Task] | None = None
        self._loading = threading.Lock()

    def put(self, tasks: Iterable[Task]) -> None:
        """These can be named from now on; they come after the environment's own."""
        self._extra.update((task.id, task) for task in tasks)

    def tasks(self) -> list[Task]:
        """All of them, in order."""
        return list({**self._own(), **self._extra}.values())

    def task(self, task_id: str) -> Task:
        """The task of this id; DataError names the nearest one where there is none."""
        task = self._extra.get(task_id) or self._own().get(task_id)
        if task is None:
            known = [*self._own(), *self._extra]
            raise DataError(
                f"There is no task {task_id[:80]!r} in {' and '.join(self._splits)}. "
                f"{did_you_mean(task_id, known)}"
            )
        return task

    def _own(self) -> dict[str, Task]:
        with self._loading:
            if self._loaded is None:
                splits = [self._environment.tasks(split) for split in self._splits]
                self._loaded = {task.id: task for tasks in splits for task in tasks}
            return self._loaded
