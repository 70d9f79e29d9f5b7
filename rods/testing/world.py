"""A stockroom with four tools: small enough to read at once, rich enough for all four kinds.

An order's id comes from a counter of the world, so cancelling it needs an earlier result.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from pydantic import Field

from rods.errors import DataError, WorldError
from rods.interfaces import Environment, Session
from rods.types import (
    KINDS,
    AssistantMessage,
    JsonObject,
    JsonValue,
    Kind,
    Split,
    Step,
    Task,
    ToolCall,
    ToolResult,
    ToolSpec,
    Trajectory,
    Turn,
)

ITEMS: dict[Split, tuple[str, ...]] = {
    "train": ("bolts", "nuts", "screws", "nails", "gears", "belts", "pipes", "tiles"),
    "eval": ("lamps", "ropes", "wires", "paints", "glues", "bricks", "doors", "hooks"),
}
_ITEM: JsonObject = {"type": "string", "description": "Name of the item."}
_AMOUNT: JsonObject = {"type": "integer", "minimum": 1, "description": "How many."}
_ORDER: JsonObject = {"type": "string", "description": "Id of an order, such as o-7."}


def _tool(name: str, description: str, **properties: JsonObject) -> ToolSpec:
    parameters: JsonObject = {
        "type": "object",
        "properties": cast(JsonObject, properties),
        "required": cast(list[JsonValue], list(properties)),
    }
    effect = "read" if name == "count" else "write"
    return ToolSpec(name=name, description=description, parameters=parameters, effect=effect)


TOOLS = {
    spec.name: spec
    for spec in (
        _tool("count", "How many of an item are in stock.", item=_ITEM),
        _tool("add", "Put items into stock; gives the new count.", item=_ITEM, amount=_AMOUNT),
        _tool("order", "Order an item; gives the order's id.", item=_ITEM, amount=_AMOUNT),
        _tool("cancel", "Cancel an order.", order=_ORDER),
    )
}


class FakeSession(Session):
    """One stockroom: ``stock`` (item -> count), ``orders`` (id -> item, amount), ``next``."""

    def __init__(self, initial_state: JsonObject, *, down: bool = False) -> None:
        self._state: dict[str, Any] = copy.deepcopy(initial_state)
        self._down = down
        self._tools: dict[str, Callable[..., JsonObject | str]] = {
            "count": self._count,
            "add": self._add,
            "order": self._order,
            "cancel": self._cancel,
        }

    def call(self, call: ToolCall) -> ToolResult:
        """Run one call; the result is JSON text, and a plain sentence for an error."""
        if self._down:
            raise WorldError("The stockroom's server does not answer.")
        problem = _problem(call)
        result = problem or self._tools[call.name](**call.arguments)
        if isinstance(result, str):
            return ToolResult(content=result, error=True)
        return ToolResult(content=json.dumps(result))

    def state(self) -> JsonObject:
        """A copy of the whole stockroom."""
        return copy.deepcopy(self._state)

    def snapshot(self) -> JsonObject:
        """A copy of the whole stockroom."""
        return copy.deepcopy(self._state)

    def restore(self, snapshot: JsonObject) -> None:
        """The stockroom as it was; the snapshot can be used again."""
        self._state = copy.deepcopy(snapshot)

    def _count(self, item: str) -> JsonObject | str:
        return {"count": self._state["stock"][item]} if self._has(item) else self._unknown(item)

    def _add(self, item: str, amount: int) -> JsonObject | str:
        if not self._has(item):
            return self._unknown(item)
        self._state["stock"][item] += amount
        return {"count": self._state["stock"][item]}

    def _order(self, item: str, amount: int) -> JsonObject | str:
        if not self._has(item):
            return self._unknown(item)
        order = f"o-{self._state['next']}"
        self._state["next"] += 1
        self._state["orders"][order] = {"item": item, "amount": amount}
        return {"order": order}

    def _cancel(self, order: str) -> JsonObject | str:
        if order not in self._state["orders"]:
            return f"There is no order {order[:40]!r}."
        del self._state["orders"][order]
        return {"cancelled": order}

    def _has(self, item: str) -> bool:
        return item in self._state["stock"]

    @staticmethod
    def _unknown(item: str) -> str:
        return f"There is no item {item[:40]!r}."


def _problem(call: ToolCall) -> str | None:
    """Why the call does not fit its schema, as the error's sentence; None: it does."""
    if call.name not in TOOLS:
        return f"There is no tool {call.name[:40]!r}."
    properties = TOOLS[call.name].properties
    if set(call.arguments) != set(properties):
        return f"{call.name} takes {', '.join(properties)}."
    for name, value in call.arguments.items():
        wanted = int if properties[name]["type"] == "integer" else str
        if type(value) is not wanted or (isinstance(value, int) and value < 1):
            return f"{call.name} needs a valid {name}."
    return None


