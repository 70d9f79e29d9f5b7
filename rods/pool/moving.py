"""The state machine: sets of entries change state in SQL, and every change is logged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from rods.pool import tables
from rods.pool.recording import now
from rods.types import PoolState, RetireReason

Condition = sa.ColumnElement[bool]
Order = sa.ColumnElement[Any]
Reason = RetireReason | sa.ColumnElement[str]  # or computed from the entry, such as by CASE

# Where a state can be reached from. Trial turns active only by a measurement (``record``).
ALLOWED: Mapping[PoolState, tuple[PoolState, ...]] = {
    PoolState.TRIAL: (PoolState.CANDIDATE,),
    PoolState.RETIRED: (PoolState.TRIAL, PoolState.ACTIVE),
    PoolState.PARKED: (
        PoolState.CANDIDATE,
        PoolState.TRIAL,
        PoolState.ACTIVE,
        PoolState.RETIRED,
    ),
    PoolState.CANDIDATE: (PoolState.PARKED,),
}


def move(
    connection: Connection,
    to: PoolState,
    conditions: Sequence[Condition],
    *,
    reason: Reason | None = None,
    epoch: int | None = None,
    order_by: Sequence[Order] = (),
    limit: int | None = None,
) -> int:
    """All entries that meet the conditions and may go there are in state ``to``; how many.

    Ties in ``order_by`` are broken by id. The log keeps their last mean.
    """
    entry, log = tables.entry, tables.transition
    why = reason if isinstance(reason, sa.ColumnElement) else sa.literal(reason, sa.String)
    step, before = now(connection), connection.scalar(sa.select(sa.func.max(log.c.id))) or 0
    leaving = sa.select(
        entry.c.id,
        sa.literal(step, sa.Integer),
        sa.literal(epoch, sa.Integer),
        entry.c.state,
        sa.literal(to.value, sa.String),
        why,
        entry.c.mean,
    ).where(entry.c.state.in_(ALLOWED[to]), *conditions)
    leaving = leaving.order_by(*(order_by if limit is not None else ()), entry.c.id).limit(limit)
    names = ["entry_id", "step", "epoch", "from_state", "to_state", "reason", "mean"]
    connection.execute(sa.insert(log).from_select(names, leaving))
    logged = sa.select(log.c.entry_id).where(log.c.id > before)  # writers take turns: all ours
    change = sa.update(entry).where(entry.c.id.in_(logged)).values(state=to.value, reason=why)
    if to is PoolState.TRIAL:
        change = change.values(entered_step=sa.func.coalesce(entry.c.entered_step, step))
    return connection.execute(change).rowcount
