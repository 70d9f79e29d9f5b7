"""Which checkpoint a run resumes at."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rods_grpo_trl.checkpoints import STATE, discard_after, newest_complete, step_of


def checkpoint(folder: Path, step: int, state: str | None = None, ranks: int = 1) -> Path:
    path = folder / f"checkpoint-{step}"
    path.mkdir(parents=True)
    names = ["rng_state.pth"] if ranks == 1 else [f"rng_state_{i}.pth" for i in range(ranks)]
    for name in names:
        (path / name).touch()
    if state is not None:
        (path / STATE).write_text(state)
    return path


def complete(folder: Path, step: int, ranks: int = 1) -> Path:
    return checkpoint(folder, step, json.dumps({"global_step": step}), ranks)


def test_a_run_without_checkpoints_starts_over(tmp_path: Path) -> None:
    assert newest_complete(tmp_path / "none") is None
    assert newest_complete(tmp_path) is None


def test_steps_are_compared_as_numbers(tmp_path: Path) -> None:
    complete(tmp_path, 9)
    assert newest_complete(tmp_path) != complete(tmp_path, 10).parent
    assert newest_complete(tmp_path) == tmp_path / "checkpoint-10"


@pytest.mark.parametrize("state", [None, "", '{"global_step": 1', "[]", '{"global_step": 8}'])
def test_a_half_of_a_checkpoint_is_passed_over(tmp_path: Path, state: str | None) -> None:
    whole = complete(tmp_path, 8)
    checkpoint(tmp_path, 10, state)
    assert newest_complete(tmp_path) == whole


def test_every_rank_must_have_written_its_random_state(tmp_path: Path) -> None:
    whole = complete(tmp_path, 8, ranks=2)
    complete(tmp_path, 10, ranks=2).joinpath("rng_state_1.pth").unlink()
    assert newest_complete(tmp_path, ranks=2) == whole


def test_what_is_later_is_deleted_and_nothing_else(tmp_path: Path) -> None:
    complete(tmp_path, 8)
    checkpoint(tmp_path, 10)
    (tmp_path / "runs").mkdir()
    discard_after(tmp_path, 8)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint-8", "runs"]


def test_another_name_is_no_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no checkpoint's name"):
        step_of(tmp_path / "checkpoint-last")
