"""An old pool is migrated when it is opened, a newer one is refused."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from rods.errors import PoolError
from rods.pool import Pool, schema, tables
from rods.types import PoolState, RetireReason

OLD = Path(__file__).with_name("schema_0001.sql")  # a dump of a pool at revision 0001


@pytest.fixture
def old_file(tmp_path: Path) -> Path:
    """A pool as the first schema kept it."""
    path = tmp_path / "old.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(OLD.read_text())
    return path


@pytest.fixture(params=["sqlite", "postgresql"])
def new_schema(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of each kind without a single table of ours."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'empty.sqlite'}"
    server: str = request.getfixturevalue("postgres_server")
    engine = sa.create_engine(server)
    with engine.begin() as connection:
        connection.execute(sa.text("DROP SCHEMA IF EXISTS migrated CASCADE"))
        connection.execute(sa.text("CREATE SCHEMA migrated"))
    engine.dispose()
    return f"{server}&options=-csearch_path%3Dmigrated"


def test_an_old_pool_is_migrated_with_its_content(old_file: Path) -> None:
    with Pool.open(str(old_file)) as pool:
        entered = {entry.id: entry.entered_step for entry in pool.entries()}
        assert entered == {"seed-0": None, "syn-a": None, "syn-b": 1, "syn-c": 1}
        stats = pool.stats()
        assert (stats.injected, stats.retired) == (2, {RetireReason.BURN_IN: 1})
        assert pool.task("syn-a").turns[0].user == "Look."
        pool.rewind(1)
        assert pool.entry("syn-c").state == PoolState.TRIAL
        assert pool.entry("seed-0").flat_visits == 1


def test_a_migrated_pool_is_migrated_once(old_file: Path) -> None:
    Pool.open(str(old_file)).close()
    with Pool.open(str(old_file)) as pool:
        assert pool.step == 2


def test_a_newer_pool_is_refused_in_one_line(sqlite_url: str) -> None:
    path = sa.make_url(sqlite_url).database
    assert path is not None
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE {schema.VERSION_TABLE} SET version_num = '9999'")
    with pytest.raises(PoolError, match=r"schema '9999', newer than .*; upgrade rods\.$") as caught:
        Pool.open(sqlite_url)
    assert "\n" not in str(caught.value)


def test_the_known_revisions_are_those_that_are_packaged() -> None:
    scripts = ScriptDirectory.from_config(schema.alembic_config())
    found = [script.revision for script in scripts.walk_revisions()]
    assert tuple(reversed(found)) == schema.REVISIONS


def test_the_migrations_make_what_a_new_pool_is_made_of(new_schema: str) -> None:
    engine = sa.create_engine(new_schema)
    with engine.begin() as connection:
        schema.migrate(connection)
        ours = {"include_name": lambda name, kind, _: kind != "table" or name[:5] == "rods_"}
        options = {"version_table": schema.VERSION_TABLE, **ours}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, tables.metadata) == []
        assert context.get_current_revision() == schema.HEAD
        assert connection.scalar(sa.select(tables.writer.c.id)) == 1
    engine.dispose()


def test_a_new_pool_is_at_the_newest_revision(url: str) -> None:
    Pool.open(url).close()
    engine = sa.create_engine(url)
    with engine.connect() as connection:
        version = sa.text(f"SELECT version_num FROM {schema.VERSION_TABLE}")
        assert connection.scalars(version).all() == [schema.HEAD]
        assert connection.scalars(sa.select(tables.writer.c.id)).all() == [1]
    engine.dispose()
