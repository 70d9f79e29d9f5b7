"""Amounts that go with the record a call names: an order's price lies near its stock's quote."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeGuard

from rods.types import JsonObject, JsonValue, ToolCall

_SEEN = 5  # amounts from which a rule is learned
_VARIOUS = 3  # different ones among them
_WIDEST = 1.5  # the largest ratio over the smallest one that still is a rule
_SLACK = 1.05  # beyond the ratios seen
_AS_IT_IS = 0.5  # chance that the record's own number is taken

Place = tuple[str, ...]  # keys of the state down to the records


class RecordRule(NamedTuple):
    """``parameter`` over the number in ``field`` of the record that the argument ``by`` names."""

    tool: str
    parameter: str
    by: str
    records: Place
    field: str
    low: float
    high: float

    def number(self, arguments: Mapping[str, JsonValue], state: JsonObject) -> float | None:
        """What the record says; None where the call names none."""
        found: Any = state
        for key in (*self.records, arguments.get(self.by), self.field):
            found = found.get(key) if isinstance(found, dict) and isinstance(key, str) else None
        return float(found) if _is_amount(found) else None

    def holds(self, arguments: Mapping[str, JsonValue], state: JsonObject) -> bool:
        """The amount lies as near to the record as those of train tasks."""
        value, number = arguments.get(self.parameter), self.number(arguments, state)
        if number is None or not _is_amount(value):
            return True
        return self.low / _SLACK <= value / number <= self.high * _SLACK

    def amounts(self, number: float, rng: random.Random) -> tuple[float, float]:
        """The record's number, and one as near to it as train tasks have them, in any order."""
        other = float(f"{number * rng.uniform(self.low / _SLACK, self.high * _SLACK):.3g}")
        return (number, other) if rng.random() < _AS_IT_IS else (other, number)


class RecordLearner:
    """Watches the calls of train tasks and the states they were made in."""

    def __init__(self) -> None:
        self._ratios: dict[tuple[str, str, str, Place, str], list[tuple[float, float]]]
        self._ratios = defaultdict(list)

    def watch(self, call: ToolCall, state: JsonObject) -> None:
        """The call's amounts have been held against the records it names."""
        amounts = {p: v for p, v in call.arguments.items() if _is_amount(v)}
        names = {p: v for p, v in call.arguments.items() if isinstance(v, str)} if amounts else {}
        for by, name in names.items():
            for records, field, number in _fields(state, name):
                for parameter, value in amounts.items():
                    key = (call.name, parameter, by, records, field)
                    self._ratios[key].append((value / number, value))

    def rules(self) -> dict[str, list[RecordRule]]:
        """By tool, for each amount the field that it is nearest to."""
        best: dict[tuple[str, str, str], tuple[float, RecordRule]] = {}
        for key, pairs in sorted(self._ratios.items()):
            ratios = [ratio for ratio, _ in pairs]
            apart = (max(ratios) / min(ratios), sum(abs(ratio - 1) for ratio in ratios))
            enough = len(pairs) >= _SEEN and len({value for _, value in pairs}) >= _VARIOUS
            if enough and apart[0] <= _WIDEST:
                rule = RecordRule(*key, min(ratios), max(ratios))
                known = best.get(key[:3])
                if known is None or apart[1] < known[0]:
                    best[key[:3]] = apart[1], rule
        found: dict[str, list[RecordRule]] = defaultdict(list)
        for _, rule in best.values():
            found[rule.tool].append(rule)
        return dict(found)


def _fields(tree: Any, name: str, at: Place = ()) -> Iterator[tuple[Place, str, float]]:
    """The numbers of all records that stand under this name."""
    if not isinstance(tree, dict):
        return
    for key, item in tree.items():
        if key == name and isinstance(item, dict):
            yield from ((at, field, value) for field, value in item.items() if _is_amount(value))
        yield from _fields(item, name, (*at, key))


def _is_amount(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0
