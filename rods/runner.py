"""A run from its settings to its summary. It wires parts together; the method is in the curriculum.

::

    TrainingRun.train():  prepare -> evaluate before
                          -> Trainer.train(curriculum, environment, folder) -> save the policy
                          -> evaluate after -> summary.json
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from rods.assembly import Assembly, assemble
from rods.config import to_toml
from rods.curriculum import Curriculum
from rods.errors import ConfigError, RunDirError
from rods.evaluation import AFTER, BEFORE, TaskScore, compare, held_out, kept_scores
from rods.files import read_lines, sync_folder, sync_tree
from rods.followers import FollowerCurriculum, FollowerFolder
from rods.interfaces import Environment, Trainer
from rods.manifest import close_start, record_start
from rods.observed import HookListener, ObservedCurriculum
from rods.pool import Pool
from rods.pool.probing import check_url
from rods.pool_access import pool_url
from rods.preflight import iter_checks, require
from rods.random_seeds import derived_seed
from rods.run_dir import SUMMARY, RunDir, whole_config_of
from rods.synthesis.lm.costs import costs
from rods.synthesis.lm.preflight import lm_checks
from rods.synthesis.service import SynthesisService
from rods.synthesis.tuning.tuned import kept_program
from rods.types import Check, PoolState, RolloutGroup, Task

POLICY, POLICY_PART = "policy", ".policy.part"


def rank() -> int:
    """This process's rank under torchrun; rank 0 owns pool, folder and display."""
    return int(os.environ.get("RANK", "0"))


