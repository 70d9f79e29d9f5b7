"""The trainer as a run uses it, with TRL inside and everything else small."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from rods_grpo_trl.trainer import GrpoTrainer
from transformers import LlamaForCausalLM

from rods.errors import ConfigError, RodsError
from rods.types import RolloutGroup, Task, TrainingStage

from .fakes import LampCurriculum, LampRun, LampTrainer, LampWorld, weights, weights_of


def trained(
    folder: Path, curriculum: LampCurriculum, world: LampWorld | None = None, **options: Any
) -> tuple[LampTrainer, LampRun]:
    run, trainer, world = LampRun(folder), LampTrainer(folder / "policy", **options), world
    world = world or LampWorld()
    trainer.prepare(world, world.tasks("train"), run)
    trainer.train(curriculum, world, run)
    return trainer, run


def test_every_step_is_observed_once_with_whole_groups_in_visit_order(tmp_path: Path) -> None:
    curriculum = LampCurriculum(epochs=2, epoch_size=8)
    trained(tmp_path, curriculum)
    assert list(curriculum.observed) == [1, 2, 3, 4]
    for step, groups in curriculum.observed.items():
        epoch, half = divmod(step - 1, 2)
        before = {s: g for s, g in curriculum.observed.items() if s <= 2 * epoch}
        planned = LampCurriculum()
        planned.observed = before
        visits = planned.begin_epoch(epoch).visits[4 * half : 4 * half + 4]
        assert [g.entry_id for g in groups] == [v.entry_id for v in visits]
        assert [len(g.rollouts) for g in groups] == [4] * 4
        assert {r.policy_version for g in groups for r in g.rollouts} == {step - 1}


def test_every_step_is_reported_with_what_the_trainer_measures(tmp_path: Path) -> None:
    _, run = trained(tmp_path, LampCurriculum())
    assert [(report.step, report.steps) for report in run.reports] == [(n, 4) for n in (1, 2, 3, 4)]
    wanted = {"loss", "grad_norm", "entropy", "learning_rate", "completions/mean_length"}
    assert wanted | {"tokens_per_s", "step_s", "rollouts_s"} <= run.reports[0].trainer.keys()


def test_the_mean_reward_of_trl_is_the_mean_of_the_groups(tmp_path: Path) -> None:
    curriculum = LampCurriculum()
    _, run = trained(tmp_path, curriculum)
    for report in run.reports:
        means = [group.mean for group in curriculum.observed[report.step]]
        assert report.trainer["reward"] == pytest.approx(sum(means) / len(means))


def test_an_outage_reaches_the_curriculum_unscored_and_trains_nothing(tmp_path: Path) -> None:
    curriculum = LampCurriculum()
    before = LampTrainer(tmp_path / "policy")
    before.make_policy(LampWorld(), None)
    trainer, run = trained(tmp_path, curriculum, LampWorld(outage=lambda task: True))
    groups = [group for groups in curriculum.observed.values() for group in groups]
    assert all(group.unscored == 4 and not group.scored for group in groups)
    assert all(report.trainer["loss"] == 0.0 for report in run.reports)
    assert "reward" not in run.reports[0].trainer  # not a number, so not reported
    assert torch.equal(weights(trainer), weights(before))


def test_half_an_outage_leaves_the_other_groups_their_gradient(tmp_path: Path) -> None:
    def down(task: Task) -> bool:
        return task.id.startswith("red")

    curriculum = LampCurriculum(epochs=4)
    _, run = trained(tmp_path, curriculum, LampWorld(outage=down), grpo={"scale_rewards": "none"})
    groups = [group for groups in curriculum.observed.values() for group in groups]
    assert {group.scored for group in groups} == {True, False}
    assert all(group.scored != group.entry_id.startswith("red") for group in groups)
    learned = [any(g.variance > 0 for g in curriculum.observed[r.step]) for r in run.reports]
    assert [r.trainer["grad_norm"] > 0 for r in run.reports] == learned
    assert any(learned)


def test_with_two_updates_a_generation_the_groups_are_told_after_the_second(
    tmp_path: Path,
) -> None:
    curriculum = LampCurriculum(epochs=2)
    _, run = trained(tmp_path, curriculum, save_every=2, grpo={"num_iterations": 2})
    assert list(curriculum.observed) == [2, 4, 6, 8]
    assert [report.step for report in run.reports] == [2, 4, 6, 8]


def test_a_stage_that_rewards_the_format_trains_on_it(tmp_path: Path) -> None:
    stage = TrainingStage(reward="format")
    curriculum = LampCurriculum(stage=stage)
    _, run = trained(tmp_path, curriculum)
    assert max(report.trainer["reward"] for report in run.reports) > 0.3
    assert max(group.mean for groups in curriculum.observed.values() for group in groups) <= 0.5


def test_an_epoch_that_is_not_whole_steps_is_refused_before_and_at_training(
    tmp_path: Path,
) -> None:
    checked = LampTrainer(tmp_path / "policy").check_schedule(3, 6)
    assert [(check.ok, check.fix) for check in checked] == [(False, "curriculum.epoch_size = 8")]
    with pytest.raises(ConfigError, match="6 is not a multiple of"):
        trained(tmp_path, LampCurriculum(epoch_size=6))


def test_an_error_of_the_curriculum_ends_the_training_as_it_is(tmp_path: Path) -> None:
    class Broken(LampCurriculum):
        def draw(self, visit: Any) -> Task:
            raise RodsError("the pool is gone")

    with pytest.raises(RodsError, match="the pool is gone"):
        trained(tmp_path, Broken())


def test_ctrl_c_leaves_no_half_of_a_checkpoint(tmp_path: Path) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt  # the model is written, the tokenizer is next

    world, run, trainer = LampWorld(), LampRun(tmp_path), LampTrainer(tmp_path / "policy")
    trainer.prepare(world, world.tasks("train"), run)
    assert trainer.policy is not None
    trainer.policy.tokenizer.save_pretrained = interrupt
    with pytest.raises(KeyboardInterrupt):
        trainer.train(LampCurriculum(), world, run)
    assert list((tmp_path / "checkpoints").iterdir()) == []


# ------------------------------------------------------------------------------- evaluation
def rewards(groups: list[RolloutGroup]) -> list[tuple[float, ...]]:
    return [group.rewards for group in groups]


@pytest.mark.parametrize("generation", ["cached", "transformers"])
def test_evaluation_repeats_for_equal_seeds_and_keeps_the_order(
    tmp_path: Path, generation: str
) -> None:
    world, trainer = LampWorld(), LampTrainer(tmp_path / "policy", generation=generation)
    tasks = [*world.tasks("train"), *world.tasks("eval")] * 4
    told: list[tuple[int, int]] = []
    first = trainer.evaluate(
        tasks, world, k=3, seed=1, progress=lambda done, total: told.append((done, total))
    )
    assert [group.task for group in first] == tasks
    assert all(len(group.rollouts) == 3 for group in first)
    assert told[-1] == (24, 24)
    assert rewards(trainer.evaluate(tasks, world, k=3, seed=1)) == rewards(first)
    assert rewards(trainer.evaluate(tasks, world, k=3, seed=2)) != rewards(first)


def test_a_trained_policy_is_saved_and_loaded_whole(tmp_path: Path) -> None:
    trainer, _ = trained(tmp_path, LampCurriculum())
    trainer.save(tmp_path / "saved")
    saved = LlamaForCausalLM.from_pretrained(tmp_path / "saved")
    assert torch.equal(weights_of(saved), weights(trainer))


def test_without_a_policy_there_is_nothing_to_train_or_save(tmp_path: Path) -> None:
    trainer = GrpoTrainer()
    with pytest.raises(RuntimeError, match="prepare was not called"):
        trainer.train(LampCurriculum(), LampWorld(), LampRun(tmp_path))
    with pytest.raises(RuntimeError, match="no policy to save"):
        trainer.save(tmp_path)


def test_a_tiny_policy_says_that_it_is_no_language_model() -> None:
    assert "not those of a language model" in GrpoTrainer().notes(LampWorld())[0]
    assert GrpoTrainer(GrpoTrainer.Config(model="Qwen/Qwen3-4B")).notes(LampWorld()) == ()


def test_a_checkpoint_holds_the_last_step_only_and_can_be_evaluated(tmp_path: Path) -> None:
    card = tmp_path / "initial" / "rods_tiny.json"
    card.parent.mkdir()
    card.write_text("{}")
    trained(tmp_path, LampCurriculum())
    newest = tmp_path / "checkpoints" / "checkpoint-4"
    assert (newest / card.name).read_text() == "{}"
    assert len(json.loads((newest / "trainer_state.json").read_text())["log_history"]) == 1


def test_curriculum_metrics_reach_the_trackers(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import (  # noqa: PLC0415
        EventAccumulator,
    )

    trained(tmp_path, LampCurriculum(), report_to=("tensorboard",))
    (events,) = (tmp_path / "checkpoints").rglob("events.out*")
    read = EventAccumulator(str(events))
    read.Reload()
    assert [event.step for event in read.Scalars("train/pool/active")] == [1, 2, 3, 4]
    assert "train/regions/boundary" in read.Tags()["scalars"]
    assert "train/loss" in read.Tags()["scalars"]


# ------------------------------------------------------------------------------- learning
@pytest.mark.slow
def test_rewards_rise(tmp_path: Path) -> None:
    curriculum = LampCurriculum(epochs=15, epoch_size=16)
    options = {"group_size": 8, "micro_batch_size": 32, "save_every": 1000}
    trained(tmp_path, curriculum, **options, learning_rate=5e-3)
    means = [sum(g.mean for g in groups) / len(groups) for groups in curriculum.observed.values()]
    assert len(means) == 60
    assert sum(means[-10:]) / 10 > sum(means[:10]) / 10 + 0.15  # measured: 0.03 -> 0.38
