"""A program under candidate prompts, run on seeds: what came out, and what every predictor said."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import dspy
from pydantic import BaseModel

from rods.errors import ModelOutage, WorldError
from rods.synthesis.lm.usage import Meter, counting
from rods.synthesis.tuning.journal import Journal
from rods.synthesis.tuning.tuned import named
from rods.types import ModelUsage, Record, Stage

Candidate = Mapping[str, str]  # predictor -> instructions
Demos = Mapping[str, Sequence[dict[str, Any]]]  # predictor -> what it is shown


class Example(Record):
    """One variant to be made."""

    seed_id: str
    rng_seed: int


class Spoken(Record):
    """One call of a predictor."""

    predictor: str
    inputs: dict[str, Any]
    outputs: dict[str, Any]


class Trial(Record):
    """One variant that was tried."""

    ok: bool
    report: dict[str, tuple[str, ...]]  # stage -> what went wrong there
    error: str = ""  # that ended the program
    spoken: tuple[Spoken, ...] = ()
    usage: tuple[ModelUsage, ...] = ()

    @property
    def score(self) -> float:
        """1 for a verified variant; else below one half, by how many stages were passed."""
        if self.ok:
            return 1.0
        stages = [stage.value for stage in Stage]
        passed = next((i for i, stage in enumerate(stages) if self.report.get(stage)), 0)
        return 0.0 if self.error else 0.5 * passed / len(stages)


class Trials:
    """Runs candidates, each (candidate, example) once in its life: the journal keeps the rest.

    An outage of a model is waited for up to ``patience_s``; it is never a failed variant.
    """

    def __init__(
        self,
        program: Any,
        journal: Journal,
        *,
        workers: int = 1,
        patience_s: float = 900.0,
        progress: Callable[[int], None] = lambda done: None,
    ) -> None:
        self.program, self._journal = program, journal
        self._workers, self._patience_s = workers, patience_s
        self.progress = progress
        self.done = 0
        self.bill = Meter()  # of what was really asked

    def run(self, candidate: Candidate, demos: Demos, examples: Sequence[Example]) -> list[Trial]:
        """The trials in the order of the examples."""
        own = named(self.program)
        candidate = {n: t for n, t in candidate.items() if t != own[n].signature.instructions}
        program = self._program(candidate, demos)
        with ThreadPoolExecutor(self._workers) as pool:
            jobs = [
                pool.submit(self._remembered, program, candidate, demos, example)
                for example in examples
            ]
            return [self._counted(job.result()) for job in jobs]

    def _counted(self, trial: Trial) -> Trial:
        self.done += 1
        self.progress(self.done)
        return trial

    def _program(self, candidate: Candidate, demos: Demos) -> Any:
        program = copy.deepcopy(self.program)
        for name, predictor in named(program).items():
            if name in candidate:
                predictor.signature = predictor.signature.with_instructions(candidate[name])
            if name in demos:
                predictor.demos = [dict(demo) for demo in demos[name]]
        return program

    def _remembered(
        self, program: Any, candidate: Candidate, demos: Demos, example: Example
    ) -> Trial:
        shown = {name: list(some) for name, some in demos.items()}
        question = ("trial", dict(candidate), shown, example.model_dump())
        if (known := self._journal.get(*question)) is not None:
            return Trial.model_validate(known)
        trial = self._patiently(program, example)
        for row in trial.usage:
            self.bill.add(row)
        self._journal.put(*question, answer=trial.model_dump(mode="json"))
        return trial

    def _patiently(self, program: Any, example: Example) -> Trial:
        deadline = time.monotonic() + self._patience_s
        while True:
            try:
                return _tried(program, example)
            except ModelOutage as outage:
                if time.monotonic() + outage.retry_after_s > deadline:
                    raise
                time.sleep(max(0.5, outage.retry_after_s))


def _tried(program: Any, example: Example) -> Trial:
    names = {id(predictor): name for name, predictor in named(program).items()}
    trace: list[Any] = []
    with counting() as meter, dspy.context(trace=trace):
        try:
            made = program(seed_id=example.seed_id, rng_seed=example.rng_seed)
            ok, report, error = bool(made.ok), dict(made.report), ""
        except WorldError:
            raise
        except Exception as fault:  # noqa: BLE001 - an answer that cannot be read fails the trial
            ok, report, error = False, {}, f"{type(fault).__name__}: {fault}"[:500]
    spoken = tuple(
        Spoken(predictor=names[id(predictor)], inputs=_plain(inputs), outputs=_plain(dict(outputs)))
        for predictor, inputs, outputs in trace
        if id(predictor) in names
    )
    found = {stage: tuple(map(str, issues)) for stage, issues in report.items()}
    return Trial(ok=ok, report=found, error=error, spoken=spoken, usage=meter.rows())


def _plain(value: Any) -> Any:
    """JSON of what predictors take and give."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)
