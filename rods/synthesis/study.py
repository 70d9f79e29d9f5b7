"""What a seed allows: its execution, labels and profile, and the values that really can change.

All candidate values are changed together; where that breaks the task, halves are tried until the
largest working set is found. Done once for each seed; equal seeds give equal studies.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from rods.interfaces import Environment
from rods.structure import transforms
from rods.structure.profile import profile
from rods.structure.sources import Labeller, holds
from rods.structure.trace import Trace, replay
from rods.synthesis.blueprint import Blueprint
from rods.synthesis.contracts import Plan
from rods.synthesis.finding import SlotFinder
from rods.synthesis.reasons import Reason
from rods.synthesis.slots import Slot, Style
from rods.types import JsonObject, Rejection, Task

_BYSTANDER_TRIALS = 8
_BAD_LUCK = frozenset(  # another draw may pass
    {Reason.VM_EXEC_FAILED, Reason.PARAM_GEN_FAILED, Reason.STALE_MENTION, Reason.CONTAMINATED}
)
_HOPELESS = frozenset({Reason.NO_OP_TURN, Reason.UNKNOWN_TOOL})  # whatever the values are
_TRIES = {Style.CLOSED: 5, Style.CLOSED_NUMBER: 2, Style.NUMBER: 2, Style.DATE: 2}
Trial = Callable[[Plan, random.Random], Rejection | None]


class SeedStudy:
    """Studies the seeds of one environment."""

    def __init__(self, environment: Environment, labeller: Labeller, finder: SlotFinder) -> None:
        self._environment, self._labeller, self._finder = environment, labeller, finder

    def of(self, seed: Task, trial: Trial, *, budget: int) -> Blueprint:
        """The blueprint with its confirmed slots; none where no value of the seed can change.

        ``trial`` makes one variant by a plan and says what was wrong with it; at most
        ``budget`` trials are made.
        """
        blueprint = self.executed(seed)
        blueprint.slots = _Confirmation(blueprint, trial, budget).slots()
        return blueprint

    def executed(self, seed: Task) -> Blueprint:
        """The blueprint with all candidates, none of them tried."""
        trace = replay(self._environment, seed)
        sources = tuple(self._labeller.label(seed, trace, lambda: self._state(seed)))
        return Blueprint(
            task=seed,
            trace=trace,
            sources=sources,
            profile=profile(seed, trace, sources),
            slots=self._finder.find(seed, trace, sources),
            mentions=mentions(seed, trace),
        )

    def _state(self, seed: Task) -> JsonObject:
        session = self._environment.open(seed)
        try:
            return session.state()
        finally:
            session.close()


class _Confirmation:
    """Finds a largest set of slots that work together, greedily by halves."""

    def __init__(self, blueprint: Blueprint, trial: Trial, budget: int) -> None:
        self._blueprint, self._trial, self._left = blueprint, trial, budget
        self._rng_key = blueprint.task.id

    def slots(self) -> tuple[Slot, ...]:
        """The arguments' values first; those merely shown get a few trials of their own."""
        candidates = self._blueprint.slots
        if candidates and self._works(candidates):
            return candidates
        arguments = tuple(s for s in candidates if not s.bystander)
        good = self._grown((), arguments, failed=len(arguments) == len(candidates))
        self._left = min(self._left, _BYSTANDER_TRIALS)
        return self._grown(good, tuple(s for s in candidates if s.bystander))

    def _grown(
        self, good: tuple[Slot, ...], more: tuple[Slot, ...], *, failed: bool = False
    ) -> tuple[Slot, ...]:
        """``good`` and as many of ``more`` as work with it; ``failed``: not all of them do."""
        if not more or self._left <= 0:
            return good
        if not failed and self._works(good + more):
            return good + more
        if len(more) == 1:
            return good
        half = len(more) // 2
        return self._grown(self._grown(good, more[:half]), more[half:])

    def _works(self, slots: tuple[Slot, ...]) -> bool:
        """Some draw passes. Closed values get more tries: not every pair of places has a route."""
        plan = Plan.of(self._blueprint, slots)
        for attempt in range(max(_TRIES.get(slot.style, 1) for slot in slots)):
            self._left -= 1
            rng = random.Random(f"{self._rng_key}/{len(slots)}/{attempt}")
            failure = self._trial(plan, rng)
            if failure is None:
                return True
            if failure.reason in _HOPELESS:
                self._left = 0
            if failure.reason not in _BAD_LUCK or self._left <= 0:
                return False
        return False


def mentions(task: Task, trace: Trace) -> tuple[tuple[int, str], ...]:
    """(call, spelling): numbers of 10 or more in a later or the same turn that a result holds."""
    found: dict[tuple[int, str], None] = {}
    for turn_index, turn in enumerate(task.turns):
        for spelling, number in transforms.numbers(turn.user):
            if number < 10:
                continue
            whole = int(number) if number.is_integer() else number
            for call, content in enumerate(trace.contents):
                if trace.turn_of[call] <= turn_index and holds(content, whole):
                    found[call, spelling] = None
    return tuple(found)
