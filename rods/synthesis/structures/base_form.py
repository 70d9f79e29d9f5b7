"""A task of another kind as the base task it was made of, and profiles without names."""

from __future__ import annotations

from collections.abc import Iterable

from rods.structure.distance import distance
from rods.types import ComplexityProfile, DataEdge, Kind, SourceKind, Task, Turn


def base_form(task: Task) -> Task:
    """The task with everything said and handed over at once; a base task stays as it is.

    A turn without calls is joined to the one that solves it, as augmentation had split it.
    """
    if task.kind == "base":
        return task
    turns: list[Turn] = []
    asked: list[str] = []
    for turn in task.turns:
        asked += [turn.user] if not turn.reveals or not asked else []
        if turn.reference:
            turns.append(Turn(user=" ".join(asked) or turn.user, reference=turn.reference))
            asked = []
    revealed = tuple(name for turn in task.turns for name in turn.reveals)
    tools = task.tools + tuple(n for n in dict.fromkeys(revealed) if n not in task.tools)
    state = dict(task.initial_state)
    if task.kind == "long_context" and state.get("long_context") is True:
        state["long_context"] = False
    return task.model_copy(
        update={"kind": "base", "turns": tuple(turns), "tools": tools, "initial_state": state}
    )


def split_profile(profile: ComplexityProfile, index: int, kind: Kind) -> ComplexityProfile:
    """The profile once turn ``index`` asks in vain and a turn after it has its calls."""
    calls = profile.calls_per_turn
    return profile.model_copy(
        update={"kind": kind, "calls_per_turn": (*calls[:index], 0, *calls[index:])}
    )


def nameless(profile: ComplexityProfile) -> ComplexityProfile:
    """The profile with every tool and parameter called by its role: what must stay equal.

    Parameters of a call are numbered within their kind of source. What has no known source counts
    as said by the user: a new task has to say it.
    """
    return profile.model_copy(
        update={
            "tools": tuple("" for _ in profile.tools),
            "edges": tuple(
                DataEdge(producer=e.producer, consumer=e.consumer, parameter="")
                for e in profile.edges
            ),
            "sources": tuple(_by_role(kinds.values()) for kinds in profile.sources),
        }
    )


def structural_distance(a: ComplexityProfile, b: ComplexityProfile) -> float:
    """0 exactly when the profiles are equal but for the names of tools and parameters."""
    return distance(nameless(a), nameless(b))


def _by_role(kinds: Iterable[SourceKind]) -> dict[str, SourceKind]:
    counted: dict[str, int] = {}
    named: dict[str, SourceKind] = {}
    known = (SourceKind.USER if kind is SourceKind.UNKNOWN else kind for kind in kinds)
    for kind in sorted(known):
        counted[kind] = counted.get(kind, 0) + 1
        named[f"{kind}{counted[kind]}"] = kind
    return named
