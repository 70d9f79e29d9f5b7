"""Agents that need no model. An agent gives the messages of one rollout, in order."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from rods.episode import Episode, EpisodeLimits
from rods.interfaces import Environment
from rods.types import AssistantMessage, JsonValue, Rollout, Task, ToolCall, ToolSpec

Agent = Callable[[Task], Iterable[AssistantMessage]]

_CALLS_PER_MESSAGE = EpisodeLimits().max_calls_per_message


def play(
    environment: Environment, task: Task, agent: Agent, limits: EpisodeLimits | None = None
) -> Rollout:
    """The rollout of an agent; cut as ``max_tokens`` where the agent has no more to say."""
    episode = Episode(environment, task, limits)
    if not episode.done:
        episode.opening()
    for message in agent(task):
        if episode.done:
            break
        episode.advance(message)
    episode.cut()
    return episode.finish()


def script(*messages: AssistantMessage) -> Agent:
    """An agent that says exactly this, whatever the task."""
    return lambda task: messages


def reference(task: Task) -> Iterator[AssistantMessage]:
    """Makes the reference's calls and closes every turn with its answer."""
    for turn in task.turns:
        for start in range(0, len(turn.reference), _CALLS_PER_MESSAGE):
            yield AssistantMessage(calls=turn.reference[start : start + _CALLS_PER_MESSAGE])
        yield AssistantMessage(content=turn.answer or "Done.")


def silent(task: Task) -> Iterator[AssistantMessage]:
    """Closes every turn without a call."""
    for _ in task.turns:
        yield AssistantMessage(content="")


def idle(task: Task) -> Iterator[AssistantMessage]:
    """Makes one call without arguments a turn: it acts, and does nothing that was asked."""
    for index, _ in enumerate(task.turns):
        tools = task.tools_at(index)
        yield AssistantMessage(calls=(ToolCall(name=tools[0]),) if tools else (), ends_turn=True)


def random_calls(specs: Mapping[str, ToolSpec], seed: int = 0, most: int = 3) -> Agent:
    """An agent that makes up to ``most`` well-formed calls a turn, on values of this very task."""

    def agent(task: Task) -> Iterator[AssistantMessage]:
        rng = random.Random(f"{seed}/{task.id}")
        words = sorted({*_strings(task.initial_state), *(w for t in task.turns for w in _words(t))})
        for index, _ in enumerate(task.turns):
            names = rng.choices(task.tools_at(index), k=rng.randint(1, most))
            calls = tuple(_random_call(specs[name], rng, words) for name in names)
            yield AssistantMessage(calls=calls, ends_turn=True)

    return agent


# ------------------------------------------------------------------------------- random values
def _random_call(spec: ToolSpec, rng: random.Random, words: list[str]) -> ToolCall:
    chosen = [n for n in spec.properties if n in spec.required or rng.random() < 0.5]
    arguments = {name: _random_value(spec.properties[name], rng, words) for name in chosen}
    return ToolCall(name=spec.name, arguments=arguments)


def _random_value(schema: Any, rng: random.Random, words: list[str]) -> JsonValue:
    """A value of the schema's type; enough of JSON Schema for tools."""
    if not isinstance(schema, Mapping):
        return rng.choice(words or ["x"])
    if schema.get("enum"):
        return rng.choice(list(schema["enum"]))  # type: ignore[no-any-return]
    match schema.get("type"):
        case "integer":
            return rng.randint(int(schema.get("minimum", 0)), int(schema.get("maximum", 20)))
        case "number":
            return round(rng.uniform(0, 100), 1)
        case "boolean":
            return rng.random() < 0.5
        case "array":
            return [
                _random_value(schema.get("items"), rng, words) for _ in range(rng.randint(1, 2))
            ]
        case "object":
            properties = schema.get("properties", {})
            return {name: _random_value(properties[name], rng, words) for name in properties}
        case "null":
            return None
    return rng.choice(words or ["x"])


def _strings(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value[:200]
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _strings(item)


def _words(turn: Any) -> list[str]:
    return [word.strip(".,!?'\"") for word in turn.user.split()]
