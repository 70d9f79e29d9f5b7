"""Connections and transactions of the pool, and what a database's fault looks like to a user.

Writers take turns: ``BEGIN IMMEDIATE`` on SQLite, one locked row elsewhere. Readers never wait.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from rods.errors import PoolError
from rods.passwords import MASK, VARIABLE, masked
from rods.pool import tables

_FAULTS = (  # a part of the driver's message -> what it means and what to do
    ("locked", "another process has held it for {timeout:g} s; wait for it or end it"),
    ("not a database", "it is not a SQLite database; give another path"),
    ("malformed", "it is damaged; restore a copy of it"),
    ("readonly", "it is read-only; make the file and its folder writable"),
    ("read-only", "it is read-only; make the file and its folder writable"),
    ("full", "the disk is full; free some space"),
    ("disk i/o error", "the disk is full or failing; free some space"),
    ("unable to open", "its folder is missing or closed to you; create it or give another path"),
)


class Database:
    """One engine; each thread has at most one transaction, which nested use joins."""

    def __init__(self, url: str, *, create: bool, timeout_s: float) -> None:
        self.url = _parse(url)
        self.timeout_s = timeout_s
        self.name = self.url.render_as_string(hide_password=True)
        self.sqlite = self.url.get_backend_name() == "sqlite"
        self.in_memory = self.sqlite and self.url.database in (None, "", ":memory:")
        if self.sqlite and not create and not _sqlite_exists(self.url):
            raise PoolError(f"There is no pool at {self.name}; check the path.")
        self.engine = self._engine()
        # SQLite's own waiting is unfair between threads, and one in memory has one connection
        self._turn = threading.RLock() if self.sqlite else nullcontext()
        self._local = threading.local()

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection for questions: the thread's open transaction if it has one."""
        if (current := self._current) is not None:
            yield current
            return
        with self._in_memory_turn(), self.faults(), self.engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction: all of it is kept, or nothing. Inside another one it joins that one."""
        if (current := self._current) is not None:
            try:
                yield current
            except BaseException as error:
                self._local.failure = error
                raise
            return
        with self.exclusive() as connection:
            self._take_turn(connection)
            self._local.connection, self._local.failure = connection, None
            try:
                yield connection
                if (failure := self._local.failure) is not None:  # caught by the caller
                    raise PoolError(f"Nothing of this transaction was kept: {failure}") from failure
            finally:
                self._local.connection = None

    @contextmanager
    def exclusive(self) -> Iterator[Connection]:
        """A transaction of its own; on SQLite the only one that writes."""
        with self._turn, self.faults(), self.engine.connect() as plain:
            connection = plain.execution_options(rods_write=True)
            with connection.begin():
                yield connection

    def check_writable(self) -> None:
        """A database that is read-only, or held too long by another process, is a PoolError."""
        nothing = sa.update(tables.writer).values(id=tables.writer.c.id).where(sa.false())
        with self.exclusive() as connection:
            connection.execute(nothing)  # to begin is not enough: SQLite then only reads

    @contextmanager
    def lease(self) -> Iterator[Connection]:
        """A short transaction that takes no writer's turn where rows can be locked one by one."""
        if self.sqlite or self._current is not None:
            with self.write() as connection:
                yield connection
            return
        with self.faults(), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def faults(self) -> Iterator[None]:
        """Turn a fault of the database into one line."""
        try:
            yield
        except DBAPIError as error:
            raise PoolError(self._explain(error)) from error

    # ---------------------------------------------------------------- inside
    @property
    def _current(self) -> Connection | None:
        return getattr(self._local, "connection", None)

    def _in_memory_turn(self) -> Any:
        return self._turn if self.in_memory else nullcontext()

    def _take_turn(self, connection: Connection) -> None:
        if not self.sqlite:
            connection.execute(sa.select(tables.writer.c.id).with_for_update())

    def _explain(self, error: DBAPIError) -> str:
        cause = " ".join(str(error.orig).split())
        for sign, meaning in _FAULTS:
            if self.sqlite and sign in cause.lower():
                meaning = meaning.format(timeout=self.timeout_s)
                return f"The pool {self.name} cannot be used: {meaning} ({cause})."
        return f"The pool {self.name} cannot be used: {cause}"

    def _engine(self) -> Engine:
        if not self.sqlite:
            return _create_engine(self.url, pool_pre_ping=True, max_overflow=-1)
        options: dict[str, Any] = {"connect_args": {"timeout": self.timeout_s}}
        if self.in_memory:
            options["poolclass"] = sa.StaticPool
            options["connect_args"]["check_same_thread"] = False
        else:
            options["max_overflow"] = -1  # a thread never waits for another thread's connection
        engine = _create_engine(self.url, **options)
        sa.event.listen(engine, "connect", _prepare_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
        return engine


def _parse(url: str) -> URL:
    """The URL; a plain path means SQLite."""
    try:
        return _with_password(make_url(url if "://" in url else f"sqlite:///{url}"))
    except (ArgumentError, ValueError) as error:  # a port that is no number is the latter
        raise PoolError(
            f"{masked(url)!r} is not a database URL; expected e.g. sqlite:///pool.sqlite."
        ) from error


def _with_password(url: URL) -> URL:
    """The URL with its password; a run's folder keeps a mask in its place."""
    if url.password != MASK:
        return url
    if password := os.environ.get(VARIABLE):
        return url.set(password=password)
    raise PoolError(f"The password of {url} is kept nowhere; give it in {VARIABLE}.")


def _create_engine(url: URL, **options: Any) -> Engine:
    try:
        return sa.create_engine(url, **options)
    except (ImportError, NoSuchModuleError) as error:
        known = {"postgresql": "pip install 'rods[postgresql]'"}
        fix = known.get(url.get_backend_name(), "install its SQLAlchemy driver")
        raise PoolError(
            f"The driver for {url.drivername!r} is missing ({error}): {fix}."
        ) from error


def _sqlite_exists(url: URL) -> bool:
    path = url.database or ""
    return path.startswith("file:") or Path(path).is_file()


def _prepare_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # the driver must not begin transactions of its own
    for pragma in (
        "journal_mode=WAL",
        "synchronous=NORMAL",
        "foreign_keys=ON",
        "cache_size=-16384",  # KiB
    ):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin_sqlite(connection: Connection) -> None:
    immediate = connection.get_execution_options().get("rods_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")
