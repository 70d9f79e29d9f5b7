"""One rollout's own instances of the API classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rods.types import JsonObject
from rods_bfcl.bounds import copy_arguments
from rods_bfcl.copying import copy_plain
from rods_bfcl.upstream import STATELESS_CLASSES, Upstream


@dataclass(frozen=True, slots=True)
class Scenario:
    """What a world is made from; ``config`` is copied, never changed."""

    classes: tuple[str, ...]
    config: Mapping[str, Any]
    long_context: bool = False

    @classmethod
    def of(cls, initial_state: JsonObject) -> Scenario:
        """The scenario that a task's ``initial_state`` describes."""
        state: dict[str, Any] = initial_state
        return cls(tuple(state["classes"]), state["config"], bool(state["long_context"]))


class World:
    """Instances of the involved classes, each made at its first call and shared with nobody."""

    __slots__ = ("_instances", "_scenario", "_upstream")

    def __init__(self, scenario: Scenario, upstream: Upstream) -> None:
        self._scenario = scenario
        self._upstream = upstream
        self._instances: dict[str, Any] = {}

    @property
    def classes(self) -> tuple[str, ...]:
        """The involved classes."""
        return self._scenario.classes

    def instance(self, class_name: str) -> Any:
        """The world's instance of an involved class."""
        instance = self._instances.get(class_name)
        if instance is None:
            instance = self._instances[class_name] = self._make(class_name)
        return instance

    def execute(
        self, name: str, arguments: Mapping[str, Any], positional: Sequence[Any] = ()
    ) -> Any:
        """What the function returns; any exception is a failed call."""
        method = self._upstream.methods.get(name)
        if method is None or method.class_name not in self._scenario.classes:
            raise NameError(f"name {name!r} is not defined")
        named = copy_arguments(arguments)
        if positional:
            positional = copy_arguments(dict(enumerate(positional))).values()
        return method.function(self.instance(method.class_name), *positional, **named)

    def _make(self, class_name: str) -> Any:
        instance = self._upstream.classes[class_name]()
        if class_name not in STATELESS_CLASSES:
            config = copy_plain(self._scenario.config.get(class_name, {}))
            instance._load_scenario(config, long_context=self._scenario.long_context)
            if class_name == "TravelAPI" and self._scenario.long_context:
                # upstream puts the very dicts of its extension table into every instance
                instance.credit_card_list = copy_plain(instance.credit_card_list)
                instance.booking_record = copy_plain(instance.booking_record)
        return instance

    def snapshot(self) -> dict[str, Any]:
        """A copy of all instances, generators included."""
        return {name: _clone(instance) for name, instance in self._instances.items()}

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Go back to the snapshot, which stays as it is."""
        self._instances = {name: _clone(instance) for name, instance in snapshot.items()}


def _clone(instance: Any) -> Any:
    import copy

    return copy.deepcopy(instance)
