"""A shop without suggestions: free names, prices of the world, ids that come from results."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from rods.interfaces import Environment, Session
from rods.types import JsonObject, Split, Task, ToolCall, ToolResult, ToolSpec, Turn


def _tool(name: str, **types: str) -> ToolSpec:
    properties: dict[str, Any] = {key: {"type": kind} for key, kind in types.items()}
    parameters: JsonObject = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
    }
    effect = "read" if name in ("price_of", "find_user") else "write"
    return ToolSpec(name=name, description=f"{name}.", parameters=parameters, effect=effect)


TOOLS = {
    spec.name: spec
    for spec in (
        _tool("price_of", item="string"),
        _tool("buy", item="string", price="number", amount="integer"),
        _tool("pay", order_id="string"),
        _tool("find_user", user="string"),
        _tool("send", receiver_id="string", text="string"),
    )
}


class ShopSession(Session):
    """Items with prices, orders with ids from a counter, users with ids."""

    def __init__(self, state: JsonObject) -> None:
        self._state: Any = copy.deepcopy(state)

    def call(self, call: ToolCall) -> ToolResult:
        try:
            answer = getattr(self, f"_{call.name}")(**call.arguments)
        except (AttributeError, KeyError, TypeError) as error:
            return ToolResult(content=f"error: {error!r}", error=True)
        return ToolResult(content=json.dumps(answer))

    def _price_of(self, item: str) -> Any:
        return {"item": item, "price": self._state["items"][item]}

    def _buy(self, item: str, price: float, amount: int) -> Any:
        if self._state["items"][item] != price:
            raise KeyError(price)
        order = f"order-{self._state['next']}"
        self._state["next"] += 1
        self._state["orders"][order] = {"item": item, "total": round(price * amount, 2)}
        return {"id": order, "total": round(price * amount, 2)}

    def _pay(self, order_id: str) -> Any:
        return {"paid": order_id, **self._state["orders"].pop(order_id)}

    def _find_user(self, user: str) -> Any:
        return {"user_id": self._state["users"][user]}

    def _send(self, receiver_id: str, text: str) -> Any:
        if receiver_id not in self._state["users"].values():
            raise KeyError(receiver_id)
        self._state["sent"].append([receiver_id, text])
        return {"sent": True}

    def state(self) -> JsonObject:
        return copy.deepcopy(self._state)

    def snapshot(self) -> Any:
        return copy.deepcopy(self._state)

    def restore(self, snapshot: Any) -> None:
        self._state = copy.deepcopy(snapshot)


def _call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(name=name, arguments=arguments)


STATE: JsonObject = {
    "items": {"desk_lamp": 19.5, "mirror": 80.25, "rug": 45.0},
    "orders": {},
    "next": 4711,
    "users": {"Alice": "USR001", "Bob": "USR002"},
    "sent": [],
}
SEED = Task(
    id="shop_1",
    environment="shop",
    tools=tuple(TOOLS),
    turns=(
        Turn(
            user="Look up the 'desk_lamp' and buy 12 of them.",
            reference=(
                _call("price_of", item="desk_lamp"),
                _call("buy", item="desk_lamp", price=19.5, amount=12),
            ),
        ),
        Turn(user="Pay that order.", reference=(_call("pay", order_id="order-4711"),)),
        Turn(
            user="Tell Alice: 'The desk_lamp is paid.'",
            reference=(
                _call("find_user", user="Alice"),
                _call("send", receiver_id="USR001", text="The desk_lamp is paid."),
            ),
        ),
    ),
    initial_state=STATE,
)


class ShopEnvironment(Environment):
    """One train task; nothing is suggested and nothing is held out."""

    name = "shop"

    def __init__(self, *train: Task, held_out: Sequence[Task] = ()) -> None:
        super().__init__()
        self._tasks = {"train": list(train) or [SEED], "eval": list(held_out)}

    def tasks(self, split: Split) -> Sequence[Task]:
        return self._tasks[split]

    def tools(self) -> Mapping[str, ToolSpec]:
        return TOOLS

    def open(self, task: Task) -> Session:
        return ShopSession(task.initial_state)


@pytest.fixture
def shop() -> type[ShopEnvironment]:
    """The environment's class; its first train task is the seed."""
    return ShopEnvironment
