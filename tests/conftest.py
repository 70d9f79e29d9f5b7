"""Fixtures of several test modules."""

from __future__ import annotations

from pathlib import Path

import pytest

from rods.testing import write_distribution

_STOCKROOM = Path(__file__).parent / "plugins" / "stockroom.py"


@pytest.fixture
def stockroom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a plugin with world, trainer and synthesizer, installed for this process."""
    folder = tmp_path / "installed"
    module = f"stockroom_{tmp_path.name}".replace("-", "_")
    modules = {f"{module}.py": _STOCKROOM.read_text()}
    write_distribution(folder, "acme-stockroom", {"rods": {"stockroom": module}}, modules=modules)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.chdir(tmp_path)
    return "stockroom"
