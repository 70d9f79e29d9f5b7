"""A clone of our own making for all tests, and the real one where RODS_ACEBENCH points to it."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from rods_acebench.environment import AcebenchEnvironment

from rods.types import Task, ToolCall


@pytest.fixture(scope="session")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six tasks a language."""
    made: Path = _beside("small_clone").make(tmp_path_factory.mktemp("clone"))
    return made


@pytest.fixture
def environment(clone: Path) -> AcebenchEnvironment:
    """The small clone in English, misspelt classes compared."""
    return AcebenchEnvironment(AcebenchEnvironment.Config(path=clone))


@pytest.fixture(scope="session")
def real_clone() -> Path:
    """The user's clone."""
    path = os.environ.get("RODS_ACEBENCH")
    if not path:
        pytest.skip("RODS_ACEBENCH names no clone of ACEBench")
    return Path(path)


@pytest.fixture(scope="session")
def solve() -> Callable[[AcebenchEnvironment, Task], tuple[ToolCall, ...]]:
    """Calls that bring a task of the real clone to its wanted state."""
    made: Callable[[AcebenchEnvironment, Task], tuple[ToolCall, ...]]
    made = _beside("solutions").solution
    return made


def _beside(name: str) -> ModuleType:
    """A module of this folder, which is no package."""
    path = Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"rods_acebench_tests_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
