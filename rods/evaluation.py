"""Held-out progress before and after: the same tasks, the same seeds, a paired interval."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rods.files import read_gzip_lines, write_gzip_lines
from rods.run_dir import group_record
from rods.statistics import bootstrap_mean, paired_gain
from rods.types import RolloutGroup, Task

BEFORE, AFTER = "evaluation/before.jsonl.gz", "evaluation/after.jsonl.gz"  # in a run's folder
SEED = 20_261  # of the interval, so that a summary can be made again from its evaluation files


@dataclass(frozen=True, slots=True)
class TaskScore:
    """What a policy reached on one task; ``mean`` is None when an outage left no reward."""

    task_id: str
    kind: str
    sets: tuple[str, ...]
    mean: float | None
    solved: float | None


def held_out(tasks: Sequence[Task], size: int, seed: int = 0) -> list[Task]:
    """``size`` tasks (all if there are fewer) spread over kinds and flags; equal for equal seeds.

    A run keeps seed 0: runs with other seeds are then compared on the same tasks.
    """
    groups: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for index, task in enumerate(tasks):
        groups[task.kind, *sorted(task.flags)].append(index)
    rng = random.Random(f"{seed}/held-out")
    queues = [rng.sample(indices, len(indices)) for _, indices in sorted(groups.items())]
    chosen: list[int] = []
    while len(chosen) < min(size, len(tasks)):
        for queue in queues:
            if queue and len(chosen) < size:
                chosen.append(queue.pop())
    return [tasks[index] for index in sorted(chosen)]


def kept_scores(path: Path, play: Callable[[], Sequence[RolloutGroup]]) -> list[TaskScore]:
    """The scores of the groups kept in ``path``; they are played first if it does not exist."""
    if not path.exists():
        groups = play()
        path.parent.mkdir(exist_ok=True)
        write_gzip_lines(path, [_record(group) for group in groups])
    return read_scores(path)


def read_scores(path: Path) -> list[TaskScore]:
    """The scores of an evaluation that a run has kept."""
    return [_score(record) for record in read_gzip_lines(path)]


def score_groups(groups: Iterable[RolloutGroup]) -> list[TaskScore]:
    """The scores of evaluated groups."""
    return [_score(_record(group)) for group in groups]


def compare(before: Sequence[TaskScore], after: Sequence[TaskScore]) -> dict[str, Any]:
    """Progress before and after over the tasks scored in both, in all, by kind and by set."""
    earlier = {score.task_id: score for score in before}
    pairs = [(earlier[s.task_id], s) for s in after if s.task_id in earlier]
    pairs = [(b, a) for b, a in pairs if b.mean is not None and a.mean is not None]
    return {
        **_gain(pairs),
        "kinds": {k: _gain(p) for k, p in _grouped(pairs, lambda s: (s.kind,)).items()},
        "sets": {k: _gain(p) for k, p in _grouped(pairs, lambda s: s.sets).items()},
    }


Pairs = list[tuple[TaskScore, TaskScore]]


def _grouped(pairs: Pairs, keys: Callable[[TaskScore], tuple[str, ...]]) -> Mapping[str, Pairs]:
    grouped: dict[str, Pairs] = defaultdict(list)
    for pair in pairs:
        for key in keys(pair[1]):
            grouped[key].append(pair)
    return dict(sorted(grouped.items()))


def _gain(pairs: Pairs) -> dict[str, Any]:
    """Before, after and gain with its 95 % interval; null where no task was scored."""
    keys = ("before", "after", "gain", "ci_low", "ci_high")
    if not pairs:
        return {**dict.fromkeys(keys), "n": 0}
    means = [[score.mean or 0.0 for score in side] for side in zip(*pairs, strict=True)]
    gain = paired_gain(means[0], means[1], seed=SEED)
    before, after = (sum(side) / len(side) for side in means)
    values = (before, after, gain.mean, gain.low, gain.high)
    return {**dict(zip(keys, values, strict=True)), "n": gain.n}


def overview(scores: Sequence[TaskScore]) -> dict[str, Any]:
    """Mean progress and all-turns-solved with bootstrap intervals, in all and by kind."""
    kinds = sorted({score.kind for score in scores})
    return {
        **_level(scores),
        "kinds": {kind: _level([s for s in scores if s.kind == kind]) for kind in kinds},
    }


def _level(scores: Sequence[TaskScore]) -> dict[str, Any]:
    means = [s.mean for s in scores if s.mean is not None]
    solved = [s.solved for s in scores if s.solved is not None]
    if not means:
        return {"progress": None, "solved": None, "n": 0, "unscored": len(scores)}
    progress, whole = bootstrap_mean(means, seed=SEED), bootstrap_mean(solved, seed=SEED)
    return {
        "progress": progress.mean,
        "progress_ci": [progress.low, progress.high],
        "solved": whole.mean,
        "solved_ci": [whole.low, whole.high],
        "n": progress.n,
        "unscored": len(scores) - len(means),
    }


def _record(group: RolloutGroup) -> dict[str, Any]:
    solved = [r.reward.solved for r in group.rollouts if r.reward is not None]
    record = group_record(group, step=0)
    return {**record, "flags": list(group.task.flags), "solved": solved}


def _score(record: Mapping[str, Any]) -> TaskScore:
    rewards, solved = record["rewards"], record["solved"]
    return TaskScore(
        task_id=record["task_id"],
        kind=record["kind"],
        sets=tuple(record["flags"]),
        mean=sum(rewards) / len(rewards) if rewards else None,
        solved=sum(solved) / len(solved) if solved else None,
    )
