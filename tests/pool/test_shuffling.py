"""Orders that are random to look at and the same on every database."""

from __future__ import annotations

from collections import Counter

import sqlalchemy as sa

from rods.pool import Pool, tables
from rods.pool.shuffling import shuffled
from rods.testing.groups import seed_task


def order(pool: Pool, *key: object) -> list[str]:
    """All ids in the shuffled order."""
    entry = tables.entry
    with pool.query() as connection:
        chosen = sa.select(entry.c.id).order_by(shuffled(*key), entry.c.id)
        return list(connection.scalars(chosen))


def test_the_order_is_the_same_on_every_database(pool: Pool) -> None:
    pool.add_seeds(seed_task(i) for i in range(8))
    first = [0, 1, 5, 7, 4, 2, 3, 6]
    assert order(pool, "plan", 0, 1) == [f"seed-{i}" for i in first]


def test_every_entry_comes_first_about_equally_often(pool: Pool) -> None:
    pool.add_seeds(seed_task(i) for i in range(5))
    first = Counter(order(pool, epoch)[0] for epoch in range(400))
    assert len(first) == 5
    assert min(first.values()) > 50  # 80 expected, standard deviation 8
