"""New plans of a seed's structure: other functions, other values, the same shape."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from rods.files import write_atomic
from rods.interfaces import Environment
from rods.structure.constants import Constants, constants
from rods.structure.lookups import lookup_tables
from rods.structure.planning.assigning import Assigner
from rods.structure.planning.catalog import Catalog
from rods.structure.planning.derivations import Derivations
from rods.structure.planning.effects import Judgement
from rods.structure.planning.exploring import Explorer
from rods.structure.planning.filling import Means
from rods.structure.planning.learning import Conclusions, SeedLearner
from rods.structure.planning.novelty import Names, Novelty
from rods.structure.planning.options import PlanningOptions
from rods.structure.planning.patching import Patcher
from rods.structure.planning.plausibility import Plausibility
from rods.structure.planning.proving import Proven, Prover
from rods.structure.planning.request import PlanningOutcome, PlanRequest, names_of
from rods.structure.planning.search import Search
from rods.structure.planning.values import Values
from rods.structure.planning.world import Donor
from rods.structure.schema import CallValidator
from rods.structure.sources import Labeller
from rods.types import Split, Task

_CATALOG_VERSION = 7  # raise it when another catalog would be learned from the same tasks


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
        self._environment, self._labeller, self.options = environment, labeller, options
        self._cache = cache
        self._seeds: dict[str, Proven] = {}
        self._donors: dict[str, Donor] = {}

    # ------------------------------------------------------------------------ what is learned
    @cached_property
    def catalog(self) -> Catalog:
        """What is known of the tools; read from the cache, or learned when first needed."""
        if self._cache is None:
            return self._learned()
        key = cache_key(self._environment, self.options)
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
        explorer.explore(self.options.exploration_calls, self.options.exploration_s)
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
    def prover(self) -> Prover:
        """Checks filled plans, independently of the search."""
        return Prover(self._environment, self._labeller, self._judgement)

    @cached_property
    def plausibility(self) -> Plausibility:
        """The score of function sequences."""
        groups = {name: tool.group for name, tool in self.catalog.tools.items()}
        return Plausibility([tuple(names) for names in self.catalog.sequences], groups)

    @cached_property
    def search(self) -> Search:
        """Draws sequences of functions."""
        threshold = self.plausibility.threshold(self.options.plausibility_quantile)
        return Search(self.catalog, self._assigner, self.plausibility, threshold)

    @cached_property
    def _constants(self) -> Constants:
        return constants(self._environment.tools(), self._environment.tasks("train"))

    @cached_property
    def _assigner(self) -> Assigner:
        return Assigner(self.catalog, self._constants, self._derivations)

    @cached_property
    def means(self) -> Means:
        """What filling works with."""
        return Means(
            environment=self._environment,
            catalog=self.catalog,
            judgement=self._judgement,
            values=self._values_of(self.catalog),
            search=self.search,
            patcher=Patcher(self.catalog, self._environment.tasks("train")),
            validator=CallValidator(self._environment.tools()),
            reads=frozenset(n for n, s in self._environment.tools().items() if s.effect == "read"),
            max_swaps=self.options.max_swaps,
            max_patches=self.options.max_patches,
            strictness=self.options.strictness,
        )

    @cached_property
    def known(self) -> dict[Split, list[Names]]:
        """The functions of every task that is there already, by split."""
        splits: tuple[Split, ...] = ("train", "eval")
        return {
            split: sorted({names_of(task) for task in self._environment.tasks(split)})
            for split in splits
        }

    @cached_property
    def held_out(self) -> Novelty:
        """Tells which sequences are near to an evaluation task."""
        return Novelty(self.known["eval"])

    def prepare(self) -> None:
        """Everything that does not depend on the seed is there."""
        _ = self.catalog, self.means, self.prover, self.known, self.held_out

    # ------------------------------------------------------------------------ planning
    def propose(
        self, seed: Task, rng: random.Random, n: int = 1, siblings: Iterable[Names] = ()
    ) -> PlanningOutcome:
        """Up to ``n`` plans; ``siblings`` are the function names of plans made before."""
        if any(turn.reveals for turn in seed.turns) or not seed.reference_calls:
            return PlanningOutcome(rejects=Counter({"unplannable_kind": 1}))
        return PlanRequest(self, self.studied(seed), rng, n, siblings).outcome()

    def studied(self, seed: Task) -> Proven:
        """The seed with its skeleton."""
        if seed.id not in self._seeds:
            self._seeds[seed.id] = self.prover.of_seed(seed)
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


def cache_key(environment: Environment, options: PlanningOptions) -> str:
    """Changes with the train tasks, the schemas, the exploration and this package's version."""
    explored = f"{options.exploration_calls} {options.exploration_s}"
    digest = hashlib.sha256(f"{_CATALOG_VERSION} {explored}".encode())
    for spec in environment.tools().values():
        digest.update(spec.model_dump_json().encode())
    for task in environment.tasks("train"):
        digest.update(task.model_dump_json().encode())
    return digest.hexdigest()[:16]
