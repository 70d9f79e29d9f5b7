"""The pool of tasks: a database with a state machine in it."""

from rods.pool.records import PoolEntry, PoolStats, SynthesisRequest
from rods.pool.store import Pool

__all__ = ["Pool", "PoolEntry", "PoolStats", "SynthesisRequest"]
