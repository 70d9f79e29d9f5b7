"""Any environment as an ``Environment`` of OpenEnv; openenv is imported when one is asked for.

::

    made = openenv_export(world)
    app = create_fastapi_app(made.factory, made.action, made.observation)

An action calls a tool, or says the last words of a turn; then the observation is the user's next
message. The reward comes with the last observation, and is None where an outage ended the episode.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from uuid import uuid4

from pydantic import Field

from rods.episode import EpisodeLimits
from rods.errors import ConfigError, WorldError
from rods.interfaces import Environment
from rods.serving.interactive import LIMITS, InteractiveEpisode
from rods.serving.task_index import TaskIndex
from rods.types import Split, Task, ToolSpec

SPLITS: tuple[Split, ...] = ("train", "eval")


@dataclass(frozen=True, slots=True)
class OpenEnvExport:
    """What OpenEnv's ``create_app`` takes: ``factory`` makes an environment for each session."""

    factory: Callable[[], Any]
    action: type[Any]
    observation: type[Any]


def openenv_export(
    environment: Environment, splits: Sequence[Split] = SPLITS, limits: EpisodeLimits = LIMITS
) -> OpenEnvExport:
    """The environment for OpenEnv; a ConfigError where openenv is not installed."""
    base, action, observation, state = _classes()
    indexes = {split: TaskIndex(environment, (split,)) for split in splits}
    order = _Order()

    class Served(_Played, base):  # type: ignore[misc, valid-type]
        """An episode of the environment at a time."""

        SUPPORTS_CONCURRENT_SESSIONS = True

        def __init__(self) -> None:
            base.__init__(self)
            _Played.__init__(self, environment, indexes, order, limits, observation, state)

    return OpenEnvExport(factory=Served, action=action, observation=observation)


class _Order:
    """Which task comes next, over all sessions."""

    def __init__(self) -> None:
        self._given = 0
        self._lock = threading.Lock()

    def next(self) -> int:
        with self._lock:
            self._given += 1
            return self._given - 1


class _Played:
    """OpenEnv's methods; every world is driven the same way."""

    def __init__(
        self,
        environment: Environment,
        indexes: dict[Split, TaskIndex],
        order: _Order,
        limits: EpisodeLimits,
        observation: type[Any],
        state: type[Any],
    ) -> None:
        self._play = InteractiveEpisode(environment, limits)
        self._indexes, self._order = indexes, order
        self._observation, self._state = observation, state
        self._id, self._steps = "", 0

    # ---------------------------------------------------------------- episodes
    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        task_id: str | None = None,
        split: str | None = None,
        index: int | None = None,
        **_: Any,
    ) -> Any:
        """A fresh episode of the task ``task_id``, or of ``split`` and ``index``.

        Without them ``seed`` chooses one; without a seed the next in order is played.
        """
        tasks = self._tasks(split or next(iter(self._indexes)))
        chosen = index if index is not None else self._order.next() if seed is None else seed
        task = self._named(task_id) if task_id else tasks[chosen % len(tasks)]
        self._id, self._steps = episode_id or uuid4().hex, 0
        try:
            opening = self._play.reset(task)
        except WorldError as outage:
            return self._over(str(outage), error=True)
        return self._seen(opening.user, "user", system=opening.system)

    def step(self, action: Any, timeout_s: float | None = None, **_: Any) -> Any:
        """What the tool answers, or what the user says next."""
        self._steps += 1
        try:
            if action.tool:
                result = self._play.call(action.tool, action.arguments)
                return self._seen(result.content, "tool", error=result.error)
            return self._seen(self._play.end_turn(action.message) or "", "user")
        except WorldError as outage:
            return self._over(str(outage), error=True)

    @property
    def state(self) -> Any:
        """The episode's id and how many steps it has."""
        return self._state(episode_id=self._id or None, step_count=self._steps)

    def close(self) -> None:
        """The world is closed."""
        self._play.close()

    # ---------------------------------------------------------------- tasks
    def list_splits(self) -> list[str]:
        """The splits that can be played."""
        return list(self._indexes)

    def num_tasks(self, split: str) -> int:
        """How many tasks the split has."""
        return len(self._tasks(split))

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        """The tasks of the split, without what solves them."""
        return [self.get_task(split, index) for index in range(self.num_tasks(split))]

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """One task: its id, its kind, its number of turns; IndexError where there is none."""
        if index < 0:
            raise IndexError(f"There is no task {index} in {split!r}.")
        task = self._tasks(split)[index]
        return {"id": task.id, "index": index, "kind": task.kind, "turns": len(task.turns)}

    # ---------------------------------------------------------------- inside
    def _tasks(self, split: str) -> list[Task]:
        if split not in self._indexes:
            raise IndexError(f"There is no split {split[:40]!r}, but {', '.join(self._indexes)}.")
        return self._indexes[split].tasks()

    def _named(self, task_id: str) -> Task:
        found = (task for index in self._indexes.values() for task in index.tasks())
        return next((t for t in found if t.id == task_id), None) or self._play.index.task(task_id)

    def _seen(self, text: str, role: str, **more: Any) -> Any:
        if self._play.done:
            return self._over(text, role=role, **more)
        tools = [_shown(spec) for spec in self._play.tools]
        return self._observation(text=text, role=role, tools=tools, **more)

    def _over(self, text: str, **more: Any) -> Any:
        verdict = self._play.verify()
        metadata = {"verdict": verdict.model_dump(mode="json")}
        return self._observation(
            text=text, done=True, reward=verdict.reward, metadata=metadata, **more
        )


def _shown(spec: ToolSpec) -> dict[str, Any]:
    return {
        "name": spec.name,
        "description": spec.description,
        "input_schema": spec.parameters,
    }


@cache
def _classes() -> tuple[Any, type[Any], type[Any], type[Any]]:
    """OpenEnv's interface, and our action, observation and state."""
    try:
        from openenv.core.env_server import (  # type: ignore[import-not-found] # noqa: PLC0415
            interfaces,
            types,
        )
    except ImportError as error:
        raise ConfigError(
            f"The export needs the package openenv ({error}): pip install openenv, in an "
            "environment of its own, as it wants mcp 1.x."
        ) from error

    class RodsAction(types.Action):  # type: ignore[misc]
        """A call of ``tool``; without one the turn ends with ``message``."""

        tool: str = Field("", description="The tool to call; empty: the turn is over.")
        arguments: dict[str, Any] = Field(default_factory=dict, description="By name.")
        message: str = Field("", description="What the user is told at the end of a turn.")

    class RodsObservation(types.Observation):  # type: ignore[misc]
        """A tool's answer or the user's message, and the tools that may be called now."""

        text: str = Field("", description="What the policy reads.")
        role: str = Field("user", description="Who says it: tool or user.")
        error: bool = Field(False, description="The call failed, or the world is out of order.")
        system: str = Field("", description="The world's instructions; at the reset only.")
        tools: list[dict[str, Any]] = Field(default_factory=list)

    # pydantic looks the names of annotations up in the module when it builds a schema late
    RodsAction.model_rebuild()
    RodsObservation.model_rebuild()
    return interfaces.Environment, RodsAction, RodsObservation, types.State
