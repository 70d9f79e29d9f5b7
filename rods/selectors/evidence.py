"""What the groups of one step say about an entry, and whether a failure is one of form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rods.types import Kind, Rollout, RolloutGroup


@dataclass(frozen=True, slots=True)
class Evidence:
    """The scored groups of one entry in one step, taken together."""

    entry_id: str
    kind: Kind
    mean: float  # over all scored rollouts, in [0, 1]
    variance: float  # the largest within one group: what GRPO's advantages are made of
    format_share: float  # of the rollouts that failed, in [0, 1]

    @property
    def phi(self) -> float:
        """Boundary priority 4 r (1 - r); 1 at r = 0.5 (arXiv:2606.19047)."""
        return 4 * self.mean * (1 - self.mean)


def gather(groups: Sequence[RolloutGroup], min_scored: int) -> list[Evidence]:
    """One piece of evidence an entry, from groups with at least ``min_scored`` rewards."""
    by_entry: dict[str, list[RolloutGroup]] = {}
    for group in groups:
        if group.scored and len(group.rewards) >= min_scored:
            by_entry.setdefault(group.entry_id, []).append(group)
    return [_together(entry_id, found) for entry_id, found in by_entry.items()]


def format_share(rollouts: Sequence[Rollout]) -> float:
    """Share of the scored rollouts below full reward that never made a call but tried to.

    It keeps "cannot write a call" apart from "cannot solve": a variant would not help the former.
    """
    failed = [r for r in rollouts if r.reward is not None and r.reward.value < 1]
    return sum(r.format_failure for r in failed) / len(failed) if failed else 0.0


def _together(entry_id: str, groups: Sequence[RolloutGroup]) -> Evidence:
    rewards = [reward for group in groups for reward in group.rewards]
    return Evidence(
        entry_id=entry_id,
        kind=groups[0].task.kind,
        mean=round(sum(rewards) / len(rewards), 12),  # as RolloutGroup.mean
        variance=max(group.variance for group in groups),
        format_share=format_share([rollout for group in groups for rollout in group.rollouts]),
    )
