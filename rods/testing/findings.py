"""How a check of the kit tells what it found."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rods.interfaces import Environment, Session
from rods.types import Check, JsonObject, Split, Task, ToolResult, ToolSpec

IDLE = "idle"  # the flag of an evaluation task that doing nothing solves by its own rules
DEFECT = "defect"  # the flag of a task whose own reference does not hold: listed, not failed
FLAG_IT = f"mend the reference, or flag the task as {DEFECT!r} if the fault is upstream's"
_SHOWN = 5


class Finding(Exception):  # noqa: N818 - the outcome of a check, not a fault of the kit
    """What does not conform, and what mends it."""

    def __init__(self, detail: str, fix: str = "") -> None:
        super().__init__(detail)
        self.detail, self.fix = detail, fix


def checked(name: str, advice: str, function: Callable[[], str]) -> Check:
    """The row of one check: what it found, and what mends it; whatever it raises is a finding."""
    name = name.replace("_", " ")
    try:
        detail = function()
    except Finding as finding:
        return Check(name=name, ok=False, detail=finding.detail, fix=finding.fix or advice)
    except Exception as error:  # noqa: BLE001 - whatever a part under test raises is a finding
        return Check(name=name, ok=False, detail=shown(error), fix=advice)
    return Check(name=name, ok=True, skipped=detail.startswith("skipped"), detail=detail)


def shown(error: Exception) -> str:
    """``KeyError: 'count'``."""
    return f"{type(error).__name__}: {str(error)[:300]}"


@dataclass(frozen=True, slots=True)
class Subject:
    """The environment under test with all its tasks, and the sample that is played."""

    environment: Environment
    tasks: Mapping[Split, Sequence[Task]]
    sample: Sequence[Task]
    specs: Mapping[str, ToolSpec]
    sessions: int = 64
    untouched: Mapping[str, JsonObject] = field(default_factory=dict)
    """Task id -> its initial state, copied before anything is played."""

    @property
    def ids(self) -> Mapping[Split, frozenset[str]]:
        """The ids of each split."""
        return {split: frozenset(t.id for t in tasks) for split, tasks in self.tasks.items()}

    @property
    def all_tasks(self) -> list[Task]:
        """The tasks of both splits."""
        return [task for tasks in self.tasks.values() for task in tasks]


def for_each(
    tasks: Iterable[Task],
    problem: Callable[[Task], str | None],
    fix: str = "",
    *,
    excuse: bool = False,
) -> str:
    """``40 tasks``; a Finding that lists those with a problem.

    ``excuse``: tasks flagged ``defect`` are listed too, but do not fail.
    """
    found: dict[str, str] = {}
    known: dict[str, str] = {}
    count = 0
    for task in tasks:
        count += 1
        text = _problem(problem, task)
        if text is not None:
            (known if excuse and DEFECT in task.flags else found)[task.id] = text
    if found:
        raise Finding(listed(found, count), fix)
    return f"{count} tasks" + (f"; known defects: {listed(known, count)}" if known else "")


def _problem(problem: Callable[[Task], str | None], task: Task) -> str | None:
    try:
        return problem(task)
    except Finding as finding:
        return finding.detail
    except Exception as error:  # noqa: BLE001 - whatever a world under test raises is a finding
        return shown(error)


def listed(found: Mapping[str, str], count: int) -> str:
    """``3 of 40 tasks (a, b, c); a: what is wrong``."""
    ids = ", ".join(list(found)[:_SHOWN]) + (", ..." if len(found) > _SHOWN else "")
    first, text = next(iter(found.items()))
    return f"{len(found)} of {count} tasks ({ids}); {first}: {text}"


def no_reference(tasks: Iterable[Task]) -> str:
    """Why nothing can be replayed, if no task has a reference; else nothing."""
    if any(task.reference_calls for task in tasks):
        return ""
    return "skipped: no task has reference calls, they are judged otherwise"


def run_reference(session: Session, task: Task) -> list[ToolResult]:
    """The results of the reference's calls, in order."""
    return [session.call(call) for turn in task.turns for call in turn.reference]


def copy_of_states(tasks: Iterable[Task]) -> dict[str, JsonObject]:
    """Task id -> a copy of its initial state."""
    return {task.id: copy.deepcopy(task.initial_state) for task in tasks}