class FakeEnvironment(Environment):
    """Deterministic stockroom tasks: the kinds in turn, train and eval on different items."""

    name = "fake"

    class Config(Environment.Config):
        """Size and faults of the fake world."""

        tasks: int = Field(8, ge=1, description="Tasks of each split.")
        outage_every: int = Field(
            0, ge=0, description="Every n-th session is down from its first call (0: none)."
        )

    config: Config

    def __init__(self, config: Config | None = None) -> None:
        super().__init__(config or self.Config())
        self._opened = 0

    def tasks(self, split: Split) -> Sequence[Task]:
        """``config.tasks`` tasks; four of different kinds share one story."""
        return [
            story_task(split, KINDS[i % 4], i // 4, self.name) for i in range(self.config.tasks)
        ]

    def tools(self) -> Mapping[str, ToolSpec]:
        """count, add, order, cancel."""
        return TOOLS

    def open(self, task: Task) -> FakeSession:
        """A fresh stockroom; out of order if ``outage_every`` says so."""
        self._opened += 1
        every = self.config.outage_every
        return FakeSession(task.initial_state, down=bool(every) and self._opened % every == 0)

    def score_recording(self, recording: JsonObject) -> JsonObject:
        """Verdict on ``task_id`` and ``trajectory`` as ``[turn][step][{name, arguments}]``."""
        task = self._recorded_task(recording.get("task_id"))
        turns = recording.get("trajectory")
        if not isinstance(turns, list):
            raise DataError("The column 'trajectory' is missing or no list of turns.")
        try:
            steps = tuple(tuple(_step(step) for step in turn) for turn in cast(list[Any], turns))
        except (TypeError, ValueError) as error:
            raise DataError("A turn is no list of steps with calls {name, arguments}.") from error
        reward = self.score(task, Trajectory(task_id=task.id, turns=steps))
        return {
            "valid": reward.solved and len(steps) == len(task.turns),
            "turn_ok": [v.ok if v.judged else None for v in reward.verdicts],
            "state_ok": [v.state_ok for v in reward.verdicts],
            "response_ok": [v.response_ok for v in reward.verdicts],
            "progress": {
                "judged": reward.under("judged"),
                "all": reward.under("all"),
                "abstain": reward.under("abstain"),
            },
            "error": None,
        }

    def instructions(self, task: Task) -> str:
        """One sentence."""
        return "You keep a stockroom. Call tools to do what the user asks."

    def suggest(self, tool: str, parameter: str, state: JsonObject) -> Sequence[JsonValue]:
        """Train items for ``item``; nothing is known of the rest."""
        return ITEMS["train"] if parameter == "item" and tool in TOOLS else ()

    def data_hashes(self) -> Mapping[str, str]:
        """Nothing is read: the tasks are made by this module."""
        return {}

    def _recorded_task(self, task_id: JsonValue) -> Task:
        splits: tuple[Split, ...] = ("train", "eval")
        for task in (task for split in splits for task in self.tasks(split)):
            if task.id == task_id:
                return task
        raise DataError(f"There is no task {task_id!r} in the environment {self.name!r}.")


def _step(calls: list[Any]) -> Step:
    message = AssistantMessage(calls=tuple(ToolCall.model_validate(call) for call in calls))
    return Step(message=message)


# ------------------------------------------------------------------------------- tasks
def story_task(split: Split, kind: Kind, story: int, environment: str = "fake") -> Task:
    """Three requests on one stockroom: refill, order, cancel; altered as ``kind`` says."""
    rng = random.Random(f"{split}/{story}")
    first, second = rng.sample(ITEMS[split], 2)
    stock = {item: rng.randint(1, 50) for item in ITEMS[split]}
    if kind == "long_context":
        stock |= {f"{split} item {i}": 1 + i % 50 for i in range(80)}
    number = rng.randint(2, 60)
    return Task(
        id=f"fake_{split}_{kind}_{story}",
        environment=environment,
        kind=kind,
        split=split,
        tools=tuple(name for name in TOOLS if kind != "miss_func" or name != "cancel"),
        turns=_turns(kind, first, second, rng.randint(2, 9), rng.randint(2, 9), f"o-{number}"),
        initial_state=cast(JsonObject, {"stock": stock, "orders": {}, "next": number}),
    )


def _turns(
    kind: Kind, first: str, second: str, added: int, ordered: int, order: str
) -> tuple[Turn, ...]:
    count = ToolCall(name="count", arguments={"item": first})
    add = ToolCall(name="add", arguments={"item": first, "amount": added})
    buy = ToolCall(name="order", arguments={"item": second, "amount": ordered})
    cancel = ToolCall(name="cancel", arguments={"order": order})
    refill = Turn(user=f"Count the {first}, then add {added}.", reference=(count, add))
    buys: tuple[Turn, ...] = (Turn(user=f"Order {ordered} {second}.", reference=(buy,)),)
    cancels: tuple[Turn, ...] = (Turn(user="Cancel that order.", reference=(cancel,)),)
    if kind == "miss_param":
        buys = (
            Turn(user=f"Order some {second}."),
            Turn(user=f"I meant {ordered}.", reference=(buy,)),
        )
    if kind == "miss_func":
        handed = Turn(user="You can cancel now.", reference=(cancel,), reveals=("cancel",))
        cancels = (Turn(user="Cancel that order."), handed)
    return (refill, *buys, *cancels)
