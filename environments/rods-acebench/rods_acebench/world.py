"""One rollout's own instances of the clone's classes, behind the core's session interface."""

from __future__ import annotations

import copy
import inspect
import json
from collections.abc import Mapping, Sequence
from typing import Any

from rods.errors import WorldError
from rods.interfaces import Session
from rods.types import JsonObject, ToolCall, ToolResult

# What upstream saves of an instance and compares.
COMPARED: Mapping[str, tuple[str, ...]] = {
    "BaseApi": ("wifi", "logged_in"),
    "MessageApi": ("inbox",),
    "ReminderApi": ("reminder_list",),
    "FoodPlatform": ("users", "logged_in_users", "orders"),
    "Travel": ("users", "reservations"),
}
MAX_TEXT = 65_536  # characters of one call's arguments


class AcebenchSession(Session):
    """Fresh instances of the involved classes; a method that several have runs on each of them."""

    def __init__(
        self, classes: Mapping[str, type[Any]], involved: Sequence[str], config: JsonObject
    ) -> None:
        try:
            self._instances = {name: _made(classes[name], name, config) for name in involved}
        except Exception as error:
            raise WorldError(f"The classes of this clone cannot be made: {error!r}.") from error

    def call(self, call: ToolCall) -> ToolResult:
        """The last result, as upstream has it; a bad call is a result with ``error``."""
        owners = [i for i in self._instances.values() if _has(i, call.name)]
        if not owners:
            return ToolResult(content=f"There is no tool {call.name!r} here.", error=True)
        try:
            if len(json.dumps(call.arguments)) > MAX_TEXT:
                raise ValueError(f"a call has at most {MAX_TEXT} characters")
            for instance in owners:
                arguments = copy.deepcopy(call.arguments)
                value = getattr(instance, call.name)(**arguments)
            return ToolResult(content=_shown(value), error=_is_failure(value))
        except Exception as error:  # noqa: BLE001 - upstream raises anything for a bad argument
            return ToolResult(content=f"Error during execution: {error}", error=True)

    def state(self) -> JsonObject:
        """Class -> the attributes that are compared, as JSON."""
        return {name: compared(name, instance) for name, instance in self._instances.items()}

    def snapshot(self) -> Any:
        """A copy of the instances."""
        return copy.deepcopy(self._instances)

    def restore(self, snapshot: Any) -> None:
        """Back to the snapshot."""
        self._instances = copy.deepcopy(snapshot)


def compared(name: str, instance: Any) -> JsonObject:
    """The attributes after a round trip through JSON, which turns numbered keys into text."""
    values = {n: v for n, v in vars(instance).items() if n in COMPARED[name]}
    state: JsonObject = json.loads(json.dumps(values, default=str))
    return state


def _made(cls: type[Any], name: str, config: JsonObject) -> Any:
    """Upstream loads a class's own configuration, and the phone's over it."""
    instance = cls()
    for key in (name, "BaseApi"):
        instance._load_scenario(copy.deepcopy(config.get(key, {})), long_context=False)
    return instance


def _has(instance: Any, name: str) -> bool:
    return not name.startswith("_") and inspect.ismethod(getattr(instance, name, None))


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return str(value)


def _is_failure(value: Any) -> bool:
    return isinstance(value, dict) and value.get("status") in (False, "error")
