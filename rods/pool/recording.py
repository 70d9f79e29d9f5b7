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
    seen = [_observation(group, step, epoch) for group in groups]
    transitions = []
    for row in seen:
        if not row["scored"]:
            continue
        entry = entries[row["entry_id"]]
        if entry["state"] == PoolState.TRIAL:
            transitions.append(_activate(entry, row))
        _move(entry, row)
    _insert(connection, tables.observation, seen)
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


def _move(entry: dict[str, Any], seen: Mapping[str, Any]) -> None:
    entry.update(
        visits=entry["visits"] + 1,
        mean=seen["mean"],
        variance=seen["variance"],
        flat_visits=0 if seen["variance"] > 0 else entry["flat_visits"] + 1,
        last_step=seen["step"],
    )


def _activate(entry: dict[str, Any], seen: Mapping[str, Any]) -> dict[str, Any]:
    entry.update(state=PoolState.ACTIVE.value, first_mean=seen["mean"])
    return {
        **{name: seen[name] for name in ("entry_id", "step", "epoch", "mean")},
        "from_state": PoolState.TRIAL.value,
        "to_state": PoolState.ACTIVE.value,
    }


def _observation(group: RolloutGroup, step: int, epoch: int) -> dict[str, Any]:
    rewards = [None if r.reward is None else r.reward.value for r in group.rollouts]
    measured = any(reward is not None for reward in rewards)
    return {
        "entry_id": group.entry_id,
        "step": step,
        "epoch": epoch,
        "draw_seed": group.draw_seed,
        "rewards": json.dumps(rewards),
        "mean": group.mean if measured else None,
        "variance": group.variance if measured else None,
        "policy_version": min((r.policy_version for r in group.rollouts), default=0),
        "scored": group.scored,
        "unscored": group.unscored,
        "format_failures": group.format_failures,
    }


def _insert(connection: Connection, table: sa.Table, rows: list[dict[str, Any]]) -> None:
    if rows:
        connection.execute(sa.insert(table), rows)
