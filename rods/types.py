"""The records that the parts of rods hand to each other.

All are frozen, forbid unknown keys and survive a JSON round trip. ``frozen`` does not freeze a
dict inside: whoever opens a world copies the initial state first.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from enum import StrEnum
from itertools import zip_longest
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field
from pydantic import JsonValue as JsonValue

JsonObject = dict[str, JsonValue]
Kind = Literal["base", "miss_func", "miss_param", "long_context"]
KINDS: tuple[Kind, ...] = ("base", "miss_func", "miss_param", "long_context")
Split = Literal["train", "eval"]
Effect = Literal["read", "write", "unknown"]
StopReason = Literal["completed", "max_steps", "max_tokens", "error"]
EmptyTurnRule = Literal["judged", "all", "abstain"]


class Record(BaseModel):
    """Base of every record: immutable, no unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


# ------------------------------------------------------------------------------- tasks
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

    ``reveals`` names tools that the policy gets together with this turn's message.
    """

    user: str
    reference: tuple[ToolCall, ...] = ()
    reveals: tuple[str, ...] = ()


class Provenance(Record):
    """Where a synthetic task comes from: enough to make it again."""

    synthesizer: str
    seed: int
    program: str = ""  # digest of the tuned prompts that worded it, empty without a language model
    substitutions: dict[str, str] = Field(default_factory=dict)  # old value -> new value
    edit: str = ""  # the augmentation, if any
    calls: int = 0  # language-model calls
    tokens: int = 0
    seconds: float = 0.0


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
    flags: tuple[str, ...] = ()  # held-out sets, "unpassable", "defect" (its reference fails)
    provenance: Provenance | None = None

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
    content = {  # written out: several times faster than a dump of the whole task
        "environment": task.environment,
        "kind": task.kind,
        "tools": task.tools,
        "turns": [
            {
                "user": turn.user,
                "reference": [{"name": c.name, "arguments": c.arguments} for c in turn.reference],
                "reveals": turn.reveals,
            }
            for turn in task.turns
        ],
        "initial_state": task.initial_state,
    }
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "syn-" + hashlib.sha256(canonical.encode()).hexdigest()[:16]


# ------------------------------------------------------------------------------- messages
class AssistantMessage(Record):
    """What the policy said, parsed.

    Without calls it ends the turn. ``ends_turn`` ends it after its calls have run, for compact
    policies that need no closing message. ``malformed`` says why a call could not be parsed: no
    call of the message runs, the policy gets an error back and the turn goes on.
    """

    content: str = ""
    calls: tuple[ToolCall, ...] = ()
    malformed: str | None = None
    ends_turn: bool = False


class Message(Record):
    """A message shown to the policy. ``reveals`` are the tools handed over with it."""

    role: Literal["system", "user", "tool"]
    content: str
    name: str | None = None  # of the tool that answers
    reveals: tuple[ToolSpec, ...] = ()


# ------------------------------------------------------------------------------- rollouts
class Step(Record):
    """One message of the policy and the results of its calls, in order."""

    message: AssistantMessage
    results: tuple[ToolResult, ...] = ()

    @property
    def executed(self) -> tuple[ToolCall, ...]:
        """The calls that reached the world: what a replay runs again."""
        pairs = zip_longest(self.message.calls, self.results)
        return tuple(c for c, r in pairs if c is not None and not (r is not None and r.refused))


class Trajectory(Record):
    """One rollout of one task: turns of steps. Fewer turns than the task's: it ended early."""

    task_id: str
    turns: tuple[tuple[Step, ...], ...]
    stop: StopReason = "completed"
    error: str | None = None

    @property
    def calls(self) -> int:
        """Number of executed calls."""
        return sum(len(step.executed) for turn in self.turns for step in turn)

    @property
    def malformed(self) -> int:
        """Number of messages whose call could not be parsed."""
        return sum(step.message.malformed is not None for turn in self.turns for step in turn)


class TurnVerdict(Record):
    """How one turn went. ``judged`` is false where the reference is empty."""

    state_ok: bool
    response_ok: bool
    judged: bool = True
    acted: bool = True  # at least one call was tried in this turn: a refused one is no abstention

    @property
    def ok(self) -> bool:
        """A judged turn passes when state and responses match and something was done."""
        return self.state_ok and self.response_ok and self.acted


class ProgressReward(Record):
    """R_P = (1/N) sum_t state_ok_t * exec_ok_t over the N turns of the task (arXiv:2606.19047).

    ``verdicts`` has one entry a turn **of the task**, so a truncated rollout cannot score 1. The
    three rules differ in turns with an empty reference: ``judged`` leaves them out of N, ``all``
    counts them 1, ``abstain`` counts them 1 only if no call was made (it teaches to ask back).
    """

    verdicts: tuple[TurnVerdict, ...]
    empty_turns: EmptyTurnRule = "abstain"

    def under(self, rule: EmptyTurnRule) -> float:
        """The reward in [0, 1] under one of the three rules; 1 for a task without judged turns."""
        scores = [
            float(v.ok) if v.judged else float(rule == "all" or not v.acted)
            for v in self.verdicts
            if v.judged or rule != "judged"
        ]
        return sum(scores) / len(scores) if scores else 1.0

    @property
    def value(self) -> float:
        """The reward in [0, 1] under the rule of this record."""
        return self.under(self.empty_turns)

    @property
    def solved(self) -> bool:
        """Every judged turn passed."""
        return all(v.ok for v in self.verdicts if v.judged)


