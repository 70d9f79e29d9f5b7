"""Calls from the values that were drawn for their parameters."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from rods.structure.leaves import Scalar, walk
from rods.structure.planning.arguments import spelled
from rods.structure.planning.records import RecordRule
from rods.structure.planning.values import Draw
from rods.types import JsonObject, JsonValue, ToolCall

_WHOLE = 10  # amounts from which on rounding does little
_COMBINATIONS = 16  # of values for one assignment that are looked at


@dataclass(slots=True)
class Made:
    """A call with what the user says for it."""

    call: ToolCall
    said: tuple[str, ...]
    unsaid: tuple[Scalar, ...]  # values that come from elsewhere
    holes: frozenset[str]

    @classmethod
    def of(cls, name: str, drawn: Mapping[str, Draw]) -> Self:
        """The call of a function with its arguments, each from its draw."""
        pairs = drawn.items()
        arguments = {parameter: draw.value for parameter, draw in pairs}
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


def in_keeping(
    rules: Sequence[RecordRule],
    choices: Iterable[dict[str, Draw]],
    state: JsonObject,
    rng: random.Random,
) -> Iterator[dict[str, Draw]]:
    """The choices, with amounts that go with the records they name; what cannot comes last."""
    last = []
    for drawn in choices:
        for changed in _amended(rules, drawn, state, rng):
            arguments = {parameter: draw.value for parameter, draw in changed.items()}
            if all(rule.holds(arguments, state) for rule in rules):
                yield changed
            else:
                last.append(changed)
    yield from last


def _amended(
    rules: Sequence[RecordRule], drawn: dict[str, Draw], state: JsonObject, rng: random.Random
) -> Iterator[dict[str, Draw]]:
    """The choice with the amounts that the user can say as well."""
    arguments = {parameter: draw.value for parameter, draw in drawn.items()}
    amounts = {
        rule.parameter: [_like(drawn[rule.parameter], a) for a in rule.amounts(number, rng)]
        for rule in rules
        if rule.parameter in drawn and drawn[rule.parameter].plain
        if (number := rule.number(arguments, state)) is not None
    }
    for i in range(2) if amounts else ():
        yield {**drawn, **{parameter: both[i] for parameter, both in amounts.items()}}
    if not amounts:
        yield drawn


def _like(draw: Draw, amount: float) -> Draw:
    """The amount, whole where the drawn one is and enough of it is left."""
    value = round(amount) if isinstance(draw.value, int) and amount >= _WHOLE else amount
    return Draw(value, (spelled(value),), plain=True)


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
