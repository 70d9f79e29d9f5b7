"""The ACEBench Agent world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field

from rods.errors import DataError
from rods.interfaces import SimulatedUser
from rods.served.user import PeopledEnvironment, UserOptions
from rods.types import ProgressReward, Split, Task, ToolSpec, Trajectory
from rods_acebench.clone import HOW_TO_GET, Category, Clone, Language
from rods_acebench.judging import Names, verdict
from rods_acebench.tasks import CATEGORIES, category_of, goal_of, open_session, read_tasks
from rods_acebench.toolspecs import read_toolspecs
from rods_acebench.users import GREETING, AcebenchUser, ScriptedUser, system_text
from rods_acebench.world import AcebenchSession


class AcebenchEnvironment(PeopledEnvironment):
    """50 agent tasks on a phone and at a travel desk, from the user's clone; evaluation only."""

    name = "acebench"
    user_extra = "rods-acebench[user]"
    suites: ClassVar[Mapping[str, Mapping[str, Mapping[str, Any]]]] = {
        "ood": {"ACEBench Agent": {"class_names": "literal"}}
    }

    class Config(UserOptions):
        """Where the clone is, which tasks, and who the user is."""

        path: Path | None = Field(None, description="A clone of ACEBench; there is no package.")
        language: Language = Field("en", description="English or Chinese tasks.")
        categories: tuple[Category, ...] = Field(
            CATEGORIES, min_length=1, description="20 multi-step and 30 multi-turn tasks."
        )
        class_names: Names = Field(
            "aliases",
            description="Classes that the answers misspell: 'aliases' compares them all the same, "
            "'literal' passes over them, as upstream's scores do.",
        )

    config: Config

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process reads the clone again."""
        return type(self), (self.config,)

    def __deepcopy__(self, memo: dict[int, Any]) -> AcebenchEnvironment:
        """Itself: nothing in it changes but what it has read."""
        return self

    @cached_property
    def _clone(self) -> Clone:
        if self.config.path is None:
            raise DataError(HOW_TO_GET)
        return Clone(self.config.path, self.config.language)

    @cached_property
    def _tasks(self) -> list[Task]:
        names = self.config.class_names
        return [t for c in self.config.categories for t in read_tasks(self._clone, c, names)]

    @cached_property
    def _tools(self) -> Mapping[str, ToolSpec]:
        records = [entry for c in self.config.categories for entry in self._clone.records(c)]
        return read_toolspecs(records)

    # ---------------------------------------------------------------- data
    def tasks(self, split: Split) -> Sequence[Task]:
        """All tasks are for evaluation; none is for training."""
        return list(self._tasks) if split == "eval" else []

    def tools(self) -> Mapping[str, ToolSpec]:
        """The functions of all tasks."""
        return self._tools

    def instructions(self, task: Task) -> str:
        """Some lines of ours and, where there is a user, the clone's rules of the task's world."""
        if category_of(task) == "multi_step":
            return _ours("multi_step")
        parts = [_ours("multi_turn"), self._clone.rules(_travels(task))]
        if not self.config.user_is_model:
            parts.append(_ours("scripted"))
        return "\n\n".join(parts)

    def data_hashes(self) -> Mapping[str, str]:
        """Every file of the clone that the tasks are made of and played with."""
        for task in self._tasks:
            self.instructions(task)
            if self.config.user_is_model:
                system_text(self._clone, _travels(task), "")
        return self._clone.hashes

    def protocol(self) -> str:
        """How the tasks are played, in a line for reports."""
        user = self.config.user
        at_once = "that says its whole instruction at once"
        shown = user if self.config.user_is_model else at_once
        compared = "passed over" if self.config.class_names == "literal" else "compared too"
        return (
            f"ACEBench Agent ({self.config.language}): native tool calls, upstream's end-state "
            f"check, misspelt classes {compared}; multi-turn with a user {shown}."
        )

    # ---------------------------------------------------------------- the world
    def open(self, task: Task) -> AcebenchSession:
        """A fresh world in the task's initial state."""
        return open_session(self._clone, task.initial_state)

    def user(self, task: Task) -> SimulatedUser | None:
        """Somebody who answers, in multi-turn tasks."""
        if category_of(task) != "multi_turn":
            return None
        instruction = task.turns[0].user
        if not self.config.user_is_model:
            return ScriptedUser(instruction)
        system = system_text(self._clone, _travels(task), instruction)
        return AcebenchUser(self.user_model, system, GREETING[self.config.language])

    def score(self, task: Task, trajectory: Trajectory) -> ProgressReward:
        """The end state against the wanted one, after all turns."""
        session = self.open(task)
        start = session.state()
        calls = [c for turn in trajectory.turns for step in turn for c in step.executed]
        for call in calls:
            session.call(call)
        goal = goal_of(task.initial_state, self.config.class_names, start)
        end = session.state()
        return ProgressReward(verdicts=(verdict(goal, start, end, acted=bool(calls)),))


def _ours(name: str) -> str:
    return (files("rods_acebench") / f"{name}.md").read_text(encoding="utf-8").strip()


def _travels(task: Task) -> bool:
    classes = task.initial_state["classes"]
    return isinstance(classes, list) and "BaseApi" not in classes
