"""How a check of the kit tells what it found."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rods.errors import reason
from rods.faults import fault
from rods.interfaces import Environment, Session
from rods.types import Check, JsonObject, Split, Task, ToolResult, ToolSpec

IDLE = "idle"  # the flag of an evaluation task that doing nothing solves by its own rules
DEFECT = "defect"  # the flag of a task whose own reference does not hold: listed, not failed
FLAG_IT = f"mend the reference, or flag the task as {DEFECT!r} if the fault is upstream's"
_SHOWN = 5


class Finding(Exception):  # noqa: N818 - the outcome of a check, not a fault of the kit
    """What does not conform, and what mends it; ``error``: it is what an exception did."""

    def __init__(self, detail: str, fix: str = "", error: Exception | None = None) -> None:
        super().__init__(detail)
        self.detail, self.fix, self.error = detail, fix, error


class Told:
    """The exceptions that the rows of one table have told: each is told once, as what it is."""

    def __init__(self, owners: Callable[[], Iterable[str]] = frozenset) -> None:
        """``owners`` gives the packages of the part under test, once something has failed."""
        self._owners, self._rows = owners, dict[str, str]()

    def row(self, name: str, error: Exception, context: str = "") -> Check:
        """The row that tells where it was raised, or the one that points there."""
        found = fault(error, self._owners())
        first = self._rows.setdefault(found.key, name)
        if first != name:
            return Check(
                name=name,
                ok=True,
                skipped=True,
                blocked_by=first,
                detail=f"not checked: see {first!r} above",
            )
        return Check(
            name=name,
            ok=False,
            detail=f"{found}; {context}" if context else str(found),
            fix=found.fix,
            traceback=found.traceback,
        )


def checked(name: str, advice: str, function: Callable[[], str], told: Told) -> Check:
    """The row of one check: what it found, and what mends it; whatever it raises is a finding."""
    name = name.replace("_", " ")
    try:
        detail = function()
    except Finding as finding:
        if finding.error is not None:
            return told.row(name, finding.error, finding.detail)
        return Check(name=name, ok=False, detail=finding.detail, fix=finding.fix or advice)
    except Exception as error:  # noqa: BLE001 - whatever a part under test raises is a finding
        return told.row(name, error)
    return Check(name=name, ok=True, skipped=detail.startswith("skipped"), detail=detail)


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

    ``excuse``: tasks flagged ``defect`` are listed too, but do not fail. What a task raises is
    told only where no task has a problem of another kind.
    """
    found: dict[str, Finding] = {}
    known: dict[str, str] = {}
    count = 0
    for task in tasks:
        count += 1
        finding = _problem(problem, task)
        if finding is None:
            continue
        if excuse and DEFECT in task.flags:
            known[task.id] = finding.detail or reason(finding.error or finding)
        else:
            found[task.id] = finding
    if found:
        raise _summed_up(found, count, fix)
    return f"{count} tasks" + (f"; known defects: {listed(known, count)}" if known else "")


def _problem(problem: Callable[[Task], str | None], task: Task) -> Finding | None:
    try:
        text = problem(task)
    except Finding as finding:
        return finding
    except Exception as error:  # noqa: BLE001 - whatever a world under test raises is a finding
        return Finding("", error=error)
    return None if text is None else Finding(text)


def _summed_up(found: Mapping[str, Finding], count: int, fix: str) -> Finding:
    """The Finding of a whole check: its problems, or what its tasks raise."""
    problems = {name: f.detail for name, f in found.items() if f.error is None}
    errors = [f for f in found.values() if f.error is not None]
    if problems:
        own = next(f.fix for f in found.values() if f.error is None)
        more = (
            f"; {len(errors)} more raise {reason(errors[0].error or errors[0])}" if errors else ""
        )
        return Finding(listed(problems, count) + more, own or fix)
    first = errors[0]
    called = f"; {first.detail}" if first.detail else ""
    return Finding(f"{_some(list(found), count)}{called}", error=first.error)


def listed(found: Mapping[str, str], count: int) -> str:
    """``3 of 40 tasks (a, b, c); a: what is wrong``."""
    first, text = next(iter(found.items()))
    return f"{_some(list(found), count)}; {first}: {text}"


def _some(ids: Sequence[str], count: int) -> str:
    shown = ", ".join(ids[:_SHOWN]) + (", ..." if len(ids) > _SHOWN else "")
    return f"{len(ids)} of {count} tasks ({shown})"


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


def plain(state: JsonObject) -> JsonObject:
    """The state itself; a Finding that names the first place at which JSON cannot hold it."""
    strange = not_json(state)
    if strange:
        raise Finding(f"the state holds {strange}", "keep to texts, numbers, lists and dicts")
    return state


def not_json(value: object, place: str = "") -> str:
    """``a set at plants.p-17.tags``: the first part that JSON does not have; empty: there is none.

    NaN and infinities count, keys must be texts.
    """
    where = f" at {place}" if place else ""
    if isinstance(value, dict):
        if odd := [key for key in value if not isinstance(key, str)]:
            return f"the key {odd[0]!r} of type {type(odd[0]).__name__}{where}"
        parts = ((part, f"{place}.{key}".lstrip(".")) for key, part in value.items())
    elif isinstance(value, list):
        parts = ((part, f"{place}[{index}]") for index, part in enumerate(value))
    elif isinstance(value, float) and not math.isfinite(value):
        return f"{value}{where}"
    elif value is None or isinstance(value, str | int | float):
        return ""
    else:
        return f"a {type(value).__name__}{where}"
    return next((found for part, there in parts if (found := not_json(part, there))), "")
