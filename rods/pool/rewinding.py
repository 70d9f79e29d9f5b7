"""The pool as it was after a given step, computed from its logs."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from rods.pool import tables
from rods.types import PoolState


def rewind(connection: Connection, step: int) -> None:
    """Nothing stamped later than ``step`` is left, and what it had changed is as before."""
    entry, request = tables.entry, tables.request
    connection.execute(sa.delete(entry).where(entry.c.created_step > step))  # cascades
    connection.execute(
        sa.update(entry).where(entry.c.entered_step > step).values(entered_step=None)
    )
    _restore_measurements(connection, step)
    _restore_states(connection, step)
    for table in (
        tables.observation,
        tables.transition,
        tables.rejection,
        request,
        tables.plan,
        tables.clock,
    ):
        connection.execute(sa.delete(table).where(table.c.step > step))
    waiting = sa.or_(request.c.done_step.is_(None), request.c.done_step > step)
    connection.execute(  # a lease, too: who held it may have been killed
        sa.update(request)
        .where(waiting)
        .values(done_step=None, owner=None, lease_until=None, seconds=0.0)
    )


def _restore_measurements(connection: Connection, step: int) -> None:
    entry, seen = tables.entry, tables.observation
    kept = sa.and_(seen.c.entry_id == entry.c.id, seen.c.step <= step, seen.c.scored)
    latest = [seen.c.step.desc(), seen.c.id.desc()]

    def last(column: sa.ColumnElement[float]) -> sa.ScalarSelect[float]:
        return sa.select(column).where(kept).order_by(*latest).limit(1).scalar_subquery()

    varied = seen.alias()
    last_varied = (  # the observation after which all are flat
        sa.select(sa.func.max(varied.c.id))
        .where(varied.c.entry_id == entry.c.id, varied.c.step <= step)
        .where(varied.c.scored, varied.c.variance > 0)
        .correlate(entry)  # two selects below the update, where it is not done automatically
        .scalar_subquery()
    )
    flat = sa.select(sa.func.count()).where(kept, seen.c.id > sa.func.coalesce(last_varied, 0))
    connection.execute(
        sa.update(entry)
        .where(entry.c.last_step > step)
        .values(
            visits=sa.select(sa.func.count()).where(kept).scalar_subquery(),
            mean=last(seen.c.mean),
            variance=last(seen.c.variance),
            last_step=last(seen.c.step),
            flat_visits=flat.scalar_subquery(),
        )
    )


def _restore_states(connection: Connection, step: int) -> None:
    entry, log, later = tables.entry, tables.transition, tables.transition.alias()
    kept = sa.and_(log.c.entry_id == entry.c.id, log.c.step <= step)

    def last(column: sa.ColumnElement[str], *where: sa.ColumnElement[bool]) -> sa.ScalarSelect[str]:
        chosen = sa.select(column).where(kept, *where).order_by(log.c.id.desc()).limit(1)
        return chosen.scalar_subquery()

    connection.execute(
        sa.update(entry)
        .where(entry.c.id.in_(sa.select(later.c.entry_id).where(later.c.step > step)))
        .values(
            state=last(log.c.to_state),
            reason=last(log.c.reason),
            first_mean=last(log.c.mean, log.c.to_state == PoolState.ACTIVE),
        )
    )
