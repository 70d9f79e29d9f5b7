"""The pool of tasks: a database with a state machine in it."""

from rods.pool.store import Pool, PoolEntry, PoolStats

__all__ = ["Pool", "PoolEntry", "PoolStats"]
