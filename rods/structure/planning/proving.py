"""The independent check: everything about a plan is computed again from executed calls."""

from __future__ import annotations

from dataclasses import dataclass

from rods.errors import WorldError
from rods.interfaces import Environment
from rods.structure.planning.effects import Judgement, hard_edges
from rods.structure.planning.filling import Filled
from rods.structure.planning.skeleton import Skeleton, skeleton
from rods.structure.profile import profile
from rods.structure.schema import CallValidator
from rods.structure.sources import Labeller, Source
from rods.structure.trace import Trace, idle_turns, replay
from rods.types import ComplexityProfile, JsonObject, Task, ToolCall, Turn


@dataclass(frozen=True, slots=True)
class Proven:
    """A plan with what its execution in fresh worlds shows."""

    task: Task  # in words that state the user's values and nothing else
    trace: Trace
    sources: tuple[Source, ...]
    profile: ComplexityProfile
    skeleton: Skeleton


class Prover:
    """Executes, labels and compares; shares nothing with the search but the plan."""

    def __init__(self, environment: Environment, labeller: Labeller, judgement: Judgement) -> None:
        self._environment, self._labeller = environment, labeller
        self._judgement = judgement
        self._validator = CallValidator(environment.tools())

    def of_seed(self, seed: Task) -> Proven:
        """The seed's own execution, in its own words."""
        turns = range(-1, len(seed.turns))
        return self._examined(seed, replay(self._environment, seed, states=turns))

    def prove(self, seed: Proven, filled: Filled, strictness: str) -> Proven | str:
        """The plan, executed twice with equal results and of the seed's structure; or why not."""
        task = stub(seed.task, filled, seed.profile.calls_per_turn)
        turns = range(-1, len(task.turns))
        try:
            first = replay(self._environment, task, states=turns)
            again = replay(self._environment, task)
        except WorldError:
            return "world_error"
        if problem := self._problem(task, first, again):
            return problem
        if not seed.skeleton.idle.issuperset(idle_turns(task, first)):
            return "no_op_turn"
        proven = self._examined(task, first)
        return seed.skeleton.difference(proven.skeleton, strictness) or proven

    def _problem(self, task: Task, first: Trace, again: Trace) -> str | None:
        if first.results != again.results or first.final != again.final:
            return "not_deterministic"
        offered = set(task.tools)
        for call, result in zip(first.calls, first.results, strict=True):
            if call.name not in offered:
                return "unknown_tool"
            if self._validator.problem(call):
                return "invalid_arguments"
            if self._judgement.fails(call, result):
                return "failed_call"
        return "objected" if self._environment.objection(task) else None

    def _examined(self, task: Task, trace: Trace) -> Proven:
        sources = tuple(self._labeller.label(task, trace, lambda: self._state(task)))
        found = profile(task, trace, sources)
        session = self._environment.open(task)
        try:
            hard = hard_edges(session, trace.calls, self._judgement.fails)
        finally:
            session.close()
        return Proven(
            task, trace, sources, found, skeleton(found, hard, frozenset(idle_turns(task, trace)))
        )

    def _state(self, task: Task) -> JsonObject:
        session = self._environment.open(task)
        try:
            return session.state()
        finally:
            session.close()


def stub(seed: Task, filled: Filled, calls_per_turn: tuple[int, ...]) -> Task:
    """The plan as a task whose user says the declared values, one a line."""
    calls = iter(filled.calls)
    turns = []
    for number, count in enumerate(calls_per_turn):
        reference: tuple[ToolCall, ...] = tuple(next(calls) for _ in range(count))
        lines = filled.said[number] if number < len(filled.said) else []
        turns.append(Turn(user="\n".join(lines), reference=reference))
    donor = filled.donor.task
    return Task(
        id=f"plan of {seed.id}",
        environment=seed.environment,
        kind=seed.kind,
        split=seed.split,
        tools=donor.tools_at(len(donor.turns)),
        turns=tuple(turns),
        initial_state=donor.initial_state,
    )
