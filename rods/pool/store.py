"""The pool's interface: every change is one transaction, every question is answered in SQL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime

from rods.types import (
    EpochPlan,
    Kind,
    PoolState,
    Record,
    RetireReason,
    RolloutGroup,
    SynthesisOutcome,
    Task,
)


class PoolEntry(Record):
    """One task in the pool with what was measured of it."""

    id: str
    kind: Kind
    origin: str
    state: PoolState
    reason: RetireReason | None = None
    parent_id: str | None = None
    generation: int = 0
    created_step: int = 0
    visits: int = 0  # scored groups
    mean: float | None = None  # of the last scored group
    variance: float | None = None
    flat_visits: int = 0  # last consecutive scored groups without variance
    last_step: int | None = None

    @property
    def phi(self) -> float | None:
        """Boundary priority 4 r (1 - r) of the last mean; 1 at r = 0.5 (arXiv:2606.19047)."""
        return None if self.mean is None else 4 * self.mean * (1 - self.mean)


class PoolStats(Record):
    """Counts for tables and summaries."""

    states: dict[PoolState, int]
    retired: dict[RetireReason, int]
    injected: int  # entries that ever entered
    funnel: dict[str, dict[str, int]]  # stage -> reason -> count; ["admitted"]["total"]
    pending_requests: int
    synthesis_seconds: float
    tokens: int


class SynthesisRequest(Record):
    """A seed that waits for variants, leased by one worker at a time."""

    id: int
    entry_id: str
    step: int
    lease_until: datetime | None = None


class Pool:
    """Tasks, observations and transitions behind any SQLAlchemy URL (SQLite in WAL mode here).

    Step numbers are 1-based optimizer steps; 0 is the set-up. Everything is stamped with the step
    at which it happened, so that ``rewind`` can take it back.
    """

    @classmethod
    def open(cls, url: str, *, create: bool = True) -> Pool: ...
    def close(self) -> None: ...
    def transaction(self) -> AbstractContextManager[None]:
        """All calls inside are one transaction (nested use joins the outer one)."""
        ...

    # entering
    def add_seeds(self, tasks: Iterable[Task]) -> int:
        """Seeds enter as active; those already there are left alone. How many were new."""
        ...

    def stage(self, request: SynthesisRequest, outcome: SynthesisOutcome, *, step: int) -> int:
        """One transaction: candidates enter (a known content id counts as a duplicate rejection),
        rejections are counted, the request is done. How many candidates were new."""
        ...

    # measuring
    def record(self, step: int, epoch: int, groups: Sequence[RolloutGroup]) -> None:
        """Keep K rewards a group; scored groups move mean, variance, visits; trial -> active."""
        ...

    # epoch boundary (used by buffers)
    def retire(self, reason: RetireReason, *conditions: object) -> int: ...
    def plan(self, epoch: int) -> EpochPlan | None: ...
    def save_plan(self, plan: EpochPlan) -> None: ...

    # synthesis requests
    def request_synthesis(self, entry_id: str, step: int) -> SynthesisRequest: ...
    def lease(self, owner: str, seconds: float) -> SynthesisRequest | None: ...

    # resume
    @property
    def step(self) -> int:
        """The last step recorded."""
        ...

    def rewind(self, step: int) -> None:
        """Undo everything stamped later than ``step``: observations, entries, transitions, plans."""
        ...

    # questions
    def task(self, entry_id: str) -> Task: ...
    def entry(self, entry_id: str) -> PoolEntry: ...
    def entries(
        self, state: PoolState | None = None, kind: Kind | None = None, limit: int | None = None
    ) -> Iterator[PoolEntry]: ...
    def lineage(self, entry_id: str) -> list[PoolEntry]: ...
    def stats(self) -> PoolStats: ...
    def digest(self) -> str:
        """SHA-256 over the whole content in a canonical order, without clock times: equal pools
        have equal digests."""
        ...
