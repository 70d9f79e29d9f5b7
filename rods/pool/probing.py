"""What a run finds at its pool's URL, before it begins and after it has ended."""

from __future__ import annotations

import os
from pathlib import Path

import sqlalchemy as sa

from rods.errors import PoolError
from rods.pool import schema, tables
from rods.pool.database import Database
from rods.pool.records import PoolStats
from rods.pool.store import Pool

_PATIENCE_S = 2.0


def check_url(url: str) -> None:
    """This rods can talk to databases of this kind, or a PoolError says what is missing."""
    Database(url, create=True, timeout_s=_PATIENCE_S).close()


def probe(url: str) -> str:
    """What is there for a new run; a PoolError where none can be. Nothing is written."""
    database = Database(url, create=True, timeout_s=_PATIENCE_S)
    try:
        if database.sqlite and not Path(database.url.database or "").exists():
            return _in_folder(database)
        if schema.is_new(database):
            return f"{database.name} answers and holds no pool yet"
        with database.read() as connection:
            if connection.scalar(sa.select(tables.plan.c.epoch).limit(1)) is not None:
                raise PoolError(f"{database.name} holds another run; give this one its own pool.")
        return f"{database.name} holds a pool that no run has used"
    finally:
        database.close()


def read_whole(url: str) -> PoolStats:
    """The counts of a pool that must be there; a damaged one is a PoolError."""
    with Pool.open(url, create=False) as pool:
        with pool.query() as connection:
            if connection.dialect.name == "sqlite":
                fault = connection.scalar(sa.text("PRAGMA quick_check(1)"))
                if fault != "ok":
                    what = " ".join(str(fault).split())
                    raise PoolError(f"The pool {url} is damaged ({what}); restore a copy of it.")
        return pool.stats()


def _in_folder(database: Database) -> str:
    folder = Path(database.url.database or "").absolute().parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise PoolError(f"{folder}, for the pool, is no folder that can be written; create it.")
    return f"{database.name} can be created"
