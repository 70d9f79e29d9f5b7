"""Calls from the values that were drawn for their parameters."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from rods.structure.leaves import Scalar, walk
from rods.structure.planning.values import Draw
from rods.types import JsonValue, ToolCall

_COMBINATIONS = 16  # of values for one assignment that are looked at


@dataclass(slots=True)
class Made:
    """A call with what the user says for it."""

    call: ToolCall
    said: tuple[str, ...]
    unsaid: tuple[Scalar, ...]  # values that come from elsewhere
    holes: frozenset[str]

    @classmethod
    def of(cls, name: str, arguments: dict[str, JsonValue], drawn: list[Draw]) -> Self:
        """The call of a function with its arguments, each from its draw."""
        pairs = list(zip(arguments, drawn, strict=True))
        unsaid = (leaf for _, draw in pairs if not draw.plain for _, leaf in walk(draw.value))
        return cls(
            ToolCall.model_construct(name=name, arguments=arguments),
            tuple(text for _, draw in pairs for text in draw.said),
            tuple(leaf for leaf in unsaid if leaf is not None and not isinstance(leaf, bool)),
            frozenset(parameter for parameter, draw in pairs if draw.hole),
        )


def combinations(pools: list[list[Draw]], rng: random.Random) -> Iterator[list[Draw]]:
    """Different choices of one value each: the best ones, then others, good ones likelier."""
    sizes = [len(pool) for pool in pools]
    if len(pools) == 1:
        yield from ([draw] for draw in pools[0])
        return
    seen = {best := tuple(_different(pools))}
    yield [pool[i] for pool, i in zip(pools, best, strict=True)]
    for _ in range(_COMBINATIONS if max(sizes, default=0) > 1 else 0):
        chosen = tuple(int(size * rng.random() ** 2) for size in sizes)
        if chosen not in seen:
            seen.add(chosen)
            yield [pool[i] for pool, i in zip(pools, chosen, strict=True)]


def is_topic(text: str) -> bool:
    """A name that a sentence can be about, not an id and not a sentence."""
    return 2 < len(text) < 30 and text.count(" ") < 2 and text.replace(" ", "").isalpha()


def _different(pools: list[list[Draw]]) -> Iterator[int]:
    """The best draw of every pool that no pool before has given."""
    taken: list[JsonValue] = []
    for pool in pools:
        new = (i for i, draw in enumerate(pool) if draw.value not in taken)
        chosen = next(new, 0)
        taken.append(pool[chosen].value)
        yield chosen
