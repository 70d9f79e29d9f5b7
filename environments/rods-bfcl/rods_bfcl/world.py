"""One rollout's own instances of the API classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rods.errors import DataError, did_you_mean
from rods.types import JsonObject
from rods_bfcl.bounds import check_arguments
from rods_bfcl.copying import copy_plain
from rods_bfcl.templates import Template, template_of
from rods_bfcl.upstream import CLASS_FILES, STATELESS_CLASSES, Upstream


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
        try:
            classes = tuple(state["classes"])
            for name in classes:
                if name not in CLASS_FILES:
                    known = did_you_mean(name, CLASS_FILES)
                    raise DataError(f"BFCL has no class {name!r}. {known}")
            return cls(classes, state["config"], bool(state["long_context"]))
        except (KeyError, TypeError) as error:
            raise DataError(
                f"A BFCL task's initial_state has 'classes', 'config' and 'long_context'; this one "
                f"has {', '.join(state) or 'nothing'}."
            ) from error


class World:
    """Instances of the involved classes, each made when it is needed and shared with nobody."""

    __slots__ = ("_instances", "_methods", "_scenario", "_templates", "_upstream", "touched")

    def __init__(
        self,
        scenario: Scenario,
        upstream: Upstream,
        templates: Mapping[str, Template] | None = None,
    ) -> None:
        self._scenario = scenario
        self._upstream = upstream
        self._methods = upstream.methods
        self._templates = templates or {}
        self._instances: dict[str, Any] = {}
        self.touched: set[str] = set()  # classes whose public attributes may have changed

    @property
    def classes(self) -> tuple[str, ...]:
        """The involved classes with a state."""
        return tuple(name for name in self._scenario.classes if name not in STATELESS_CLASSES)

    def instance(self, class_name: str) -> Any:
        """The world's instance of an involved class."""
        instance = self._instances.get(class_name)
        if instance is None:
            template = self._templates.get(class_name)
            instance = self._make(class_name) if template is None else template.build()
            self._instances[class_name] = instance
        return instance

    def execute(
        self, name: str, arguments: Mapping[str, Any], positional: Sequence[Any] = ()
    ) -> Any:
        """What the function returns. DataError: the world could not be made; any other exception
        is a failed call."""
        method = self._methods.get(name)
        if method is None or method.class_name not in self._scenario.classes:
            raise NameError(f"name {name!r} is not defined")
        arguments = check_arguments(arguments)
        if positional:
            positional = tuple(check_arguments(dict(enumerate(positional))).values())
        if not method.quiet:
            self.touched.add(method.class_name)
        return method.function(self.instance(method.class_name), *positional, **arguments)

    def snapshot(self) -> Mapping[str, Template]:
        """The world as it is now, generators included."""
        return {**self._templates, **{n: template_of(i) for n, i in self._instances.items()}}

    def restore(self, snapshot: Mapping[str, Template]) -> None:
        """Go back to the snapshot, which stays as it is."""
        self._templates = snapshot
        self._instances = {}

    def _make(self, class_name: str) -> Any:
        instance = self._upstream.classes[class_name]()
        if class_name not in STATELESS_CLASSES:
            config = copy_plain(self._scenario.config.get(class_name, {}))
            try:
                instance._load_scenario(config, long_context=self._scenario.long_context)
            except Exception as error:
                raise DataError(
                    f"The configuration of {class_name} in this task's initial_state cannot be "
                    f"read: {error!r}. Upstream's classes define what it holds."
                ) from error
            if class_name == "TravelAPI" and self._scenario.long_context:
                # upstream puts the very dicts of its extension table into every instance
                instance.credit_card_list = copy_plain(instance.credit_card_list)
                instance.booking_record = copy_plain(instance.booking_record)
        return instance
