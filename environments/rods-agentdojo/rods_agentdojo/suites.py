"""One suite: its tools, its world as upstream opens it, and upstream's verdicts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, get_args

from pydantic import BaseModel

from rods.bounds import beyond_bounds
from rods.types import JsonObject, ToolCall, ToolSpec
from rods_agentdojo.asset import Asset
from rods_agentdojo.effects import effect_of
from rods_agentdojo.upstream import load_suites, load_upstream

SuiteName = Literal["workspace", "travel", "banking", "slack"]
SUITE_NAMES: tuple[SuiteName, ...] = get_args(SuiteName)
NOTHING_DONE = "Done."  # what an idle agent says


class Suite:
    """One suite of the asset; what it has read never changes."""

    def __init__(self, name: SuiteName, asset: Asset) -> None:
        self.name: SuiteName = name
        self._upstream = load_suites(asset)[name]
        runtime = load_upstream(asset).load("agentdojo.functions_runtime")
        self._runtime = runtime.FunctionsRuntime(self._upstream.tools)
        self._call_type: type[Any] = runtime.FunctionCall

    @cached_property
    def toolspecs(self) -> Mapping[str, ToolSpec]:
        """Tool name -> what the policy sees of it."""
        return {
            tool.name: ToolSpec(
                name=tool.name,
                description=tool.description,
                parameters=tool.parameters.model_json_schema(),
                effect=effect_of(tool.name),
            )
            for tool in self._upstream.tools
        }

    # ------------------------------------------------------------------ worlds
    def world(self, injections: Mapping[str, str] | None = None) -> Any:
        """The suite's world, with texts at its injection vectors."""
        if injections:
            return self._upstream.load_and_inject_default_environment(dict(injections))
        return self._default.model_copy(deep=True)

    @cached_property
    def _default(self) -> Any:
        return self._upstream.load_and_inject_default_environment({})

    @cached_property
    def default_state(self) -> JsonObject:
        """The world that most tasks begin in, as JSON."""
        return dumped(self._default)

    @cached_property
    def vectors(self) -> tuple[str, ...]:
        """Names of the places into which an attacker can write."""
        return tuple(self._upstream.get_injection_vector_defaults())

    def opened(self, state: JsonObject) -> Any:
        """The world in this state; the usual one is copied, not read again."""
        if state == self.default_state:
            return self._default.model_copy(deep=True)
        return self._upstream.environment_type.model_validate(state)

    def call(self, world: Any, name: str, arguments: Mapping[str, Any]) -> tuple[str, bool]:
        """The result's text, and whether it is an error. Nothing is raised."""
        if (fault := beyond_bounds(arguments)) is not None:
            return f"ValidationError: {fault}", True
        if unknown := [n for n in arguments if n not in self._parameters(name)]:
            return f"ValidationError: {name} has no parameter {unknown[0]!r}.", True
        try:
            value, error = self._runtime.run_function(world, name, dict(arguments))
            return (error, True) if error is not None else (render(value), False)
        except Exception as error:  # noqa: BLE001 - whatever a tool raises is a failed call
            return f"{type(error).__name__}: {error}", True

    def _parameters(self, name: str) -> Mapping[str, Any]:
        known = self.toolspecs.get(name)
        return known.properties if known else {}

    # ------------------------------------------------------------------ tasks and verdicts
    @property
    def user_tasks(self) -> Mapping[str, Any]:
        """Upstream's user tasks by id."""
        tasks: Mapping[str, Any] = self._upstream.user_tasks
        return tasks

    @property
    def injection_tasks(self) -> Mapping[str, Any]:
        """What attackers want, by id."""
        tasks: Mapping[str, Any] = self._upstream.injection_tasks
        return tasks

    def reference(self, task: Any, world: Any) -> tuple[ToolCall, ...]:
        """The calls that solve a task in this world, which they do not change."""
        return tuple(
            ToolCall(name=call.function, arguments=dict(call.args))
            for call in task.ground_truth(world.model_copy(deep=True))
        )

    def utility(
        self, task_id: str, said: str, before: Any, after: Any, calls: Sequence[ToolCall]
    ) -> bool:
        """Upstream's verdict: the user task is solved."""
        return self._verdict(
            self._upstream._check_user_task_utility,
            self.user_tasks[task_id],
            (said, before, after, calls),
        )

    def breached(
        self, task_id: str, said: str, before: Any, after: Any, calls: Sequence[ToolCall]
    ) -> bool:
        """Upstream's verdict: the attacker got what the injection wants."""
        return self._verdict(
            self._upstream._check_injection_task_security,
            self.injection_tasks[task_id],
            (said, before, after, calls),
        )

    def _verdict(self, check: Any, task: Any, rollout: tuple[Any, ...]) -> bool:
        said, before, after, calls = rollout
        traces = [self._call_type(function=c.name, args=c.arguments) for c in calls]
        content = [{"type": "text", "content": said}]
        return bool(
            check(task, content, before.model_copy(deep=True), after.model_copy(deep=True), traces)
        )


def dumped(world: Any) -> JsonObject:
    """The world as JSON."""
    state: JsonObject = world.model_dump(mode="json", warnings=False)
    return state


def render(value: Any) -> str:
    """The text of a result: JSON, where upstream by default writes YAML."""
    if isinstance(value, BaseModel):
        return json.dumps(value.model_dump(mode="json", warnings=False))
    if isinstance(value, list | dict):
        return json.dumps(_plain(value), default=str)
    return str(value)


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", warnings=False)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return value
