"""The command line in a process of its own, with plugins from real distributions."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rods.cli import main
from rods.testing import write_distribution

STOCKROOM = Path(__file__).parent.parent / "plugins" / "stockroom.py"
Rods = Callable[..., subprocess.CompletedProcess[str]]
Command = Callable[..., list[str]]


@pytest.fixture(scope="session")
def stockroom_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the distribution ``acme-stockroom`` is installed."""
    folder = tmp_path_factory.mktemp("installed")
    points = {"rods": {"stockroom": "acme_stockroom"}, "rods.commands": {"tidy": "acme_tidy:tidy"}}
    modules = {
        "acme_stockroom.py": STOCKROOM.read_text(),
        "acme_tidy.py": "import click\n@click.command()\ndef tidy(): click.echo('tidied')\n",
    }
    return write_distribution(folder, "acme-stockroom", points, modules=modules)


@pytest.fixture(autouse=True, scope="session")
def _interruptible() -> Iterator[None]:
    """Ctrl-C works in what a test starts, even if the tests run behind a shell that ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def environment(stockroom_path: Path) -> dict[str, str]:
    """Variables of a process that sees the stockroom."""
    return {**os.environ, "PYTHONPATH": str(stockroom_path), "COLUMNS": "200"}


@pytest.fixture
def rods(environment: dict[str, str], tmp_path: Path) -> Rods:
    """Run ``rods`` with these arguments in an empty folder, to its end."""

    def run(*arguments: object, **options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "rods", *map(str, arguments)]
        variables = {**environment, **options}
        return subprocess.run(
            command, cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=120
        )

    return run


@pytest.fixture
def here(
    stockroom_path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Rods:
    """Run ``rods`` as ``rods`` does, but in this process: milliseconds instead of seconds."""
    monkeypatch.syspath_prepend(stockroom_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = ["rods", *map(str, arguments)]
        monkeypatch.setattr(sys, "argv", command)
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capfd.readouterr()
        assert isinstance(ended.value.code, int)
        return subprocess.CompletedProcess(command, ended.value.code, out, err)

    return run


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    """The only line on stderr: no traceback, nothing else."""
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    return lines[0]
