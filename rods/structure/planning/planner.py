"""New plans of a seed's structure: other functions, other values, the same shape."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from rods.files import write_atomic
from rods.interfaces import Environment
from rods.structure.constants import Constants, constants
from rods.structure.lookups import lookup_tables
from rods.structure.planning.assigning import Assigner
from rods.structure.planning.catalog import Catalog
from rods.structure.planning.derivations import Derivations
from rods.structure.planning.effects import Judgement
from rods.structure.planning.exploring import Explorer
from rods.structure.planning.filling import Failures, Filled, Filling, Means
from rods.structure.planning.learning import Conclusions, SeedLearner
from rods.structure.planning.novelty import Distance, Names, Novelty, distances, edit_distance
from rods.structure.planning.options import PlanningOptions
from rods.structure.planning.patching import Patcher
from rods.structure.planning.plausibility import Plausibility
from rods.structure.planning.proving import Proven, Prover
from rods.structure.planning.search import Search, Space
from rods.structure.planning.values import Values
from rods.structure.planning.world import Donor
from rods.structure.proposal import Bound, PlannedCall, Proposal
from rods.structure.schema import CallValidator
from rods.structure.sources import Labeller
from rods.types import SourceKind, Split, Task

_DEAD_ENDS = 6  # in a row in one choice of tools: there is nothing more to find
_CATALOG_VERSION = 6  # raise it when another catalog would be learned from the same tasks
_WORLDS = 2  # that one sequence is begun in
_LEAST_HOPE, _LASTING, _STEEP = 0.02, 0.8, 4
_FOR_THE_FIRST, _FOR_SPARE_ONES = 4.0, 0.5  # of the patience
_RETRIES = 3  # of one sequence, in other worlds and with other values


@dataclass(slots=True)
class PlanningOutcome:
    """The plans that hold, and why the others do not."""

    proposals: tuple[Proposal, ...] = ()
    rejects: Counter[str] = field(default_factory=Counter)
    failed_calls: Counter[str] = field(default_factory=Counter)  # tool and error


class StructurePlanner:
    """Finds function sequences of a seed's structure in the worlds of the train tasks."""

    def __init__(
        self,
        environment: Environment,
        labeller: Labeller,
        options: PlanningOptions,
        *,
        cache: Path | None = None,
    ) -> None:
        self._environment, self._labeller, self._options = environment, labeller, options
        self._cache = cache
        self._seeds: dict[str, Proven] = {}
        self._donors: dict[str, Donor] = {}

    # ------------------------------------------------------------------------ what is learned
    @cached_property
    def catalog(self) -> Catalog:
        """What is known of the tools; read from the cache, or learned when first needed."""
        if self._cache is None:
            return self._learned()
        key = cache_key(self._environment, self._options.exploration_calls)
        path = self._cache / f"catalog-{self._environment.name}-{key}.json"
        if path.exists():
            return Catalog.model_validate_json(path.read_bytes())
        catalog = self._learned()
        self._cache.mkdir(parents=True, exist_ok=True)
        write_atomic(path, catalog.model_dump_json())
        return catalog

    def _learned(self) -> Catalog:
        learner = SeedLearner(self._environment, self._labeller)
        learner.observe()
        catalog = Conclusions(learner).catalog()
        explorer = Explorer(self._environment, catalog, self._values_of(catalog), random.Random(0))
        explorer.explore(self._options.exploration_calls)
        return catalog

    def _values_of(self, catalog: Catalog) -> Values:
        return Values(self._environment, catalog, self._constants, self._derivations)

    @cached_property
    def _derivations(self) -> Derivations:
        return Derivations(lookup_tables(self._environment))

    @cached_property
    def _judgement(self) -> Judgement:
        return Judgement({n: frozenset(t.false_fields) for n, t in self.catalog.tools.items()})

    @cached_property
    def _prover(self) -> Prover:
        return Prover(self._environment, self._labeller, self._judgement)

    @cached_property
    def plausibility(self) -> Plausibility:
        """The score of function sequences."""
        groups = {name: tool.group for name, tool in self.catalog.tools.items()}
        return Plausibility([tuple(names) for names in self.catalog.sequences], groups)

    @cached_property
    def _search(self) -> Search:
        threshold = self.plausibility.threshold(self._options.plausibility_quantile)
        return Search(self.catalog, self._assigner, self.plausibility, threshold)

    @cached_property
    def _constants(self) -> Constants:
        return constants(self._environment.tools(), self._environment.tasks("train"))

    @cached_property
    def _assigner(self) -> Assigner:
        return Assigner(self.catalog, self._constants, self._derivations)

    @cached_property
    def _means(self) -> Means:
        return Means(
            environment=self._environment,
            catalog=self.catalog,
            judgement=self._judgement,
            values=self._values_of(self.catalog),
            search=self._search,
            patcher=Patcher(self.catalog, self._environment.tasks("train")),
            validator=CallValidator(self._environment.tools()),
            reads=frozenset(n for n, s in self._environment.tools().items() if s.effect == "read"),
            max_swaps=self._options.max_swaps,
            max_patches=self._options.max_patches,
            strictness=self._options.strictness,
        )

    @cached_property
    def _known(self) -> dict[Split, list[Names]]:
        splits: tuple[Split, ...] = ("train", "eval")
        return {
            split: sorted({names_of(task) for task in self._environment.tasks(split)})
            for split in splits
        }

    @cached_property
    def _held_out(self) -> Novelty:
        return Novelty(self._known["eval"])

    def prepare(self) -> None:
        """Everything that does not depend on the seed is there."""
        _ = self.catalog, self._means, self._prover, self._known, self._held_out

    # ------------------------------------------------------------------------ planning
    def propose(
        self, seed: Task, rng: random.Random, n: int = 1, siblings: Iterable[Names] = ()
    ) -> PlanningOutcome:
        """Up to ``n`` plans; ``siblings`` are the function names of plans made before."""
        if any(turn.reveals for turn in seed.turns) or not seed.reference_calls:
            return PlanningOutcome(rejects=Counter({"unplannable_kind": 1}))
        return _Run(self, self.studied(seed), rng, n, siblings).outcome()

    def studied(self, seed: Task) -> Proven:
        """The seed with its skeleton."""
        if seed.id not in self._seeds:
            self._seeds[seed.id] = self._prover.of_seed(seed)
        return self._seeds[seed.id]

    def donor(self, task: Task) -> Donor:
        """The task's world, looked at once."""
        if task.id not in self._donors:
            self._donors[task.id] = Donor.of(self._environment, task)
        return self._donors[task.id]

    def donors_by_tools(self, seed: Task) -> dict[frozenset[str], list[Task]]:
        """The train tasks of the seed's kind, by the tools they offer; the seed's come first."""
        found: dict[frozenset[str], list[Task]] = {frozenset(seed.tools): [seed]}
        for task in self._environment.tasks("train"):
            if task.kind == seed.kind and task.id != seed.id:
                found.setdefault(frozenset(task.tools), []).append(task)
        return found


