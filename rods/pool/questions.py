"""What the pool knows, asked in SQL; long answers come in pages, so memory stays flat."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from rods.errors import PoolError
from rods.pool import tables
from rods.pool.records import (
    PoolEntry,
    PoolObservation,
    PoolStats,
    PoolTransition,
    RejectionSummary,
)
from rods.types import Kind, ModelUsage, PoolState, Provenance, RetireReason, Task

_PAGE = 500
_SUMMED = ("calls", "tokens_in", "tokens_out", "seconds", "price")
_COLUMNS = [tables.entry.c[name] for name in PoolEntry.model_fields]
Read = Callable[[], AbstractContextManager[Connection]]


# -------------------------------------------------------------------------------- entries
def entry(connection: Connection, entry_id: str) -> PoolEntry:
    """One entry; an unknown id is a PoolError."""
    chosen = sa.select(*_COLUMNS).where(tables.entry.c.id == entry_id)
    row = connection.execute(chosen).mappings().one_or_none()
    if row is None:
        raise _unknown(entry_id)
    return PoolEntry.model_validate(dict(row))


def entries(
    read: Read, state: PoolState | None, kind: Kind | None, limit: int | None
) -> Iterator[PoolEntry]:
    """Entries by the step they came at, then by id; each page is read on its own."""
    table = tables.entry
    order = sa.tuple_(table.c.created_step, table.c.id)
    chosen = sa.select(*_COLUMNS).order_by(table.c.created_step, table.c.id)
    if state is not None:
        chosen = chosen.where(table.c.state == state)
    if kind is not None:
        chosen = chosen.where(table.c.kind == kind)
    left, page = limit, chosen
    while left is None or left > 0:
        size = _PAGE if left is None else min(_PAGE, left)
        with read() as connection:
            rows = connection.execute(page.limit(size)).mappings().all()
        yield from (PoolEntry.model_validate(dict(row)) for row in rows)
        if len(rows) < size:
            return
        left = None if left is None else left - size
        page = chosen.where(order > (rows[-1]["created_step"], rows[-1]["id"]))


def tasks(connection: Connection, entry_ids: Sequence[str]) -> dict[str, Task]:
    """Entry -> its task with its provenance; an unknown id is a PoolError."""
    payload, made = tables.payload, tables.provenance
    both = payload.outerjoin(made, payload.c.entry_id == made.c.entry_id)
    chosen = sa.select(payload.c.entry_id.label("of"), payload.c.task, made).select_from(both)
    found: dict[str, Task] = {}
    for start in range(0, len(entry_ids), _PAGE):
        page = chosen.where(payload.c.entry_id.in_(entry_ids[start : start + _PAGE]))
        for row in connection.execute(page).mappings():
            task = Task.model_validate_json(row["task"])
            found[row["of"]] = task.model_copy(update={"provenance": _provenance(row)})
    for entry_id in entry_ids:
        if entry_id not in found:
            raise _unknown(entry_id)
    return found


def lineage(connection: Connection, entry_id: str) -> list[PoolEntry]:
    """The entry's ancestors as far as they are known, the seed first, the entry itself last."""
    table = tables.entry
    line = (
        sa.select(table.c.id, table.c.parent_id, sa.literal(0).label("up"))
        .where(table.c.id == entry_id)
        .cte("line", recursive=True)
    )
    parent = sa.select(table.c.id, table.c.parent_id, line.c.up + 1)
    parent = parent.where(
        table.c.id == line.c.parent_id, line.c.up < 1000
    )  # never round in circles
    line = line.union_all(parent)
    chosen = sa.select(*_COLUMNS).join(line, line.c.id == table.c.id).order_by(line.c.up.desc())
    rows = connection.execute(chosen).mappings().all()
    if not rows:
        raise _unknown(entry_id)
    return [PoolEntry.model_validate(dict(row)) for row in rows]


def children(connection: Connection, entry_id: str) -> list[str]:
    """Ids of the variants made of an entry, oldest first."""
    table = tables.entry
    chosen = sa.select(table.c.id).where(table.c.parent_id == entry_id)
    return list(connection.scalars(chosen.order_by(table.c.created_step, table.c.id)))


# -------------------------------------------------------------------------------- logs
def observations(connection: Connection, entry_id: str) -> list[PoolObservation]:
    """Every group of an entry, in order."""
    table = tables.observation
    columns = [table.c[name] for name in PoolObservation.model_fields]
    chosen = sa.select(*columns).where(table.c.entry_id == entry_id).order_by(table.c.id)
    rows = connection.execute(chosen).mappings()
    return [
        PoolObservation.model_validate({**row, "rewards": json.loads(row["rewards"])})
        for row in rows
    ]


