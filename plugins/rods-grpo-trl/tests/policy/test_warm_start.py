"""The warm start: learned once, kept whole, found again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import torch
from rods_grpo_trl.tiny.cache import cache_folder, kept
from rods_grpo_trl.tiny.corpus import read_corpus
from rods_grpo_trl.tiny.model import TinySize
from rods_grpo_trl.tiny.policy import CARD, TinyPolicy, choose_size, is_tiny, load, untrained
from rods_grpo_trl.warm_start import Phase, WarmStart, sampled_progress, train, warm_started

from rods.errors import DataError, RodsError
from rods.interfaces import Environment
from rods.types import Split, Task

SIZE = TinySize(
    hidden=48, layers=2, heads=2, kv_heads=2, mlp=96, context=96, vocabulary=320,
    tokenizer="syllables",
)  # fmt: skip
SHORT = WarmStart(
    phases=(Phase(steps=2, batch=4, turns=1), Phase(steps=2, batch=4)), decay=2, target=1.1
)


def small(notes: Environment) -> TinyPolicy:
    return untrained(notes, read_corpus(notes, 0, 40), SIZE, seed=0)


@pytest.mark.slow
def test_a_policy_learns_to_copy_names_it_was_not_shown_together(notes: Environment) -> None:
    policy = small(notes)
    tasks = list(notes.tasks("eval"))
    assert sampled_progress(policy, notes, tasks) < 0.05
    schedule = WarmStart(
        phases=(Phase(steps=50, batch=24, turns=1), Phase(steps=300, batch=24)),
        decay=150,
        target=0.4,
    )
    trained = train(policy, notes, schedule)
    assert trained.card["warm_start"]["stopped"] == "target reached"
    assert trained.card["warm_start"]["steps"] < 350
    assert sampled_progress(trained, notes, tasks, k=16) > 0.25


def test_progress_is_told_step_by_step(notes: Environment) -> None:
    told: list[tuple[int, int]] = []
    train(small(notes), notes, SHORT, progress=lambda step, steps, loss: told.append((step, steps)))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_time_bounds_a_warm_start(notes: Environment) -> None:
    schedule = SHORT.model_copy(update={"time_limit_s": 1e-9})
    card = train(small(notes), notes, schedule).card["warm_start"]
    assert (card["steps"], card["stopped"]) == (1, "time limit")


def test_equal_inputs_give_equal_weights(notes: Environment) -> None:
    first, second = (train(small(notes), notes, SHORT) for _ in range(2))
    for one, two in zip(first.model.parameters(), second.model.parameters(), strict=True):
        assert torch.equal(one, two)


def test_a_sharper_policy_ranks_tokens_alike(notes: Environment) -> None:
    plain, sharp = (
        train(small(notes), notes, SHORT.model_copy(update={"sharpen": factor})).model
        for factor in (1.0, 2.0)
    )
    ids = torch.tensor([[1, 2, 3]])
    with torch.no_grad():
        torch.testing.assert_close(2 * plain(input_ids=ids).logits, sharp(input_ids=ids).logits)


def test_practice_that_never_fits_is_an_error(notes: Environment) -> None:
    policy = small(notes)
    policy.model.config.max_position_embeddings = 12
    with pytest.raises(RodsError, match="fits into 12 tokens"):
        train(policy, notes, SHORT)


# ------------------------------------------------------------------------------- kept
def test_a_warm_start_is_made_once_and_found_again(notes: Environment, tmp_path: Path) -> None:
    steps: list[int] = []

    def run(seed: int) -> TinyPolicy:
        return warm_started(
            notes, size=SIZE, schedule=SHORT, seed=seed, cache=tmp_path,
            progress=lambda step, total, loss: steps.append(step),
        )  # fmt: skip

    made, found = run(0), run(0)
    assert steps == [1, 2, 3, 4]
    assert torch.equal(made.model.lm_head.weight, found.model.lm_head.weight)
    assert found.card["warm_start"]["steps"] == 4
    run(1)
    assert len(steps) == 8


def test_a_world_with_other_texts_gets_a_policy_of_its_own(
    notes: Environment, tmp_path: Path
) -> None:
    base: Any = type(notes)

    class Wordier(base):  # type: ignore[misc]
        """The notes in more words, under the same name."""

        def practice(self, rng_seed: int) -> Iterator[Task]:
            for task in super().practice(rng_seed):
                turns = (t.model_copy(update={"user": f"please {t.user}"}) for t in task.turns)
                yield task.model_copy(update={"turns": tuple(turns)})

    for environment in (notes, Wordier()):
        warm_started(environment, size=SIZE, schedule=SHORT, cache=tmp_path)
    assert len([f for f in tmp_path.iterdir() if f.is_dir()]) == 2


def test_an_interrupted_warm_start_leaves_nothing(notes: Environment, tmp_path: Path) -> None:
    def interrupted(step: int, steps: int, loss: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        warm_started(notes, size=SIZE, schedule=SHORT, cache=tmp_path, progress=interrupted)
    assert not [f for f in tmp_path.iterdir() if f.suffix != ".lock"]
    warm_started(notes, size=SIZE, schedule=SHORT, cache=tmp_path)


def test_a_half_written_policy_never_appears(notes: Environment, tmp_path: Path) -> None:
    policy = small(notes)

    class Broken(TinyPolicy):
        def save(self, folder: Path) -> None:
            (folder / "model.safetensors").write_bytes(b"half")
            raise OSError("No space left on device")

    broken = Broken(policy.model, policy.tokenizer, policy.dialect, policy.card)
    with pytest.raises(DataError, match=r"No space left on device\. Set RODS_CACHE"):
        kept({}, lambda: broken, lambda folder: policy, tmp_path)
    assert not [f for f in tmp_path.iterdir() if f.suffix != ".lock"]


@pytest.mark.parametrize("file", ["model.safetensors", "tokenizer.json", "rods_tiny.json"])
@pytest.mark.parametrize("left", [None, b"", b"{}", b"{"])
def test_a_kept_policy_that_was_damaged_is_made_again(
    notes: Environment, tmp_path: Path, file: str, left: bytes | None
) -> None:
    def start() -> TinyPolicy:
        return kept({}, lambda: small(notes), lambda folder: load(folder, notes.tools()), tmp_path)

    weights = start().model.state_dict()
    (damaged,) = tmp_path.glob(f"*/{file}")
    damaged.unlink()
    if left is not None:
        damaged.write_bytes(left)
    again = start().model.state_dict()
    assert all(torch.equal(weights[name], again[name]) for name in weights)


def test_only_one_of_two_runs_makes_a_policy(notes: Environment, tmp_path: Path) -> None:
    made: list[int] = []

    def make() -> TinyPolicy:
        made.append(1)
        return small(notes)

    def run() -> None:
        kept({}, make, lambda folder: load(folder, notes.tools()), tmp_path)

    threads = [Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [1]


def test_the_cache_is_where_rods_cache_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RODS_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path / "warm-start"


# ------------------------------------------------------------------------------- folders
def test_a_saved_policy_speaks_the_same(notes: Environment, tmp_path: Path) -> None:
    policy = small(notes)
    policy.save(tmp_path)
    loaded = load(tmp_path, notes.tools())
    assert is_tiny(tmp_path)
    assert loaded.card == json.loads((tmp_path / CARD).read_text()) == policy.card
    tasks = list(notes.tasks("train"))
    assert sampled_progress(loaded, notes, tasks) == sampled_progress(policy, notes, tasks)
    assert loaded.dialect.eos_ids == policy.dialect.eos_ids
    for one, two in zip(policy.model.parameters(), loaded.model.parameters(), strict=True):
        assert torch.equal(one, two)


def test_a_folder_without_a_policy_is_named(notes: Environment, tmp_path: Path) -> None:
    assert not is_tiny(tmp_path)
    with pytest.raises(DataError, match=str(tmp_path)):
        load(tmp_path, notes.tools())


def test_a_world_of_few_tasks_is_remembered_and_one_of_many_is_copied(notes: Environment) -> None:
    base: Any = type(notes)

    class Fixed(base):  # type: ignore[misc]
        practice = Environment.practice  # the train tasks, again and again

        def tasks(self, split: Split) -> Sequence[Task]:
            return notes.tasks(split)

    assert choose_size(read_corpus(notes, 0, 40)) == "office-1m"
    assert choose_size(read_corpus(Fixed(), 0, 40)) == "bfcl-1m"
