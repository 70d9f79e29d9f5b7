"""One environment for all tests: the asset is read once."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from rods_bfcl.asset import Asset, open_asset
from rods_bfcl.environment import BfclEnvironment

from rods.types import AssistantMessage, Step, Task, ToolCall, Trajectory

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def asset() -> Asset:
    """The pinned release, from the cache."""
    return open_asset()


@pytest.fixture(scope="session")
def environment() -> BfclEnvironment:
    """All 800 tasks."""
    return BfclEnvironment(BfclEnvironment.Config(exclude_flagged=False))


@pytest.fixture(scope="session")
def tasks(environment: BfclEnvironment) -> dict[str, Task]:
    """Task by id."""
    return {t.id: t for t in (*environment.tasks("train"), *environment.tasks("eval"))}


@pytest.fixture(scope="session")
def cases() -> list[dict[str, Any]]:
    """Recorded trajectories with the verdicts of the official checker (see the README)."""
    with gzip.open(HERE / "data" / "bfcl_cases.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


Rollout = Callable[[Sequence[Sequence[ToolCall]]], Trajectory]


@pytest.fixture(scope="session")
def rollout() -> Rollout:
    """Calls by turn as a trajectory, one message a turn."""

    def make(turns: Sequence[Sequence[ToolCall]]) -> Trajectory:
        return Trajectory(
            task_id="any",
            turns=tuple(
                (Step(message=AssistantMessage(calls=tuple(calls))),) if calls else ()
                for calls in turns
            ),
        )

    return make
