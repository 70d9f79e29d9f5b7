"""What rollouts earned: one number for TRL, whole groups for the curriculum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rods.scoring import format_score
from rods.types import Rollout, RolloutGroup, TrainingStage
from rods_grpo_trl.ranks import gather
from rods_grpo_trl.schedule import Schedule


def reward_of(rollout: Rollout, stage: TrainingStage) -> float | None:
    """The stage's reward in [0, 1]; None where an outage ended the rollout: never a zero."""
    if rollout.reward is None:
        return None
    if stage.reward == "format":
        return format_score(rollout.trajectory)
    return float(rollout.reward.solved) if stage.reward == "solved" else rollout.reward.value


class RewardColumn:
    """The reward function that TRL calls: the rollouts have brought their reward along."""

    __name__ = "progress"

    def __call__(self, *, reward: list[float | None], **_: Any) -> list[float | None]:
        """``reward`` is the column of that name, aligned with the completions; None is excluded."""
        return reward


class Ledger:
    """The groups of one generation, between their rollouts and the update that they cause."""

    def __init__(self, schedule: Schedule, k: int) -> None:
        self.schedule, self.k = schedule, k
        self._groups: list[RolloutGroup] = []

    def enter(self, rollouts: Sequence[tuple[int, Rollout]]) -> None:
        """Take this rank's rollouts with their positions; all ranks then hold all groups."""
        by_position: dict[int, list[Rollout]] = {}
        for position, rollout in gather(rollouts):
            by_position.setdefault(position, []).append(rollout)
        self._groups = [self._group(at, by_position[at]) for at in sorted(by_position)]

    def take(self) -> list[RolloutGroup]:
        """The groups in the order of their visits, once."""
        groups, self._groups = self._groups, []
        return groups

    def _group(self, position: int, rollouts: list[Rollout]) -> RolloutGroup:
        assert self.schedule.plan is not None
        visit = self.schedule.plan.visits[position]
        if len(rollouts) != self.k:
            raise RuntimeError(
                f"Entry {visit.entry_id!r} got {len(rollouts)} rollouts, where {self.k} were "
                "expected: the ranks do not play the same epoch. Start them with one launcher."
            )
        return RolloutGroup(
            entry_id=visit.entry_id,
            task=self.schedule.tasks[position],
            rollouts=tuple(rollouts),
            draw_seed=visit.draw_seed,
        )
