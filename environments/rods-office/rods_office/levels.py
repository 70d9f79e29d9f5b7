"""What the three levels mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from rods.types import KINDS, Kind
from rods_office.grammar.skill import Group

LevelName = Literal["easy", "medium", "hard"]


@dataclass(frozen=True, slots=True)
class Level:
    """Sizes of tasks and worlds.

    ``turns`` and ``calls`` bound a task (before a kind adds a turn), ``depth`` the chain of one
    turn in edges, ``names`` the different names that one turn speaks of, ``words`` a free text;
    ``bystanders`` are records of each collection that no turn is about. ``groups`` weighs
    the skills of train and evaluation tasks.
    """

    turns: tuple[int, int]
    calls: int
    depth: int
    names: int
    words: int
    bystanders: int
    kinds: tuple[Kind, ...]
    groups: Mapping[Group, float]


LEVELS: Mapping[LevelName, Level] = {
    "easy": Level((2, 4), 7, 2, 1, 1, 1, ("base",), {"basic": 0.85, "chain": 0.15}),
    "medium": Level(
        (2, 4), 10, 3, 2, 2, 3, KINDS, {"basic": 0.35, "chain": 0.35, "refer": 0.15, "list": 0.15}
    ),
    "hard": Level(
        (3, 5), 14, 4, 2, 3, 6, KINDS, {"basic": 0.2, "chain": 0.4, "refer": 0.2, "list": 0.2}
    ),
}
