"""Tasks enter: seeds as active, variants as candidates. A known id never enters twice."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from rods.pool import tables
from rods.pool.records import SynthesisRequest
from rods.types import Candidate, PoolState, Rejection, Stage, SynthesisOutcome, Task

DUPLICATE = "duplicate"
_T = TypeVar("_T")
_BATCH = 500  # rows a statement; below every database's limit of parameters
_DETAILS, _DETAIL_CHARS = 3, 500  # kept of the rejections of one request


def add_seeds(connection: Connection, tasks: Iterable[Task], step: int) -> int:
    """Seeds that were not there yet enter as active; how many."""
    iterator, added = iter(tasks), 0
    while batch := list(islice(iterator, _BATCH)):
        candidates = [Candidate(task=task, seed_id="") for task in batch]
        added += len(_enter(connection, candidates, PoolState.ACTIVE, step))
    return added


def stage(
    connection: Connection, request: SynthesisRequest, outcome: SynthesisOutcome, step: int
) -> int:
    """The outcome of an open request is in the pool; one that was answered before adds nothing."""
    asked = tables.request
    found = connection.execute(
        sa.select(asked.c.id, asked.c.done_step)
        .where(asked.c.entry_id == request.entry_id, asked.c.step == request.step)
        .with_for_update()
    ).one_or_none()
    if found is None or found.done_step is not None:  # rewound, or another worker was faster
        return 0
    entered = _enter(connection, outcome.candidates, PoolState.CANDIDATE, step)
    rejections = [*outcome.rejections, *_duplicates(outcome.candidates, entered)]
    _count_rejections(connection, request, rejections, step)
    if outcome.usage:
        rows = [{"step": step, **row.model_dump(mode="json")} for row in outcome.usage]
        connection.execute(sa.insert(tables.usage), rows)
    connection.execute(
        sa.update(asked)
        .where(asked.c.id == found.id)
        .values(done_step=step, owner=None, lease_until=None, seconds=outcome.seconds)
    )
    return len(entered)


# -------------------------------------------------------------------------------- inside
def _enter(
    connection: Connection, candidates: Sequence[Candidate], state: PoolState, step: int
) -> set[str]:
    wanted = {candidate.task.id: candidate for candidate in reversed(candidates)}
    known = _known(connection, list(wanted))
    new = [wanted[key] for key in sorted(wanted) if key not in known]
    for rows in _in_batches(new):
        connection.execute(
            sa.insert(tables.entry), [_entry_row(candidate, state, step) for candidate in rows]
        )
        connection.execute(sa.insert(tables.payload), [_payload_row(c.task) for c in rows])
        made = [_provenance_row(c.task) for c in rows if c.task.provenance is not None]
        if made:
            connection.execute(sa.insert(tables.provenance), made)
        connection.execute(
            sa.insert(tables.transition),
            [{"entry_id": c.task.id, "step": step, "to_state": state} for c in rows],
        )
    return {candidate.task.id for candidate in new}


def _known(connection: Connection, ids: Sequence[str]) -> set[str]:
    known: set[str] = set()
    for batch in _in_batches(ids):
        known.update(
            connection.scalars(sa.select(tables.entry.c.id).where(tables.entry.c.id.in_(batch)))
        )
    return known


def _in_batches(items: Sequence[_T]) -> Iterator[Sequence[_T]]:
    return (items[start : start + _BATCH] for start in range(0, len(items), _BATCH))


def _entry_row(candidate: Candidate, state: PoolState, step: int) -> dict[str, Any]:
    task = candidate.task
    return {
        "id": task.id,
        "kind": task.kind,
        "origin": task.origin,
        "state": state.value,
        "parent_id": task.parent_id or candidate.seed_id or None,
        "generation": task.generation,
        "distance": candidate.distance,
        "created_step": step,
        "visits": 0,
        "flat_visits": 0,
        "shuffle": tables.shuffle_key(task.id),
    }


def _payload_row(task: Task) -> dict[str, Any]:
    return {"entry_id": task.id, "task": task.model_dump_json(exclude={"provenance"})}


def _provenance_row(task: Task) -> dict[str, Any]:
    assert task.provenance is not None
    row = task.provenance.model_dump()
    texts = {key: json.dumps(row[key], ensure_ascii=False) for key in tables.PROVENANCE_JSON}
    return {**row, "entry_id": task.id, **texts}


def _duplicates(candidates: Sequence[Candidate], entered: set[str]) -> Iterator[Rejection]:
    fresh = set(entered)
    for candidate in candidates:
        if candidate.task.id in fresh:
            fresh.remove(candidate.task.id)
            continue
        detail = f"{candidate.task.id} is in the pool"
        yield Rejection(
            stage=Stage.CRITIQUE, reason=DUPLICATE, detail=detail, seed_id=candidate.seed_id
        )


def _count_rejections(
    connection: Connection, request: SynthesisRequest, rejections: Iterable[Rejection], step: int
) -> None:
    details: dict[tuple[str, str], list[str]] = {}
    for rejection in rejections:
        details.setdefault((rejection.stage, rejection.reason), []).append(rejection.detail)
    rows = [
        {
            "seed_id": request.entry_id,
            "request_step": request.step,
            "step": step,
            "stage": stage,
            "reason": reason,
            "count": len(texts),
            "details": json.dumps([text[:_DETAIL_CHARS] for text in texts if text][:_DETAILS]),
        }
        for (stage, reason), texts in sorted(details.items())
    ]
    if rows:
        connection.execute(sa.insert(tables.rejection), rows)
