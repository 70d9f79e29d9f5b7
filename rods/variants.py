"""Verified variants offline: seeds in turn, until enough are admitted or all are exhausted."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from pydantic import Field

from rods.interfaces import Synthesizer
from rods.random_seeds import derived_seed
from rods.synthesis.lm.config import LmConfig
from rods.synthesis.lm.costs import ALL, Cost, costs
from rods.synthesis.lm.usage import Meter
from rods.synthesis.reasons import Reason
from rods.types import Candidate, ModelUsage, Record, Stage, SynthesisOutcome, Task

_SHOWN = 8  # exceptions of a report, the most frequent ones
PATIENCE = 5  # requests in a row without a new task after which a seed is exhausted


class VariantReport(Record):
    """What came out, and why the other attempts failed; distances are to the seeds' profiles."""

    wanted: int
    admitted: int
    seeds: int
    seeds_covered: int
    seeds_exhausted: int
    kinds: dict[str, int]
    structures: dict[str, int]  # new: other functions; seed: the seed's own calls
    funnel: dict[str, dict[str, int]]
    exceptions: dict[str, int] = Field(default_factory=dict)  # what was raised, and how often
    distances: dict[str, float]
    tokens: int
    lm: dict[str, Cost]  # backbone -> what it cost
    lm_usage: tuple[ModelUsage, ...]
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
    _exceptions: Counter[str] = field(default_factory=Counter)
    _ids: set[str] = field(default_factory=set)
    _exhausted: int = 0
    _meter: Meter = field(default_factory=Meter)
    _worded: Counter[str] = field(default_factory=Counter)
    _structures: Counter[str] = field(default_factory=Counter)
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
            structures=dict(sorted(self._structures.items())),
            funnel={
                **{stage: dict(self._funnel[stage]) for stage in Stage if stage in self._funnel},
                "admitted": {"total": admitted},
            },
            exceptions=dict(self._exceptions.most_common(_SHOWN)),
            distances={
                "mean": sum(distances) / admitted if admitted else 0.0,
                "max": max(distances, default=0.0),
                "isomorphic": sum(d == 0 for d in distances) / admitted if admitted else 0.0,
            },
            tokens=self._meter.tokens,
            lm=costs(self._meter.rows(), admitted, self._worded),
            lm_usage=self._meter.rows(),
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
        for made in (c.task.provenance for c in fresh if c.task.provenance):
            self._worded.update(made.models)
            self._structures.update([made.structure] if made.structure else [])
        if len(fresh) < len(outcome.candidates):
            self._funnel[Stage.CRITIQUE][Reason.DUPLICATE] += len(outcome.candidates) - len(fresh)
        return fresh

    def _count(self, outcome: SynthesisOutcome) -> None:
        for rejection in outcome.rejections:
            self._funnel[rejection.stage][rejection.reason] += 1
            if rejection.reason == Reason.PIPELINE_EXCEPTION:
                self._exceptions[rejection.detail] += 1
        for row in outcome.usage:
            self._meter.add(row)


def models_note(config: LmConfig, report: VariantReport) -> str:
    """Why the configured models have no part in what came out; empty where one has."""
    parts = any(cost.admitted for name, cost in report.lm.items() if name != ALL)
    if not config.used or parts or not report.admitted:
        return ""
    names = ", ".join(dict.fromkeys(one.model[0] for stage in Stage for one in config.of(stage)))
    if calls := sum(row.calls for row in report.lm_usage):
        return (
            f"No task holds words or choices of {names}: none of its {calls} answers was kept "
            "(the funnel tells why)."
        )
    if report.structures.get("new"):
        return f"{names} was not asked: no stage of this synthesizer asked a language model."
    return (
        f"{names} was not asked: every task has its seed's own calls in its seed's sentences, "
        "which need no model. Plans of other functions (synthesizer.structures = 'new') would."
    )


def task_line(task: Task) -> str:
    """The task as one line of JSON; equal runs give equal lines but for ``provenance.seconds``."""
    made = task.provenance
    rounded = made.model_copy(update={"seconds": round(made.seconds, 3)}) if made else None
    return task.model_copy(update={"provenance": rounded}).model_dump_json()
