"""Structures: sequences of skills, and which of them training never sees."""

from __future__ import annotations

import random
import zlib
from collections.abc import Collection, Mapping, Sequence

from rods.errors import ConfigError
from rods.types import Kind
from rods_office.grammar.skill import Group
from rods_office.grammar.skills import SKILLS, named
from rods_office.levels import Level

Structure = tuple[str, ...]
HELD_OUT_PAIRS = 5  # one ordered pair of skills in so many is held out
PATIENCE = 20_000  # draws before no structure is thought to fit
PERSISTENCE = (
    500  # draws of one length, so that long structures, which fit less often, are not rare
)


def held_out_pair(first: str, second: str) -> bool:
    """Whether training never sees ``second`` in the turn after ``first``.

    The same for every configuration, so a warm start is valid for all of them.
    """
    return zlib.crc32(f"{first} {second}".encode()) % HELD_OUT_PAIRS == 0


def held_out(structure: Structure) -> bool:
    """Whether a structure has a pair of consecutive skills that training never sees."""
    return any(map(held_out_pair, structure, structure[1:]))


class Structures:
    """Draws structures of distinct skills that fit a level."""

    def __init__(self, level: Level, groups: Mapping[Group, float], turns: tuple[int, int]) -> None:
        self.level, self.turns = level, turns
        pools = {group: self._named(group) for group in groups}
        self._pools = {group: skills for group, skills in pools.items() if skills}
        self._groups, self._weights = list(self._pools), [groups[g] for g in self._pools]

    def draw(
        self, rng: random.Random, kind: Kind = "base", *, unseen: bool = False,
        skills: frozenset[str] | None = None, wanted: Group | None = None,
        taken: Collection[Structure] = (),
    ) -> Structure:  # fmt: skip
        """A structure that suits ``kind`` and is not ``taken``; held out exactly if ``unseen``.

        ``skills`` bounds the skills it may have; one of them is of the ``wanted`` group.
        """
        if kind == "long_context":
            wanted = "list"  # only a listing grows with the world
        if wanted and not self._named(wanted):
            raise ConfigError(
                f"The office has no {wanted} skill with chains of at most {self.level.depth}: "
                "allow longer chains or take another level."
            )
        fewest, most = self.turns
        for attempt in range(PATIENCE):
            if attempt % PERSISTENCE == 0:
                length = rng.randint(fewest, most)
            structure = self._random(rng, length, wanted)
            if (
                self._fits(structure, kind)
                and held_out(structure) is unseen
                and structure not in taken
                and (skills is None or skills.issuperset(structure))
            ):
                return structure
        raise ConfigError(
            f"The office finds no {'held-out ' if unseen else ''}{kind} structure of {fewest} to "
            f"{most} turns with at most {self.level.calls} calls and chains of {self.level.depth}: "
            "allow more turns, more train tasks or longer chains."
        )

    def _random(self, rng: random.Random, length: int, wanted: Group | None) -> Structure:
        drawn = [self._skill(rng) for _ in range(length)]
        if wanted and not any(SKILLS[name].group == wanted for name in drawn):
            drawn[rng.randrange(length)] = rng.choice(self._named(wanted))
        return tuple(drawn)

    def _skill(self, rng: random.Random) -> str:
        (group,) = rng.choices(self._groups, self._weights)
        return rng.choice(self._pools[group])

    def _named(self, group: Group) -> tuple[str, ...]:
        return named(group, self.level.depth, self.level.names)

    def _fits(self, structure: Structure, kind: Kind) -> bool:
        skills = [SKILLS[name] for name in structure]
        return (
            len(set(structure)) == len(structure)
            and sum(len(skill.steps) for skill in skills) <= self.level.calls
            and not skills[0].needs
            and (kind != "miss_param" or any(skill.blurred for skill in skills))
        )


def skills_of(structures: Sequence[Structure]) -> frozenset[str]:
    """All skills that occur."""
    return frozenset(skill for structure in structures for skill in structure)
