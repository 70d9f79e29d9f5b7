"""A pool on SQLite and on a PostgreSQL server that the tests start themselves."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
import sqlalchemy as sa

from rods.pool import Pool, tables

REQUIRED = "RODS_REQUIRE_POSTGRES"
WORKER = Path(__file__).parent / "worker.py"


@pytest.fixture(scope="session")
def empty_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pool without tasks, to be copied: faster than migrating one for every test."""
    path = tmp_path_factory.mktemp("template") / "pool.sqlite"
    Pool.open(str(path)).close()
    return path


@pytest.fixture
def new_pool(empty_file: Path, tmp_path: Path) -> Iterator[Callable[[], Pool]]:
    """Opens one empty pool after the other."""
    with contextlib.ExitStack() as stack:

        def build() -> Pool:
            path = tmp_path / f"pool-{len(list(tmp_path.glob('*.sqlite')))}.sqlite"
            shutil.copy(empty_file, path)
            return stack.enter_context(Pool.open(str(path)))

        yield build


@pytest.fixture
def sqlite_url(empty_file: Path, tmp_path: Path) -> str:
    """An empty pool on SQLite."""
    path = tmp_path / "pool.sqlite"
    shutil.copy(empty_file, path)
    return f"sqlite:///{path}"


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a server of our own; skipped where its programs are missing."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    found = programs[-1].parent if programs else None
    if found is None and (path := shutil.which("initdb")):
        found = Path(path).parent
    if found is None:
        reason = f"no PostgreSQL server programs (set {REQUIRED}=1 to make this a failure)"
        if os.environ.get(REQUIRED) == "1":
            pytest.fail(f"{REQUIRED}=1, but there are {reason}")
        pytest.skip(reason)
    # not in pytest's folder, which only its own user may enter; a socket's path must be short, too
    temporary = tempfile.TemporaryDirectory(prefix="rods-pg-")
    with temporary as folder, _server(found, Path(folder)) as url:
        yield url


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """An empty pool on PostgreSQL."""
    engine = sa.create_engine(postgres_server)
    Pool.open(postgres_server).close()
    names = ", ".join(t.name for t in tables.metadata.sorted_tables if t is not tables.writer)
    with engine.begin() as connection:
        connection.execute(sa.text(f"TRUNCATE {names} RESTART IDENTITY"))
    engine.dispose()
    return postgres_server


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str:
    """An empty pool on each database."""
    name = "sqlite_url" if request.param == "sqlite" else "postgres_url"
    found: str = request.getfixturevalue(name)
    return found


@pytest.fixture
def pool(url: str) -> Iterator[Pool]:
    """An empty pool on each database."""
    with Pool.open(url) as opened:
        yield opened


@pytest.fixture
def start_worker() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts ``worker.py`` with the given arguments; what still runs at the end is killed."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, str(WORKER), *arguments]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


# -------------------------------------------------------------------------------- PostgreSQL
@contextlib.contextmanager
def _server(programs: Path, folder: Path) -> Iterator[str]:
    """A server without TCP; as the user ``postgres`` where we are root, whom it refuses."""
    as_user: Sequence[str] = ()
    if os.geteuid() == 0:
        as_user = ("runuser", "-u", "postgres", "--")
        shutil.chown(folder, "postgres")
    data = folder / "data"
    quiet = {"check": True, "stdout": subprocess.DEVNULL, "cwd": "/"}
    options = "-c listen_addresses= -c fsync=off -c max_connections=40 -k " + str(folder)
    initdb = [*as_user, programs / "initdb", "-D", data, "-A", "trust", "-U", "rods", "--no-sync"]
    subprocess.run([*initdb, "-E", "UTF8", "--locale=C.UTF-8"], **quiet)
    control = [*as_user, programs / "pg_ctl", "-D", data, "-w"]
    subprocess.run([*control, "-l", folder / "log", "-o", options, "start"], **quiet)
    try:
        yield f"postgresql://rods@/postgres?host={folder}"
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], **quiet)
