"""What a run finds at its pool's URL."""

from __future__ import annotations

from pathlib import Path

import pytest

from rods.errors import PoolError
from rods.passwords import VARIABLE, masked
from rods.pool import Pool
from rods.pool.probing import check_url, probe, read_whole
from rods.testing.groups import seed_task
from rods.types import EpochPlan, PoolState, TrainingStage


def test_a_new_file_is_not_made_by_asking(tmp_path: Path) -> None:
    assert "can be created" in probe(f"sqlite:///{tmp_path / 'pool.sqlite'}")
    assert not list(tmp_path.iterdir())
    with pytest.raises(PoolError, match="create it"):
        probe(f"sqlite:///{tmp_path / 'no' / 'pool.sqlite'}")


def test_a_pool_is_free_until_a_run_has_planned_in_it(url: str) -> None:
    assert "no run has used" in probe(url)
    with Pool.open(url) as pool:
        pool.save_plan(EpochPlan(epoch=0, stage=TrainingStage(), visits=()))
    with pytest.raises(PoolError, match="holds another run"):
        probe(url)


def test_a_database_without_a_pool_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "mine.sqlite"
    path.touch()
    assert "holds no pool yet" in probe(f"sqlite:///{path}")
    with pytest.raises(PoolError, match="holds no pool; check the path"):
        Pool.open(f"sqlite:///{path}", create=False)


def test_a_server_that_is_not_there_is_one_line() -> None:
    with pytest.raises(PoolError, match="cannot be used") as caught:
        probe("postgresql+psycopg://me:secret@127.0.0.1:9/rods")
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_whole_pool_is_counted_and_a_torn_one_refused(sqlite_url: str) -> None:
    with Pool.open(sqlite_url) as pool:
        pool.add_seeds(seed_task(number) for number in range(200))
    assert read_whole(sqlite_url).states[PoolState.ACTIVE] == 200
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2] + bytes(len(content) - len(content) // 2))
    with pytest.raises(PoolError, match="damaged"):
        read_whole(sqlite_url)


# ------------------------------------------------------------------------------- passwords
@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("postgresql+psycopg://me:a/b c@host:5432/db", "postgresql+psycopg://me:***@host:5432/db"),
        ("-o", "-o"),
        ("pool.url=mysql://me:x@h/d", "pool.url=mysql://me:***@h/d"),
        ("sqlite:////data/pool.sqlite", "sqlite:////data/pool.sqlite"),
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
        ("postgresql://me@host/db", "postgresql://me@host/db"),
    ],
)
def test_only_a_password_is_masked(text: str, kept: str) -> None:
    assert masked(text) == kept


def test_a_masked_password_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    masked_url = "postgresql+psycopg://me:***@127.0.0.1:9/rods"
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(PoolError, match="is kept nowhere; give it in RODS_POOL_PASSWORD"):
        check_url(masked_url)
    monkeypatch.setenv(VARIABLE, "secret")
    check_url(masked_url)