class _Run:
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
        self._options = planner._options
        self._names = names_of(seed.task)
        self._edits = min(self._options.min_edits, len(self._names))
        self._distance = Distance(self._edits, self._edits)
        self._seeds = Novelty([self._names])
        self._siblings = list(siblings)
        others = {*planner._known["train"], *self._siblings} - {self._names}
        self._others = Novelty(sorted(others))
        self._held_out = planner._held_out
        self._failures = Failures()
        self._found: list[Proposal] = []
        self._donors = planner.donors_by_tools(seed.task)
        self._spaces: dict[frozenset[str], Space] = {}
        self._seed_tools = frozenset(seed.task.tools)
        self._hopes: dict[Any, float] = {}  # by tools: how far plans with them have come
        self._luck: dict[Any, float] = {}  # by the task that lent its world: the same
        self._tried: Counter[Names] = Counter()

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
            means, new = self._planner._means, self._is_far
            filling = Filling(means, space, donor, names, self._rng, new)
            filled = filling.filled(self._failures)
            if filled is not None:
                self._judge(filled)
            self._learn(tools, task.id, filling.reached / len(names))
            if filling.reached > 1:
                break
        return 1

    def _drawn(self, space: Space) -> Names | None:
        """A sequence to try; where the distance has been lowered, one that it kept out before."""
        search, near = self._planner._search, self._distance.of
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
        luck = [self._luck.get(task.id, 1.0) for task in tasks]
        if tasks[0].id == self._seed.task.id:
            luck[0] *= max(1, len(tasks) - 1)
        return self._rng.choices(tasks, luck)[0]

    def _is_new(self, names: Names) -> bool:
        return self._tried[names] < _RETRIES and self._is_far(names)

    def _is_far(self, names: Names) -> bool:
        """As many edits as are asked for lie between the plan and what is known."""
        return not (
            self._seeds.is_near(names, self._distance.seed)
            or self._others.is_near(names, self._distance.others)
            or self._held_out.is_near(names, self._edits)
        )

    def _tools(self) -> frozenset[str]:
        """A choice of tools with which a plan can exist, likelier the further plans have come.

        The seed's own tools are known to allow the structure: they count as much as all others.
        """
        hopes = [self._hopes.get(tools, 1.0) for tools in self._donors]
        if self._seed_tools in self._donors:
            hopes[0] *= max(1, len(hopes) - 1)
        return self._rng.choices(list(self._donors), hopes)[0]

    def _learn(self, tools: frozenset[str], lender: str, share: float) -> None:
        """A plan with these tools in that task's world has come so far."""
        new = (1 - _LASTING) * share**_STEEP
        for hopes, key in ((self._hopes, tools), (self._luck, lender)):
            hopes[key] = max(_LEAST_HOPE, _LASTING * hopes.get(key, 1.0) + new)

    def _nearness(self, names: Names) -> dict[str, str]:
        """What the plan says where it is nearer to the seed or a sibling than was asked for."""
        if edit_distance(names, self._names) < self._edits:
            return {"near": "seed"}
        return {"near": "sibling"} if self._distance.of else {}

    def _opened(self, tools: frozenset[str]) -> Space:
        space = self._planner._search.space(self._seed.skeleton, tools)
        self._spaces[tools] = space
        return space

    def _judge(self, filled: Filled) -> None:
        if not self._is_far(filled.names):
            self._failures.reasons["not_new"] += 1
            return
        proven = self._planner._prover.prove(self._seed, filled, self._options.strictness)
        if isinstance(proven, str):
            self._failures.reasons[proven] += 1
            return
        self._others.add(filled.names)
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


def cache_key(environment: Environment, calls: int) -> str:
    """Changes with the train tasks, the schemas, the exploration and this package's version."""
    digest = hashlib.sha256(f"{_CATALOG_VERSION} {calls}".encode())
    for spec in environment.tools().values():
        digest.update(spec.model_dump_json().encode())
    for task in environment.tasks("train"):
        digest.update(task.model_dump_json().encode())
    return digest.hexdigest()[:16]


def names_of(task: Task) -> Names:
    """The functions of the reference, in order."""
    return tuple(call.name for turn in task.turns for call in turn.reference)
