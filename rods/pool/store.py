"""The pool's interface: every change is one transaction, every question is answered in SQL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Self

import sqlalchemy as sa

from rods.errors import PoolError
from rods.pool import (
    digesting,
    entering,
    moving,
    questions,
    recording,
    requests,
    rewinding,
    schema,
    tables,
)
from rods.pool.database import Database
from rods.pool.records import (
    PoolEntry,
    PoolObservation,
    PoolStats,
    PoolTransition,
    RejectionSummary,
    SynthesisRequest,
)
from rods.types import (
    EpochPlan,
    Kind,
    PoolState,
    RolloutGroup,
    SynthesisOutcome,
    Task,
)

__all__ = ["Pool", "PoolEntry", "PoolStats", "SynthesisRequest"]


class Pool:
    """Tasks, observations and transitions behind any SQLAlchemy URL (SQLite in WAL mode here).

    Step numbers are 1-based optimizer steps; 0 is the set-up. Everything is stamped with the step
    at which it happened, so that ``rewind`` can take it back. Threads and processes may share it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def open(cls, url: str, *, create: bool = True, timeout_s: float = 30.0) -> Self:
        """The pool at a URL or path, migrated to today's schema; else one line of PoolError.

        With ``create`` it can be written; without, a database that holds none is an error, and a
        read-only one can be read. ``timeout_s`` is how long to wait for another process that
        writes.
        """
        database = Database(url, create=create, timeout_s=timeout_s)
        try:
            schema.ensure(database, create_new=create)
            if create:
                database.check_writable()
        except BaseException:
            database.close()
            raise
        return cls(database)

    def close(self) -> None:
        """Close every connection; what was committed stays."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All calls inside are one transaction (nested use joins the outer one).

        A failure inside undoes all of it, even one that is caught before the end.
        """
        with self._database.write():
            yield

    # ---------------------------------------------------------------- entering
    def add_seeds(self, tasks: Iterable[Task]) -> int:
        """Seeds enter as active; those already there are left alone. How many were new."""
        with self._database.write() as connection:
            return entering.add_seeds(connection, tasks, recording.now(connection))

    def stage(self, request: SynthesisRequest, outcome: SynthesisOutcome, *, step: int) -> int:
        """One transaction: candidates enter (a known content id counts as a duplicate rejection),
        rejections are counted, the request is done. How many candidates were new.

        A request that was answered before, or rewound, adds nothing.
        """
        with self._database.write() as connection:
            return entering.stage(connection, request, outcome, step)

    # ---------------------------------------------------------------- measuring
    def record(self, step: int, epoch: int, groups: Sequence[RolloutGroup]) -> None:
        """Keep K rewards a group; scored groups move mean, variance, visits; trial -> active.

        Steps never go back (PoolError); the same step may come in parts.
        """
        with self._database.write() as connection:
            recording.record(connection, step, epoch, groups)

    # ---------------------------------------------------------------- epoch boundary
    def move(
        self,
        to: PoolState,
        *conditions: moving.Condition,
        reason: moving.Reason | None = None,
        epoch: int | None = None,
        order_by: Sequence[moving.Order] = (),
        limit: int | None = None,
    ) -> int:
        """Entries that meet all conditions (on ``rods.pool.tables.entry``) change state; how many.

        Only the ways of ``rods.pool.moving.ALLOWED`` are taken; ``order_by`` and ``limit`` choose
        among the entries, ties by id.
        """
        with self._database.write() as connection:
            return moving.move(
                connection,
                to,
                conditions,
                reason=reason,
                epoch=epoch,
                order_by=order_by,
                limit=limit,
            )

    def retire(
        self,
        reason: moving.Reason,
        *conditions: moving.Condition,
        epoch: int | None = None,
        order_by: Sequence[moving.Order] = (),
        limit: int | None = None,
    ) -> int:
        """Trial and active entries that meet the conditions leave the pool; how many.

        ``reason`` may be an expression over the entry whose values are members of RetireReason.
        """
        return self.move(
            PoolState.RETIRED,
            *conditions,
            reason=reason,
            epoch=epoch,
            order_by=order_by,
            limit=limit,
        )

    def plan(self, epoch: int) -> EpochPlan | None:
        """The plan saved for an epoch."""
        chosen = sa.select(tables.plan.c.plan).where(tables.plan.c.epoch == epoch)
        with self._database.read() as connection:
            text = connection.scalar(chosen)
        return None if text is None else EpochPlan.model_validate_json(text)

    def save_plan(self, plan: EpochPlan) -> None:
        """Keep the plan of its epoch; a second one for the same epoch is a PoolError."""
        with self._database.write() as connection:
            if connection.scalar(sa.select(1).where(tables.plan.c.epoch == plan.epoch)):
                raise PoolError(f"Epoch {plan.epoch} has a plan already; rewind before it first.")
            row = {"epoch": plan.epoch, "step": recording.now(connection)}
            text = plan.model_dump_json()
            connection.execute(sa.insert(tables.plan).values(plan=text, **row))

    @contextmanager
    def query(self) -> Iterator[sa.Connection]:
        """A connection to read ``rods.pool.tables`` with, inside the open transaction if any."""
        with self._database.read() as connection:
            yield connection

    def count(self, *conditions: moving.Condition) -> int:
        """Number of entries that meet all conditions."""
        chosen = sa.select(sa.func.count()).select_from(tables.entry).where(*conditions)
        with self._database.read() as connection:
            return connection.scalar(chosen) or 0

    # ---------------------------------------------------------------- synthesis requests
    def request_synthesis(self, entry_id: str, step: int) -> SynthesisRequest:
        """Ask for variants of an entry; asking twice at one step is asking once."""
        with self._database.write() as connection:
            return requests.ask(connection, entry_id, step)

    def lease(self, owner: str, seconds: float) -> SynthesisRequest | None:
        """The oldest open request that nobody holds, or whose lease has expired; None: none."""
        with self._database.lease() as connection:
            return requests.lease(connection, owner, seconds)

    def hold(self, request: SynthesisRequest, seconds: float) -> bool:
        """Keep a leased request from others for so long from now, to go on with it or to let it
        wait; False: somebody else has it, or it was answered."""
        with self._database.write() as connection:
            return requests.hold(connection, request, seconds)

    def waiting(self) -> int:
        """How many requests have no answer yet."""
        with self._database.read() as connection:
            return requests.waiting(connection)

    def release(self, request: SynthesisRequest) -> None:
        """Give a leased request back unanswered."""
        with self._database.write() as connection:
            requests.release(connection, request)

    def last_requests(self, entry_ids: Iterable[str], before: int) -> dict[str, int]:
        """Entry -> the last step before ``before`` at which variants of it were asked for."""
        with self._database.read() as connection:
            return requests.last_requests(connection, entry_ids, before)

    # ---------------------------------------------------------------- resume
    @property
    def step(self) -> int:
        """The last step recorded."""
        with self._database.read() as connection:
            return recording.now(connection)

    def rewind(self, step: int) -> None:
        """Undo everything stamped later than ``step``: observations, entries, moves, plans.

        Requests made later are gone; those answered later, or leased, are open again.
        """
        if step < 0:
            raise PoolError(f"Step {step} does not exist; 0 is the pool as it was set up.")
        with self._database.write() as connection:
            rewinding.rewind(connection, step)

    # ---------------------------------------------------------------- questions
    def task(self, entry_id: str) -> Task:
        """The task of an entry."""
        with self._database.read() as connection:
            return questions.tasks(connection, [entry_id])[entry_id]

    def tasks(self, entry_ids: Sequence[str]) -> dict[str, Task]:
        """The tasks of several entries."""
        with self._database.read() as connection:
            return questions.tasks(connection, entry_ids)

    def entry(self, entry_id: str) -> PoolEntry:
        """One entry."""
        with self._database.read() as connection:
            return questions.entry(connection, entry_id)

    def entries(
        self, state: PoolState | None = None, kind: Kind | None = None, limit: int | None = None
    ) -> Iterator[PoolEntry]:
        """Entries in the order they came, in pages: memory stays flat."""
        return questions.entries(self._database.read, state, kind, limit)

    def lineage(self, entry_id: str) -> list[PoolEntry]:
        """The entry's ancestors, the seed first, the entry itself last."""
        with self._database.read() as connection:
            return questions.lineage(connection, entry_id)

    def children(self, entry_id: str) -> list[str]:
        """Ids of the variants made of an entry."""
        with self._database.read() as connection:
            return questions.children(connection, entry_id)

    def observations(self, entry_id: str) -> list[PoolObservation]:
        """Every group of an entry, in order."""
        with self._database.read() as connection:
            return questions.observations(connection, entry_id)

    def transitions(self, entry_id: str) -> list[PoolTransition]:
        """Every change of state of an entry, in order."""
        with self._database.read() as connection:
            return questions.transitions(connection, entry_id)

    def rejections(self, details: int = 3) -> list[RejectionSummary]:
        """Failed attempts by stage and reason, with a few details of each."""
        with self._database.read() as connection:
            return questions.rejections(connection, details)

    def stats(self) -> PoolStats:
        """Counts of everything."""
        with self._database.read() as connection:
            return questions.stats(connection)

    def digest(self) -> str:
        """SHA-256 over the whole content in a canonical order, without clock times: equal pools
        have equal digests."""
        with self._database.read() as connection:
            return digesting.digest(connection)
