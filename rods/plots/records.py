"""What a figure shows of a run, as plain numbers: what ``rods plot --json`` prints."""

from __future__ import annotations

from pydantic import Field

from rods.types.base import Record

Share = float | None  # None where no group of the step was scored


class Shares(Record):
    """Scored groups by region of their mean, and those without variance; moving shares of 1."""

    hard: list[Share]
    boundary: list[Share]
    mastered: list[Share]
    no_variance: list[Share]


class EpochPool(Record):
    """The pool at the end of an epoch, or at the last step of one that is not over."""

    epoch: int
    first_step: int
    pool: dict[str, int]  # entries by state
    injected: int | None = None  # when the epoch began; None where the pool cannot be read
    retired: int | None = None


class HeldOut(Record):
    """Held-out progress in [0, 1]; the interval is of the paired gain, 95 %."""

    n: int  # tasks
    before: float
    after: float | None = None  # None until the training has ended
    gain: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None


class RunSeries(Record):
    """One run. Lists have one value a step; ``epoch`` counts from 0 as ``metrics.jsonl`` does."""

    run: str  # the folder as it was given
    label: str  # the shortest end of it that no other run of the figure has
    world: str
    trainer: str
    policy: str
    zone: tuple[float, float] | None  # of the boundary
    steps_planned: int
    window: int  # steps under a moving mean, the last of which is its own
    step: list[int]
    epoch: list[int]
    reward: list[float | None]  # mean over the scored groups
    reward_mean: list[float | None]  # moving mean of it
    groups: dict[str, list[int]]  # by region, counted
    shares: Shares
    synthesis: dict[str, list[int]]  # so far: ``admitted``, and rejections by stage
    epochs: list[EpochPool]
    held_out: HeldOut | None
    kinds: dict[str, HeldOut] = Field(default_factory=dict)  # held out, by kind of task

    @property
    def steps(self) -> int:
        """The last step."""
        return self.step[-1]
