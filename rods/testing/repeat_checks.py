"""Checks of repeatability beyond one run in one process: another day, other chance, elsewhere."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import get_args

from rods import digests
from rods.determinism import Determinism, following, package_modules
from rods.errors import reason
from rods.interfaces import Environment
from rods.testing.findings import Finding, Subject, for_each, plain, run_reference
from rods.types import DeterminismClaim, SnapshotKind, Split, Task

_TIMEOUT_S = 300.0


def capabilities_are_declared(subject: Subject) -> str:
    """``snapshots`` and ``determinism`` say one of the words that there are."""
    world = subject.environment
    for attribute, known in (("snapshots", SnapshotKind), ("determinism", DeterminismClaim)):
        if getattr(world, attribute) not in get_args(known):
            raise Finding(
                f"{attribute} = {getattr(world, attribute)!r}",
                f"write one of {', '.join(get_args(known))}",
            )
    return f"snapshots {world.snapshots}, determinism {world.determinism}"


def another_day_changes_nothing(subject: Subject) -> str:
    """On two days and with other random numbers, the reference gives equal results and states."""
    days = [datetime.datetime(year, 5, year % 28 + 1, 7, tzinfo=datetime.UTC) for year in _YEARS]

    def differs(task: Task) -> str | None:
        seen = set()
        for seed, day in enumerate(days):
            with Determinism(seed, day):
                seen.add(digest(subject.environment, task))
        return "results or states differ" if len(seen) > 1 else None

    fix = "take times, random numbers and uuids from rods.determinism, or from the task's state"
    with following(package_modules(type(subject.environment).__module__)):
        return for_each(subject.sample, differs, fix)


_YEARS = (1999, 2031)


def another_process_changes_nothing(subject: Subject) -> str:
    """In a new process with another order of sets: equal tasks, equal results, equal states."""
    kind = type(subject.environment)
    if "<locals>" in kind.__qualname__ or kind.__module__ == "__main__":
        return f"skipped: {kind.__qualname__} cannot be imported elsewhere"
    there = _digests_elsewhere(subject.environment, [task.id for task in subject.sample])

    def differs(task: Task) -> str | None:
        here = [task_digest(task), digest(subject.environment, task)]
        if task.id not in there:
            return "the other process has no such task"
        if there[task.id] == here:
            return None
        return f"{'the task itself' if there[task.id][0] != here[0] else 'what it plays'} differs"

    return for_each(subject.sample, differs, "sort sets before they are used; seed with texts")


# ------------------------------------------------------------------------------- inside
def task_digest(task: Task) -> str:
    """SHA-256 of the task."""
    return digests.text_digest(task.model_dump_json())


def digest(environment: Environment, task: Task) -> str:
    """SHA-256 of what the reference answers in a fresh world, and of the state it leaves."""
    session = environment.open(task)
    try:
        results = [result.model_dump() for result in run_reference(session, task)]
        return digests.digest([results, plain(session.state())])
    finally:
        session.close()


def _digests_elsewhere(environment: Environment, ids: Iterable[str]) -> dict[str, list[str]]:
    kind = type(environment)
    order = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    variables = {**os.environ, "PYTHONHASHSEED": order, "PYTHONPATH": path}
    with tempfile.TemporaryDirectory() as folder:
        asked, answered = Path(folder) / "asked.json", Path(folder) / "answered.json"
        config = environment.config.model_dump(mode="json")
        asked.write_text(json.dumps([kind.__module__, kind.__qualname__, config, list(ids)]))
        command = [sys.executable, "-m", "rods.testing.elsewhere", str(asked), str(answered)]
        done = subprocess.run(
            command, env=variables, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:] or ["no message"]
            raise Finding(f"The world does not run in another process: {last[0][:200]}")
        found: dict[str, list[str]] = json.loads(answered.read_text())
        return found


def play_elsewhere(environment: Environment, ids: Iterable[str]) -> dict[str, list[str]]:
    """Task id -> digests of the task and of its play, in this process."""
    wanted, splits = set(ids), get_args(Split)
    tasks = [t for split in splits for t in environment.tasks(split) if t.id in wanted]
    found: dict[str, list[str]] = {}
    for task in tasks:
        found.setdefault(task.id, [task_digest(task), _digest_or_fault(environment, task)])
    return found


def _digest_or_fault(environment: Environment, task: Task) -> str:
    """The digest; what the play raises instead, which then is no reason to end the others."""
    try:
        return digest(environment, task)
    except Exception as error:  # noqa: BLE001 - whatever a world under test raises is a finding
        return reason(error)
