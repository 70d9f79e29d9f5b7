"""What an epoch trains on, chosen in SQL: the same for equal pools, seeds and epochs."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Self

import sqlalchemy as sa
from pydantic import Field, model_validator

from rods.errors import PoolError
from rods.interfaces import Buffer
from rods.pool import tables
from rods.pool.shuffling import shuffled
from rods.types import PoolState, TrainingStage


class PlanningBuffer(Buffer):
    """Plans the epoch; who leaves and enters is the subclass's business.

    A pool smaller than the epoch is played round after round, each in an order of its own. What is
    left of the epoch, or all of it where the pool is larger, goes first to a share of entries drawn
    uniformly (so that no region starves), then by rank: new entries, boundary entries by how long
    they were not seen, entries never measured, the rest at random.
    """

    class Config(Buffer.Config):
        """How an epoch is filled when the pool is larger."""

        explore: float = Field(
            0.1, ge=0, le=1, description="Share of an epoch's tasks drawn uniformly (1: all)."
        )
        alpha_low: float = Field(0.20, ge=0, le=1, description="Boundary entries: lowest mean.")
        alpha_high: float = Field(0.85, ge=0, le=1, description="Boundary entries: highest mean.")

        @model_validator(mode="after")
        def _zone(self) -> Self:
            if self.alpha_low > self.alpha_high:
                raise ValueError(
                    f"alpha_low {self.alpha_low} is above alpha_high {self.alpha_high}"
                )
            return self

    config: Config

    def plan(self, epoch: int, stage: TrainingStage, size: int) -> Sequence[str]:
        """``size`` entry ids in training order, of the stage's kinds; seeded by (seed, epoch)."""
        entry = tables.entry
        playable = sa.and_(
            entry.c.state.in_([PoolState.TRIAL, PoolState.ACTIVE]), entry.c.kind.in_(stage.kinds)
        )
        with self.pool.query() as connection:
            count = connection.scalar(sa.select(sa.func.count()).where(playable)) or 0
            if count == 0:
                raise PoolError(
                    f"No task of the kinds {', '.join(stage.kinds)} is in the pool, which stage "
                    f"{stage.name!r} trains on; add seeds of these kinds or change the stage."
                )
            rounds, rest = divmod(size, count)
            plan: list[str] = []
            for turn in range(rounds):
                plan.extend(connection.scalars(self._uniform(playable, epoch, turn)))
            return plan + self._rest(connection, playable, epoch, rest)

    # ---------------------------------------------------------------- inside
    def _uniform(
        self, playable: sa.ColumnElement[bool], epoch: int, turn: object
    ) -> sa.Select[tuple[str]]:
        order = shuffled("plan", self.seed, epoch, turn)
        return sa.select(tables.entry.c.id).where(playable).order_by(order, tables.entry.c.id)

    def _rest(
        self, connection: sa.Connection, playable: sa.ColumnElement[bool], epoch: int, size: int
    ) -> list[str]:
        if size == 0:
            return []
        share = math.ceil(self.config.explore * size)
        drawn = connection.scalars(self._uniform(playable, epoch, "explore").limit(share)).all()
        ranked = (
            sa.select(tables.entry.c.id)
            .where(playable)
            .order_by(*self._ranks(epoch), tables.entry.c.id)
            .limit(size)
        )
        others = connection.scalars(ranked).all() if share < size else []
        chosen = list(dict.fromkeys([*drawn, *others]))[:size]
        random.Random(f"plan/{self.seed}/{epoch}").shuffle(chosen)  # batches mix all of them
        return chosen

    def _ranks(self, epoch: int) -> list[sa.ColumnElement[int]]:
        entry, config = tables.entry, self.config
        boundary = sa.and_(
            entry.c.mean.between(config.alpha_low, config.alpha_high), entry.c.variance > 0
        )
        return [
            sa.case(
                (entry.c.state == PoolState.TRIAL, 0),
                (boundary, 1),
                (entry.c.visits == 0, 2),
                else_=3,
            ),
            sa.case((boundary, entry.c.last_step), else_=0),
            shuffled("plan", self.seed, epoch, "rank"),
        ]
