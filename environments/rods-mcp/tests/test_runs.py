"""`rods run` over a server, in a process of its own: to its end, and to Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rods.files import read_lines
from rods.testing import write_distribution

from .conftest import SHELF

pytestmark = pytest.mark.slow

SETTINGS = """
[run]
plugins = ["mcp", "fake"]
preset = ["none"]
[environment]
name = "mcp"
server = "{server} {mark}"
allow = ["put", "find", "listing", "clear"]
reset = "files"
n_train = {n_train}
n_eval = 1
turns = [1, 2]
[trainer]
name = "fake"
group_size = 4
prompts_per_step = 4
[curriculum]
epoch_size = 4
stages = [{{ epochs = 4 }}]
[synthesizer]
name = "skill-aligned"
[synthesis]
mode = "sync"
[evaluation]
tasks = 1
samples = 1
"""
Begun = Callable[..., subprocess.Popen[str]]


@pytest.fixture(autouse=True)
def _interruptible() -> Iterator[None]:
    """Ctrl-C works in what a test starts, even if the tests run behind a shell that ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begun]:
    """Start ``rods`` as a terminal does, in a process group of its own; kills what is left."""
    (tmp_path / "tmp").mkdir()
    write_distribution(tmp_path / "site", "acme-fake", {"rods": {"fake": "rods.testing.plugin"}})
    places = {"TMPDIR": str(tmp_path / "tmp"), "PYTHONPATH": str(tmp_path / "site")}
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str, n_train: int = 3) -> subprocess.Popen[str]:
        settings = SETTINGS.format(server=SHELF, mark=tmp_path, n_train=n_train)
        (tmp_path / "settings.toml").write_text(settings)
        process = subprocess.Popen(
            [sys.executable, "-m", "rods", *arguments],
            cwd=tmp_path,
            env={**os.environ, **places},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def ended(process: subprocess.Popen[str]) -> tuple[int, str, list[str]]:
    """Exit status, stdout, and the lines of stderr."""
    out, err = process.communicate(timeout=200)
    return process.returncode, out, err.strip().splitlines()


def press_ctrl_c(process: subprocess.Popen[str], folder: Path, when: Callable[[], bool]) -> None:
    """As a terminal: to the whole group, once ``when`` holds and a server runs."""
    end = time.monotonic() + 100
    while not when() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    assert process.poll() is None, process.communicate()
    assert any("shelf.py" in one for one in left(folder))
    os.killpg(process.pid, signal.SIGINT)


def left(folder: Path) -> list[str]:
    """What a run left behind: processes that name its folder, servers' folders."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:  # it has just ended
            continue
        if str(folder) in command:
            found.append(command)
    return found + [str(path) for path in (folder / "tmp").glob("rods-mcp-*")]


RUN = ("run", "--config", "settings.toml", "--out", "r")


def test_a_run_over_a_server_crosses_epochs_and_injects_variants(
    begin: Begun, tmp_path: Path
) -> None:
    status, out, lines = ended(begin(*RUN, "--json"))
    assert status == 0, lines
    summary = json.loads(out)
    assert (summary["epochs"], summary["steps"]) == (4, 4)
    assert summary["injected"] > 0
    assert summary["eval"]["n"] == 1
    assert len(read_lines(tmp_path / "r" / "metrics.jsonl")) == 4
    assert left(tmp_path) == []


def test_an_interrupted_run_leaves_no_server_and_goes_on(begin: Begun, tmp_path: Path) -> None:
    metrics = tmp_path / "r" / "metrics.jsonl"
    process = begin(*RUN)
    press_ctrl_c(process, tmp_path, lambda: metrics.exists() and metrics.stat().st_size > 0)
    status, _, lines = ended(process)
    assert (status, lines[-1]) == (130, "Interrupted. Go on with: rods run --resume r")
    assert not [line for line in lines if "Traceback" in line or "Error" in line]
    assert left(tmp_path) == []
    done = read_lines(metrics)[-1]["step"]
    assert done < 4
    status, out, lines = ended(begin("run", "--resume", "r", "--json"))
    assert status == 0, lines
    assert any(line.startswith(f"Resumed: step {done} is the last") for line in lines)
    assert json.loads(out)["steps"] == 4
    assert left(tmp_path) == []


@pytest.mark.parametrize("command", [RUN, ("tasks", "--config", "settings.toml")])
def test_exploring_can_be_interrupted(
    command: tuple[str, ...], begin: Begun, tmp_path: Path
) -> None:
    process = begin(*command, n_train=500)
    servers = tmp_path / "tmp"
    press_ctrl_c(process, tmp_path, lambda: any(servers.glob("rods-mcp-*/*/world/shelf.json")))
    status, out, lines = ended(process)
    said = "Interrupted. Nothing was written." if command is RUN else "Interrupted."
    assert (status, out, lines) == (130, "", [said])
    assert left(tmp_path) == []
    assert not (tmp_path / "r").exists()
