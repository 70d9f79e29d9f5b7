"""What can be known before a run starts, in seconds and without a GPU."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from rods.curriculum import CurriculumConfig
from rods.episode import Episode, EpisodeLimits
from rods.errors import PoolError, RodsError, UserError
from rods.faults import Fault, fault, no_such_tool, owners_of
from rods.interfaces import Environment, Trainer
from rods.pool.probing import probe
from rods.types import AssistantMessage, Check, Rollout, Task

SAMPLE = 24  # tasks of each split whose reference is replayed


def iter_checks(
    environment: Environment,
    trainer: Trainer,
    curriculum: CurriculumConfig,
    out: Path,
    seed: int,
    pool_url: str = "",
    resume: bool = False,
) -> Iterator[Check]:
    """One line after the other: data, gold replay of a sample, places, then the trainer's own."""
    try:
        environment.require_user()
        train, held_out = environment.tasks("train"), environment.tasks("eval")
    except RodsError as error:
        yield Check(name="tasks", ok=False, detail=str(error))
        return
    except Exception as error:  # noqa: BLE001 - the world's own code, whatever it raises
        yield _fault_row("tasks", fault(error, owners_of(type(environment))))
        return
    yield _task_check(environment, train, held_out)
    if train:
        yield _kind_check(curriculum, train)
    yield _replay_check(environment, _sample(train, seed) + _sample(held_out, seed))
    yield _folder_check(out, resume)
    if pool_url:
        yield _pool_check(pool_url)
    epochs = sum(stage.epochs for stage in curriculum.stages)
    yield from trainer.check_schedule(epochs, curriculum.epoch_size)
    yield from trainer.preflight(environment, train)


def no_train_tasks(environment: Environment) -> str:
    """What is wrong with a world whose train split is empty, for those who want to train."""
    return (
        f"{environment.name} has no tasks to train on with these options: it is for evaluation, "
        "as in `rods eval`."
    )


def require(checks: Sequence[Check]) -> None:
    """A UserError that names every failed check, if there is one."""
    failed = [check for check in checks if not check.ok]
    if failed:
        lines = [f"{c.name}: {c.detail}{f' -> {c.fix}' if c.fix else ''}" for c in failed]
        between = ": " if len(lines) == 1 else ".\n"
        raise UserError(f"The run cannot start{between}" + "\n".join(lines))


def play_reference(environment: Environment, task: Task) -> Rollout:
    """The rollout of the task's own reference through a real episode."""
    episode = Episode(environment, task, simulated=False)  # a user would have to be convinced
    size = EpisodeLimits().max_calls_per_message
    for turn in task.turns:
        for start in range(0, len(turn.reference), size):
            if not episode.done:
                episode.advance(AssistantMessage(calls=turn.reference[start : start + size]))
        if not episode.done:
            episode.advance(AssistantMessage(content=turn.answer))
    return episode.finish()


# ------------------------------------------------------------------------------- the checks
def _task_check(environment: Environment, train: Sequence[Task], held_out: Sequence[Task]) -> Check:
    if not train:
        return Check(name="tasks", ok=False, detail=no_train_tasks(environment))
    both = {task.id for task in train} & {task.id for task in held_out}
    ids = Counter(task.id for tasks in (train, held_out) for task in tasks)
    twice = sorted(name for name, count in ids.items() if count > 1 and name not in both)
    detail = f"{environment.name}: {len(train)} to train on ({_kinds(train)}), "
    detail += f"{len(held_out)} held out ({_kinds(held_out)})"
    if both:
        detail += f"; {len(both)} are in both splits, such as {min(both)!r}"
    if twice:
        detail += f"; {len(twice)} ids stand more than once, such as {twice[0]!r}"
    fix = "give every task an id of its own" * bool(both or twice)
    return Check(name="tasks", ok=bool(held_out) and not fix, detail=detail, fix=fix)


def _kinds(tasks: Sequence[Task]) -> str:
    return ", ".join(f"{n} {kind}" for kind, n in Counter(task.kind for task in tasks).items())


