"""What the train tasks do not show: short random walks through their worlds."""

from __future__ import annotations

import logging
import math
import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

from rods.errors import WorldError
from rods.interfaces import Environment
from rods.structure.leaves import Scalar, parse, walk
from rods.structure.planning.catalog import Catalog, Flow, ParameterFacts, ToolFacts
from rods.structure.planning.effects import Judgement, hard_edges, is_empty
from rods.structure.planning.patching import Patcher, patched, template_of
from rods.structure.planning.patterns import ANY, KEY, WORD, Pattern, places
from rods.structure.planning.skeleton import Label
from rods.structure.planning.values import Place, Values
from rods.structure.planning.world import EMPTY, Donor, World
from rods.structure.proposal import Patch
from rods.structure.schema import CallValidator
from rods.structure.sources import field_fits
from rods.types import JsonValue, SourceKind, Task, ToolCall

logger = logging.getLogger(__name__)
_WALK = 5  # calls
_TASKS = 12  # worlds walked in for one group of tools
_LOOKED_AT = 12  # answers of a tool whose values are looked for among what parameters accept
_LEAVES = 40
_OPTIONAL = 0.4  # chance that an optional parameter is given
_TAKING = 0.6  # chance that a result is used where it can be
_REPAIRED = (1, 2, 3, 8, 20, 50)  # failures of one kind that repairs are looked for: the n-th
_RECIPES, _RECIPES_TRIED = 4, 40
_ANY_LABEL = Label(SourceKind.USER)


