"""The 50 tasks of a language, each with a reference where its milestones are one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rods.errors import DataError
from rods.types import JsonObject, Task, ToolCall, Turn
from rods_acebench.clone import Category, Clone
from rods_acebench.judging import Goal, Names
from rods_acebench.milestones import references
from rods_acebench.world import AcebenchSession

CATEGORIES: tuple[Category, ...] = ("multi_step", "multi_turn")


def category_of(task: Task) -> Category:
    """The part of the benchmark that a task is of."""
    return "multi_turn" if task.initial_state["category"] == "multi_turn" else "multi_step"


def open_session(clone: Clone, state: Mapping[str, Any]) -> AcebenchSession:
    """A fresh world in this initial state."""
    classes = clone.classes(state["category"])
    return AcebenchSession(classes, state["classes"], state["config"])


def goal_of(state: Mapping[str, Any], names: Names, start: JsonObject) -> Goal:
    """What the end state has to be, where the world starts like this."""
    return Goal(state["wanted"], names, start)


def read_tasks(clone: Clone, category: Category, names: Names) -> list[Task]:
    """The tasks of a category in upstream's order, all in the eval split."""
    answers = {str(a["id"]): a for a in clone.records(category, answers=True)}
    entries = clone.records(category)
    if missing := [str(e["id"]) for e in entries if str(e["id"]) not in answers]:
        raise DataError(f"{clone.path}: possible_answer/ has no answer to {', '.join(missing)}.")
    return [_task(clone, category, names, e, answers[str(e["id"])]) for e in entries]


def _task(
    clone: Clone,
    category: Category,
    names: Names,
    entry: Mapping[str, Any],
    answer: Mapping[str, Any],
) -> Task:
    wanted = answer["ground_truth"]
    state: JsonObject = {
        "category": category,
        "classes": list(entry["involved_classes"]),
        "config": entry["initial_config"],
        "wanted": wanted if isinstance(wanted, list) else [wanted],
    }
    tools = tuple(str(document["name"]) for document in entry["function"])
    start = open_session(clone, state).state()
    goal = goal_of(state, names, start)
    reference = _reference(clone, goal, state, tools, answer["mile_stone"])
    idle = goal.reached(start)
    flags = (category, *(("idle",) if idle else ()), *(() if reference else ("defect",)))
    return Task(
        id=str(entry["id"]),
        environment="acebench",
        split="eval",
        tools=tools,
        turns=(Turn(user=str(entry["question"]), reference=reference),),
        initial_state=state,
        flags=flags,
    )


def _reference(
    clone: Clone,
    goal: Goal,
    state: JsonObject,
    tools: Sequence[str],
    milestones: Sequence[Any],
) -> tuple[ToolCall, ...]:
    """The first way of the milestones that runs without an error to the wanted state; else none."""
    for calls in references(milestones):
        session = open_session(clone, state)
        runs = all(call.name in tools and not session.call(call).error for call in calls)
        if runs and goal.reached(session.state()):
            return calls
    return ()