def _kind_check(curriculum: CurriculumConfig, train: Sequence[Task]) -> Check:
    """Every stage of the schedule has something to train on."""
    have = {task.kind for task in train}
    empty = [stage.name for stage in curriculum.stages if not have & set(stage.kinds)]
    epochs = sum(stage.epochs for stage in curriculum.stages)
    detail = f"{epochs} epochs of {curriculum.epoch_size} prompts"
    if empty:
        detail = f"no task of a kind that stage {empty[0]!r} asks for; there are {', '.join(have)}"
    return Check(
        name="schedule", ok=not empty, detail=detail, fix="curriculum.stages" * bool(empty)
    )


def _replay_check(environment: Environment, tasks: Sequence[Task]) -> Check:
    """References run without an outage and earn every turn."""
    try:
        faults = [found for task in tasks if (found := _fault(environment, task))]
    except Exception as error:  # noqa: BLE001 - the world's own code, whatever it raises
        return _fault_row("gold replay", fault(error, owners_of(type(environment))))
    detail = f"the references of {len(tasks)} tasks solve them"
    if faults:
        detail = f"{len(faults)} of {len(tasks)} references fail; {faults[0]}"
    fix = f"rods check {environment.name}" * bool(faults)
    return Check(name="gold replay", ok=not faults, detail=detail, fix=fix)


def _fault_row(name: str, found: Fault) -> Check:
    """The row of an exception that nobody meant: a line of the world's own code."""
    return Check(name=name, ok=False, detail=str(found), fix=found.fix, traceback=found.traceback)


def _fault(environment: Environment, task: Task) -> str:
    if unknown := _unknown_tool(task, environment.tools()):
        return f"{task.id}: {unknown}"
    try:
        rollout = play_reference(environment, task)
    except RodsError as error:
        return f"{task.id}: {error}"
    if rollout.reward is None:
        return f"{task.id}: {rollout.trajectory.error}"
    wrong = [
        i for i, verdict in enumerate(rollout.reward.verdicts) if verdict.judged and not verdict.ok
    ]
    return f"{task.id}: turn {wrong[0]} does not pass" if wrong else ""


def _unknown_tool(task: Task, known: Collection[str]) -> str:
    """The first tool that the task offers or its reference calls and that is not there."""
    offered = task.tools_at(len(task.turns))
    named = [*offered, *(call.name for turn in task.turns for call in turn.reference)]
    return next((no_such_tool(name, known) for name in named if name not in known), "")


def _folder_check(out: Path, resume: bool) -> Check:
    """A new run may be made there; a resumed one is there already."""
    try:
        parent = next(p for p in (out.absolute(), *out.absolute().parents) if p.exists())
    except OSError as error:  # a name that no file system takes
        fault = f"{out} cannot be written: {error.strerror}"
        return Check(name="folder", ok=False, detail=fault, fix="--out DIR")
    if parent == out.absolute() and not resume and parent.is_dir() and any(parent.iterdir()):
        begun = (parent / "config.toml").exists()
        fix = f"rods run --resume {out}" if begun else "another --out"
        return Check(name="folder", ok=False, detail=f"{out} is not empty", fix=fix)
    if any(p.is_symlink() and not p.exists() for p in (out, *out.parents)):
        detail = f"{out} leads nowhere: it is a broken link"
        return Check(name="folder", ok=False, detail=detail, fix="another --out")
    ok = parent.is_dir() and os.access(parent, os.W_OK)
    detail = f"{out} can be written" if ok else f"{parent} cannot be written"
    return Check(name="folder", ok=ok, detail=detail, fix="" if ok else "--out DIR")


def _pool_check(url: str) -> Check:
    """A pool of its own, outside the run's folder, can begin there."""
    try:
        return Check(name="pool", ok=True, detail=probe(url))
    except PoolError as error:
        return Check(name="pool", ok=False, detail=str(error), fix="pool.url")


def _sample(tasks: Sequence[Task], seed: int) -> list[Task]:
    rng = random.Random(f"{seed}/preflight")
    return rng.sample(list(tasks), min(SAMPLE, len(tasks)))