class Explorer:
    """Adds to a catalog; equal arguments give equal additions."""

    def __init__(
        self, environment: Environment, catalog: Catalog, values: Values, rng: random.Random
    ) -> None:
        self._environment, self._catalog, self._values = environment, catalog, values
        self._rng, self._judgement = rng, Judgement(_falses(catalog))
        self._validator = CallValidator(environment.tools())
        self._looked: Counter[str] = Counter()
        self._met: dict[tuple[str, str], Counter[tuple[Pattern, str]]] = defaultdict(Counter)
        self._donors: dict[str, Donor] = {}
        self._patcher = Patcher(catalog, environment.tasks("train"))
        self._failed: Counter[str] = Counter()
        self._examples: dict[str, tuple[Task, list[ToolCall]]] = {}  # the latest of each failure
        self._left = 0

    def explore(self, calls: int, seconds: float = math.inf) -> None:
        """About so many calls have been made, fewer in a slow world; the catalog knows more."""
        groups, end = self._groups(), time.monotonic() + seconds
        self._left = calls
        while self._left > 0 and groups and time.monotonic() < end:
            for tools, tasks in groups:
                self._walk(tools, self._rng.choice(tasks))
        if self._left > 0 and groups:
            logger.warning(
                "%s is slow: %d of %d calls were tried within search.exploration_s = %g to learn "
                "what its tools do. More time finds more plans.",
                *(self._environment.name, calls - self._left, calls, seconds),
            )
        self._conclude()

    def _groups(self) -> list[tuple[list[str], list[Task]]]:
        """The tools of each group with worlds that offer them."""
        by_group: dict[int, list[str]] = defaultdict(list)
        for name, tool in self._catalog.tools.items():
            by_group[tool.group].append(name)
        tasks = [t for t in self._environment.tasks("train") if t.kind != "long_context"]
        found = []
        for names in by_group.values():
            offering = [t for t in tasks if set(names) <= set(t.tools_at(len(t.turns)))]
            if offering:
                found.append((names, offering[:: max(1, len(offering) // _TASKS)][:_TASKS]))
        return found

    def _walk(self, tools: Sequence[str], task: Task) -> None:
        if task.id not in self._donors:
            self._donors[task.id] = Donor.of(self._environment, task)
        world = World(self._environment, self._donors[task.id], self._catalog, self._judgement)
        try:
            for _ in range(_WALK):
                self._step(tools, world)
        finally:
            world.close()
        self._order(task, world.calls)

    def _step(self, tools: Sequence[str], world: World) -> None:
        name = self._rng.choice(tools)
        facts = self._catalog.tools[name]
        arguments = self._arguments(name, facts, world)
        self._left -= 1
        if arguments is None:
            return
        call = ToolCall(name=name, arguments=arguments)
        if self._validator.problem(call):
            return
        before = world.state
        facts.tried += 1
        world.failed = None
        if world.attempt(call) is not None:
            if world.failed is not None:
                self._repair(world)
            return
        facts.worked += 1
        if world.state != before:
            facts.wrote += 1
            self._patcher.watch(world.state, before)
        self._learn(name, facts, world)

    def _repair(self, world: World) -> None:
        """Which changes of the initial state would have made the failed call work."""
        assert world.failed is not None
        template = template_of(world.failed, world.error)
        self._failed[template] += 1
        self._examples[template] = world.donor.task, [*world.calls, world.failed]
        if self._failed[template] not in _REPAIRED:
            return
        known = self._catalog.recipes.setdefault(template, [])
        for number, recipe in enumerate(self._patcher.recipes(world.failed, world)):
            if number >= _RECIPES_TRIED or len(known) >= _RECIPES:
                break
            if recipe in known:
                continue
            for patch in self._patcher.patches(recipe, world.failed, world, world.error):
                self._left -= len(world.calls) + 1
                if self._works(world, patch):
                    known.append(recipe)
                    break

    def _works(self, world: World, patch: Patch) -> bool:
        """The calls so far and the failed one work after the change."""
        assert world.failed is not None
        calls = [*world.calls, world.failed]
        answer = self._last_answer(world.donor.task, patch, calls)
        return answer is not None and not (world.error == EMPTY and is_empty(answer))

    def _last_answer(self, task: Task, patch: Patch, calls: Sequence[ToolCall]) -> Any:
        """What the last call answers after the change; None where one of them fails."""
        try:
            state = patched(task.initial_state, [patch])
            changed = task.model_copy(update={"initial_state": state})
            with closing(self._environment.open(changed)) as session:
                results = [session.call(call) for call in calls]
        except WorldError:
            raise  # an outage tells nothing about the change
        except Exception:  # noqa: BLE001 - a world may refuse a changed state in any way
            return None
        failed = any(map(self._judgement.fails, calls, results))
        return None if failed else parse(results[-1].content)

    def _arguments(self, name: str, facts: ToolFacts, world: World) -> dict[str, JsonValue] | None:
        arguments: dict[str, JsonValue] = {}
        for parameter, known in facts.parameters.items():
            if not known.required and self._rng.random() > _OPTIONAL:
                continue
            pool: list[Any] = []
            if self._rng.random() < _TAKING:
                pool = list(self._taken(name, parameter, known, world))
            if not pool:
                place = Place(name, parameter, _ANY_LABEL)
                pool = self._values.plain(place, known, world, self._rng)
            if not pool and known.required:
                return None
            if pool:
                arguments[parameter] = pool[self._rng.randrange(min(4, len(pool)))]
        return arguments

    def _taken(
        self, name: str, parameter: str, known: ParameterFacts, world: World
    ) -> Iterator[Any]:
        """Values of earlier results that are known to fit."""
        if known.kind == "array":
            return
        for call, answer in zip(world.calls, world.answers, strict=True):
            flows = self._catalog.flows_between(call.name, name)
            wanted = {flow.pattern for flow in flows if flow.parameter == parameter}
            if wanted:
                yield from (value for pattern, value in places(answer) if pattern in wanted)

    # ------------------------------------------------------------------------ what is seen
    def _learn(self, name: str, facts: ToolFacts, world: World) -> None:
        answer = world.answers[-1]
        if self._looked[name] >= _LOOKED_AT:
            return
        self._looked[name] += 1
        leaves = self._note_outputs(facts, answer)
        given = [leaf for v in world.calls[-1].arguments.values() for _, leaf in walk(v)]
        for consumer, parameter, accepted in self._accepting(world):
            for pattern, value in leaves:
                new = _telling(value, pattern, parameter) and value not in given
                if new and repr(value) in accepted:
                    self._met[name, consumer][pattern, parameter] += 1

    def _accepting(self, world: World) -> Iterator[tuple[str, str, set[str]]]:
        """Parameters of the offered tools with the values they accept at present."""
        tools = self._catalog.tools
        for consumer in world.donor.task.tools:
            for parameter, facts in tools[consumer].parameters.items():
                if facts.kind in ("boolean", "object") or facts.prose:
                    continue
                accepted = self._values.accepted(Place(consumer, parameter, _ANY_LABEL), world)
                if accepted:
                    yield consumer, parameter, {repr(value) for value in accepted}

    def _order(self, task: Task, calls: Sequence[ToolCall]) -> None:
        """Which of the calls fail without an earlier one."""
        if len(calls) < 2:
            return
        session = self._environment.open(task)
        try:
            edges = hard_edges(session, calls, self._judgement.fails)
        finally:
            session.close()
        self._left -= len(calls) * (len(calls) + 1) // 2
        for later in range(len(calls)):
            for earlier in range(later):
                pair = f"{calls[earlier].name} {calls[later].name}"
                broken, seen = self._catalog.hard.get(pair, (0, 0))
                self._catalog.hard[pair] = (broken + ((earlier, later) in edges), seen + 1)

    # ------------------------------------------------------------------------ conclusions
    def _conclude(self) -> None:
        self._complete()
        found: dict[tuple[str, str], dict[tuple[Pattern, str], float]] = defaultdict(dict)
        for (producer, consumer), ways in self._met.items():
            for way in ways:
                found[producer, consumer][way] = 1.0
        for producer, consumer, way in self._same_names():
            found[producer, consumer].setdefault(way, 1.0)
        for producer, consumer, way in self._any_number():
            found[producer, consumer].setdefault(way, 0.5)
        for producer, consumer, way in self._any_text():
            found[producer, consumer].setdefault(way, 1.0)
        for (producer, consumer), weights in found.items():
            known = self._catalog.flows_between(producer, consumer)
            have = {(flow.pattern, flow.parameter) for flow in known}
            known = known + [
                Flow(pattern, parameter, weight)
                for (pattern, parameter), weight in weights.items()
                if (pattern, parameter) not in have
            ]
            self._catalog.flows[f"{producer} {consumer}"] = known

    def _complete(self) -> None:
        """Recipes that set records know a complete one, and what is answered then."""
        for template, known in self._catalog.recipes.items():
            complete = self._patcher.completed(known)
            task, calls = self._examples[template]
            for recipe in complete:
                answer = self._last_answer(
                    task, Patch(tuple(recipe.path), recipe.value, template), calls
                )
                if answer is not None and not is_empty(answer):
                    known.insert(0, recipe)
                    self._note_outputs(self._catalog.tools[calls[-1].name], answer)

    def _note_outputs(self, facts: ToolFacts, answer: Any) -> list[tuple[Pattern, Scalar]]:
        """The leaves of an answer; the tool's facts know where they stand."""
        leaves = list(places(answer))[:_LEAVES]
        known = dict(facts.outputs)
        known.update((pattern, type(value).__name__) for pattern, value in leaves)
        facts.outputs = sorted(known.items())
        return leaves

    def _same_names(self) -> Iterator[tuple[str, str, tuple[Pattern, str]]]:
        """A result's field named like a parameter that is no free text, within a group."""
        tools = self._catalog.tools
        for producer, source in tools.items():
            named = {p: kind for p, kind in source.outputs if p and p[-1] not in (KEY, WORD, ANY)}
            for consumer, target in tools.items():
                if source.group != target.group:
                    continue
                for parameter, facts in target.parameters.items():
                    if facts.prose or facts.closed or (facts.fresh and not _names_id(parameter)):
                        continue
                    for pattern, kind in named.items():
                        if pattern[-1] == parameter and _same_type(kind, facts.kind):
                            yield producer, consumer, (pattern, parameter)

    def _any_text(self) -> Iterator[tuple[str, str, tuple[Pattern, str]]]:
        """Texts of a group's results into prose that a train task takes from that group."""
        tools, taking = self._catalog.tools, set()
        for pair, flows in self._catalog.flows.items():
            producer, consumer = pair.split(" ")
            for flow in flows:
                facts = tools[consumer].parameters[flow.parameter]
                if facts.prose and flow.pattern[-1:] != (WORD,):
                    taking.add((tools[producer].group, consumer, flow.parameter))
        for group, consumer, parameter in sorted(taking):
            for producer, source in tools.items():
                for pattern, kind in source.outputs if source.group == group else ():
                    if kind == "str" and pattern[-1:] not in ((KEY,), (WORD,)):
                        yield producer, consumer, (pattern, parameter)

    def _any_number(self) -> Iterator[tuple[str, str, tuple[Pattern, str]]]:
        """Numbers of any result into tools that only compute."""
        tools = self._catalog.tools
        pure = _computing(tools)
        sinks = [
            (name, parameter)
            for name in sorted(tools)
            if tools[name].group in pure
            for parameter, facts in tools[name].parameters.items()
            if facts.kind == "number" and not facts.closed
        ]
        for producer, source in tools.items():
            for pattern, kind in source.outputs:
                if kind not in ("int", "float") or ANY in pattern or _names_id(_last(pattern)):
                    continue
                for consumer, parameter in sinks:
                    yield producer, consumer, (pattern, parameter)


def _computing(tools: dict[str, ToolFacts]) -> set[int]:
    """Groups of tools that neither change a world nor name anything in one."""
    stateful = {
        tool.group
        for tool in tools.values()
        if tool.wrote or any(p.homes for p in tool.parameters.values()) or not tool.parameters
    }
    return {tool.group for tool in tools.values()} - stateful


def _falses(catalog: Catalog) -> dict[str, frozenset[str]]:
    return {name: frozenset(tool.false_fields) for name, tool in catalog.tools.items()}


def _last(pattern: Pattern) -> str:
    return pattern[-1] if pattern else ""


def _names_id(name: str) -> bool:
    return field_fits((name,), "id_ids_token_symbol_code") if name else False


def _same_type(kind: str, wanted: str) -> bool:
    types = {"str": ("string",), "int": ("integer", "number"), "float": ("number",)}
    return wanted in types.get(kind, ())


def _telling(value: Any, pattern: Pattern, parameter: str) -> bool:
    """An accepted value is no coincidence."""
    if isinstance(value, str):
        return len(value) > 1
    if isinstance(value, bool) or value is None:
        return False
    return abs(value) >= 100 or field_fits(pattern, parameter)
