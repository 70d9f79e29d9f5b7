"""The sets of tasks: seeds, three ways of being unseen, and practice."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import count

from rods.types import Kind, Task
from rods_office.apps import HELD_OUT_TOOLS, OPEN_TOOLS
from rods_office.config import OfficeConfig
from rods_office.entities import HELD_OUT_NAMES, TRAIN_NAMES
from rods_office.grammar.skill import Group
from rods_office.grammar.structures import Structure, Structures, skills_of
from rods_office.grammar.tasks import make_task

UNSEEN_ENTITIES = "unseen_entities"
UNSEEN_COMPOSITION = "unseen_composition"
UNSEEN_TOOLS = "unseen_tools"


class TaskSets:
    """Draws every set of a configuration; a task depends on the options and its number alone."""

    def __init__(self, options: OfficeConfig) -> None:
        self.options, self.level = options, options.resolved_level()
        self._drawn = Structures(self.level, self.level.groups, self.level.turns)

    @cached_property
    def seeds(self) -> tuple[Task, ...]:
        """The train tasks: each of another structure, with train names."""
        return tuple(task for task, _ in self._seeds)

    @cached_property
    def evaluation(self) -> tuple[Task, ...]:
        """The three evaluation sets one after the other, flagged, all with held-out names."""
        options = self.options
        return (
            *map(self._unseen_entities, range(options.n_unseen_entities)),
            *map(self._unseen_composition, range(options.n_unseen_compositions)),
            *map(self._unseen_tools, range(options.n_unseen_tools)),
        )

    def source(self, task: Task) -> Task:
        """The seed whose structure an ``unseen_entities`` task has."""
        return self.seeds[int(task.id.rsplit("-", 1)[1]) % len(self.seeds)]

    def practice(self, rng_seed: int) -> Iterator[Task]:
        """Endless tasks with train names and none of the compositions held out."""
        options, rng = self.options, random.Random(f"office/practice/{rng_seed}")
        structures = Structures(self.level, self._practice_groups(), options.practice_turns)
        for number in count():
            kind = rng.choice(self.level.kinds)
            yield self._playable(
                f"office-practice-{rng_seed}-{number}", rng, kind, structures.draw
            )[0]

    # ------------------------------------------------------------------ inside
    @cached_property
    def _seeds(self) -> tuple[tuple[Task, Structure], ...]:
        seeds: list[tuple[Task, Structure]] = []
        taken: set[Structure] = set()

        def draw(rng: random.Random, kind: Kind) -> Structure:
            return self._drawn.draw(rng, kind, taken=taken)

        for number in range(self.options.n_train):
            rng, name = self._numbered("train", number)
            seeds.append(self._playable(name, rng, self._kind(number), draw))
            taken.add(seeds[-1][1])
        return tuple(seeds)

    def _unseen_entities(self, number: int) -> Task:
        """A seed's structure without its names and ids: its calls earn nothing here."""
        seed, structure = self._seeds[number % len(self._seeds)]
        rng, name = self._numbered("entities", number)
        return self._held_out(
            name, rng, seed.kind, UNSEEN_ENTITIES, lambda r, k: structure, avoid=_strings(seed)
        )

    def _unseen_composition(self, number: int) -> Task:
        def draw(rng: random.Random, kind: Kind) -> Structure:
            return self._drawn.draw(rng, kind, unseen=True, skills=self._known)

        rng, name = self._numbered("composition", number)
        return self._held_out(name, rng, self._kind(number), UNSEEN_COMPOSITION, draw)

    def _unseen_tools(self, number: int) -> Task:
        def draw(rng: random.Random, kind: Kind) -> Structure:
            return self._drawn.draw(rng, kind, wanted="unseen")

        rng, name = self._numbered("tools", number)
        tools = OPEN_TOOLS + HELD_OUT_TOOLS
        return self._held_out(name, rng, "base", UNSEEN_TOOLS, draw, tools)

    @cached_property
    def _known(self) -> frozenset[str]:
        return skills_of([structure for _, structure in self._seeds])

    def _held_out(
        self, name: str, rng: random.Random, kind: Kind, flag: str,
        draw: Callable[[random.Random, Kind], Structure], tools: tuple[str, ...] = OPEN_TOOLS,
        avoid: frozenset[str] = frozenset(),
    ) -> Task:  # fmt: skip
        task, _ = self._playable(name, rng, kind, draw, HELD_OUT_NAMES, tools, avoid)
        return task.model_copy(update={"split": "eval", "flags": (flag,)})

    def _playable(
        self, name: str, rng: random.Random, kind: Kind,
        draw: Callable[[random.Random, Kind], Structure],
        names: tuple[str, ...] = TRAIN_NAMES, tools: tuple[str, ...] = OPEN_TOOLS,
        avoid: frozenset[str] = frozenset(),
    ) -> tuple[Task, Structure]:  # fmt: skip
        """Draw structures until one can be played."""
        while True:
            structure = draw(rng, kind)
            task = make_task(
                name, structure, rng, level=self.level, names=names, kind=kind, tools=tools,
                avoid=avoid,
            )  # fmt: skip
            if task is not None:
                return task, structure

    def _kind(self, number: int) -> Kind:
        return self.level.kinds[number % len(self.level.kinds)]

    def _numbered(self, part: str, number: int) -> tuple[random.Random, str]:
        options = self.options
        rng = random.Random(f"office/{options.seed}/{part}/{number}")
        return rng, f"office-{options.level}-{options.seed}-{part}-{number}"

    def _practice_groups(self) -> dict[Group, float]:
        others = [group for group in self.level.groups if group != "basic"]
        share = (1 - self.options.practice_basic) / len(others)
        return {"basic": self.options.practice_basic, **dict.fromkeys(others, share)}


def _strings(task: Task) -> frozenset[str]:
    """The names, ids and phones in the calls of a task."""
    values = (v for turn in task.turns for call in turn.reference for v in call.arguments.values())
    return frozenset(value for value in values if isinstance(value, str))
