"""Tasks with their executable references, and the tools they use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import Field

from rods.digests import digest
from rods.types.base import Effect, JsonObject, Kind, Record, Split


class ToolSpec(Record):
    """A tool as the policy sees it. ``parameters`` is a JSON Schema of type object."""

    name: str
    description: str
    parameters: JsonObject
    effect: Effect = "unknown"

    @property
    def required(self) -> tuple[str, ...]:
        """The names of the parameters that a call must give."""
        names = self.parameters.get("required")
        return tuple(str(n) for n in names) if isinstance(names, list) else ()

    @property
    def properties(self) -> Mapping[str, Any]:
        """Parameter name -> its JSON Schema."""
        properties = self.parameters.get("properties")
        return properties if isinstance(properties, dict) else {}


class Phrase(Record):
    """How users ask for a call of a tool, for texts that no language model writes.

    ``says``: alternatives in the imperative, with ``{parameter}`` where its value belongs,
    ``{parameter!}`` where it is only pointed at ("that order"), ``{parameter:a=words;*=others}``
    where words depend on it, and ``[...]`` around what is left out when a parameter is not said.
    ``nouns`` names what the call gives ("price of {item}") by the field of its result; where
    another call of the turn takes it, it is said there and not asked for by itself. The parameter
    that takes it, or ``*``, may stand for the field where the result holds nothing else.
    ``field!`` is what it is called in later turns ("that price"), by default after its field.
    """

    says: tuple[str, ...]
    nouns: dict[str, str] = Field(default_factory=dict)


class ToolCall(Record):
    """One call, arguments by name; the values are JSON, never code."""

    name: str
    arguments: JsonObject = Field(default_factory=dict)


class ToolResult(Record):
    """What a call gave back, as text for the policy. A bad call is a result with ``error``.

    ``refused``: the episode answered, the world never saw the call, and scoring leaves it out.
    """

    content: str
    error: bool = False
    refused: bool = False


class Turn(Record):
    """What the user says, and the calls that solve it (empty: nothing is to be done yet).

    ``reveals`` names tools that the policy gets together with this turn's message. ``answer`` is
    what the reference says at the end of the turn; empty where words are not judged.
    """

    user: str
    reference: tuple[ToolCall, ...] = ()
    reveals: tuple[str, ...] = ()
    answer: str = ""


class Provenance(Record):
    """Where a synthetic task comes from: enough to make it again."""

    synthesizer: str
    seed: int
    program: str = ""  # digest of the tuned prompts that worded it, empty without a language model
    substitutions: dict[str, str] = Field(default_factory=dict)  # old value -> new value
    edit: str = ""  # the augmentation, if any
    structure: Literal["", "new", "seed"] = ""  # other functions, or the seed's own calls
    models: tuple[str, ...] = ()  # backbones of which an answer was kept
    stages: dict[str, tuple[str, ...]] = Field(default_factory=dict)  # stage -> those it kept
    tried: tuple[str, ...] = ()  # backbones that were asked, and of which nothing was kept
    calls: int = 0  # language-model calls, also those of which nothing was kept
    tokens: int = 0
    seconds: float = 0.0  # of the clock, from the first attempt at it to the last


class Task(Record):
    """A multi-turn task with its executable reference.

    ``tools`` names those the policy may call from the start; tools handed over later stand only in
    ``Turn.reveals``. Their specifications are ``Environment.tools()``.
    """

    id: str
    environment: str
    kind: Kind = "base"
    split: Split = "train"
    tools: tuple[str, ...]
    turns: tuple[Turn, ...]
    initial_state: JsonObject
    origin: Literal["seed", "synthetic"] = "seed"
    parent_id: str | None = None
    generation: int = 0
    flags: tuple[str, ...] = ()  # held-out sets, "unpassable", "defect", "idle" (docs/plugins.md)
    provenance: Provenance | None = None
    noise: int | None = None  # seed of what is added to results as the policy sees them; None: none

    @property
    def reference_calls(self) -> int:
        """Number of calls of the reference over all turns."""
        return sum(len(turn.reference) for turn in self.turns)

    def tools_at(self, turn: int) -> tuple[str, ...]:
        """The tools that may be called in turn ``turn`` (0-based)."""
        revealed = tuple(name for t in self.turns[: turn + 1] for name in t.reveals)
        return self.tools + tuple(n for n in dict.fromkeys(revealed) if n not in self.tools)

    def with_content_id(self) -> Self:
        """The same task, named by its content: equal tasks get equal ids."""
        return self.model_copy(update={"id": content_id(self)})


def content_id(task: Task) -> str:
    """``syn-`` and 16 hex digits of SHA-256 over what the policy meets and what it is judged by."""
    content: dict[str, Any] = {  # written out: several times faster than a dump of the whole task
        "environment": task.environment,
        "kind": task.kind,
        "tools": task.tools,
        "turns": [
            {
                "user": turn.user,
                "reference": [{"name": c.name, "arguments": c.arguments} for c in turn.reference],
                "reveals": turn.reveals,
                **({"answer": turn.answer} if turn.answer else {}),
            }
            for turn in task.turns
        ],
        "initial_state": task.initial_state,
    }
    if task.noise is not None:
        content["noise"] = task.noise
    return f"syn-{digest(content, digits=16)}"