class Rollout(Record):
    """A trajectory and what it earned. ``reward`` is None when an outage ended it: never a zero."""

    trajectory: Trajectory
    reward: ProgressReward | None
    policy_version: int = 0

    @property
    def format_failure(self) -> bool:
        """No call was executed, and at least one could not be parsed."""
        return self.trajectory.malformed > 0 and self.trajectory.calls == 0


class RolloutGroup(Record):
    """K rollouts of one draw of one pool entry.

    ``task`` is what was played; ``entry_id`` is the pool entry it was drawn from (the same id
    unless the entry is redrawn with new entities, and then ``draw_seed`` repeats the draw).
    """

    entry_id: str
    task: Task
    rollouts: tuple[Rollout, ...]
    draw_seed: int | None = None

    @property
    def rewards(self) -> tuple[float, ...]:
        """The rewards of the scored rollouts, shape (<= K,)."""
        return tuple(r.reward.value for r in self.rollouts if r.reward is not None)

    @property
    def scored(self) -> bool:
        """At least two rollouts have a reward; a group that is not scored moves nothing."""
        return len(self.rewards) >= 2

    @property
    def mean(self) -> float:
        """Mean reward over the scored rollouts, in [0, 1]; to 12 places, so that 0.85 is 0.85."""
        rewards = self.rewards
        return round(sum(rewards) / len(rewards), 12) if rewards else 0.0

    @property
    def variance(self) -> float:
        """Population variance over the scored rollouts; exactly 0 where all rewards are equal."""
        rewards, mean = self.rewards, self.mean
        if len(set(rewards)) < 2:  # the mean of equal floats may differ from them
            return 0.0
        return sum((r - mean) ** 2 for r in rewards) / len(rewards)

    @property
    def unscored(self) -> int:
        """Rollouts that an outage ended."""
        return sum(r.reward is None for r in self.rollouts)

    @property
    def format_failures(self) -> int:
        """Rollouts with no executed call and at least one that could not be parsed."""
        return sum(r.format_failure for r in self.rollouts)


# ------------------------------------------------------------------------------- structure
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


# ------------------------------------------------------------------------------- synthesis
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


# ------------------------------------------------------------------------------- curriculum
class TrainingStage(Record):
    """A part of the schedule: format -> base -> all kinds in the paper."""

    name: str = "all"
    epochs: int = Field(default=5, ge=1)
    kinds: tuple[Kind, ...] = KINDS
    reward: Literal["progress", "format", "solved"] = "progress"
    synthesis: bool = True


class Visit(Record):
    """One prompt of an epoch: a pool entry and, if it is redrawn, the seed of the draw."""

    entry_id: str
    draw_seed: int | None = None


class EpochPlan(Record):
    """What one epoch trains on, in order; all epochs of a run have equal length."""

    epoch: int
    stage: TrainingStage
    visits: tuple[Visit, ...]
    injected: int = 0
    retired: int = 0


class PoolState(StrEnum):
    """The states of a pool entry. ``parked`` is a way back into the queue."""

    CANDIDATE = "candidate"  # verified, waiting for an epoch boundary
    TRIAL = "trial"  # injected, not yet measured
    ACTIVE = "active"
    PARKED = "parked"
    RETIRED = "retired"


class RetireReason(StrEnum):
    """Why an entry left the pool."""

    BURN_IN = "burn_in"  # first measured mean below the threshold
    MASTERED = "mastered"
    UNSOLVABLE = "unsolvable"
    NO_VARIANCE = "no_variance"
    OVER_CAPACITY = "over_capacity"


class Regions(Record):
    """Groups by region of their mean, and those without gradient whatever their mean."""

    hard: int = 0
    boundary: int = 0
    mastered: int = 0
    no_variance: int = 0
    unscored: int = 0
    format_failures: int = 0


class StepReport(Record):
    """One training step, as observers see it and ``metrics.jsonl`` keeps it."""

    step: int
    steps: int  # of the whole run
    epoch: int
    reward: float
    regions: Regions
    pool: dict[str, int]  # entries by state
    funnel: dict[str, dict[str, int]]  # stage -> reason -> count; "admitted" counts tasks
    seconds: float
    trainer: dict[str, float] = Field(default_factory=dict)  # loss, grad_norm, ... as it names them


class Check(Record):
    """One line of a preflight or a conformance table."""

    name: str
    ok: bool
    detail: str = ""
    fix: str = ""  # the command or the key that mends it
