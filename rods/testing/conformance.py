"""The conformance kit: what every environment must hold before a policy is trained in it.

``check_environment`` in a plugin's own tests, ``rods check NAME`` on the command line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Literal

from rods.faults import owners_of
from rods.interfaces import Environment
from rods.testing import (
    refusal_checks,
    repeat_checks,
    reward_checks,
    split_checks,
    task_checks,
    world_checks,
)
from rods.testing.advice import ADVICE
from rods.testing.findings import Subject, Told, checked, copy_of_states
from rods.types import Check, Split, Task, ToolSpec

CheckFunction = Callable[[Subject], str]

CHECKS: tuple[CheckFunction, ...] = (
    task_checks.tasks_are_well_formed,
    task_checks.tasks_keep_their_order,
    split_checks.splits_are_disjoint,
    task_checks.tasks_survive_json,
    task_checks.tool_schemas_are_valid,
    task_checks.reference_fits_the_schemas,
    task_checks.suggestions_fit_the_schemas,
    task_checks.hashes_are_sha256,
    repeat_checks.capabilities_are_declared,
    world_checks.reference_runs_without_errors,
    world_checks.runs_repeat,
    repeat_checks.another_day_changes_nothing,
    world_checks.opening_resets,
    world_checks.states_are_json_copies,
    world_checks.snapshots_restore,
    world_checks.sessions_are_isolated,
    world_checks.closing_twice_is_safe,
    world_checks.bad_calls_are_errors,
    world_checks.hostile_calls_are_survived,
    refusal_checks.refused_calls_change_nothing,
    reward_checks.reference_scores_one,
    reward_checks.every_turn_has_a_verdict,
    reward_checks.an_empty_rollout_earns_nothing,
    reward_checks.scoring_repeats,
    reward_checks.silence_earns_nothing,
    reward_checks.idling_solves_nothing,
    reward_checks.random_calls_solve_nothing,
    reward_checks.hidden_tools_come_with_reveals,
    reward_checks.practice_repeats,
    world_checks.open_and_replay_time,
)
# Costs a start of Python and of the world, so a world's own tests leave it to ``rods check``.
ELSEWHERE: CheckFunction = repeat_checks.another_process_changes_nothing


def check_environment(
    environment: Environment,
    *,
    split: Split | Literal["both"] = "both",
    limit: int = 40,
    sessions: int = 64,
) -> list[Check]:
    """One line a check; see ``iter_checks``."""
    return list(iter_checks(environment, split=split, limit=limit, sessions=sessions))


def iter_checks(
    environment: Environment,
    *,
    split: Split | Literal["both"] = "both",
    limit: int = 40,
    sessions: int = 64,
    elsewhere: bool = False,
) -> Iterator[Check]:
    """Run the checks one after the other; whatever the environment raises is told once.

    The row that meets an exception first fails with its place; later rows that meet it were not
    checked (``blocked_by``).

    All tasks are checked as data; ``limit`` of them are played, spread evenly over splits and
    kinds (0: all; ``split`` plays one split only). ``sessions`` worlds are open at once.
    ``elsewhere`` plays them in a second process too.
    """
    told = Told(lambda: owners_of(type(environment)))
    subject = _subject(environment, split, limit, sessions, told)
    if isinstance(subject, Check):
        yield subject
        return
    for function in (*CHECKS, ELSEWHERE) if elsewhere else CHECKS:
        yield checked(
            function.__name__, ADVICE[function.__name__], partial(function, subject), told
        )


def _subject(
    environment: Environment,
    split: Split | Literal["both"],
    limit: int,
    sessions: int,
    told: Told,
) -> Subject | Check:
    """The tasks and tools; a failed check where they cannot even be listed."""
    try:
        tasks: dict[Split, Sequence[Task]] = {
            "train": list(environment.tasks("train")),
            "eval": list(environment.tasks("eval")),
        }
        played = [t for name, ts in tasks.items() if split in ("both", name) for t in ts]
        specs = dict(environment.tools())
    except Exception as error:  # noqa: BLE001 - whatever a world under test raises is a finding
        return told.row("tasks are well formed", error)
    sample = spread(_playable(played, specs), limit)
    if not sample:
        detail, advice = f"no tasks ({split})", "return the seed tasks from Environment.tasks"
        if played:
            unknown = task_checks.unknown_tool(played[0], specs)
            detail, advice = f"{played[0].id}: {unknown}", "mend Task.tools, or tools()"
        return Check(name="tasks are well formed", ok=False, detail=detail, fix=advice)
    return Subject(environment, tasks, sample, specs, sessions, copy_of_states(sample))


def _playable(tasks: Sequence[Task], specs: Mapping[str, ToolSpec]) -> list[Task]:
    """Tasks whose tools there are, each id once: the others fail a row of their own."""
    known = [task for task in tasks if not task_checks.unknown_tool(task, specs)]
    return list({task.id: task for task in reversed(known)}.values())[::-1]


def spread(tasks: Sequence[Task], limit: int) -> list[Task]:
    """About ``limit`` tasks (0: all), evenly over splits and kinds and within each."""
    if not limit or limit >= len(tasks):
        return list(tasks)
    groups: dict[tuple[str, str], list[Task]] = {}
    for task in tasks:
        groups.setdefault((task.split, task.kind), []).append(task)
    share = max(1, limit // len(groups))
    return [
        group[i * len(group) // min(share, len(group))]
        for group in groups.values()
        for i in range(min(share, len(group)))
    ]
