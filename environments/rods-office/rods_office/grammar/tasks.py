"""Tasks from structures."""

from __future__ import annotations

import random
from collections.abc import Sequence

from rods.types import Kind, Split, Task
from rods_office.apps import OPEN_TOOLS
from rods_office.grammar.draft import Unfit, draft
from rods_office.grammar.kinds import as_kind
from rods_office.grammar.structures import Structure
from rods_office.grammar.world import Crowded, World
from rods_office.levels import Level
from rods_office.session import as_json

LONG_CONTEXT_BYSTANDERS = 20  # of each collection, on top of the level's
PATIENCE = 20  # worlds drawn for a structure before it counts as unplayable


def make_task(
    task_id: str, structure: Structure, rng: random.Random, *, level: Level, names: Sequence[str],
    kind: Kind = "base", split: Split = "train", tools: tuple[str, ...] = OPEN_TOOLS,
    avoid: frozenset[str] = frozenset(),
) -> Task | None:  # fmt: skip
    """A task of ``structure`` with new values, none of ``avoid``; None if it cannot be played."""
    bystanders = level.bystanders + LONG_CONTEXT_BYSTANDERS * (kind == "long_context")
    for _ in range(PATIENCE):
        try:
            world = World(rng, names, level.words, avoid)
            drafted = draft(structure, world, bystanders)
            made = as_kind(kind, drafted)
        except Unfit:
            return None
        except Crowded:
            continue
        return Task(
            id=task_id,
            environment="office",
            kind=kind,
            split=split,
            tools=tuple(tool for tool in tools if tool != made.hidden),
            turns=made.turns,
            initial_state=as_json(world.state),
        )
    return None
