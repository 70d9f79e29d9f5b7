"""What a policy learns from before any reward: reference solutions, played in the world."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any

from rods.episode import Episode
from rods.interfaces import Environment
from rods.types import AssistantMessage, Message, Task
from rods_grpo_trl.call_text import say_call
from rods_grpo_trl.compact import plain_text
from rods_grpo_trl.conversation import Conversation
from rods_grpo_trl.dialect import Dialect

MISHAPS = 50  # practice tasks that are also done wrong
SHOWN_CHARS = 400  # of a text, about what the compact dialect shows of it


def reference_messages(task: Task) -> Iterator[AssistantMessage]:
    """The reference as a policy would say it: one call a message, the last one ends the turn.

    So every result has been seen before the next call is made.
    """
    for turn in task.turns:
        for call in turn.reference[:-1]:
            yield AssistantMessage(calls=(call,))
        yield AssistantMessage(calls=turn.reference[-1:], ends_turn=True)


@dataclass(frozen=True, slots=True)
class Trace:
    """Tokens of one reference rollout; ``said[i]`` tells whether token i is the policy's."""

    ids: list[int]
    said: list[int]


def trace(environment: Environment, task: Task, dialect: Dialect, budget: int) -> Trace | None:
    """The reference of the task as a rollout; None if it does not fit into ``budget`` tokens."""
    conversation = Conversation(
        Episode(environment, task), dialect, budget=budget, message_budget=budget
    )
    for message in reference_messages(task):
        ids = dialect.message_ids(message)
        if conversation.done or len(ids) > conversation.room:
            conversation.episode.cut("max_tokens")
            return None
        conversation.accept(ids)
    return Trace(
        ids=conversation.prompt_ids + conversation.completion_ids,
        said=[0] * len(conversation.prompt_ids) + conversation.mask,
    )


# ------------------------------------------------------------------------------- for tokenizers
@dataclass(frozen=True, slots=True)
class Corpus:
    """Texts of practice tasks and the strings a policy has to copy from them."""

    texts: tuple[str, ...]
    values: tuple[str, ...]
    fresh: bool  # practice draws tasks of its own and does not repeat the train tasks

    @property
    def digest(self) -> str:
        """SHA-256 over texts and values."""
        return hashlib.sha256(repr((self.texts, self.values)).encode()).hexdigest()


def read_corpus(environment: Environment, rng_seed: int, size: int = 400) -> Corpus:
    """All that is shown and said in ``size`` practice tasks. Held-out tasks are never read."""
    tasks = list(islice(environment.practice(rng_seed), size))
    values = {value for task in tasks for value in _values(task)}
    names = (f" {name}" for name in environment.tools())
    played = (text for task in tasks for text in _texts(environment, task))
    failed = (text for pair in pairwise(tasks[:MISHAPS])
              for text in _mishaps(environment, *pair))  # fmt: skip
    return Corpus(
        texts=(*names, *played, *failed),
        values=tuple(sorted(values)),
        fresh={task.id for task in tasks}.isdisjoint(t.id for t in environment.tasks("train")),
    )


def _texts(environment: Environment, task: Task) -> Iterator[str]:
    """Each message as the compact dialect writes it, with the space that it puts before."""
    episode = Episode(environment, task)
    tools = environment.tools()
    shown: tuple[Message, ...] = episode.opening()
    for message in reference_messages(task):
        yield from (f" {plain_text(m.content)[:SHOWN_CHARS]}" for m in shown if m.role != "system")
        yield from (f" {say_call(call, tools)}" for call in message.calls)
        if episode.done:
            return
        shown = episode.advance(message)


def _mishaps(environment: Environment, task: Task, other: Task) -> Iterator[str]:
    """What an agent is told that says nonsense, then makes the calls of another task."""
    episode = Episode(environment, task)
    calls = [call for turn in other.turns for call in turn.reference]
    said = [AssistantMessage(malformed=reason) for reason in ("no call", "unknown tool")]
    for message in [*said, *(AssistantMessage(calls=(call,)) for call in calls)]:
        if episode.done:
            return
        yield from (f" {plain_text(m.content)[:SHOWN_CHARS]}" for m in episode.advance(message))
    episode.cut()


def _values(task: Task) -> Iterator[str]:
    for turn in task.turns:
        for call in turn.reference:
            yield from _strings(call.arguments)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)
