"""A replay buffer with two controls: what may enter, and what must leave (arXiv:2606.19047)."""

from __future__ import annotations

from typing import Literal

import sqlalchemy as sa
from pydantic import Field

from rods.buffers.planning import PlanningBuffer
from rods.pool import tables
from rods.types import PoolState, RetireReason

_ENTRY = tables.entry
_GENERATED = _ENTRY.c.origin == "synthetic"
_IN_POOL = _ENTRY.c.state.in_([PoolState.TRIAL, PoolState.ACTIVE])


class DualControlBuffer(PlanningBuffer):
    """Retires what no longer teaches and lets in at most ``beta`` of the active pool.

    Deviations from the paper, all options: an entry whose last ``flat_visits`` groups had no
    variance leaves although its mean lies in the zone (it gives no gradient); newer candidates
    enter first, since older ones were made for a weaker policy.
    """

    name = "dual-control"
    presets = {  # noqa: RUF012 - the interface declares it as a class variable
        "paper": {
            "buffer:dual-control": {
                "flat_visits": 0,
                "min_visits": 1,
                "candidate_order": "oldest",
                "protect_seeds": True,
            }
        }
    }

    class Config(PlanningBuffer.Config):
        """Thresholds on mean rewards in [0, 1], and sizes."""

        beta: float = Field(
            0.20, ge=0, le=1, description="Candidates let in an epoch, as a share of the active."
        )
        burn_in: float = Field(
            0.20, ge=0, le=1, description="A variant leaves if its first mean is below."
        )
        mastered: float = Field(0.95, ge=0, le=1, description="Above it a task leaves.")
        unsolvable: float = Field(0.20, ge=0, le=1, description="Below it a task leaves.")
        min_visits: int = Field(
            1, ge=1, description="Visits before a task is called mastered or unsolvable."
        )
        flat_visits: int = Field(
            3, ge=0, description="Visits without variance after which a task leaves (0: never)."
        )
        p_max: int = Field(
            400, ge=1, description="Generated tasks in the pool, at most; lowest phi leaves first."
        )
        protect_seeds: bool = Field(True, description="Only generated tasks leave.")
        candidate_order: Literal["newest", "oldest"] = Field(
            "newest", description="Which candidates enter first."
        )

    config: Config

    def retire(self, epoch: int) -> int:
        """Burn-in failures, mastered, unsolvable, flat, and the lowest phi above P_max leave."""
        rules = self._rules()
        first = sa.case(*((rule, reason.value) for reason, rule in rules))
        with self.pool.transaction():
            left = self.pool.retire(first, sa.or_(*(rule for _, rule in rules)), epoch=epoch)
            return left + self._make_room(epoch)

    def inject(self, epoch: int) -> int:
        """Candidates are on trial: at most beta of the active pool, at least one, within P_max."""
        newest = self.config.candidate_order == "newest"
        created = _ENTRY.c.created_step
        with self.pool.transaction():
            room = self.config.p_max - self.pool.count(_GENERATED, _IN_POOL)
            return self.pool.move(
                PoolState.TRIAL,
                epoch=epoch,
                order_by=[created.desc() if newest else created, _ENTRY.c.distance],
                limit=max(0, min(self._quota(), room)),
            )

    # ---------------------------------------------------------------- inside
    def _rules(self) -> list[tuple[RetireReason, sa.ColumnElement[bool]]]:
        """Why an entry leaves; the first reason that holds is the one that is kept."""
        config, mean = self.config, _ENTRY.c.mean
        mine = _GENERATED if config.protect_seeds else sa.true()
        measured = sa.and_(mine, _ENTRY.c.visits >= config.min_visits)
        rules = [
            (RetireReason.BURN_IN, sa.and_(_GENERATED, _ENTRY.c.first_mean < config.burn_in)),
            (RetireReason.MASTERED, sa.and_(measured, mean > config.mastered)),
            (RetireReason.UNSOLVABLE, sa.and_(measured, mean < config.unsolvable)),
        ]
        if config.flat_visits:
            flat = _ENTRY.c.flat_visits >= config.flat_visits
            rules.append((RetireReason.NO_VARIANCE, sa.and_(mine, flat)))
        return rules

    def _quota(self) -> int:
        if self.config.beta == 0:
            return 0
        active = self.pool.count(_ENTRY.c.state == PoolState.ACTIVE)
        return max(1, int(self.config.beta * active))

    def _make_room(self, epoch: int) -> int:
        """The lowest phi leave until those that enter next fit under P_max."""
        waiting = self.pool.count(_ENTRY.c.state == PoolState.CANDIDATE)
        generated = self.pool.count(_GENERATED, _IN_POOL)
        excess = generated + min(waiting, self._quota()) - self.config.p_max
        if excess <= 0:
            return 0
        mean = _ENTRY.c.mean
        return self.pool.retire(
            RetireReason.OVER_CAPACITY,
            _GENERATED,
            mean.is_not(None),  # what is on trial has not shown its phi yet
            epoch=epoch,
            order_by=[mean * (1 - mean)],
            limit=excess,
        )
