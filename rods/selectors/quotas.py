"""What all selectors share: so many a kind, so many in all, and a pause after each request."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence

from pydantic import Field

from rods.interfaces import Selector
from rods.selectors.evidence import Evidence, gather
from rods.types import Kind, RolloutGroup


class QuotaSelector(Selector):
    """Takes the best that ``rank`` offers, within the quotas."""

    class Config(Selector.Config):
        """Quotas and pause."""

        quota_per_kind: int = Field(4, ge=0, description="Seeds of one kind a step, at most.")
        total: int = Field(16, ge=0, description="Seeds a step, at most.")
        cooldown_steps: int = Field(
            13, ge=0, description="Steps before the same entry is chosen again."
        )
        min_scored: int = Field(
            2, ge=2, description="Rollouts with a reward that a group must have to count."
        )

    config: Config

    @abstractmethod
    def rank(self, step: int, evidence: Sequence[Evidence]) -> list[tuple[str, Kind]]:
        """Entries worth a variant with their kinds, best first."""

    def select(self, step: int, epoch: int, groups: Sequence[RolloutGroup]) -> list[str]:
        """Ids of pool entries, best first. Equal arguments on an equal pool give equal seeds."""
        evidence = gather(groups, self.config.min_scored)
        ranked = self.rank(step, evidence) if evidence else []
        cooling = self._cooling(step, [entry_id for entry_id, _ in ranked])
        left, chosen = Counter[Kind](), list[str]()
        for entry_id, kind in ranked:
            if len(chosen) == self.config.total:
                break
            if entry_id not in cooling and left[kind] < self.config.quota_per_kind:
                left[kind] += 1
                chosen.append(entry_id)
        return chosen

    def tie(self, step: int, entry_id: str) -> bytes:
        """A seeded key that orders equals differently at each step."""
        return hashlib.sha256(f"{self.seed}/{step}/{entry_id}".encode()).digest()

    def _cooling(self, step: int, entry_ids: Sequence[str]) -> set[str]:
        """Entries chosen less than ``cooldown_steps`` steps ago."""
        last = self.pool.last_requests(entry_ids, before=step)
        return {key for key, then in last.items() if step - then < self.config.cooldown_steps}
