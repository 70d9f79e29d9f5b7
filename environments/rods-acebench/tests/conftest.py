"""A clone of our own making for all tests, and the real one where RODS_ACEBENCH points to it."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest
from rods_acebench.environment import AcebenchEnvironment


@pytest.fixture(scope="session")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six tasks a language."""
    spec = importlib.util.spec_from_file_location(
        "small_clone", Path(__file__).with_name("small_clone.py")
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made: Path = module.make(tmp_path_factory.mktemp("clone"))
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
