"""Any environment as what TRL's ``environment_factory`` wants; trl is never imported.

::

    export = trl_export(world, world.tasks("train"))
    GRPOTrainer(
        model=...,
        train_dataset=datasets.Dataset.from_list(export.rows),
        environment_factory=export.environment_factory,
    )

TRL reads tools from the methods of a class, so there is one class for each set of tools; and it
ends a rollout at the first message without a call, so the user's next message is what a tool gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from rods.episode import EpisodeLimits
from rods.errors import WorldError
from rods.interfaces import Environment
from rods.serving.interactive import LIMITS, InteractiveEpisode
from rods.serving.signatures import python_name, shape
from rods.serving.task_index import TaskIndex
from rods.types import Task, ToolSpec

NEXT = "next_request"
NOTE = (
    f"The user may have several requests, one after the other. When one is done, call {NEXT} with "
    "what you want to tell the user; its answer is the user's next message. A message without a "
    f"call ends the conversation, so write one only after {NEXT} said that there is nothing more."
)
NO_MORE = "The user has no more requests."
_RESERVED = ("reset", "get_reward", NEXT)
_NEXT_SPEC = ToolSpec(
    name=NEXT,
    description="Finish the present request of the user and get the next one.",
    parameters={
        "type": "object",
        "properties": {
            "message": {"type": "string", "description": "What you tell the user about it."}
        },
        "required": ["message"],
    },
)


@dataclass(frozen=True, slots=True)
class TrlExport:
    """``rows`` are the dataset; their column ``environment`` names a class of the factory.

    ``renamed``: method -> tool, for the names that TRL or Python do not take.
    """

    environment_factory: dict[str, type]
    rows: list[dict[str, Any]]
    renamed: dict[str, str]


def trl_export(
    environment: Environment, tasks: Sequence[Task], limits: EpisodeLimits = LIMITS
) -> TrlExport:
    """What ``GRPOTrainer`` needs to train on these tasks of the environment.

    A tool that is handed over later is listed from the start, and refused until then.
    """
    index = TaskIndex(environment, ())
    index.put(tasks)
    turns = any(len(task.turns) > 1 for task in tasks)
    sets = list(dict.fromkeys(map(_tools, tasks)))
    base = python_name(environment.name)
    labels = {tools: base if len(sets) == 1 else f"{base}_{i}" for i, tools in enumerate(sets, 1)}
    made = {
        labels[tools]: _class(labels[tools], environment, tools, index, limits, turns)
        for tools in sets
    }
    renamed = {own: name for one in made.values() for own, name in one._names.items()}
    return TrlExport(
        environment_factory=dict(made),
        rows=[_row(environment, task, labels[_tools(task)], turns) for task in tasks],
        renamed={own: name for own, name in renamed.items() if own != name},
    )


class _Base:
    """What the classes have in common; whatever is public here would be a tool of the policy."""

    _names: Mapping[str, str] = {}

    def __init__(self, play: InteractiveEpisode) -> None:
        self._play = play

    def _reset(self, task_id: str) -> None:
        """A fresh episode. An outage is no end of the training: the rollout has no reward."""
        with suppress(WorldError):  # the episode has begun even so, and every call tells it
            self._play.reset(task_id)

    def _next_request(self, message: str) -> str:
        return self._play.end_turn(message) or NO_MORE

    def _reward(self) -> float | None:
        """Progress, the open turn being over: TRL does not tell that the policy has stopped."""
        if not self._play.done:
            self._play.end_turn()
        self._play.close()
        return self._play.verify().reward


def _class(
    label: str,
    environment: Environment,
    tools: Sequence[str],
    index: TaskIndex,
    limits: EpisodeLimits,
    turns: bool,
) -> type[_Base]:
    """A class whose public methods are the tools."""

    def __init__(self: _Base) -> None:  # noqa: N807
        _Base.__init__(self, InteractiveEpisode(environment, limits, index))

    def reset(self: _Base, task_id: str, **row: Any) -> None:
        self._reset(task_id)

    def get_reward(self: _Base) -> float | None:
        return self._reward()

    specs = environment.tools()
    members: dict[str, Any] = {}
    names: dict[str, str] = {}
    for tool in tools:
        own = python_name(tool, {*_RESERVED, *names})
        names[own] = tool
        members[own] = _method(own, specs[tool], _caller(tool))
    if turns:
        members[NEXT] = _method(NEXT, _NEXT_SPEC, _Base._next_request)
    own_methods = {"__init__": __init__, "reset": reset, "get_reward": get_reward}
    return type(label, (_Base,), {**members, **own_methods, "_names": names})


def _caller(tool: str) -> Callable[..., str]:
    return lambda self, **arguments: self._play.call(tool, arguments).content


def _method(own: str, spec: ToolSpec, run: Callable[..., str]) -> Callable[..., str]:
    """A method that looks like the tool, and runs it with the arguments that were given."""
    looks = shape(spec)

    def method(self: _Base, **given: Any) -> str:
        arguments = {looks.names.get(name, name): value for name, value in given.items()}
        return run(self, **{n: v for n, v in arguments.items() if _meant(n, v)})

    def _meant(name: str, value: Any) -> bool:
        """A null where the tool takes none is how models leave an option out."""
        return value is not None or name in spec.required or name in looks.nullable

    method.__name__ = method.__qualname__ = own
    method.__doc__ = looks.docstring
    method.__annotations__ = dict(looks.annotations)
    method.__signature__ = looks.signature  # type: ignore[attr-defined]
    return method


def _tools(task: Task) -> tuple[str, ...]:
    return task.tools_at(len(task.turns))


def _row(environment: Environment, task: Task, label: str, turns: bool) -> dict[str, Any]:
    system = "\n\n".join(t for t in (environment.instructions(task), NOTE * turns) if t)
    said = [("system", system)] * bool(system) + [("user", task.turns[0].user)]
    prompt = [{"role": role, "content": content} for role, content in said]
    return {"prompt": prompt, "environment": label, "task_id": task.id}
