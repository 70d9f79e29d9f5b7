"""What a policy reaches on a split: progress and solved tasks, with what an outage left out."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rods.errors import DataError
from rods.evaluation import held_out, overview, score_groups
from rods.interfaces import Environment
from rods.jsonl import JsonlWriter, dump_line
from rods.preparation import Policy, Preparation
from rods.run_dir import group_record
from rods.types import RolloutGroup, Split, Task
from rods.unfinished import Unfinished

PART = 256  # rollouts between two writings; what trainers sample at once


def evaluate_policy(
    policy: Policy,
    environment: Environment,
    *,
    split: Split,
    tasks: int | None,
    samples: int,
    seed: int,
    out: Unfinished | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """The report on ``samples`` rollouts of each task (None: all tasks), as plain JSON.

    ``out`` gets one line a task, with ``task_id``, ``rewards`` and the rollouts, as they come: what
    was played before an interruption is kept, and is not played again.
    """
    known = environment.tasks(split)
    if not known:
        raise DataError(f"The environment {environment.name!r} has no {split} tasks.")
    chosen: Sequence[Task] = held_out(known, tasks or len(known))
    environment.require_user()
    start = time.perf_counter()
    groups = out.groups(chosen, _part_of(samples)) if out is not None else []
    with _writing(out) as write:
        chosen = _prepared(policy, environment, chosen, seed, out, progress)
        for part in _in_parts(policy, environment, chosen, samples, seed, len(groups), progress):
            groups += part
            for group in part:
                write(dump_line(group_record(group, step=0)))
    return {
        "environment": environment.name,
        "protocol": environment.protocol(),
        "split": split,
        "samples": samples,
        "seed": seed,
        **summary(groups),
        "seconds": round(time.perf_counter() - start, 2),
        "data_hashes": dict(environment.data_hashes()),
    }


def _prepared(
    policy: Policy,
    environment: Environment,
    tasks: Sequence[Task],
    seed: int,
    out: Unfinished | None,
    progress: Callable[[int, int], None] | None,
) -> Sequence[Task]:
    """The tasks after what comes before them; that is kept beside ``out``."""
    preparation = Preparation(
        policy,
        environment,
        seed=seed,
        file=out.before if out is not None and out.lasting else None,
        terms=out.digest if out is not None else "",
        progress=lambda: progress(0, len(tasks)) if progress is not None else None,
    )
    return environment.prepared(tasks, preparation.play)


def _in_parts(
    policy: Policy,
    environment: Environment,
    tasks: Sequence[Task],
    samples: int,
    seed: int,
    done: int,
    progress: Callable[[int, int], None] | None,
) -> Iterator[Sequence[RolloutGroup]]:
    """The groups after ``done`` tasks, in parts; each part samples with a seed of its own."""
    size = _part_of(samples)
    for start in range(done, len(tasks), size):

        def moved(done: int, total: int, start: int = start) -> None:
            if progress is not None:
                progress(start + done, len(tasks))

        part, part_seed = tasks[start : start + size], seed + start
        yield policy.evaluate(part, environment, k=samples, seed=part_seed, progress=moved)


def _part_of(samples: int) -> int:
    """Tasks between two writings."""
    return max(1, PART // samples)


@contextmanager
def _writing(out: Unfinished | None) -> Iterator[Callable[[str], None]]:
    """Takes a line; the file under ``out`` is complete afterwards, or goes on another time."""
    if out is None:
        yield lambda line: None
        return
    made = JsonlWriter(out.out)  # refused, it leaves what is there to whoever writes it
    try:
        with made as writer:
            if out.lasting:
                out.begin()
            for line in out.lines:
                writer.write(line.decode())
            yield writer.write
    except (Exception, KeyboardInterrupt) as error:
        if out.partial.is_file():
            error.add_note("The same command goes on from there.")
        else:
            out.end()
        raise
    out.end()


def summary(groups: Sequence[RolloutGroup]) -> dict[str, Any]:
    """Levels in all, by kind and by set; how the rollouts ended; messages that did not parse."""
    trajectories = [rollout.trajectory for group in groups for rollout in group.rollouts]
    flags = sorted({flag for group in groups for flag in group.task.flags})
    levels = overview(score_groups(groups))
    sets = {
        flag: overview(score_groups(g for g in groups if flag in g.task.flags)) for flag in flags
    }
    for level in sets.values():
        level.pop("kinds")
    return {
        **levels,
        "sets": sets,
        "rollouts": len(trajectories),
        "unscored_rollouts": sum(group.unscored for group in groups),
        "stops": dict(Counter(trajectory.stop for trajectory in trajectories)),
        "malformed": sum(trajectory.malformed for trajectory in trajectories),
    }
