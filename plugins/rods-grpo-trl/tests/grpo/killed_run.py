"""Trainings that are killed and resumed, each in a fork of this process: see test_resume.py.

Prints one JSON object: by sampler, what a training gave in peace and after each misfortune.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).parent))
from fakes import LampRun, LampSynthesizer, LampTrainer, LampWorld, weights
from rods_grpo_trl import adapter, checkpoints, harvest

from rods.buffers import DualControlBuffer
from rods.curriculum import Curriculum, CurriculumConfig
from rods.pool import Pool
from rods.selectors import BoundarySelector
from rods.synthesis.service import SynthesisConfig, SynthesisService
from rods.types import PoolState, TrainingStage

Arm = Callable[[Curriculum], None]


def curriculum(world: LampWorld, pool: Pool) -> Curriculum:
    """The real one, with synthesis in step; low rewards count as boundary."""
    synthesizer = LampSynthesizer(None, world)
    config = SynthesisConfig(mode="sync")
    service = SynthesisService(config, pool=pool, synthesizer=synthesizer, seed=3)
    loose = {"burn_in": 0.0, "unsolvable": 0.0, "beta": 1.0, "p_max": 4}
    seam = Curriculum(
        CurriculumConfig(epoch_size=8, redraw="never", stages=(TrainingStage(epochs=4),)),
        pool=pool,
        selector=BoundarySelector(BoundarySelector.Config(alpha_low=0.01, cooldown_steps=1), pool),
        buffer=DualControlBuffer(DualControlBuffer.Config(**loose), pool),
        synthesizer=synthesizer,
        synthesis=service,
        seed=3,
    )
    service.start()
    return seam


def train(
    folder: Path, generation: str, *, resume: bool, arm: Arm = lambda c: None, stop_at: int = 0
) -> None:
    """Eight steps in four epochs, a checkpoint every second step and where it is to stop."""
    world, run = LampWorld(), LampRun(folder, seed=3, resume=resume, stop_at=stop_at)
    folder.mkdir(parents=True, exist_ok=True)
    pool = Pool.open(f"sqlite:///{folder / 'pool.sqlite'}")
    pool.add_seeds(world.tasks("train"))
    trainer = LampTrainer(folder / "policy", save_every=2, generation=generation)
    trainer.prepare(world, world.tasks("train"), run)
    if not resume:  # what was drawn before the training must not matter
        trainer.evaluate(world.tasks("eval"), world, k=2, seed=9)
    seam = curriculum(world, pool)
    arm(seam)
    trainer.train(seam, world, run)
    vector = weights(trainer).double()
    stats = pool.stats()
    outcome = {
        "weights": [float(vector.sum()), float(vector.abs().sum()), float(vector[::97].sum())],
        "pool": pool.digest(),
        "injected": stats.injected,
        "retired": stats.states.get(PoolState.RETIRED, 0),
    }
    pool.close()
    (folder / "outcome.json").write_text(json.dumps(outcome))


# ------------------------------------------------------------------------------- misfortunes
def after_observing(step: int) -> Arm:
    """The pool knows the step, no checkpoint does."""

    def arm(curriculum: Curriculum) -> None:
        observe = curriculum.observe

        def observe_and_die(number: int, groups: Any) -> None:
            observe(number, groups)
            if number == step:
                os._exit(9)

        curriculum.observe = observe_and_die  # type: ignore[method-assign]

    return arm


def within_rollouts(step: int) -> Arm:
    """The rollouts of the step were played, its update was not made."""

    def arm(curriculum: Curriculum) -> None:
        enter, calls = harvest.Ledger.enter, list[int]()

        def enter_or_die(self: Any, played: Any) -> None:
            calls.append(1)
            if len(calls) == step:
                os._exit(9)
            enter(self, played)

        harvest.Ledger.enter = enter_or_die  # type: ignore[method-assign]

    return arm


def within_checkpoint(step: int) -> Arm:
    """The last file of the checkpoint was cut short."""

    def arm(curriculum: Curriculum) -> None:
        save = adapter.SeamTrainer._save_checkpoint

        def save_half(self: Any, model: Any, trial: Any) -> None:
            save(self, model, trial)
            if self.state.global_step == step:
                state = Path(self.args.output_dir) / f"checkpoint-{step}" / "trainer_state.json"
                state.write_text(state.read_text()[:100])
                os._exit(9)

        adapter.SeamTrainer._save_checkpoint = save_half  # type: ignore[method-assign]

    return arm


def interrupted(folder: Path, generation: str, step: int) -> Any:
    """The outcome of a run that was asked to stop within a step between two checkpoints."""
    asked = folder / "checkpoints" / f"checkpoint-{step}"
    assert step % 2
    assert finish(lambda: train(folder, generation, resume=False, stop_at=step)) == 1
    assert checkpoints.is_complete(asked)
    assert finish(lambda: train(folder, generation, resume=True)) == 0
    return json.loads((folder / "outcome.json").read_text())


# ------------------------------------------------------------------------------- forks
def fork(work: Callable[[], None]) -> int:
    """The id of a child that does the work and exits."""
    if pid := os.fork():
        return pid
    try:
        work()
    except BaseException:  # noqa: BLE001 - a fork must not run on into its parent's code
        sys.excepthook(*sys.exc_info())
        os._exit(1)
    os._exit(0)


def finish(work: Callable[[], None]) -> int:
    """The exit status of a child that does the work, to whatever end."""
    return os.waitstatus_to_exitcode(os.waitpid(fork(work), 0)[1])


def resumed(folder: Path, generation: str, arm: Arm) -> Any:
    """The outcome of a run that met a misfortune and was resumed."""
    assert finish(lambda: train(folder, generation, resume=False, arm=arm)) == 9
    assert finish(lambda: train(folder, generation, resume=True)) == 0
    return json.loads((folder / "outcome.json").read_text())


def killed(folder: Path, generation: str, kills: int, within_s: float) -> Any:
    """The outcome of a run that was killed at random moments, the last time resumed in peace."""
    rng = random.Random(kills)
    for number in range(kills):
        resume = number > 0
        pid = fork(lambda: train(folder, generation, resume=resume))  # noqa: B023 - runs at once
        time.sleep(rng.uniform(0.0, within_s))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        (folder / "outcome.json").unlink(missing_ok=True)
    assert finish(lambda: train(folder, generation, resume=True)) == 0
    return json.loads((folder / "outcome.json").read_text())


def outcomes_of(root: Path, generation: str, kills: int) -> dict[str, Any]:
    """What a training gave in peace, and after each misfortune."""
    started = time.monotonic()
    calm = root / "calm"
    assert finish(lambda: train(calm, generation, resume=False)) == 0
    seconds = time.monotonic() - started
    outcomes = {"calm": json.loads((calm / "outcome.json").read_text())}
    for name, arm in {
        "after observing": after_observing(5),
        "within rollouts": within_rollouts(4),
        "within a checkpoint": within_checkpoint(4),
        "before any checkpoint": within_checkpoint(2),
    }.items():
        outcomes[name] = resumed(root / name, generation, arm)
    outcomes["interrupted"] = interrupted(root / "interrupted", generation, step=3)
    if kills:
        outcomes["killed"] = killed(root / "killed", generation, kills, seconds)
    return outcomes


def main(root: Path, kills: int) -> None:
    torch.set_num_threads(1)
    found = {
        "cached": outcomes_of(root / "cached", "cached", kills),
        "transformers": outcomes_of(root / "transformers", "transformers", 0),
    }
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
