"""The structure of a task, and what the synthesis of variants gives."""

from __future__ import annotations

from enum import StrEnum

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


class SynthesisOutcome(Record):
    """All that one request for variants gave."""

    candidates: tuple[Candidate, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    seconds: float = 0.0
