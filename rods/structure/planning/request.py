"""One request for plans: sequences are drawn, filled and proven until there are enough."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rods.structure.planning.filling import Failures, Filled, Filling
from rods.structure.planning.novelty import Distance, Names, Novelty, distances, edit_distance
from rods.structure.planning.proving import Proven
from rods.structure.planning.search import Space
from rods.structure.proposal import Bound, PlannedCall, Proposal
from rods.types import SourceKind, Task

if TYPE_CHECKING:
    from rods.structure.planning.planner import StructurePlanner

_DEAD_ENDS = 6  # in a row in one choice of tools: there is nothing more to find
_WORLDS = 2  # that one sequence is begun in
_LEAST_HOPE, _LASTING, _STEEP = 0.02, 0.8, 4
_FOR_THE_FIRST, _FOR_SPARE_ONES = 3.0, 0.5  # of the patience
_RETRIES = 3  # of one sequence, in other worlds and with other values


@dataclass(slots=True)
class PlanningOutcome:
    """The plans that hold, and why the others do not."""

    proposals: tuple[Proposal, ...] = ()
    rejects: Counter[str] = field(default_factory=Counter)
    failed_calls: Counter[str] = field(default_factory=Counter)  # tool and error


class _Hopes:
    """How far plans have come with a choice of tools, and in a lender's world: 1 at first."""

    def __init__(self) -> None:
        self._known: dict[Hashable, float] = {}

    def __getitem__(self, key: Hashable) -> float:
        return self._known.get(key, 1.0)

    def learn(self, keys: Iterable[Hashable], share: float) -> None:
        """A plan made with these has come so far."""
        for key in keys:
            hope = _LASTING * self[key] + (1 - _LASTING) * share**_STEEP
            self._known[key] = max(_LEAST_HOPE, hope)