def transitions(connection: Connection, entry_id: str) -> list[PoolTransition]:
    """Every change of state of an entry, in order."""
    table = tables.transition
    columns = [table.c[name] for name in PoolTransition.model_fields]
    chosen = sa.select(*columns).where(table.c.entry_id == entry_id).order_by(table.c.id)
    rows = connection.execute(chosen).mappings()
    return [PoolTransition.model_validate(dict(row)) for row in rows]


def rejections(connection: Connection, details: int) -> list[RejectionSummary]:
    """Counts by stage and reason with the first ``details`` details of each."""
    table = tables.rejection
    found: dict[tuple[str, str], tuple[int, list[str]]] = {}
    chosen = sa.select(table.c.stage, table.c.reason, table.c.count, table.c.details)
    for stage, reason, count, texts in connection.execute(chosen.order_by(table.c.id)):
        before, kept = found.get((stage, reason), (0, []))
        room = max(0, details - len(kept))
        found[stage, reason] = (before + count, kept + json.loads(texts)[:room])
    return [
        RejectionSummary(stage=stage, reason=reason, count=count, details=tuple(kept))
        for (stage, reason), (count, kept) in sorted(found.items())
    ]


# -------------------------------------------------------------------------------- counts
def stats(connection: Connection) -> PoolStats:
    """Counts of everything."""
    entry, request = tables.entry, tables.request
    states = _counts(connection, entry.c.state)
    retired = _counts(connection, entry.c.reason, entry.c.state == PoolState.RETIRED)
    entered = sa.select(sa.func.count(entry.c.entered_step))
    open_requests = sa.select(sa.func.count()).where(request.c.done_step.is_(None))
    return PoolStats(
        states={state: states.get(state, 0) for state in PoolState},
        retired={reason: retired[reason] for reason in RetireReason if reason in retired},
        injected=connection.scalar(entered) or 0,
        funnel=_funnel(connection),
        pending_requests=connection.scalar(open_requests) or 0,
        synthesis_seconds=connection.scalar(sa.select(sa.func.sum(request.c.seconds))) or 0.0,
        tokens=connection.scalar(sa.select(sa.func.sum(tables.provenance.c.tokens))) or 0,
        usage=_usage(connection),
        worded=_worded(connection),
    )


def _counts(
    connection: Connection, column: sa.ColumnElement[Any], *where: sa.ColumnElement[bool]
) -> dict[str, int]:
    chosen = sa.select(column, sa.func.count()).where(*where).group_by(column)
    return {row[0]: row[1] for row in connection.execute(chosen)}


def _funnel(connection: Connection) -> dict[str, dict[str, int]]:
    table, log = tables.rejection, tables.transition
    chosen = sa.select(table.c.stage, table.c.reason, sa.func.sum(table.c.count))
    chosen = chosen.group_by(table.c.stage, table.c.reason)
    funnel: dict[str, dict[str, int]] = {}
    for stage, reason, count in connection.execute(chosen.order_by(table.c.stage, table.c.reason)):
        funnel.setdefault(stage, {})[reason] = int(count)
    admitted = sa.select(sa.func.count()).where(
        log.c.from_state.is_(None), log.c.to_state == PoolState.CANDIDATE
    )
    funnel["admitted"] = {"total": connection.scalar(admitted) or 0}
    return funnel


def _usage(connection: Connection) -> tuple[ModelUsage, ...]:
    """What was asked of language models, summed by stage and backbone."""
    table = tables.usage
    sums = [sa.func.sum(table.c[name]).label(name) for name in _SUMMED]
    chosen = sa.select(table.c.stage, table.c.model, *sums).group_by(table.c.stage, table.c.model)
    rows = connection.execute(chosen.order_by(table.c.stage, table.c.model)).mappings()
    return tuple(ModelUsage.model_validate(dict(row)) for row in rows)


def _worded(connection: Connection) -> dict[str, int]:
    """Backbone -> admitted tasks that it had a part in."""
    counts = _counts(connection, tables.provenance.c.models)
    worded: Counter[str] = Counter()
    for models, count in counts.items():
        worded.update(dict.fromkeys(json.loads(models), count))
    return dict(sorted(worded.items()))


def _provenance(row: sa.RowMapping) -> Provenance | None:
    if row["synthesizer"] is None:
        return None
    fields = {name: row[name] for name in Provenance.model_fields}
    texts = {key: json.loads(row[key]) for key in tables.PROVENANCE_JSON}
    return Provenance.model_validate({**fields, **texts})


def _unknown(entry_id: str) -> PoolError:
    return PoolError(f"There is no entry {entry_id!r} in the pool; `rods pool list` shows them.")
