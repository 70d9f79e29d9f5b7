"""The structure of a task, and what the synthesis of variants gives."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from rods.types.base import Kind, Record
from rods.types.tasks import Task


class SourceKind(StrEnum):
    """Where an argument's value comes from."""

    USER = "user"  # the user's words so far
    RESULT = "result"  # an earlier call's result
    STATE = "state"  # visible state only
    CONSTANT = "constant"  # a schema default, an enum value or a boolean
    DERIVED = "derived"  # a named transform of one of the above
    UNKNOWN = "unknown"


class DataEdge(Record):
    """Call ``consumer`` takes parameter ``parameter`` from a result of call ``producer``."""

    producer: int
    consumer: int
    parameter: str


class ComplexityProfile(Record):
    """What makes two tasks alike, without their story (Phi in arXiv:2606.19047).

    Calls are numbered over the whole task; ``sources[i]`` maps a parameter of call i to the kind of
    its source.
    """

    kind: Kind
    calls_per_turn: tuple[int, ...]
    tools: tuple[str, ...]  # one a call
    edges: tuple[DataEdge, ...]
    sources: tuple[dict[str, SourceKind], ...]
    depth: int  # longest chain of data edges, in edges

    @property
    def turns(self) -> int:
        """Number of user turns."""
        return len(self.calls_per_turn)


class Stage(StrEnum):
    """The five stages of the synthesis."""

    PLAN = "plan"
    EXECUTE = "execute"
    REWRITE = "rewrite"
    CRITIQUE = "critique"
    AUGMENT = "augment"


class Rejection(Record):
    """Why no task came out: data for the funnel, never an exception."""

    stage: Stage
    reason: str  # a member of rods.synthesis.reasons.Reason
    detail: str = ""
    seed_id: str = ""


class Candidate(Record):
    """A verified new task, with the distance of its profile to the seed's (0: isomorphic)."""

    task: Task
    seed_id: str
    distance: float = 0.0


class ModelUsage(Record):
    """What one stage asked of one language model, and what that cost."""

    stage: Stage
    model: str  # the backbone's name
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    price: float = 0.0  # in the unit of the configured prices

    def __add__(self, other: Self) -> Self:
        """Both together, under the stage and the backbone of the first."""
        summed = ("calls", "tokens_in", "tokens_out", "seconds", "price")
        return self.model_copy(
            update={name: getattr(self, name) + getattr(other, name) for name in summed}
        )


class SynthesisOutcome(Record):
    """All that one request for variants gave; the usage is that of rejected attempts too."""

    candidates: tuple[Candidate, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    usage: tuple[ModelUsage, ...] = ()
    seconds: float = 0.0
