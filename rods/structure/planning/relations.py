"""How the values of two calls of a task go together: what train tasks always do, or never."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

from rods.structure.leaves import parse
from rods.structure.planning.patterns import Pattern, places, values_at
from rods.structure.trace import Trace
from rods.types import JsonValue, ToolCall

_SEEN = 5  # pairs of values from which a rule is learned
_VARIOUS = 3  # different numbers from which one is learned
_WIDEST = 4.0  # the largest ratio over the smallest one that still is a rule
_SLACK = 1.1  # beyond the ratios seen

Pair = tuple[str, str, str, str]  # earlier tool and parameter, tool and parameter
Near = tuple[str, Pattern, str, str]  # earlier tool and place in its answer, tool and parameter


class Relation(NamedTuple):
    """A rule for a value: equal to or different from an argument, or near a number of an answer."""

    kind: Literal["equal", "different", "near"]
    earlier: str  # the tool that was called before
    parameter: str = ""
    pattern: Pattern = ()
    low: float = 0.0  # of value over number
    high: float = 0.0

    def broken(self, value: JsonValue, call: ToolCall, answer: Any) -> bool:
        """The value goes ill with this earlier call."""
        if self.kind == "near":
            ratios = [
                ratio for n in numbers_at(answer, self.pattern) if (ratio := _ratio(value, n))
            ]
            inside = any(self.low / _SLACK <= ratio <= self.high * _SLACK for ratio in ratios)
            return bool(ratios) and not inside
        if self.parameter not in call.arguments:
            return False
        return (call.arguments[self.parameter] == value) != (self.kind == "equal")


class RelationLearner:
    """Watches the references of train tasks."""

    def __init__(self) -> None:
        self._equal: dict[Pair, Counter[bool]] = defaultdict(Counter)
        self._values: dict[tuple[str, str], set[JsonValue]] = defaultdict(set)
        self._ratios: dict[Near, list[tuple[float, float]]] = defaultdict(list)

    def watch(self, trace: Trace) -> None:
        """The values of every two calls have been compared."""
        answers = [parse(content) for content in trace.contents]
        for later, call in enumerate(trace.calls):
            for parameter, value in _scalars(call):
                self._values[call.name, parameter].add(value)
                for earlier, answer in zip(trace.calls[:later], answers, strict=False):
                    if earlier.name == call.name:
                        continue  # twice the same: what differs then is why it is called again
                    self._compare(earlier, answer, (call.name, parameter), value)

    def relations(self) -> dict[str, list[Relation]]:
        """The rules that held without an exception, by the tool and parameter they are for."""
        found: dict[str, list[Relation]] = defaultdict(list)
        for (earlier, other, tool, parameter), seen in sorted(self._equal.items()):
            if kind := self._kind((earlier, other), (tool, parameter), seen):
                found[f"{tool} {parameter}"].append(Relation(kind, earlier, other))
        for (earlier, pattern, tool, parameter), pairs in self._ratios.items():
            ratios = [ratio for ratio, _ in pairs]
            various = len({value for _, value in pairs}) >= _VARIOUS
            if various and max(ratios) / min(ratios) <= _WIDEST:
                rule = Relation("near", earlier, "", pattern, min(ratios), max(ratios))
                found[f"{tool} {parameter}"].append(rule)
        return dict(found)

    # ------------------------------------------------------------------------ inside
    def _compare(
        self, earlier: ToolCall, answer: Any, place: tuple[str, str], value: JsonValue
    ) -> None:
        for parameter, other in _scalars(earlier):
            if type(other) is type(value):
                self._equal[earlier.name, parameter, *place][other == value] += 1
        for pattern, number in places(answer) if _is_number(value) else ():
            if ratio := _ratio(value, number):
                self._ratios[earlier.name, pattern, *place].append((ratio, float(value)))  # type: ignore[arg-type]

    def _kind(
        self, earlier: tuple[str, str], later: tuple[str, str], seen: Counter[bool]
    ) -> Literal["equal", "different"] | None:
        """Which rule holds; values that could never meet are no rule."""
        both = self._values[earlier] & self._values[later]
        if seen.total() < _SEEN or not both:
            return None
        if not seen[True]:
            return "different"
        return "equal" if not seen[False] and len(both) > 1 else None


def misfit(
    relations: Sequence[Relation], value: JsonValue, calls: Sequence[ToolCall], answers: list[Any]
) -> int:
    """How many rules the value would break with the calls so far.

    Of several calls of one tool the latest counts: the flight that is booked was quoted last.
    """
    made = list(zip(calls, answers, strict=False))
    latest = {call.name: (call, answer) for call, answer in made}
    return sum(
        rule.broken(value, call, answer)
        for rule in relations
        for call, answer in (made if rule.kind == "different" else [*latest.values()])
        if call.name == rule.earlier
    )


def suggestions(
    relations: Sequence[Relation],
    calls: Sequence[ToolCall],
    answers: Sequence[Any],
    rng: random.Random,
) -> Iterator[JsonValue]:
    """Values that keep a rule with a call so far, the latest first."""
    for call, answer in reversed(list(zip(calls, answers, strict=False))):
        for rule in relations:
            if call.name != rule.earlier:
                continue
            if rule.kind == "equal" and rule.parameter in call.arguments:
                yield call.arguments[rule.parameter]
            for number in numbers_at(answer, rule.pattern) if rule.kind == "near" else ():
                yield float(f"{number * rng.uniform(rule.low, rule.high):.3g}")


def numbers_at(answer: Any, pattern: Pattern) -> list[float]:
    """The numbers that stand at a place of an answer."""
    found = [v for v in values_at(answer, pattern) if isinstance(v, int | float)]
    return [float(v) for v in found if not isinstance(v, bool)]


def _scalars(call: ToolCall) -> Iterator[tuple[str, JsonValue]]:
    for parameter, value in call.arguments.items():
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            yield parameter, value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _ratio(value: object, number: object) -> float | None:
    """Value over number; None where that says nothing."""
    if not (_is_number(value) and _is_number(number)) or value == number:
        return None  # an equal one is a number that was taken, which the labels know
    return value / number if value > 0 and number > 0 else None  # type: ignore[operator]
