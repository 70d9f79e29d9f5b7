"""Worlds over the small server of these tests, and over servers that others wrote."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rods_mcp.config import McpConfig
from rods_mcp.environment import McpEnvironment

from rods.types import Task

SHELF = f"{sys.executable} {Path(__file__).parent / 'servers' / 'shelf.py'}"
World = Callable[..., McpEnvironment]


@pytest.fixture
def world() -> Iterator[World]:
    """Makes environments, by default over the shelf, and closes them."""
    made: list[McpEnvironment] = []

    def make(arguments: str = "", **options: Any) -> McpEnvironment:
        options.setdefault("server", f"{SHELF} {arguments}")
        options.setdefault("probe", False)
        made.append(McpEnvironment(McpConfig(**options)))
        return made[-1]

    yield make
    for environment in made:
        environment.close()


def task(environment: McpEnvironment, **initial_state: Any) -> Task:
    """A task without turns: something to open."""
    tools = tuple(environment.tools())
    return Task(id="t", environment="mcp", tools=tools, turns=(), initial_state=initial_state)
