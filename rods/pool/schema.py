"""The version of the pool's schema, and its migration when a pool of an older rods is opened."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from rods.errors import PoolError
from rods.pool import tables
from rods.pool.database import Database

if TYPE_CHECKING:
    from alembic.config import Config

VERSION_TABLE = "rods_schema"
REVISIONS = ("0001", "0002", "0003", "0004")  # oldest first; this rods reads and writes the last
HEAD = REVISIONS[-1]
_VERSION = sa.Table(  # as Alembic makes it
    VERSION_TABLE,
    sa.MetaData(),
    sa.Column("version_num", sa.String(32), nullable=False),
    sa.PrimaryKeyConstraint("version_num", name=f"{VERSION_TABLE}_pkc"),
)
_LOCK = 7_236_783  # any constant: PostgreSQL's key for "migrating a pool"


def ensure(database: Database, *, create_new: bool = True) -> None:
    """The database has today's schema afterwards; a newer one, or none to begin with unless
    ``create_new``, is a PoolError."""
    with database.read() as connection:
        found = _version(connection, database)
    if found == HEAD:
        return
    if found is None and not create_new:
        raise PoolError(f"{database.name} holds no pool; check the path.")
    with database.exclusive() as connection:
        if database.url.get_backend_name() == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
        version = _version(connection, database)
        if version is None:
            create(connection)
        elif version != HEAD:  # else another process was faster
            migrate(connection)


def is_new(database: Database) -> bool:
    """Whether the database holds no pool yet; one of a newer schema is a PoolError."""
    with database.read() as connection:
        return _version(connection, database) is None


def create(connection: Connection) -> None:
    """A new pool, made at once: the same tables that all migrations in turn would make."""
    tables.metadata.create_all(connection)
    _VERSION.create(connection)
    connection.execute(sa.insert(tables.writer).values(id=1))
    connection.execute(sa.insert(_VERSION).values(version_num=HEAD))


def migrate(connection: Connection, revision: str = "head") -> None:
    """Run the packaged migrations inside the connection's transaction."""
    from alembic import command  # noqa: PLC0415 - 0.2 s that only an old pool pays

    config = alembic_config()
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def alembic_config() -> Config:
    """Alembic's configuration of the packaged migrations."""
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.set_main_option("path_separator", "os")
    return config


def _version(connection: Connection, database: Database) -> str | None:
    if not sa.inspect(connection).has_table(VERSION_TABLE):
        return None
    version: str | None = connection.scalar(sa.select(_VERSION.c.version_num))
    if version is not None and version not in REVISIONS:
        raise PoolError(
            f"The pool {database.name} has schema {version!r}, newer than {HEAD!r}, the newest "
            "this rods knows; upgrade rods."
        )
    return version