class PlanRequest:
    """One request for plans."""

    def __init__(
        self,
        planner: StructurePlanner,
        seed: Proven,
        rng: random.Random,
        n: int,
        siblings: Iterable[Names],
    ) -> None:
        self._planner, self._seed, self._rng, self._n = planner, seed, rng, n
        self._options = planner.options
        self._names = names_of(seed.task)
        self._edits = min(self._options.min_edits, len(self._names))
        self._distance = Distance(self._edits, self._edits)
        self._seeds = Novelty([self._names])
        self._siblings = list(siblings)
        others = {*planner.known["train"], *self._siblings} - {self._names}
        self._others = Novelty(sorted(others))
        self._held_out = planner.held_out
        self._failures = Failures()
        self._found: list[Proposal] = []
        self._donors = planner.donors_by_tools(seed.task)
        self._spaces: dict[frozenset[str], Space] = {}
        self._seed_tools = frozenset(seed.task.tools)
        self._hopes = _Hopes()
        self._tried: Counter[Names] = Counter()
        self._far: dict[Names, bool] = {}  # answers until the next plan

    def outcome(self) -> PlanningOutcome:
        """The plans found within the effort."""
        spare = min(self._n, self._options.fallback_below)
        asked = distances(self._edits, self._options.fallback_edits if spare else self._edits)
        for self._distance in asked:
            if self._distance.of is not None:
                self._n = spare
                self._start_again()
            self._spend(self._options.effort)
        return PlanningOutcome(tuple(self._found), self._failures.reasons, self._failures.calls)

    def _start_again(self) -> None:
        """Every choice of tools counts again, and every sequence."""
        self._donors = self._planner.donors_by_tools(self._seed.task)
        self._spaces.clear()
        self._tried.clear()
        self._far.clear()

    def _spend(self, effort: int) -> None:
        """Plans are tried until there are enough, or hope is lost."""
        patience = self._patience()
        while min(effort, patience) > 0 and self._donors and len(self._found) < self._n:
            before = len(self._found)
            tried = self._attempt()
            effort, patience = effort - tried, patience - tried
            if len(self._found) > before:
                patience = self._patience()

    def _patience(self) -> int:
        """Tries without success that are borne: most for the first plan, least for spare ones."""
        if not self._found:
            factor = _FOR_THE_FIRST
        else:
            factor = _FOR_SPARE_ONES if len(self._found) >= self._options.fallback_below else 1.0
        return max(1, int(factor * self._options.patience))

    def _attempt(self) -> int:
        """How many plans have been tried in the world: one or none."""
        tools = self._tools()
        space = self._spaces.get(tools) or self._opened(tools)
        if space.empty:
            self._failures.reasons["no_functions"] += 1
            del self._donors[tools]
            return 0
        names = self._drawn(space)
        if names is None:
            self._failures.reasons["dead_end"] += 1
            space.dead_ends += 1
            if space.exhausted or space.dead_ends >= _DEAD_ENDS:
                del self._donors[tools]
            return 0
        space.dead_ends = 0
        self._tried[names] += 1
        for _ in range(_WORLDS):
            task = self._lender(tools)
            donor = self._planner.donor(task)
            means, new = self._planner.means, self._is_far
            filling = Filling(means, space, donor, names, self._rng, new)
            filled = filling.filled(self._failures)
            if filled is not None:
                self._judge(filled)
            self._hopes.learn((tools, task.id), filling.reached / len(names))
            if filling.reached > 1:
                break
        return 1

    def _drawn(self, space: Space) -> Names | None:
        """A sequence to try; where the distance has been lowered, one that it kept out before."""
        search, near = self._planner.search, self._distance.of
        if near is None:
            return search.draw(space, self._rng, self._is_new)
        bases = [self._names] if near == "seed" else self._siblings
        found = [n for base in bases for n in search.neighbours(space, base) if self._is_new(n)]
        space.exhausted = not found
        return self._rng.choice(found) if found else None

    def _lender(self, tools: frozenset[str]) -> Task:
        """A train task with these tools; less often those whose worlds have not helped.

        The seed's own world is known to allow the structure: it counts as much as all others.
        """
        tasks = self._donors[tools]
        hopes = [self._hopes[task.id] for task in tasks]
        if tasks[0].id == self._seed.task.id:
            hopes[0] *= max(1, len(tasks) - 1)
        return self._rng.choices(tasks, hopes)[0]

    def _is_new(self, names: Names) -> bool:
        return self._tried[names] < _RETRIES and self._is_far(names)

    def _is_far(self, names: Names) -> bool:
        """As many edits as are asked for lie between the plan and what is known."""
        if names not in self._far:
            self._far[names] = not (
                self._seeds.is_near(names, self._distance.seed)
                or self._others.is_near(names, self._distance.others)
                or self._held_out.is_near(names, self._edits)
            )
        return self._far[names]

    def _tools(self) -> frozenset[str]:
        """A choice of tools with which a plan can exist, likelier the further plans have come.

        The seed's own tools are known to allow the structure: they count as much as all others.
        """
        hopes = [self._hopes[tools] for tools in self._donors]
        if self._seed_tools in self._donors:
            hopes[0] *= max(1, len(hopes) - 1)
        return self._rng.choices(list(self._donors), hopes)[0]

    def _nearness(self, names: Names) -> dict[str, str]:
        """What the plan says where it is nearer to the seed or a sibling than was asked for."""
        if edit_distance(names, self._names) < self._edits:
            return {"near": "seed"}
        return {"near": "sibling"} if self._distance.of else {}

    def _opened(self, tools: frozenset[str]) -> Space:
        space = self._planner.search.space(self._seed.skeleton, tools)
        self._spaces[tools] = space
        return space

    def _judge(self, filled: Filled) -> None:
        if not self._is_far(filled.names):
            self._failures.reasons["not_new"] += 1
            return
        proven = self._planner.prover.prove(self._seed, filled, self._options.strictness)
        if isinstance(proven, str):
            self._failures.reasons[proven] += 1
            return
        self._others.add(filled.names)
        self._far.clear()
        self._siblings.append(filled.names)
        self._spaces[frozenset(filled.donor.task.tools)].tire(filled.names, 0.7)
        self._found.append(self._proposal(filled, proven))

    def _proposal(self, filled: Filled, proven: Proven) -> Proposal:
        calls = _planned(filled, proven)
        turns, start = [], 0
        for count in proven.profile.calls_per_turn:
            turns.append(tuple(calls[start : start + count]))
            start += count
        return Proposal(
            seed_id=self._seed.task.id,
            turns=tuple(turns),
            tools=proven.task.tools,
            initial_state=proven.task.initial_state,
            patches=filled.patches,
            profile=proven.profile,
            plausibility=self._planner.plausibility.score(filled.names),
            edits=edit_distance(filled.names, self._names),
            notes={"strictness": self._options.strictness, "donor": filled.donor.task.id}
            | self._nearness(filled.names),
        )


def _planned(filled: Filled, proven: Proven) -> Sequence[PlannedCall]:
    planned = []
    for index, (call, holes) in enumerate(zip(proven.trace.calls, filled.holes, strict=True)):
        bound = tuple(
            Bound(s.parameter, s.path, s.producer, s.result_path)
            for s in proven.sources
            if s.call == index
            and s.kind is SourceKind.RESULT
            and s.producer is not None
            and s.result_path is not None
        )
        planned.append(PlannedCall(call, proven.profile.sources[index], bound, holes))
    return planned


def names_of(task: Task) -> Names:
    """The functions of the reference, in order."""
    return tuple(call.name for turn in task.turns for call in turn.reference)
