"""IV. Critique without a language model: gates that fail closed.

Each gate gives a rejection with its reason or lets the draft pass. The execution that made the
draft is the first of two; here the finished task runs once more in a fresh world, and both must
agree. A draft that claims no execution is run twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property

from pydantic import Field

from rods.interfaces import ComponentConfig, Environment
from rods.structure.distance import distance
from rods.structure.leaves import walk
from rods.structure.lookups import suggested_values
from rods.structure.profile import profile
from rods.structure.schema import CallValidator
from rods.structure.sources import Labeller
from rods.structure.trace import Trace, idle_places, idle_turns, replay
from rods.synthesis.contracts import CritiqueStage, Draft, rejection
from rods.synthesis.decontamination import DecontaminationConfig, Decontaminator
from rods.synthesis.reasons import Reason
from rods.synthesis.wording.checks import telling_names
from rods.types import (
    ComplexityProfile,
    JsonObject,
    Rejection,
    SourceKind,
    Stage,
    Task,
    ToolCall,
)

_WORD = re.compile(r"\w+")
_MARKERS = ("<think", "</think", "<tool", "```", "chain of thought", "function call", "tool call")
_MAX_STRING, _MAX_LIST = 200, 5


class CritiqueConfig(ComponentConfig):
    """What the gates allow."""

    max_string: int = Field(
        _MAX_STRING, ge=1, description="Characters of a string argument, if the seed's is shorter."
    )
    max_list: int = Field(
        _MAX_LIST, ge=1, description="Items of a list argument, if the seed's is shorter."
    )
    decontamination: DecontaminationConfig = DecontaminationConfig()


class RuleCritic(CritiqueStage):
    """All gates in the order of their cost."""

    def __init__(
        self, config: CritiqueConfig, environment: Environment, labeller: Labeller
    ) -> None:
        self._config, self._environment, self._labeller = config, environment, labeller
        self._specs = environment.tools()
        self._idle: dict[str, frozenset[int]] = {}  # of seeds, once a variant of theirs has idled
        self._validator = CallValidator(self._specs)
        self._names = frozenset(telling_names(self._specs.values()))
        self.gates: list[Callable[[Draft], Rejection | None]] = [
            self.offered_tools,
            self.valid_arguments,
            self.short_arguments,
            self.no_leak,
            self.no_objection,
            self.sound_execution,
            self.decontaminated,
        ]

    def critique(self, draft: Draft) -> Rejection | None:
        """The first gate that rejects; None: all passed."""
        for gate in self.gates:
            if found := gate(draft):
                return found
        return None

    # ------------------------------------------------------------------ without execution
    def offered_tools(self, draft: Draft) -> Rejection | None:
        """Every call is to a tool that the policy has at that turn."""
        offered = set(draft.task.tools)
        for index, turn in enumerate(draft.task.turns):
            offered.update(turn.reveals)
            for call in turn.reference:
                if call.name not in offered:
                    detail = f"{call.name} in turn {index}"
                    return self._reject(draft, Reason.UNKNOWN_TOOL, detail)
        return None

    def valid_arguments(self, draft: Draft) -> Rejection | None:
        """Every call fits its tool's schema."""
        for call in _calls(draft.task):
            if problem := self._validator.problem(call):
                return self._reject(draft, Reason.INVALID_ARGUMENTS, problem)
        return None

    def short_arguments(self, draft: Draft) -> Rejection | None:
        """No string over 200 characters, no list over 5 items, but where the seed's is as long."""
        for call in _calls(draft.task):
            for size, limit, what in self._sizes(call):
                if size > limit and size > self._longest(draft, what):
                    detail = f"{call.name}: {what} of length {size}"
                    return self._reject(draft, Reason.TOO_LONG, detail)
        return None

    def no_leak(self, draft: Draft) -> Rejection | None:
        """The user speaks of no function, parameter or reasoning that the seed's user did not.

        A tool that is handed over may be called by its name.
        """
        blueprint = draft.execution.plan.blueprint
        new = {word for turn in draft.task.turns for word in _WORD.findall(turn.user)}
        handed_over = {name for turn in draft.task.turns for name in turn.reveals}
        if leaked := (new & self._names) - blueprint.spoken - handed_over:
            return self._reject(draft, Reason.LEAK, ", ".join(sorted(leaked)))
        after = " ".join(turn.user for turn in draft.task.turns).lower()
        for marker in _MARKERS:
            if marker in after and marker not in blueprint.user:
                return self._reject(draft, Reason.LEAK, marker)
        return None

    def no_objection(self, draft: Draft) -> Rejection | None:
        """The world has nothing against the task."""
        if objection := self._environment.objection(draft.task):
            return self._reject(draft, Reason.OBJECTED, objection)
        return None

    def decontaminated(self, draft: Draft) -> Rejection | None:
        """No evaluation task is near."""
        if problem := self._decontaminator.problem(draft.task):
            return self._reject(draft, Reason.CONTAMINATED, problem)
        return None

    # ------------------------------------------------------------------ with execution
    def sound_execution(self, draft: Draft) -> Rejection | None:
        """Two fresh worlds agree, nothing fails, no turn is idle, the profile is the plan's."""
        claimed = draft.claimed or replay(self._environment, draft.task)
        trace = replay(self._environment, draft.task, states=self._doubtful(draft))
        return (
            self.deterministic(draft, claimed, trace)
            or self.no_idle_turn(draft, trace)
            or self.same_profile(draft, trace)
        )

    def deterministic(self, draft: Draft, first: Trace, second: Trace) -> Rejection | None:
        """Equal results, errors and final state, and no error that the seed does not have."""
        same_answers = first.contents == second.contents and first.failed == second.failed
        if first.calls != second.calls or not same_answers:
            return self._reject(draft, Reason.NOT_DETERMINISTIC, "results differ")
        if first.final != second.final:
            return self._reject(draft, Reason.NOT_DETERMINISTIC, "final states differ")
        if len(second.failed) > len(draft.execution.plan.blueprint.trace.failed):
            return self._reject(draft, Reason.VM_EXEC_FAILED, "a reference call fails")
        return None

    def no_idle_turn(self, draft: Draft, trace: Trace) -> Rejection | None:
        """A turn with a reference changes the state or shows something new, or the seed's did not.

        A seed may ask to see again what it has just made: its variants then do so, too.
        """
        idle = idle_places(draft.task, trace)
        if idle and (found := idle - self._idle_in(_seed(draft))):
            return self._reject(draft, Reason.NO_OP_TURN, f"requests {sorted(found)}")
        return None

    def same_profile(self, draft: Draft, trace: Trace) -> Rejection | None:
        """Distance 0 to the profile that was planned; computed from this execution alone."""
        found = self.profile_of(draft.task, trace)
        if distance(found, draft.expected) == 0:
            return None
        lost = _unsourced(found) - _unsourced(draft.expected)
        if lost > 0:
            return self._reject(draft, Reason.NO_SOURCE, f"{lost} arguments more than in the seed")
        return self._reject(draft, Reason.PROFILE_MISMATCH, _difference(found, draft.expected))

    def profile_of(self, task: Task, trace: Trace) -> ComplexityProfile:
        """The profile of an executed task."""

        def visible() -> JsonObject:
            if -1 in trace.states:
                return trace.states[-1]
            session = self._environment.open(task)
            try:
                return session.state()
            finally:
                session.close()

        return profile(task, trace, self._labeller.label(task, trace, visible))

    # ------------------------------------------------------------------ inside
    def _idle_in(self, seed: Task) -> frozenset[int]:
        if seed.id not in self._idle:
            trace = replay(self._environment, seed, states=range(-1, len(seed.turns)))
            self._idle[seed.id] = idle_places(seed, trace)
        return self._idle[seed.id]

    @cached_property
    def _decontaminator(self) -> Decontaminator:
        environment = self._environment
        return Decontaminator(
            environment.tasks("eval"),
            environment.tasks("train"),
            self._config.decontamination,
            suggested_values(environment),
        )

    def _sizes(self, call: ToolCall) -> Iterator[tuple[int, int, str]]:
        for value in call.arguments.values():
            if isinstance(value, str):
                yield len(value), self._config.max_string, "string"
            elif isinstance(value, list | dict):
                yield len(value) if isinstance(value, list) else 0, self._config.max_list, "list"
                for _, leaf in walk(value):
                    if isinstance(leaf, str):
                        yield len(leaf), self._config.max_string, "string"

    def _longest(self, draft: Draft, what: str) -> int:
        sizes = [s for c in _calls(_seed(draft)) for s, _, w in self._sizes(c) if w == what]
        return max(sizes, default=0)

    @staticmethod
    def _doubtful(draft: Draft) -> frozenset[int]:
        """Turns (and those before them) that only their states can tell from idle ones."""
        claimed = draft.claimed
        if claimed is None:
            return frozenset(range(-1, len(draft.task.turns)))
        idle = idle_turns(draft.task, claimed)
        opening = {-1} if _needs_state(draft) else set()
        return frozenset(idle) | {index - 1 for index in idle} | opening

    @staticmethod
    def _reject(draft: Draft, reason: Reason, detail: str) -> Rejection:
        return rejection(Stage.CRITIQUE, reason, detail, _seed(draft).id)


def _needs_state(draft: Draft) -> bool:
    """Some argument's source can only be told with the whole visible state at hand."""
    plan = draft.execution.plan
    if plan.proposal is None:
        return plan.blueprint.needs_state
    told = (SourceKind.USER, SourceKind.CONSTANT, SourceKind.RESULT)
    return any(kind not in told for call in draft.expected.sources for kind in call.values())


def _seed(draft: Draft) -> Task:
    return draft.execution.plan.blueprint.task


def _calls(task: Task) -> Iterator[ToolCall]:
    return (call for turn in task.turns for call in turn.reference)


def _unsourced(found: ComplexityProfile) -> int:
    return sum(kind is SourceKind.UNKNOWN for call in found.sources for kind in call.values())


def _difference(found: ComplexityProfile, expected: ComplexityProfile) -> str:
    if found.calls_per_turn != expected.calls_per_turn or found.tools != expected.tools:
        return "other calls"
    for call, (ours, theirs) in enumerate(zip(found.sources, expected.sources, strict=True)):
        if ours != theirs:
            return f"call {call}: {dict(ours)} instead of {dict(theirs)}"
    return f"edges {len(found.edges)} instead of {len(expected.edges)}"
