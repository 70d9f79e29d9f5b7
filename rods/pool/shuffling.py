"""A seeded order that every database computes alike; none of them is asked for random numbers."""

from __future__ import annotations

import hashlib

import sqlalchemy as sa

from rods.pool import tables
from rods.pool.tables import SHUFFLE_PRIME


def shuffled(*key: object) -> sa.ColumnElement[int]:
    """Orders entries at random, decided by ``key`` alone; break ties by id.

    (a h + b) mod p over the hash h of an id, with a and b drawn from the key: pairwise independent
    (Carter and Wegman 1979), and below 2^62.
    """
    digest = hashlib.sha256("/".join(map(str, key)).encode()).digest()
    factor = 1 + int.from_bytes(digest[:8], "big") % (SHUFFLE_PRIME - 1)
    offset = int.from_bytes(digest[8:16], "big") % SHUFFLE_PRIME
    return (tables.entry.c.shuffle * factor + offset) % SHUFFLE_PRIME
