"""A new plan: other functions in a seed's structure, executed once, not worded yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rods.structure.leaves import Path
from rods.types import ComplexityProfile, JsonObject, JsonValue, SourceKind, ToolCall


@dataclass(frozen=True, slots=True)
class Bound:
    """A leaf of an argument that is read from an earlier result whenever the plan runs."""

    parameter: str
    path: Path  # within the argument; empty: the argument itself
    producer: int  # call, numbered over the whole plan
    result_path: Path  # within the parsed result


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A call with what its arguments come from."""

    call: ToolCall
    sources: Mapping[str, SourceKind]  # one a parameter given
    bound: tuple[Bound, ...] = ()
    holes: frozenset[str] = frozenset()  # free text of the user's: a writer may put another there


@dataclass(frozen=True, slots=True)
class Patch:
    """A change of the initial state without which a call of the plan fails."""

    path: Path
    value: JsonValue
    why: str  # the error it repaired
    by_model: bool = field(default=False, compare=False)  # a language model proposed it


@dataclass(frozen=True, slots=True)
class Proposal:
    """Functions, arguments and world of a task of the seed's structure.

    ``profile`` is computed from the executed calls, not from what the search meant to build; it
    equals the seed's but for the names of tools and parameters.
    """

    seed_id: str
    turns: tuple[tuple[PlannedCall, ...], ...]
    tools: tuple[str, ...]  # offered from the start
    initial_state: JsonObject  # patches applied
    profile: ComplexityProfile
    patches: tuple[Patch, ...] = ()
    plausibility: float = 0.0  # mean log-probability of a call after its predecessor
    edits: int = 0  # edit distance of the function names to the seed's
    notes: Mapping[str, str] = field(default_factory=dict)

    @property
    def calls(self) -> tuple[PlannedCall, ...]:
        """All calls in order."""
        return tuple(call for turn in self.turns for call in turn)
