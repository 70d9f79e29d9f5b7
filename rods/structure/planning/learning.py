"""The part of the catalog that the train tasks show."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from rods.interfaces import Environment, Session
from rods.structure.leaves import Scalar, parse, walk
from rods.structure.planning.catalog import Catalog, Flow, Home, ParameterFacts, ToolFacts
from rods.structure.planning.effects import false_fields, hard_edges, is_empty
from rods.structure.planning.patterns import KEY, WORD, Pattern, pattern_of, places
from rods.structure.planning.records import RecordLearner
from rods.structure.planning.relations import RelationLearner
from rods.structure.planning.schema_values import documented, item_kind, kind_of, names_text
from rods.structure.planning.world import text_of
from rods.structure.sources import Labeller, Source, by_parameter, field_fits, holds
from rods.structure.trace import Trace, replay
from rods.types import SourceKind, Task, ToolCall, ToolSpec

_COVERING = 0.7  # of the best home's uses that another home needs
_HOMES = 3
_VALUES = 60
Parameter = tuple[str, str]  # tool, parameter


@dataclass(slots=True)
class Observed:
    """Counts over the train tasks, before anything is concluded from them."""

    uses: Counter[Parameter] = field(default_factory=Counter)
    homeless: Counter[Parameter] = field(default_factory=Counter)
    homes: dict[Parameter, Counter[Home]] = field(default_factory=lambda: defaultdict(Counter))
    sizes: dict[Home, list[int]] = field(default_factory=lambda: defaultdict(list))
    labels: dict[Parameter, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    values: dict[Parameter, dict[str, Any]] = field(default_factory=lambda: defaultdict(dict))
    counts: dict[Parameter, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    flows: dict[Parameter, Counter[tuple[Pattern, str]]] = field(
        default_factory=lambda: defaultdict(Counter)
    )  # (producer, consumer) -> (pattern, parameter)
    made: Counter[Parameter] = field(default_factory=Counter)
    again: Counter[Parameter] = field(default_factory=Counter)
    could: Counter[Parameter] = field(default_factory=Counter)
    outputs: dict[str, dict[Pattern, str]] = field(default_factory=lambda: defaultdict(dict))
    worked: Counter[str] = field(default_factory=Counter)
    wrote: Counter[str] = field(default_factory=Counter)
    quiet: Counter[str] = field(default_factory=Counter)
    falses: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    hard: Counter[Parameter] = field(default_factory=Counter)
    pairs: Counter[Parameter] = field(default_factory=Counter)
    touched: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    state_places: Counter[Home] = field(default_factory=Counter)


def groups_of(tasks: Sequence[Task], names: Iterable[str]) -> dict[str, int]:
    """Tool -> a number that it shares with the tools offered in exactly the same tasks."""
    offered: dict[str, list[int]] = {name: [] for name in names}
    for index, task in enumerate(tasks):
        for name in task.tools_at(len(task.turns)):
            if name in offered:
                offered[name].append(index)
    numbers: dict[tuple[int, ...], int] = {}
    return {name: numbers.setdefault(tuple(at), len(numbers)) for name, at in offered.items()}


def probes_among(specs: Mapping[str, ToolSpec]) -> list[str]:
    """Reading tools that need no argument: what they list can be an argument of others."""
    return [s.name for s in specs.values() if s.effect == "read" and not s.required]


class SeedLearner:
    """Watches the references of the train tasks."""

    def __init__(self, environment: Environment, labeller: Labeller) -> None:
        self.environment, self.labeller = environment, labeller
        self.specs = environment.tools()
        self.tasks = [t for t in environment.tasks("train") if t.kind != "long_context"]
        self.tasks = self.tasks or list(environment.tasks("train"))
        self.groups = groups_of(self.tasks, self.specs)
        self.probes = probes_among(self.specs)
        self.seen = Observed()
        self.related = RelationLearner()
        self.recorded = RecordLearner()
        self._first = ""  # the state of the task being watched before its first call

    def observe(self) -> Observed:
        """Every train task has been run and watched."""
        stories: set[tuple[Any, ...]] = set()
        for task in self.tasks:
            story = tuple(repr(turn.reference) for turn in task.turns if turn.reference)
            if story not in stories:  # the kinds of one story share its reference
                stories.add(story)
                self._watch(task)
        return self.seen

    def _watch(self, task: Task) -> None:
        trace = replay(self.environment, task)
        with closing(self.environment.open(task)) as session:
            start = session.state()
            sources = self.labeller.label(task, trace, lambda: start)
            self._places(task, session)
        self._sources(trace, sources)
        self._reuse(trace)
        self.related.watch(trace)
        with closing(self.environment.open(task)) as fresh:
            edges = hard_edges(fresh, trace.calls, lambda _, result: result.error)
        names = [call.name for call in trace.calls]
        for later in range(len(names)):
            for earlier in range(later):
                self.seen.pairs[names[earlier], names[later]] += 1
                self.seen.hard[names[earlier], names[later]] += (earlier, later) in edges

    def _places(self, task: Task, session: Session) -> None:
        before = session.state()
        self._first = text_of(task.initial_state) + text_of(before)
        for home, count in Counter(Home("", p) for p, _ in places(before)).items():
            self.seen.state_places[home] += 1
            self.seen.sizes[home].append(count)
        for turn in task.turns:
            for call in turn.reference:
                self._arguments(task, session, call, before)
                self.recorded.watch(call, before)
                result = session.call(call)
                after = session.state()
                self.seen.worked[call.name] += not result.error
                self.seen.wrote[call.name] += not result.error and after != before
                if after != before:
                    changed = {key for key in after if after[key] != before.get(key)}
                    self.seen.touched[self.groups[call.name]] |= changed
                answer = parse(result.content)
                silent = not result.error and after == before and is_empty(answer)
                self.seen.quiet[call.name] += silent
                self.seen.falses[call.name].update(false_fields(answer))
                for pattern, value in places(answer):
                    self.seen.outputs[call.name].setdefault(pattern, type(value).__name__)
                before = after

    def _arguments(self, task: Task, session: Session, call: ToolCall, state: Any) -> None:
        held = self._held(task, session, state)
        for parameter, argument in call.arguments.items():
            key = (call.name, parameter)
            self.seen.values[key].setdefault(repr(argument), argument)
            self.seen.counts[key][repr(argument)] += 1
            leaves = [leaf for _, leaf in walk(argument)]
            found = {
                home
                for leaf in leaves
                for home in held.get(leaf, ())
                if _telling(leaf, home, parameter)
            }
            self.seen.uses[key] += 1
            self.seen.homeless[key] += not found
            self.seen.homes[key].update(found)
            self.seen.made[key] += bool(found) and not any(holds(self._first, x) for x in leaves)

    def _held(self, task: Task, session: Session, state: Any) -> dict[Scalar, set[Home]]:
        """Value -> where the world shows it now."""
        held: dict[Scalar, set[Home]] = defaultdict(set)
        shown = [("", state)]
        for name in self.probes:
            if name in task.tools:
                result = session.call(ToolCall(name=name))
                if not result.error:
                    shown.append((name, parse(result.content)))
        for probe, value in shown:
            counts: Counter[Home] = Counter()
            for pattern, scalar in places(value):
                held[scalar].add(Home(probe, pattern))
                counts[Home(probe, pattern)] += 1
            for home, count in counts.items() if probe else ():
                self.seen.sizes[home].append(count)
        return held

    def _sources(self, trace: Trace, sources: Sequence[Source]) -> None:
        answers = [parse(content) for content in trace.contents]
        for call, kinds in zip(trace.calls, by_parameter(sources, len(answers)), strict=True):
            for parameter, kind in kinds.items():
                self.seen.labels[call.name, parameter][kind.value] += 1
        for s in sources:
            tool = trace.calls[s.call].name
            if s.kind is SourceKind.RESULT and s.producer is not None and s.result_path is not None:
                producer = trace.calls[s.producer].name
                pattern = pattern_of(answers[s.producer], s.result_path)
                self.seen.flows[producer, tool][pattern, s.parameter] += 1

    def _reuse(self, trace: Trace) -> None:
        used: dict[tuple[int, str], list[Any]] = defaultdict(list)
        for call in trace.calls:
            for parameter, value in call.arguments.items():
                if isinstance(value, list | dict | bool):
                    continue
                earlier = used[self.groups[call.name], parameter]
                if earlier:
                    self.seen.could[call.name, parameter] += 1
                    self.seen.again[call.name, parameter] += value in earlier
                earlier.append(value)


def _telling(value: Scalar, home: Home, parameter: str) -> bool:
    """That the value stands there is no chance."""
    if isinstance(value, bool) or value is None or value == "":
        return False
    if isinstance(value, str) and len(value) > 1:
        return True
    if isinstance(value, int | float) and abs(value) >= 100:
        return True
    return home.pattern[-1] != KEY and field_fits(home.pattern, parameter)


# ------------------------------------------------------------------------------- conclusions
class Conclusions:
    """Turns counts into a catalog; what a parameter lacks it takes from its namesakes."""

    def __init__(self, learner: SeedLearner) -> None:
        self._learner, self._seen = learner, learner.seen
        self._namesakes: dict[tuple[int, str], list[Parameter]] = defaultdict(list)
        for spec in learner.specs.values():
            for parameter in spec.properties:
                self._namesakes[learner.groups[spec.name], parameter].append((spec.name, parameter))

    def catalog(self) -> Catalog:
        """All that the train tasks tell."""
        tools = {name: self._tool(spec) for name, spec in self._learner.specs.items()}
        sequences = [
            [call.name for turn in task.turns for call in turn.reference]
            for task in self._learner.tasks
        ]
        catalog = Catalog(tools=tools, sequences=sequences, probes=self._learner.probes)
        catalog.relations = self._learner.related.relations()
        catalog.records = self._learner.recorded.rules()
        catalog.hard = {
            f"{a} {b}": (self._seen.hard[a, b], n) for (a, b), n in self._seen.pairs.items()
        }
        for group in sorted(set(self._learner.groups.values())):
            catalog.roots[group] = sorted(self._roots(group) | self._seen.touched[group])
        catalog.flows = dict(self._flows(tools))
        return catalog

    def _tool(self, spec: ToolSpec) -> ToolFacts:
        seen, name = self._seen, spec.name
        return ToolFacts(
            group=self._learner.groups[name],
            parameters={p: self._parameter(spec, p) for p in spec.properties},
            tried=seen.worked[name],
            worked=seen.worked[name],
            wrote=seen.wrote[name],
            seen=seen.worked[name],
            idle=seen.worked[name] - seen.wrote[name],
            quiet=seen.quiet[name],
            false_fields=sorted(seen.falses[name]),
            outputs=sorted(seen.outputs[name].items()),
        )

    def _parameter(self, spec: ToolSpec, name: str) -> ParameterFacts:
        schema, key = spec.properties[name], (spec.name, name)
        kin = self._kin(key)
        labels: Counter[str] = sum((self._seen.labels[k] for k in kin), Counter())
        known = kin or self._namesakes_anywhere(name)
        spelled = {r: v for k in known for r, v in self._seen.values[k].items()}
        counts: Counter[str] = sum((self._seen.counts[k] for k in known), Counter())
        values = {r: spelled[r] for r, _ in counts.most_common()}
        uses = sum(self._seen.uses[k] for k in kin)
        homeless = sum(self._seen.homeless[k] for k in kin)
        facts = ParameterFacts(
            kind=kind_of(schema),
            items=item_kind(schema) if kind_of(schema) == "array" else "",
            required=name in spec.required,
            closed=documented(schema),
            labels=dict(labels),
            fresh=homeless * 2 >= uses,
            values=list(values.values())[:_VALUES],
            homes=self._homes(kin),
        )
        if facts.fresh and not facts.homes:
            facts.homes = self._homes(self._used_namesakes(key))
        if not uses:
            facts.homes = self._alike(key, facts.kind)
            facts.fresh = not facts.homes
        facts.suggested = self._is_suggested(spec.name, name)
        texts = [v for v in values.values() if isinstance(v, str) and v]
        wordy = (
            sum(v.count(" ") >= 2 for v in texts) * 2 > len(texts) if texts else names_text(name)
        )
        facts.prose = facts.kind == "string" and not facts.closed and facts.fresh and wordy
        at_home = uses - homeless
        facts.made = sum(self._seen.made[k] for k in kin) / at_home if at_home else 0.0
        could = sum(self._seen.could[k] for k in kin)
        facts.reuse = sum(self._seen.again[k] for k in kin) / could if could >= 2 else 0.0
        return facts

    def _is_suggested(self, tool: str, parameter: str) -> bool:
        """The environment knows values for the parameter in some train task."""
        learner = self._learner
        offering = (t for t in learner.tasks if tool in t.tools_at(len(t.turns)))
        task = next(offering, None)
        if task is None:
            return False
        return bool(learner.environment.suggest(tool, parameter, task.initial_state))

    def _kin(self, key: Parameter) -> list[Parameter]:
        """The parameter itself if it was seen used; else its namesakes that were."""
        return [key] if self._seen.uses[key] else self._used_namesakes(key)

    def _used_namesakes(self, key: Parameter) -> list[Parameter]:
        group = self._namesakes[self._learner.groups[key[0]], key[1]]
        return [k for k in group if self._seen.uses[k]]

    def _namesakes_anywhere(self, name: str) -> list[Parameter]:
        """Parameters of that name in other groups: a password is a password."""
        found = [k for (_, n), keys in self._namesakes.items() if n == name for k in keys]
        return [k for k in found if self._seen.uses[k]]

    def _homes(self, kin: Sequence[Parameter]) -> list[Home]:
        counts: Counter[Home] = sum((self._seen.homes[k] for k in kin), Counter())
        if not counts:
            return []
        top = max(counts.values())
        good = [home for home, n in counts.items() if n >= _COVERING * top]
        return sorted(good, key=lambda home: (self._size(home), home))[:_HOMES]

    def _size(self, home: Home) -> float:
        sizes = self._seen.sizes[home]
        words = 10 if WORD in home.pattern else 1  # a word of a text says less
        return words * sum(sizes) / len(sizes) if sizes else 1e9

    def _alike(self, key: Parameter, kind: str) -> list[Home]:
        """Places whose field is named like the parameter."""
        if kind in ("boolean", "object"):
            return []
        roots = self._roots(self._learner.groups[key[0]])
        found = [
            home
            for home in self._seen.state_places
            if home.pattern[0] in roots
            and home.pattern[-1] != WORD
            and field_fits(_named(home.pattern), key[1])
        ]
        return sorted(found, key=lambda home: (self._size(home), home))[:_HOMES]

    def _roots(self, group: int) -> set[str]:
        """The parts of the state in which the values of the group's parameters stand."""
        return {
            home.pattern[0]
            for (other, _), homes in self._seen.homes.items()
            if self._learner.groups[other] == group
            for home, count in homes.most_common(2)
            if not home.probe and count > 1
        }

    def _flows(self, tools: Mapping[str, ToolFacts]) -> Iterator[tuple[str, list[Flow]]]:
        weights: dict[Parameter, dict[tuple[Pattern, str], float]] = defaultdict(dict)
        for pair, counts in self._seen.flows.items():
            for way, count in counts.items():
                weights[pair][way] = count + 1.0
        for (producer, consumer), counts in self._seen.flows.items():
            group = self._learner.groups[consumer]
            for pattern, parameter in counts:
                for namesake, _ in self._namesakes[group, parameter]:
                    weights[producer, namesake].setdefault((pattern, parameter), 1.0)
        for (producer, consumer), ways in weights.items():
            flows = [Flow(pattern, p, w) for (pattern, p), w in ways.items()]
            yield f"{producer} {consumer}", flows


def _named(pattern: Pattern) -> Pattern:
    """The pattern up to its last field name."""
    names = [step for step in pattern if step not in (KEY, WORD, "*")]
    return tuple(names)
