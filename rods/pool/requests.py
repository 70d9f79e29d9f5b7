"""The queue of seeds that wait for variants. A lease that expires is taken again."""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import UTC, datetime

import sqlalchemy as sa
from sqlalchemy.engine import Connection, RowMapping

from rods.errors import PoolError
from rods.pool import tables
from rods.pool.records import SynthesisRequest

_REQUEST = tables.request
_COLUMNS = (
    _REQUEST.c.id,
    _REQUEST.c.entry_id,
    _REQUEST.c.step,
    _REQUEST.c.lease_until,
    _REQUEST.c.owner,
)


def ask(connection: Connection, entry_id: str, step: int) -> SynthesisRequest:
    """The request for this entry at this step, made if it was not there."""
    if connection.scalar(sa.select(1).where(tables.entry.c.id == entry_id)) is None:
        raise PoolError(f"{entry_id!r} is not in the pool; variants are made of its entries.")
    this = sa.select(*_COLUMNS).where(_REQUEST.c.entry_id == entry_id, _REQUEST.c.step == step)
    if (row := connection.execute(this).mappings().one_or_none()) is None:
        connection.execute(sa.insert(_REQUEST).values(entry_id=entry_id, step=step, seconds=0.0))
        row = connection.execute(this).mappings().one()
    return _record(row)


def lease(connection: Connection, owner: str, seconds: float) -> SynthesisRequest | None:
    """The oldest open request that nobody holds, held by ``owner`` for ``seconds``; or None."""
    now = time.time()
    free = sa.or_(_REQUEST.c.lease_until.is_(None), _REQUEST.c.lease_until <= now)
    oldest = (
        sa.select(_REQUEST.c.id)
        .where(_REQUEST.c.done_step.is_(None), free)
        .order_by(_REQUEST.c.step, _REQUEST.c.id)
        .limit(1)
        .with_for_update(skip_locked=True)  # ignored by SQLite, whose writers take turns
    )
    if (key := connection.scalar(oldest)) is None:
        return None
    held = sa.update(_REQUEST).where(_REQUEST.c.id == key)
    connection.execute(held.values(owner=owner, lease_until=now + seconds))
    taken = sa.select(*_COLUMNS).where(_REQUEST.c.id == key)
    return _record(connection.execute(taken).mappings().one())


def hold(connection: Connection, request: SynthesisRequest, seconds: float) -> bool:
    """Nobody takes the request for so long from now; False: somebody else has, or answered it."""
    held = (
        sa.update(_REQUEST)
        .where(_REQUEST.c.id == request.id, _REQUEST.c.owner == request.owner)
        .values(lease_until=time.time() + seconds)
    )
    return connection.execute(held).rowcount > 0


def waiting(connection: Connection) -> int:
    """Requests without an answer."""
    open_requests = sa.select(sa.func.count()).where(_REQUEST.c.done_step.is_(None))
    return connection.scalar(open_requests) or 0


def release(connection: Connection, request: SynthesisRequest) -> None:
    """The request is open to anyone again, unless somebody else has taken it meanwhile."""
    connection.execute(
        sa.update(_REQUEST)
        .where(_REQUEST.c.id == request.id, _REQUEST.c.owner == request.owner)
        .values(owner=None, lease_until=None)
    )


def last_requests(connection: Connection, entry_ids: Iterable[str], before: int) -> dict[str, int]:
    """Entry -> the last step before ``before`` at which variants of it were asked for."""
    last = sa.select(_REQUEST.c.entry_id, sa.func.max(_REQUEST.c.step)).where(
        _REQUEST.c.entry_id.in_(list(entry_ids)), _REQUEST.c.step < before
    )
    rows = connection.execute(last.group_by(_REQUEST.c.entry_id))
    return {row.entry_id: row[1] for row in rows}


def _record(row: RowMapping) -> SynthesisRequest:
    until = row["lease_until"]
    lease_until = None if until is None else datetime.fromtimestamp(until, UTC)
    return SynthesisRequest.model_validate({**row, "lease_until": lease_until})