def world_size() -> int:
    """Number of processes that train together."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def new_run(assembly: Assembly, out: Path | None, command: Sequence[str] = ()) -> TrainingRun:
    """A run in ``out``, by default a folder below ``runs/`` named by world and time."""
    if out is None and world_size() > 1:
        raise ConfigError("Several processes need one folder; give it with --out DIR.")
    if url := assembly.pool.url:
        check_url(url)
    if out is None:
        name = f"{assembly.component('environment').name}-{datetime.now():%Y%m%d-%H%M%S}"
        out = Path("runs") / name
    return TrainingRun(assembly, out, resume=False, command=tuple(command))


def resumed_run(path: Path, command: Sequence[str] = ()) -> TrainingRun:
    """The run in ``path``, with the settings that it began with."""
    assembly = assemble(config=whole_config_of(path))
    return TrainingRun(assembly, path, resume=True, command=tuple(command))


@dataclass(frozen=True, slots=True)
class TrainingRun:
    """Settings and a place; ``train`` does the rest."""

    assembly: Assembly
    path: Path
    resume: bool
    command: tuple[str, ...]

    def train(self, stopping: Callable[[], bool] = bool) -> dict[str, Any]:
        """Train to the end; the summary, empty on ranks beside 0. What was done is not repeated.

        Once ``stopping`` is true, a checkpoint is written and a KeyboardInterrupt ends the run.
        """
        with ExitStack() as stack:
            resolved = self.assembly.resolved()
            environment, trainer = self._world(stack)
            if not self.resume:
                self._require_checks(environment, trainer)
            if rank() > 0:
                self._follow(environment, trainer)
                return {}
            folder = self._folder(to_toml(resolved))
            stack.callback(folder.close)
            with self._announced(resolved, list(trainer.notes(environment))) as notes:
                made = self._train(folder, environment, trainer, stopping, stack)
                summary = {**made, "notes": notes}
                folder.write_json(SUMMARY, summary)
            self._hook.rods_run_finished(folder=self.path, summary=summary, error=None)
            return summary

    def checks(self) -> Iterator[Check]:
        """The preflight, line by line; nothing is written."""
        with ExitStack() as stack:
            plugins = ", ".join(self.assembly.resolved()["run"]["plugins"])
            yield Check(name="settings", ok=True, detail=f"valid for {plugins}")
            yield from self._checks(*self._world(stack))

    # ---------------------------------------------------------------- the run
    def _train(
        self,
        folder: RunDir,
        environment: Environment,
        trainer: Trainer,
        stopping: Callable[[], bool],
        stack: ExitStack,
    ) -> dict[str, Any]:
        began = time.monotonic()
        plugins = self.assembly.plugins
        record_start(folder, plugins, environment.data_hashes(), self.command)
        seeds = environment.tasks("train")
        pool = self._pool(seeds, stack)
        program = kept_program(folder.path, self.assembly.synthesis.lm.program)
        curriculum = self._curriculum(environment, pool, stack, program)
        folder.follow(pool, curriculum.selector.zone, HookListener(plugins.hook), stopping)
        trainer.prepare(environment, seeds, folder)
        before = self._evaluate(BEFORE, folder, environment, trainer)
        if folder.policy.exists():
            trainer.load(folder.policy)
        else:
            seam = ObservedCurriculum(curriculum, folder, plugins.hook)
            trainer.train(seam, environment, folder)
            curriculum.synthesis.drain()
            _save_policy(trainer, folder)
        after = self._evaluate(AFTER, folder, environment, trainer)
        seconds = close_start(folder, time.monotonic() - began)
        progress = compare(before, after)
        return _summary(folder, pool, curriculum.epochs, progress, seconds)

    def _evaluate(
        self, name: str, folder: RunDir, environment: Environment, trainer: Trainer
    ) -> list[TaskScore]:
        """The held-out scores, kept in the folder under ``name``."""
        if not self.assembly.evaluation.tasks:
            return []
        what = f"evaluate {Path(name).name.partition('.')[0]}"
        return kept_scores(
            folder.path / name,
            lambda: self._evaluated(
                environment, trainer, lambda done, total: folder.progress(what, done, total)
            ),
        )

    def _evaluated(
        self,
        environment: Environment,
        trainer: Trainer,
        progress: Callable[[int, int], None] | None = None,
    ) -> list[RolloutGroup]:
        """The held-out set played; the same tasks and seeds whenever it is called."""
        config = self.assembly.evaluation
        tasks = held_out(environment.tasks("eval"), config.tasks)
        if not tasks:
            return []
        seed = derived_seed(self.assembly.run.seed, "evaluation", bits=31)
        return trainer.evaluate(tasks, environment, k=config.samples, seed=seed, progress=progress)

    # ---------------------------------------------------------------- the parts
    def _world(self, stack: ExitStack) -> tuple[Environment, Trainer]:
        environment = self.assembly.environment()
        stack.callback(environment.close)
        return environment, self.assembly.trainer()

    def _checks(self, environment: Environment, trainer: Trainer) -> Iterator[Check]:
        seed, schedule = self.assembly.run.seed, self.assembly.curriculum
        url = self.assembly.pool.url
        there = self.resume or rank() > 0  # rank 0 may have made the folder already
        yield from iter_checks(environment, trainer, schedule, self.path, seed, url, there)
        yield from lm_checks(self.assembly.synthesis.lm)

    def _require_checks(self, environment: Environment, trainer: Trainer) -> None:
        """The whole preflight passes, or a UserError names what does not."""
        self._hook.rods_progress(what="preflight", done=0, total=1)
        require(list(self._checks(environment, trainer)))
        self._hook.rods_progress(what="preflight", done=1, total=1)

    def _folder(self, config: str) -> RunDir:
        seed = self.assembly.run.seed
        return (
            RunDir.reopen(self.path, seed)
            if self.resume
            else RunDir.create(self.path, config, seed)
        )

    def _pool(self, seeds: Sequence[Task], stack: ExitStack) -> Pool:
        url = self.assembly.pool.url or pool_url(str(self.path))
        begun = self.resume and read_lines(self.path / "metrics.jsonl")  # then it must be there
        pool = Pool.open(url, create=not begun)
        stack.callback(pool.close)
        if not self.resume and pool.plan(0) is not None:
            raise RunDirError("The pool at pool.url holds another run; give this one its own.")
        pool.add_seeds(seeds)
        return pool

    def _curriculum(
        self, environment: Environment, pool: Pool, stack: ExitStack, program: str
    ) -> Curriculum:
        assembly, seed = self.assembly, self.assembly.run.seed
        synthesizer = assembly.synthesizer(environment, program)
        synthesis = SynthesisService(
            assembly.synthesis, pool=pool, synthesizer=synthesizer, seed=seed
        )
        stack.callback(synthesis.close)
        return Curriculum(
            assembly.curriculum,
            pool=pool,
            selector=assembly.selector(pool),
            buffer=assembly.buffer(pool),
            synthesizer=synthesizer,
            synthesis=synthesis,
            seed=seed,
        )

    # ---------------------------------------------------------------- who is told
    @property
    def _hook(self) -> Any:
        return self.assembly.plugins.hook

    @contextmanager
    def _announced(self, config: dict[str, Any], notes: list[str]) -> Iterator[list[str]]:
        """Observers hear that the run begins, and of an error that ends it."""
        epochs = sum(stage.epochs for stage in self.assembly.curriculum.stages)
        self._hook.rods_run_started(folder=self.path, config=config, epochs=epochs, notes=notes)
        try:
            yield notes
        except BaseException as error:
            reason = str(error) or type(error).__name__
            self._hook.rods_run_finished(folder=self.path, summary=None, error=reason)
            raise

    def _follow(self, environment: Environment, trainer: Trainer) -> None:
        """What a rank beside rank 0 does: the same calls of the trainer in the same order."""
        folder = FollowerFolder(self.path, self.assembly.run.seed, resume=self.resume)
        folder.wait()
        done = {name: (self.path / name).exists() for name in (BEFORE, POLICY, AFTER)}
        trainer.prepare(environment, environment.tasks("train"), folder)
        if not done[BEFORE]:
            self._evaluated(environment, trainer)
        if done[POLICY]:
            trainer.load(self.path / POLICY)
        else:
            schedule = self.assembly.curriculum
            epochs = sum(stage.epochs for stage in schedule.stages)
            trainer.train(FollowerCurriculum(epochs, schedule.epoch_size), environment, folder)
            trainer.save(self.path / POLICY_PART)
        if not done[AFTER]:
            self._evaluated(environment, trainer)


def _save_policy(trainer: Trainer, folder: RunDir) -> None:
    """``policy/`` is there, complete and on the disk."""
    part = folder.path / POLICY_PART
    shutil.rmtree(part, ignore_errors=True)
    trainer.save(part)
    sync_tree(part)
    part.rename(folder.policy)
    sync_folder(folder.path)


def _summary(
    folder: RunDir, pool: Pool, epochs: int, progress: dict[str, Any], seconds: float
) -> dict[str, Any]:
    """What ``summary.json`` holds; ``pool`` counts entries by state."""
    stats, last = pool.stats(), folder.last_report()
    bill = costs(stats.usage, stats.funnel["admitted"]["total"], stats.worded)
    return {
        "eval": progress,
        "pool": {state.value: stats.states.get(state, 0) for state in PoolState},
        "retired_because": {reason.value: n for reason, n in stats.retired.items()},
        "funnel": stats.funnel,
        "lm": {name: cost.model_dump() for name, cost in bill.items()},
        "lm_usage": [row.model_dump(mode="json") for row in stats.usage],
        "epochs": epochs,
        "steps": last.step if last else 0,
        "injected": stats.injected,
        "retired": sum(stats.retired.values()),
        "seconds": round(seconds, 3),
        "folder": str(folder.path),
    }
