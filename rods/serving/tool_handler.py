"""Answers one client's calls: the world's tools and the control tools, by name.

Nothing that a client sends raises: every answer is a text, and an error is one clear line.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from pydantic import ValidationError

from rods.episode import EpisodeLimits
from rods.errors import ConfigError, RodsError, reason
from rods.interfaces import Environment
from rods.serving.controls import (
    CONTROLS,
    PREFIX,
    EndTurnArguments,
    NoArguments,
    ResetArguments,
    RestoreArguments,
    TasksArguments,
    control_specs,
)
from rods.serving.interactive import LIMITS, InteractiveEpisode
from rods.serving.records import Snapshot
from rods.serving.task_index import TaskIndex
from rods.types import JsonObject, ToolSpec

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Answer:
    """What the client reads; control tools answer with an object too, unless they fail."""

    text: str
    error: bool = False
    content: JsonObject | None = None


class ToolHandler:
    """One client's episode, and what can be asked of it."""

    def __init__(
        self,
        environment: Environment,
        index: TaskIndex,
        limits: EpisodeLimits = LIMITS,
        list_control: bool = False,
        task_id: str | None = None,
    ) -> None:
        """``task_id``: the client finds an episode of this task, and need not reset."""
        refuse_taken_names(environment)
        self.environment = environment
        self.play = InteractiveEpisode(environment, limits, index)
        self._listed = control_specs() if list_control else []
        self._next = 0
        self._controls: Mapping[str, Callable[[Any], JsonObject]] = {
            "rods_tasks": self._tasks,
            "rods_reset": self._reset,
            "rods_end_turn": self._end_turn,
            "rods_snapshot": self._snapshot,
            "rods_restore": self._restore,
            "rods_progress": self._progress,
            "rods_verify": self._verify,
        }
        if task_id is not None:  # an outage is told by the first call
            self.call("rods_reset", {"task_id": task_id})

    def tools(self) -> list[ToolSpec]:
        """The tools to list: those of the task at this turn, all of the world before a reset."""
        world = self.play.tools if self.play.started else self.environment.tools().values()
        return [*world, *self._listed]

    def call(self, name: str, arguments: Mapping[str, Any]) -> Answer:
        """The answer of a tool of the world, or of a control tool; never an exception."""
        try:
            if name in self._controls:
                takes = CONTROLS[name][0].model_validate(arguments)
                return _told(self._controls[name](takes))
            result = self.play.call(name, dict(arguments))
            return Answer(result.content, result.error)
        except ValidationError as error:
            return Answer(f"{name[:80]}: {_misfit(error)}", error=True)
        except RodsError as error:
            return Answer(" ".join(str(error).split()), error=True)
        except Exception as error:
            logger.exception("%s failed", name[:80])
            return Answer(f"{name[:80]} failed: {reason(error)}", error=True)

    def close(self) -> None:
        """The episode's world is closed."""
        self.play.close()

    # ---------------------------------------------------------------- control tools
    def _tasks(self, arguments: TasksArguments) -> JsonObject:
        tasks = self.play.index.tasks()
        shown = tasks[arguments.offset : arguments.offset + arguments.limit]
        rows = [
            {"id": t.id, "kind": t.kind, "split": t.split, "turns": len(t.turns)} for t in shown
        ]
        return cast(JsonObject, {"tasks": rows, "total": len(tasks)})

    def _reset(self, arguments: ResetArguments) -> JsonObject:
        tasks = self.play.index.tasks()
        task = arguments.task_id or tasks[self._next % len(tasks)].id
        opening = self.play.reset(task)
        self._next += arguments.task_id is None
        told = opening.model_dump(mode="json", exclude={"tools"})
        return {**told, **self._stand()}

    def _end_turn(self, arguments: EndTurnArguments) -> JsonObject:
        return {"user": self.play.end_turn(arguments.content), **self._stand()}

    def _snapshot(self, _: NoArguments) -> JsonObject:
        return cast(JsonObject, self.play.snapshot().model_dump(mode="json"))

    def _restore(self, arguments: RestoreArguments) -> JsonObject:
        self.play.restore(Snapshot.model_validate_json(json.dumps(arguments.snapshot)))
        return {"task_id": self.play.episode.task.id, **self._stand()}

    def _progress(self, _: NoArguments) -> JsonObject:
        return {"progress": self.play.progress(), **self._stand()}

    def _verify(self, _: NoArguments) -> JsonObject:
        return cast(JsonObject, self.play.verify().model_dump(mode="json"))

    def _stand(self) -> JsonObject:
        return {"done": self.play.done, "tools": [spec.name for spec in self.play.tools]}


def refuse_taken_names(environment: Environment) -> None:
    """A ConfigError where a tool of the world has the name of a control tool."""
    if taken := sorted(CONTROLS.keys() & environment.tools().keys()):
        raise ConfigError(
            f"The environment {environment.name!r} has a tool {taken[0]!r}, and names with "
            f"{PREFIX!r} in front are those of the server; rename the tool."
        )


def _told(content: JsonObject) -> Answer:
    return Answer(json.dumps(content, ensure_ascii=False), content=content)


def _misfit(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where[:80]}: {first['msg'][:200]}"
