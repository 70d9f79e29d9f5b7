"""The selector keeps what every selector must, and chooses by its rule."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from rods.pool import Pool
from rods.testing import check_selector
from rods.testing.groups import group, seed_task

from my_selector.selector import MySelector

TASKS = [seed_task(number) for number in range(4)]


@pytest.fixture
def pool() -> Iterator[Pool]:
    """Four seeds, in memory."""
    with Pool.open("sqlite://") as opened:
        opened.add_seeds(TASKS)
        yield opened


def selector(pool: Pool) -> MySelector:
    """With its default options."""
    return MySelector(None, pool)


def test_the_selector_conforms() -> None:
    """All that ``rods check my-selector`` asks for."""
    failed = [check for check in check_selector(selector) if not check.ok]
    assert not failed, "\n".join(f"{c.name}: {c.detail}\n  {c.fix}" for c in failed)


def test_the_widest_disagreement_comes_first(pool: Pool) -> None:
    rewards = [(0.5, 0.5), (0.0, 1.0), (0.25, 0.75), (1.0, 1.0)]
    groups = [group(task, rewards[i]) for i, task in enumerate(TASKS)]
    chosen = selector(pool).select(1, 0, groups)
    assert chosen == ["seed-1", "seed-2"]
