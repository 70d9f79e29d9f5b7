"""A hash of the pool's content: equal pools have equal digests, wherever and whenever they ran."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from rods.pool import tables

# Clock times: what two equal runs may differ in. Surrogate keys and leases go too.
_LEFT_OUT = {
    "rods_observation": {"id"},
    "rods_transition": {"id"},
    "rods_rejection": {"id"},
    "rods_request": {"id", "owner", "lease_until", "seconds"},
    "rods_provenance": {"seconds"},
}


def digest(connection: Connection) -> str:
    """SHA-256, 64 hex digits, over all tables in a canonical order of rows."""
    entry, plan, clock = tables.entry, tables.plan, tables.clock
    sha = hashlib.sha256()
    for table, order in (
        (entry, [entry.c.id]),
        (tables.payload, [tables.payload.c.entry_id]),
        (tables.provenance, [tables.provenance.c.entry_id]),
        (tables.observation, [tables.observation.c.entry_id, tables.observation.c.id]),
        (tables.transition, [tables.transition.c.entry_id, tables.transition.c.id]),
        (tables.request, [tables.request.c.entry_id, tables.request.c.step]),
        (tables.rejection, _rejection_order()),
        (plan, [plan.c.epoch]),
        (clock, [clock.c.step]),
    ):
        sha.update(table.name.encode())
        for row in _rows(connection, table, order):
            sha.update(row)
    return sha.hexdigest()


def _rejection_order() -> list[sa.ColumnElement[Any]]:
    columns = tables.rejection.c
    return [columns.seed_id, columns.request_step, columns.stage, columns.reason]


def _rows(
    connection: Connection, table: sa.Table, order: Sequence[sa.ColumnElement[Any]]
) -> Iterator[bytes]:
    left_out = _LEFT_OUT.get(table.name, set())
    columns = [column for column in table.c if column.name not in left_out]
    streamed = connection.execution_options(yield_per=500)
    for row in streamed.execute(sa.select(*columns).order_by(*order)):
        yield json.dumps(list(row), ensure_ascii=True).encode()
