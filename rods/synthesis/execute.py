"""II. Execute without a language model: the seed's reference on new values in a new world.

An argument that came from an earlier result is read from the new result at the same place; the
other ones are substituted. What the world answers must be what it answered the seed, after the same
substitution: then the variant went the same way through the simulator's code.
"""

from __future__ import annotations

import copy
import random
import re
from typing import Any

from rods.interfaces import Environment, Session
from rods.structure.leaves import Path, parse, read
from rods.structure.sources import holds
from rods.structure.trace import Trace
from rods.synthesis.blueprint import Binding, Blueprint
from rods.synthesis.contracts import ExecuteStage, Execution, Plan, rejection
from rods.synthesis.fresh import Dice
from rods.synthesis.reasons import Reason
from rods.synthesis.slots import Drawn, draw
from rods.types import JsonObject, Rejection, Stage, Task, ToolCall, ToolResult

_ZERO = re.compile(r"(?<![\w.])0(?:\.0+)?(?![\w.])")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


class Mismatch(Exception):  # noqa: N818 - control flow inside this module
    """The world did not answer as it should."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason, self.detail = reason, detail


class Resampler(ExecuteStage):
    """Replays a seed on new values."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def execute(self, plan: Plan, rng: random.Random) -> Execution | Rejection:
        """The executed variant, or why these values do not work in this world."""
        blueprint = plan.blueprint
        try:
            drawn = draw(plan.slots, Dice(rng, blueprint.words), blueprint.words)
        except LookupError as error:
            return self._reject(blueprint, Reason.PARAM_GEN_FAILED, str(error))
        if drawn is None or not _changes(drawn):
            return self._reject(blueprint, Reason.PARAM_GEN_FAILED, "no unused value was found")
        try:
            return self._run(plan, drawn)
        except Mismatch as mismatch:
            return self._reject(blueprint, mismatch.reason, mismatch.detail)
        except (ValueError, LookupError, TypeError) as error:
            return self._reject(blueprint, Reason.VM_EXEC_FAILED, repr(error))

    def _reject(self, blueprint: Blueprint, reason: Reason, detail: str) -> Rejection:
        return rejection(Stage.EXECUTE, reason, detail, blueprint.task.id)

    def _run(self, plan: Plan, drawn: Drawn) -> Execution:
        seed = plan.blueprint.task
        state = plan.blueprint.templates.initial_state(drawn)
        session = self._environment.open(seed.model_copy(update={"initial_state": state}))
        try:
            replay = _Replay(plan, drawn, session)
            replay.all()
            final = session.state()
        finally:
            session.close()
        _check_mentions(plan, drawn, replay.results)
        calls = iter(replay.calls)
        reference = tuple(tuple(next(calls) for _ in turn.reference) for turn in seed.turns)
        turn_of = plan.blueprint.trace.turn_of
        trace = Trace(turn_of, tuple(replay.calls), tuple(replay.results), {}, final)
        return Execution(plan, state, reference, trace, drawn)


