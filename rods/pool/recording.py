"""What rollouts earned moves the entries they were drawn from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from rods.errors import PoolError
from rods.pool import tables
from rods.types import PoolState, RolloutGroup

_MOVED = ("state", "visits", "mean", "variance", "flat_visits", "last_step", "first_mean")


def now(connection: Connection) -> int:
    """The last step recorded; 0 during the set-up."""
    return connection.scalar(sa.select(sa.func.max(tables.clock.c.step))) or 0


def record(connection: Connection, step: int, epoch: int, groups: Sequence[RolloutGroup]) -> None:
    """Every group is an observation; scored ones move their entry, a trial becomes active."""
    _advance(connection, step, epoch)
    entries = _entries(connection, groups)
    transitions = []
    for group in groups:
        if not group.scored:
            continue
        entry = entries[group.entry_id]
        if entry["state"] == PoolState.TRIAL:
            transitions.append(_activation(group, step, epoch))
        _move(entry, group, step)
    _insert(connection, tables.observation, [_observation(g, step, epoch) for g in groups])
    _insert(connection, tables.transition, transitions)
    changes = [
        {"entry_id": key, **{name: row[name] for name in _MOVED}} for key, row in entries.items()
    ]
    if changes:
        this = tables.entry.c.id == sa.bindparam("entry_id")
        connection.execute(sa.update(tables.entry).where(this), changes)


# -------------------------------------------------------------------------------- inside
def _advance(connection: Connection, step: int, epoch: int) -> None:
    last = now(connection)
    if step < max(last, 1):
        raise PoolError(
            f"Step {step} cannot be recorded after step {last}; steps count from 1 upwards, and "
            f"rewind({step - 1}) goes back."
        )
    if step > last:
        connection.execute(sa.insert(tables.clock).values(step=step, epoch=epoch))


def _entries(
    connection: Connection, groups: Sequence[RolloutGroup]
) -> Mapping[str, dict[str, Any]]:
    ids = sorted({group.entry_id for group in groups})
    entry = tables.entry
    columns = [entry.c.id, *(entry.c[name] for name in _MOVED)]
    rows: dict[str, dict[str, Any]] = {}
    for start in range(0, len(ids), 500):
        chosen = sa.select(*columns).where(entry.c.id.in_(ids[start : start + 500]))
        rows.update((row["id"], dict(row)) for row in connection.execute(chosen).mappings())
    if missing := [key for key in ids if key not in rows]:
        raise PoolError(
            f"{missing[0]!r} is not in the pool ({len(missing)} of {len(ids)} entries unknown); "
            "a group's entry_id must name the entry that its visit named."
        )
    return rows


def _move(entry: dict[str, Any], group: RolloutGroup, step: int) -> None:
    mean, variance = group.mean, group.variance
    if entry["state"] == PoolState.TRIAL:
        entry.update(state=PoolState.ACTIVE.value, first_mean=mean)
    entry.update(
        visits=entry["visits"] + 1,
        mean=mean,
        variance=variance,
        flat_visits=0 if variance > 0 else entry["flat_visits"] + 1,
        last_step=step,
    )


def _activation(group: RolloutGroup, step: int, epoch: int) -> dict[str, Any]:
    return {
        "entry_id": group.entry_id,
        "step": step,
        "epoch": epoch,
        "from_state": PoolState.TRIAL.value,
        "to_state": PoolState.ACTIVE.value,
        "mean": group.mean,
    }


def _observation(group: RolloutGroup, step: int, epoch: int) -> dict[str, Any]:
    rewards = [None if r.reward is None else r.reward.value for r in group.rollouts]
    return {
        "entry_id": group.entry_id,
        "step": step,
        "epoch": epoch,
        "draw_seed": group.draw_seed,
        "rewards": json.dumps(rewards),
        "mean": group.mean if group.rewards else None,
        "variance": group.variance if group.rewards else None,
        "policy_version": min((r.policy_version for r in group.rollouts), default=0),
        "scored": group.scored,
        "unscored": group.unscored,
        "format_failures": group.format_failures,
    }


def _insert(connection: Connection, table: sa.Table, rows: list[dict[str, Any]]) -> None:
    if rows:
        connection.execute(sa.insert(table), rows)
