"""A skill: what a user says in one turn and the calls that do it, with slots for values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

Group = Literal["basic", "chain", "refer", "list", "unseen"]
_FIGURES = frozenset({"phone", "day", "count", "amount"})  # slots that are no names
_SLOT = re.compile(r"\{(\w+)(?:\.(\w+))?\}")


@dataclass(frozen=True)
class Skill:
    """One turn's worth of work.

    ``says`` are paraphrases with ``{slot}`` or ``{slot.attribute}``; a slot is named by its kind
    (see ``world.World``) and a digit to tell two of a kind apart. ``steps`` are calls: a tool and,
    per parameter in the order of its schema, a slot, ``slot.attribute``, ``$k`` (the result of step
    k) or ``@kind`` (what the user's last turns were about). ``blurred`` are paraphrases that leave
    out one slot, for the kind ``miss_param``.
    """

    name: str
    group: Group
    says: tuple[str, ...]
    steps: tuple[str, ...]
    blurred: tuple[str, ...] = ()

    @cached_property
    def calls(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The steps, split: (tool, sources of its arguments)."""
        parts = (step.split() for step in self.steps)
        return tuple((tool, tuple(sources)) for tool, *sources in parts)

    @cached_property
    def slots(self) -> tuple[str, ...]:
        """The names of the slots, in the order in which the first paraphrase names them."""
        named = [m[1] for m in _SLOT.finditer(self.says[0])]
        used = [s.split(".")[0] for _, sources in self.calls for s in sources if s[0] not in "$@"]
        return tuple(dict.fromkeys(named + used))

    @cached_property
    def names(self) -> int:
        """How many different names the user says: files, people, events, items, words."""
        return sum(slot not in _FIGURES for slot in self.slots)

    @cached_property
    def depth(self) -> int:
        """Longest chain of results that feed later calls, in edges."""
        depths: list[int] = []
        for _, sources in self.calls:
            depths.append(max((depths[int(s[1:])] + 1 for s in sources if s[0] == "$"), default=0))
        return max(depths)

    @cached_property
    def needs(self) -> frozenset[str]:
        """Kinds of things that an earlier turn must have been about."""
        return frozenset(s[1:] for _, sources in self.calls for s in sources if s[0] == "@")

    def missing(self, blurred: str) -> str:
        """The one slot that ``blurred`` leaves out."""
        told = {m[1] for m in _SLOT.finditer(blurred)}
        (missing,) = [slot for slot in self.slots if slot not in told]
        return missing


def fill(template: str, slots: dict[str, dict[str, str | int]]) -> str:
    """``template`` with the values of its slots."""
    return _SLOT.sub(lambda m: str(slots[m[1]][m[2] or "value"]), template)
