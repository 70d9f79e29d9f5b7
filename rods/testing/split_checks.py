"""The check of the splits, and what the tasks of both have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rods import digests
from rods.structure.constants import constants, key
from rods.structure.leaves import walk
from rods.structure.sources import said
from rods.testing.findings import Finding, Subject
from rods.types import Task, ToolSpec, content_id

_SHOWN = 5


def splits_are_disjoint(subject: Subject) -> str:
    """No id stands twice, no content stands in both splits, and eval asks what train does not.

    Values that both speak of are told: a fixed set of rooms is no fault, known names may be one.
    """
    train, held_out = subject.tasks["train"], subject.tasks["eval"]
    ids = Counter(task.id for task in subject.all_tasks)
    if twice := [task_id for task_id, n in ids.items() if n > 1]:
        fix = "give every task an id of its own"
        raise Finding(f"Ids that stand more than once: {some(twice)}.", fix)
    known = {_content(task): task.id for task in train}
    same = [(task.id, known[c]) for task in held_out if (c := _content(task)) in known]
    if same:
        raise Finding(
            f"{len(same)} of {len(held_out)} eval tasks have the turns and the state of a train "
            f"task: {same[0][0]} those of {same[0][1]}.",
            "draw the eval tasks apart, so that none is equal to a train task",
        )
    shared = _shared_values(subject)
    _require_new_requests(subject, shared)
    copies = sum(len(ts) - len({content_id(t) for t in ts}) for ts in (train, held_out))
    detail = f"{len(train)} train, {len(held_out)} eval"
    detail += f"; {copies} repeat another task of their split" if copies else ""
    return detail + (f"; {shared}" if shared else "")


def only_in_eval(subject: Subject) -> frozenset[str]:
    """Texts that users of eval speak of and that stand nowhere in the tasks of train."""
    names = spoken_values(subject.tasks["eval"], subject.specs)
    seen = {text for task in subject.tasks["train"] for text in _texts(task)}
    return frozenset(names) - seen


def spoken_values(tasks: Iterable[Task], specs: Mapping[str, ToolSpec]) -> dict[str, None]:
    """Texts that references take and users speak of, in order, without words of the schemas."""
    known = constants(specs)
    found: dict[str, None] = {}
    for task in tasks:
        heard = ""
        for turn in task.turns:
            heard += "\n" + turn.user
            folded = heard.casefold()
            for tool, parameter, value in _arguments([turn]):
                own = key(value) in known.get((tool, parameter), ())
                if len(value) > 1 and not own and said(value, heard, folded, ()):
                    found[value] = None
    return found


def some(names: list[str]) -> str:
    """The first of these names, on one line."""
    shown = ", ".join(f"{name:.40}" for name in names[:_SHOWN])
    return shown + (", ..." if len(names) > _SHOWN else "")


# ------------------------------------------------------------------------------- inside
def _content(task: Task) -> str:
    """Digest of what happens in the task: turns and first state, whatever it is called."""
    turns = [turn.model_dump() for turn in task.turns]
    return digests.digest([turns, task.initial_state], default=repr)


def _shared_values(subject: Subject) -> str:
    """How much of what eval's users speak of is in train's references too, with some of it."""
    names = spoken_values(subject.tasks["eval"], subject.specs)
    turns = [turn for task in subject.tasks["train"] for turn in task.turns]
    taken = {value for _, _, value in _arguments(turns)}
    both = [name for name in names if name in taken]
    if not both:
        return ""
    return f"train uses {len(both)} of the {len(names)} values that eval speaks of: {some(both)}"


def _require_new_requests(subject: Subject, shared: str) -> None:
    """A Finding where every sentence of eval's users stands in train, with the values in it."""
    said_in = {
        split: {turn.user for task in tasks for turn in task.turns}
        for split, tasks in subject.tasks.items()
    }
    if shared and said_in["eval"] <= said_in["train"]:
        raise Finding(
            f"All {len(said_in['eval'])} requests of eval stand in train word for word; {shared}.",
            "give eval requests and entities of its own: this measures what was trained on",
        )


def _arguments(turns: Iterable[Any]) -> Iterator[tuple[str, str, str]]:
    """Tool, parameter and value of every text that the references of these turns take."""
    for turn in turns:
        for call in turn.reference:
            for parameter, argument in call.arguments.items():
                for _, value in walk(argument):
                    if isinstance(value, str):
                        yield call.name, parameter, value


def _texts(task: Task) -> Iterator[str]:
    """Every text of the first state, its keys too, and of the references."""
    yield from (value for _, _, value in _arguments(task.turns))
    for path, value in walk(task.initial_state):
        yield from (step for step in path if isinstance(step, str))
        if isinstance(value, str):
            yield value
