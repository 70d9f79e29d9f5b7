"""The version of the pool's schema, and its migration when a pool of an older rods is opened."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from rods.errors import PoolError
from rods.pool.database import Database

if TYPE_CHECKING:
    from alembic.config import Config

VERSION_TABLE = "rods_schema"
REVISIONS = ("0001", "0002")  # oldest first; the last is what this rods reads and writes
HEAD = REVISIONS[-1]
_LOCK = 7_236_783  # any constant: PostgreSQL's key for "migrating a pool"


def ensure(database: Database) -> None:
    """The database has today's schema afterwards; a newer one is a PoolError."""
    with database.read() as connection:
        if _version(connection, database) == HEAD:
            return
    with database.exclusive() as connection:
        if database.url.get_backend_name() == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
        if _version(connection, database) != HEAD:  # another process may have been faster
            migrate(connection)


def migrate(connection: Connection, revision: str = "head") -> None:
    """Run the packaged migrations inside the connection's transaction."""
    from alembic import command  # noqa: PLC0415 - 0.2 s that only an old or a new pool pays

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
    version = connection.execute(sa.text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()
    if version is not None and version not in REVISIONS:
        raise PoolError(
            f"The pool {database.name} has schema {version!r}, newer than {HEAD!r}, the newest "
            "this rods knows; upgrade rods."
        )
    return version
