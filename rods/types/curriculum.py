"""The schedule, the states of the pool, and what observers are told."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from rods.types.base import KINDS, Kind, Record


class TrainingStage(Record):
    """A part of the schedule: format -> base -> all kinds in the paper."""

    name: str = Field("all", description="How reports call it.")
    epochs: int = Field(
        default=5,
        ge=1,
        le=100_000,
        description="Its length, in epochs of curriculum.epoch_size prompts.",
    )
    kinds: tuple[Kind, ...] = Field(KINDS, description="Kinds of tasks that it trains on.")
    reward: Literal["progress", "format", "solved"] = Field(
        "progress",
        description="What counts: the share of turns, calls that can be parsed, or whole tasks.",
    )
    synthesis: bool = Field(True, description="Whether variants are asked for and injected.")


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
    skipped: bool = False  # nothing was found wrong because it could not be looked at
    detail: str = ""
    fix: str = ""  # the command or the key that mends it
    blocked_by: str = ""  # the row that tells why this one could not be looked at
    traceback: str = Field("", exclude=True, repr=False)  # of what was raised, for --debug
