"""One environment with all four suites for all tests: the asset is read once."""

from __future__ import annotations

import pytest
from rods_agentdojo.environment import AgentDojoEnvironment

from rods.types import Task


@pytest.fixture(scope="session")
def environment() -> AgentDojoEnvironment:
    """All 97 tasks."""
    return AgentDojoEnvironment(AgentDojoEnvironment.Config(exclude_flagged=False))


@pytest.fixture(scope="session")
def tasks(environment: AgentDojoEnvironment) -> dict[str, Task]:
    """Task by id."""
    return {t.id: t for t in (*environment.tasks("train"), *environment.tasks("eval"))}
