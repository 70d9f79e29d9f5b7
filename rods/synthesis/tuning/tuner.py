"""Tunes the prompts of a synthesis program: estimate, baseline, search, and what it was worth."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from rods.errors import ConfigError
from rods.interfaces import StageModels
from rods.random_seeds import derived_seed
from rods.statistics import paired_gain, proportion
from rods.synthesis.lm.costs import Cost, costs
from rods.synthesis.tuning.feedback import JUDGES, STAGES, stage_of
from rods.synthesis.tuning.journal import Journal
from rods.synthesis.tuning.proposing import Proposer
from rods.synthesis.tuning.search import bootstrap, evolve
from rods.synthesis.tuning.trials import Example, Trial, Trials
from rods.synthesis.tuning.tuned import TunedProgram, changed, named
from rods.types import Record, Stage

Method = Literal["gepa", "bootstrap", "both"]
_PROBES = 3
_VAL = 20  # fewer and noise is taken for progress


class Yield(Record):
    """The share of held-out seeds that gave a verified variant, or a difference of two shares."""

    mean: float
    low: float
    high: float


class Estimate(Record):
    """What tuning will ask for at most, from a few trials; proposals are not in it."""

    trials: int
    calls: float
    tokens: float
    seconds: float
    price: float


class TuningReport(Record):
    """What tuning changed and what that was worth on seeds it never saw."""

    seeds: dict[str, int]  # train, val, held_out
    baseline: Yield
    tuned: Yield
    gain: Yield
    changed: tuple[str, ...]  # predictors
    trials: int
    proposals: int  # asked for now; a resumed search repeats earlier ones for nothing
    refused: int
    lm: dict[str, Cost]


@dataclass(frozen=True, slots=True)
class Seeds:
    """Train seeds in three disjoint parts."""

    train: tuple[Example, ...]
    val: tuple[Example, ...]
    held_out: tuple[Example, ...]

    @classmethod
    def split(cls, seed_ids: Sequence[str], held_out: int, seed: int) -> Seeds:
        """``held_out`` are never tuned on; of the rest up to 20 select, and the others teach."""
        ids = sorted(set(seed_ids))
        random.Random(f"{seed}/tune").shuffle(ids)
        if len(ids) < held_out + 4:
            raise ConfigError(
                f"{len(ids)} seeds are too few to hold {held_out} out; choose a --held-out "
                f"of at most {max(0, len(ids) - 4)}."
            )
        kept, rest = ids[:held_out], ids[held_out:]
        val = min(_VAL, len(rest) // 2)
        parts = (rest[val:], rest[:val], kept)
        return cls(*(tuple(_example(name, seed) for name in part) for part in parts))


@dataclass(slots=True)
class Tuner:
    """One tuning; equal arguments repeat it, and the journal makes the repeated part free."""

    program: Any
    models: StageModels  # that the program asks: for the price of it
    reflecting: StageModels
    seeds: Seeds
    journal: Journal
    stages: Collection[Stage] = ()  # empty: all but the judge
    method: Method = "gepa"
    budget: int = 200
    seed: int = 0
    workers: int = 1
    progress: Callable[[int], None] = lambda done: None
    _trials: Trials = field(init=False)

    def __post_init__(self) -> None:
        if JUDGES in self.stages:
            raise ConfigError(
                "The critique's judge is not tuned: measured by how many variants pass, it would "
                "learn to let everything pass."
            )
        self._trials = Trials(
            self.program, self.journal, workers=self.workers, progress=self.progress
        )

    @property
    def trials(self) -> int:
        """Variants that are tried at most, repeated ones included."""
        return self.budget + 2 * len(self.seeds.held_out) + _PROBES

    def watch(self, progress: Callable[[int], None]) -> None:
        """Tell this function after every variant how many were tried."""
        self._trials.progress = progress

    def estimate(self) -> Estimate:
        """By a few trials on tuning seeds."""
        rows = [row for trial in self._probes() for row in trial.usage]
        share = self.trials / _PROBES
        return Estimate(
            trials=self.trials,
            calls=share * sum(row.calls for row in rows),
            tokens=share * sum(row.tokens_in + row.tokens_out for row in rows),
            seconds=share * sum(row.seconds for row in rows) / self.workers,
            price=share * sum(row.price for row in rows),
        )

    def run(self) -> tuple[TunedProgram, TuningReport]:
        """The tuned prompts, and their yield on held-out seeds."""
        start = self._start()
        before = self._trials.run({}, {}, self.seeds.held_out)
        proposer = Proposer(self.reflecting, self.journal)
        candidate, demos = self._search(start, proposer)
        after = self._trials.run(candidate, demos, self.seeds.held_out)
        program = changed(self.program, candidate, demos)
        return program, self._report(before, after, program, proposer)

    def _search(
        self, start: dict[str, str], proposer: Proposer
    ) -> tuple[dict[str, str], dict[str, list[dict[str, Any]]]]:
        """Instructions first, then demonstrations of the tuned program."""
        seeds, candidate, demos = self.seeds, start, {}
        share = self.budget // 2 if self.method == "both" else self.budget
        if self.method != "bootstrap":
            candidate = evolve(
                self._trials,
                proposer,
                start,
                {},
                train=seeds.train,
                val=seeds.val,
                budget=share,
                seed=self.seed,
            )
        if self.method != "gepa":
            demos = bootstrap(
                self._trials, candidate, train=seeds.train, val=seeds.val, budget=share
            )
        return candidate, demos

    def _start(self) -> dict[str, str]:
        """The instructions of the predictors that are asked at all and may be tuned."""
        asked = {said.predictor for trial in self._probes() for said in trial.spoken}
        known = named(self.program)
        wanted = [name for name in known if name in STAGES or name in {s.value for s in Stage}]
        start = {
            name: known[name].signature.instructions
            for name in wanted
            if name in asked and self._may_tune(stage_of(name))
        }
        if not start:
            stages = ", ".join(sorted(self.stages)) or "any stage but the critique"
            raise ConfigError(
                f"No predictor of {stages} was asked in {_PROBES} trials; there is nothing to tune."
            )
        return start

    def _may_tune(self, stage: Stage) -> bool:
        return stage in self.stages if self.stages else stage is not JUDGES

    def _probes(self) -> list[Trial]:
        return self._trials.run({}, {}, self.seeds.train[:_PROBES])

    def _report(
        self,
        before: Sequence[Trial],
        after: Sequence[Trial],
        program: TunedProgram,
        proposer: Proposer,
    ) -> TuningReport:
        were, are = [float(t.ok) for t in before], [float(t.ok) for t in after]
        parts = {"train": self.seeds.train, "val": self.seeds.val, "held_out": self.seeds.held_out}
        made, bill = round(sum(are)), self._trials.bill.rows()
        return TuningReport(
            seeds={name: len(part) for name, part in parts.items()},
            baseline=_yield(proportion(round(sum(were)), len(were))),
            tuned=_yield(proportion(round(sum(are)), len(are))),
            gain=_yield(paired_gain(were, are)),
            changed=tuple(program.predictors),
            trials=self._trials.done,
            proposals=proposer.asked,
            refused=proposer.refused,
            lm=costs(bill, made, {row.model: made for row in bill}),
        )


def _example(seed_id: str, seed: int) -> Example:
    return Example(seed_id=seed_id, rng_seed=derived_seed(seed, "tune", seed_id))


def _yield(interval: Any) -> Yield:
    return Yield(mean=interval.mean, low=interval.low, high=interval.high)