class _Replay:
    """One pass over the seed's calls."""

    def __init__(self, plan: Plan, drawn: Drawn, session: Session) -> None:
        self.blueprint, self.templates = plan.blueprint, plan.blueprint.templates
        self.moves = any(slot.moves for slot in plan.slots)
        self.drawn, self.session = drawn, session
        self.calls: list[ToolCall] = []
        self.results: list[ToolResult] = []
        self.answers: dict[int, Any] = {}

    def all(self) -> None:
        """Every call has run and answered as the seed's did."""
        for index, model in enumerate(self.blueprint.trace.calls):
            arguments = self.arguments(index)
            call = model if arguments is model.arguments else _call(model.name, arguments)
            result = self.session.call(call)
            self.calls.append(call)
            self.results.append(result)
            self.compare(index, result)

    def arguments(self, index: int) -> JsonObject:
        """The call's arguments, those bound to earlier results read from there."""
        drawn = self.drawn
        rendered = self.templates.arguments[index].render(drawn.texts, drawn.numbers)
        for binding in self.blueprint.bindings.get(index, ()):
            value = binding.taken(self.bound(binding))
            rendered = _with_leaf(rendered, (binding.parameter, *binding.path), value)
        return rendered  # type: ignore[no-any-return]

    def bound(self, binding: Binding) -> Any:
        """What the new result holds where the seed's held the argument."""
        producer = binding.producer
        if producer not in self.answers:
            self.answers[producer] = parse(self.results[producer].content)
        texts = self.drawn.texts
        path: Path = tuple(
            texts.get(s, s) if isinstance(s, str) else s for s in binding.result_path
        )
        return read(self.answers[producer], path)

    def compare(self, index: int, result: ToolResult) -> None:
        """The answer is the seed's after substitution; numbers may follow from changed ones."""
        name = self.blueprint.trace.calls[index].name
        if result.error and index not in self.blueprint.trace.failed:
            raise Mismatch(Reason.VM_EXEC_FAILED, f"{name}: {result.content}")
        expected = self.templates.results[index].render(self.drawn.texts)
        if result.content == expected:
            return
        moved = self.moves and _alike(result.content, expected)
        if moved and self.renamed(index, result.content):
            return
        detail = f"{name}: {result.content[:120]} instead of {expected[:120]}"
        raise Mismatch(Reason.OUTPUT_MISMATCH, detail)

    def renamed(self, index: int, content: str) -> bool:
        """Every name that the seed's answer holds has its new name in this one."""
        texts = self.drawn.texts
        names = self.templates.results[index].spellings - self.templates.numbers
        return all(holds(content, texts.get(name, name)) for name in names)


def _call(name: str, arguments: JsonObject) -> ToolCall:
    return ToolCall.model_construct(name=name, arguments=arguments)


def _changes(drawn: Drawn) -> bool:
    return any(a != b for a, b in drawn.texts.items()) or bool(drawn.numbers)


def _alike(a: str, b: str) -> bool:
    """Equal but for numbers; only the part between the first and the last difference is read."""
    start = _common(a, b)
    end = min(_common(a[::-1], b[::-1]), min(len(a), len(b)) - start)
    while start and (a[start - 1].isdigit() or a[start - 1] == "."):
        start -= 1
    while end and (a[-end].isdigit() or a[-end] == "."):
        end -= 1
    return _skeleton(a[start : len(a) - end]) == _skeleton(b[start : len(b) - end])


def _common(a: str, b: str) -> int:
    """Length of the common prefix, by bisection: slices compare faster than a loop."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _skeleton(text: str) -> str:
    """The text with every number but zero masked."""
    return _NUMBER.sub("#", _ZERO.sub("zero", text))


def _check_mentions(plan: Plan, drawn: Drawn, results: list[ToolResult]) -> None:
    """Numbers of results that the user names are still those of the results."""
    names = [s.value for s in plan.slots if isinstance(s.value, str)]
    for call, spelling in plan.blueprint.mentions:
        if any(holds(name, spelling) for name in names):
            continue  # a part of a name that has changed as a whole
        new = drawn.texts.get(spelling, spelling).replace(",", "")
        number = float(new)
        if not holds(results[call].content, int(number) if number.is_integer() else number):
            detail = f"the user says {new}, the result of call {call} does not"
            raise Mismatch(Reason.STALE_MENTION, detail)


def _with_leaf(tree: Any, path: Path, value: Any) -> Any:
    """A copy of ``tree`` along ``path`` that holds ``value`` there."""
    if not path:
        return value
    copied = copy.copy(tree)
    copied[path[0]] = _with_leaf(tree[path[0]], path[1:], value)
    return copied


def reference_task(seed: Task, execution: Execution) -> Task:
    """The seed with the executed reference and state, still in the seed's words."""
    turns = tuple(
        turn.model_copy(update={"reference": calls})
        for turn, calls in zip(seed.turns, execution.reference, strict=True)
    )
    return seed.model_copy(update={"turns": turns, "initial_state": execution.initial_state})
