"""How a check of the kit tells what it found."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rods.interfaces import Environment, Session
from rods.types import JsonObject, Split, Task, ToolResult, ToolSpec

_SHOWN = 5


class Finding(Exception):  # noqa: N818 - the outcome of a check, not a fault of the kit
    """What does not conform, and what mends it."""

    def __init__(self, detail: str, fix: str = "") -> None:
        super().__init__(detail)
        self.detail, self.fix = detail, fix


@dataclass(frozen=True, slots=True)
class Subject:
    """The environment under test with all its tasks, and the sample that is played."""

    environment: Environment
    tasks: Mapping[Split, Sequence[Task]]
    sample: Sequence[Task]
    specs: Mapping[str, ToolSpec]
    sessions: int = 64
    untouched: Mapping[str, JsonObject] = field(
        default_factory=dict
    )  # initial states, copied first

    @property
    def all_tasks(self) -> list[Task]:
        """The tasks of both splits."""
        return [task for tasks in self.tasks.values() for task in tasks]


def for_each(tasks: Iterable[Task], problem: Callable[[Task], str | None], fix: str = "") -> int:
    """How many tasks were looked at; a Finding that lists those with a problem."""
    found: dict[str, str] = {}
    count = 0
    for task in tasks:
        count += 1
        try:
            text = problem(task)
        except Finding as finding:
            text = finding.detail
        except Exception as error:  # noqa: BLE001 - whatever a world under test raises is a finding
            text = f"{type(error).__name__}: {str(error)[:200]}"
        if text is not None:
            found[task.id] = text
    if found:
        raise Finding(listed(found, count), fix)
    return count


def listed(found: Mapping[str, str], count: int) -> str:
    """``3 of 40 tasks (a, b, c); a: what is wrong``."""
    ids = ", ".join(list(found)[:_SHOWN]) + (", ..." if len(found) > _SHOWN else "")
    first, text = next(iter(found.items()))
    return f"{len(found)} of {count} tasks ({ids}); {first}: {text}"


def run_reference(session: Session, task: Task) -> list[ToolResult]:
    """The results of the reference's calls, in order."""
    return [session.call(call) for turn in task.turns for call in turn.reference]


def copy_of_states(tasks: Iterable[Task]) -> dict[str, JsonObject]:
    """Task id -> a copy of its initial state."""
    return {task.id: copy.deepcopy(task.initial_state) for task in tasks}
