"""Selectors to compare with: what is gained by looking at the reward, and at the present.

``uniform`` chooses among the same groups as ``boundary`` but does not look at their reward: the
difference is what the boundary zone is worth. ``random`` does not even look at the step: it chooses
among all entries that were ever measured, as an offline pipeline would. Both keep quotas and pause
and never choose more seeds than the step has scored groups, but they fill their quotas where
``boundary`` finds few seeds: compare runs at an equal number of admitted tasks, not of steps.
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from rods.pool import tables
from rods.pool.shuffling import shuffled
from rods.selectors.evidence import Evidence
from rods.selectors.quotas import QuotaSelector
from rods.types import KINDS, Kind, PoolState


class UniformSelector(QuotaSelector):
    """Every entry with a scored group in this step is equally likely, whatever its reward."""

    name = "uniform"

    def rank(self, step: int, evidence: Sequence[Evidence]) -> list[tuple[str, Kind]]:
        """This step's entries in a seeded order."""
        drawn = sorted(evidence, key=lambda e: self.tie(step, e.entry_id))
        return [(e.entry_id, e.kind) for e in drawn]


class RandomSelector(QuotaSelector):
    """Every entry of the pool that was measured at any time is equally likely."""

    name = "random"

    def rank(self, step: int, evidence: Sequence[Evidence]) -> list[tuple[str, Kind]]:
        """As many measured entries as the step has, each kind in a seeded order."""
        drawn = [(key, kind) for kind in KINDS for key in self._draw(step, kind)]
        drawn.sort(key=lambda found: self.tie(step, found[0]))
        return drawn[: len(evidence)]

    def _draw(self, step: int, kind: Kind) -> Sequence[str]:
        entry, asked = tables.entry, tables.request
        recent = sa.select(asked.c.entry_id).where(
            asked.c.step > step - self.config.cooldown_steps, asked.c.step < step
        )
        order = shuffled("selector", self.seed, step)
        measured = (
            sa.select(entry.c.id)
            .where(entry.c.state == PoolState.ACTIVE, entry.c.kind == kind, entry.c.visits > 0)
            .where(entry.c.id.not_in(recent))
            .order_by(order, entry.c.id)
            .limit(self.config.quota_per_kind)
        )
        with self.pool.query() as connection:
            return connection.scalars(measured).all()
