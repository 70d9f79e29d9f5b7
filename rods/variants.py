"""Verified variants offline: seeds in turn, until enough are admitted or all are exhausted."""

from __future__ import annotations

import hashlib
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, pvariance
from typing import Any

from pydantic import ValidationError

from rods.errors import ConfigError, DataError, did_you_mean
from rods.interfaces import Environment, Selector, Synthesizer
from rods.jsonl import JsonlReader
from rods.selectors.evidence import Evidence
from rods.selectors.quotas import QuotaSelector
from rods.synthesis.reasons import Reason
from rods.types import KINDS, Candidate, JsonObject, Record, Stage, SynthesisOutcome, Task

PATIENCE = 5  # requests in a row without a new task after which a seed is exhausted


class VariantReport(Record):
    """What came out, and why the other attempts failed; distances are to the seeds' profiles."""

    wanted: int
    admitted: int
    seeds: int
    seeds_covered: int
    seeds_exhausted: int
    kinds: dict[str, int]
    funnel: dict[str, dict[str, int]]
    distances: dict[str, float]
    tokens: int
    seconds: float
    per_second: float


@dataclass(slots=True)
class VariantMaker:
    """Asks one variant of each seed in turn; equal seeds and ``rng_seed`` give equal variants."""

    synthesizer: Synthesizer
    seeds: Sequence[Task]
    rng_seed: int = 0
    candidates: list[tuple[str, str, float]] = field(default_factory=list)  # seed, kind, distance
    _funnel: dict[Stage, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    _ids: set[str] = field(default_factory=set)
    _exhausted: int = 0
    _tokens: int = 0
    _start: float = field(default_factory=time.perf_counter)

    def make(
        self, wanted: int, progress: Callable[[int], None] | None = None
    ) -> Iterator[Candidate]:
        """New candidates, at most ``wanted``; none has the content of another or of a seed.

        ``progress`` is told after every request how many there are.
        """
        self._ids.update(task.with_content_id().id for task in self.seeds)
        live = {task.id: 0 for task in self.seeds}  # seed -> barren requests in a row
        tasks = {task.id: task for task in self.seeds}
        number = 0
        while live and len(self.candidates) < wanted:
            for seed_id in list(live):
                fresh = self._ask(tasks[seed_id], number)
                yield from fresh
                if progress is not None:
                    progress(len(self.candidates))
                live[seed_id] = 0 if fresh else live[seed_id] + 1
                if live[seed_id] >= PATIENCE:
                    del live[seed_id]
                    self._exhausted += 1
                if len(self.candidates) >= wanted:
                    break
            number += 1

    def report(self, wanted: int) -> VariantReport:
        """The numbers so far."""
        seconds = time.perf_counter() - self._start
        distances = [distance for _, _, distance in self.candidates]
        admitted = len(distances)
        return VariantReport(
            wanted=wanted,
            admitted=admitted,
            seeds=len(self.seeds),
            seeds_covered=len({seed for seed, _, _ in self.candidates}),
            seeds_exhausted=self._exhausted,
            kinds=dict(sorted(Counter(kind for _, kind, _ in self.candidates).items())),
            funnel={
                **{stage: dict(self._funnel[stage]) for stage in Stage if stage in self._funnel},
                "admitted": {"total": admitted},
            },
            distances={
                "mean": sum(distances) / admitted if admitted else 0.0,
                "max": max(distances, default=0.0),
                "isomorphic": sum(d == 0 for d in distances) / admitted if admitted else 0.0,
            },
            tokens=self._tokens,
            seconds=seconds,
            per_second=admitted / seconds if seconds else 0.0,
        )

    def _ask(self, seed: Task, number: int) -> list[Candidate]:
        """One request; what is new of its candidates."""
        rng_seed = derived_seed(self.rng_seed, number, seed.id)
        outcome = self.synthesizer.synthesize(seed, n=1, rng_seed=rng_seed)
        self._count(outcome)
        fresh = [c for c in outcome.candidates if c.task.id not in self._ids]
        self._ids.update(c.task.id for c in fresh)
        self.candidates += [(c.seed_id, c.task.kind, c.distance) for c in fresh]
        if len(fresh) < len(outcome.candidates):
            self._funnel[Stage.CRITIQUE][Reason.DUPLICATE] += len(outcome.candidates) - len(fresh)
        return fresh

    def _count(self, outcome: SynthesisOutcome) -> None:
        for rejection in outcome.rejections:
            self._funnel[rejection.stage][rejection.reason] += 1
        for candidate in outcome.candidates:
            provenance = candidate.task.provenance
            self._tokens += provenance.tokens if provenance else 0


def derived_seed(seed: int, number: int, task_id: str) -> int:
    """A seed of its own for each request."""
    digest = hashlib.sha256(f"{seed}/{number}/{task_id}".encode()).digest()
    return int.from_bytes(digest[:6], "big")


# ------------------------------------------------------------------------------- seeds
def seed_tasks(
    environment: Environment, files: Sequence[JsonlReader], kinds: Sequence[str] = ()
) -> list[Task]:
    """The train split and what ``files`` hold beside it, of the wanted kinds (empty: all)."""
    for kind in kinds:
        if kind not in KINDS:
            raise ConfigError(f"There is no kind {kind!r}. {did_you_mean(kind, KINDS)}")
    tasks = {task.id: task for task in environment.tasks("train")}
    for reader in files:
        for number, line in reader:
            task = _read_seed(environment, reader, number, line)
            tasks.setdefault(task.id, task)
    return [task for task in tasks.values() if not kinds or task.kind in kinds]


def _read_seed(environment: Environment, reader: JsonlReader, number: int, line: bytes) -> Task:
    where = f"{reader.path} line {number}"
    recorded = reader.parse(number, line)
    try:
        task = Task.model_validate(recorded.get("task", recorded))  # an exported row holds one
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(map(str, fault["loc"]))
        raise DataError(f"{where} is no task: {place}: {fault['msg']}.") from error
    if task.environment != environment.name:
        raise DataError(f"{where} is a task of {task.environment!r}, not {environment.name!r}.")
    if task.split == "eval":
        raise DataError(f"{where} is an evaluation task; its variants would contaminate.")
    return task


# ------------------------------------------------------------------------------- rollouts
def read_evidence(
    reader: JsonlReader, tasks: Mapping[str, Task], held_out: frozenset[str] = frozenset()
) -> list[Evidence]:
    """What lines ``{"task_id": ..., "rewards": [...]}`` say about tasks with two or more rewards.

    The last line of a task counts: it is the latest policy's. ``null`` is a rollout that an outage
    ended. Other keys are ignored; whatever else is wrong is a DataError that names the line.
    """
    measured: dict[str, Evidence] = {}
    for number, line in reader:
        recorded = reader.parse(number, line)
        where = f"{reader.path} line {number}"
        if recorded.get("task_id") in held_out:
            raise DataError(f"{where} is an evaluation task; its variants would contaminate.")
        task = _known_task(recorded, tasks, where)
        rewards = _rewards(recorded, where)
        if len(rewards) >= 2:
            mean, variance = fmean(rewards), pvariance(rewards)
            measured[task.id] = Evidence(task.id, task.kind, mean, variance, format_share=0.0)
    return list(measured.values())


def boundary_seeds(
    selector: Selector, evidence: Sequence[Evidence], tasks: Mapping[str, Task]
) -> list[Task]:
    """The measured tasks that the selector's rule takes as seeds, best first, without quotas."""
    if not isinstance(selector, QuotaSelector):
        raise ConfigError(
            f"The selector {selector.name!r} cannot rank rollouts of a file; use "
            "-o selector.name=boundary."
        )
    return [tasks[task_id] for task_id, _ in selector.rank(0, evidence)]


def _known_task(recorded: JsonObject, tasks: Mapping[str, Task], where: str) -> Task:
    task_id = recorded.get("task_id")
    if not isinstance(task_id, str):
        raise DataError(f"{where} has no column 'task_id' with a string.")
    if task_id not in tasks:
        hint = did_you_mean(task_id, tasks) if len(tasks) < 20 else _nearest(task_id, tasks)
        raise DataError(f"{where}: no train task is called {task_id!r}. {hint}")
    return tasks[task_id]


def _nearest(task_id: str, tasks: Mapping[str, Task]) -> str:
    """``did_you_mean`` without a list of hundreds of ids."""
    hint = did_you_mean(task_id, tasks)
    return (
        hint if hint.startswith("Did") else f"There are {len(tasks)}, e.g. {next(iter(tasks))!r}."
    )


def _rewards(recorded: JsonObject, where: str) -> tuple[float, ...]:
    rewards: Any = recorded.get("rewards")
    if not isinstance(rewards, list):
        raise DataError(f"{where} has no column 'rewards' with a list of numbers.")
    for reward in rewards:
        number = isinstance(reward, int | float) and not isinstance(reward, bool)
        if reward is not None and not (number and 0 <= reward <= 1):
            raise DataError(f"{where}: the reward {reward!r} is no number in [0, 1].")
    return tuple(float(reward) for reward in rewards if reward is not None)
