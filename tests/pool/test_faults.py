"""What cannot be opened or written is one line that says what to do."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from rods.errors import PoolError
from rods.pool import Pool
from rods.testing.groups import seed_task


def fault(url: str, *, create: bool = True) -> str:
    """The one line that opening a pool ends in."""
    with pytest.raises(PoolError) as caught:
        Pool.open(url, create=create, timeout_s=0.05)
    line = str(caught.value)
    assert "\n" not in line
    return line


@pytest.fixture
def pool_file(sqlite_url: str) -> Path:
    """An empty pool."""
    return Path(sqlite_url.removeprefix("sqlite:///"))


def test_a_missing_pool_is_not_made_by_looking_at_it(tmp_path: Path) -> None:
    path = tmp_path / "none.sqlite"
    assert "There is no pool at" in fault(str(path), create=False)
    assert not path.exists()


def test_a_missing_folder_is_named_as_such(tmp_path: Path) -> None:
    assert "its folder is missing" in fault(str(tmp_path / "no" / "pool.sqlite"))


def test_a_text_file_is_not_a_pool(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Remember the milk.\n" * 100)
    assert "it is not a SQLite database" in fault(str(path))
    assert path.read_text().startswith("Remember")


def test_a_damaged_pool_is_recognised(pool_file: Path) -> None:
    content = pool_file.read_bytes()
    pool_file.write_bytes(content[:100] + bytes(255 - byte for byte in content[100:]))
    assert "it is damaged" in fault(str(pool_file))


def test_a_pool_held_by_another_process_is_waited_for_and_then_refused(pool_file: Path) -> None:
    with closing(sqlite3.connect(pool_file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert "another process has held it for 0.05 s" in fault(str(pool_file))
        Pool.open(str(pool_file), create=False).close()  # looking needs no turn


def test_a_read_only_pool_can_be_read_but_not_opened_to_write(pool_file: Path) -> None:
    read_only = f"sqlite:///file:{pool_file}?mode=ro&uri=true"
    assert "it is read-only" in fault(read_only)
    with Pool.open(read_only, create=False) as pool:
        assert pool.step == 0
        with pytest.raises(PoolError, match="it is read-only"):
            pool.add_seeds([seed_task(1)])


@pytest.mark.skipif(os.name != "posix", reason="file size limits are POSIX's")
def test_a_full_disk_is_recognised_and_what_was_kept_stays(pool_file: Path) -> None:
    script = (
        "import resource, sys\n"
        "from rods.pool import Pool\n"
        "from rods.testing.groups import seed_task\n"
        "pool = Pool.open(sys.argv[1])\n"
        "pool.add_seeds([seed_task(0)])\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))\n"
        "pool.add_seeds(seed_task(i) for i in range(1, 3000))\n"
    )
    command = [sys.executable, "-c", script, str(pool_file)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert "rods.errors.PoolError" in ended.stderr.splitlines()[-1]
    assert "the disk is full" in ended.stderr.splitlines()[-1]
    with Pool.open(str(pool_file)) as pool:
        assert [entry.id for entry in pool.entries()] == ["seed-0"]


@pytest.mark.parametrize(
    ("url", "line"),
    [
        ("nothing://x", "The driver for 'nothing' is missing"),
        ("postgresql://host:port/x", "is not a database URL"),
        ("postgresql://me:secret@localhost:1/x", "cannot be used: connection failed"),
    ],
)
def test_a_url_that_leads_nowhere_is_one_line_without_its_password(url: str, line: str) -> None:
    found = fault(url)
    assert line in found
    assert "secret" not in found
