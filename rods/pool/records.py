"""What the pool answers with."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from rods.types import Kind, ModelUsage, PoolState, Record, RetireReason


class PoolEntry(Record):
    """One task in the pool with what was measured of it."""

    id: str
    kind: Kind
    origin: str
    state: PoolState
    reason: RetireReason | None = None
    parent_id: str | None = None
    generation: int = 0
    distance: float = 0.0  # of its profile to its seed's; 0: isomorphic
    created_step: int = 0
    entered_step: int | None = None  # when it was first on trial
    visits: int = 0  # scored groups
    mean: float | None = None  # of the last scored group
    variance: float | None = None
    flat_visits: int = 0  # last consecutive scored groups without variance
    last_step: int | None = None
    first_mean: float | None = None  # of the group that turned it from trial to active

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
    usage: tuple[ModelUsage, ...] = ()  # of language models, by stage and backbone
    worded: dict[str, int] = Field(
        default_factory=dict
    )  # backbone -> admitted tasks that it had a part in


class SynthesisRequest(Record):
    """A seed that waits for variants, leased by one worker at a time."""

    id: int
    entry_id: str
    step: int
    lease_until: datetime | None = None
    owner: str | None = None


class PoolObservation(Record):
    """K rewards of one group; None where an outage ended the rollout."""

    entry_id: str
    step: int
    epoch: int
    draw_seed: int | None
    rewards: tuple[float | None, ...]
    mean: float | None
    variance: float | None
    policy_version: int
    unscored: int
    format_failures: int


class PoolTransition(Record):
    """One change of state; ``mean`` is the entry's last mean at that moment."""

    entry_id: str
    step: int
    epoch: int | None
    from_state: PoolState | None
    to_state: PoolState
    reason: RetireReason | None
    mean: float | None


class RejectionSummary(Record):
    """How often attempts failed in one way, with the first few details."""

    stage: str
    reason: str
    count: int
    details: tuple[str, ...]
