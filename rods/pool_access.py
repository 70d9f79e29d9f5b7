"""Finds the pool of a run: by its folder, its file or its URL."""

from __future__ import annotations

from pathlib import Path

from rods.config import read_toml
from rods.errors import PoolError
from rods.pool import Pool
from rods.run_dir import config_of


def open_existing(where: str) -> Pool:
    """The pool of a run's folder, of a SQLite file or at a URL; it may be in use by the run."""
    return Pool.open(pool_url(where), create=False)


def pool_url(where: str) -> str:
    """The URL of an existing pool; a PoolError where there can be none."""
    path = Path(where)
    if not where.strip():
        raise PoolError("The pool's place is empty; give a run's folder, a pool file or a URL.")
    if "://" in where:
        return where
    if path.is_dir():
        url = read_toml(config_of(path)).get("pool", {}).get("url")
        return url or f"sqlite:///{path.absolute() / 'pool.sqlite'}"
    if path.is_file():
        return f"sqlite:///{path.absolute()}"
    raise PoolError(f"{where} is no run's folder, no pool file and no database URL.")
