"""Processes with a real vLLM engine in them, all ended when their test is."""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

SCRIPTS = Path(__file__).parent
LAUNCHER = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node")
ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "OMP_NUM_THREADS": "1",  # a second thread that spins costs 30 times more than it gives
    "TOKENIZERS_PARALLELISM": "false",
    "TORCHDYNAMO_DISABLE": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",  # GiB
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_USE_AOT_COMPILE": "0",
}
MARKS = (
    pytest.mark.vllm,
    pytest.mark.slow,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(
        importlib.util.find_spec("rods_vllm_cpu_shim") is None,
        reason="needs vLLM and the shim of this folder: make test-vllm",
    ),
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test of this folder needs the engine, and time."""
    for item in items:
        if item.path.parent == SCRIPTS:
            for mark in MARKS:
                item.add_marker(mark)


@dataclass(frozen=True)
class Ended:
    """A script that came to its end, or was ended."""

    folder: Path
    status: int | None  # None: it ran out of time
    log: str

    def outcome(self, rank: int = 0) -> Any:
        """What the rank wrote; the end of the log if the script failed."""
        assert self.status == 0, f"status {self.status}\n{self.log[-6000:]}"
        return json.loads((self.folder / f"outcome-{rank}.json").read_text())


@pytest.fixture(scope="session")
def run_script() -> Callable[..., Ended]:
    """Runs a script of this folder with some ranks, to its end or to that of its time."""
    return _run


def _run(
    folder: Path, script: str, *arguments: object, ranks: int = 1, timeout_s: float = 900
) -> Ended:
    launcher = (*LAUNCHER, str(ranks)) if ranks > 1 else ()
    command = [*launcher, str(SCRIPTS / script), str(folder), *map(str, arguments)]
    log = folder / "log.txt"
    with _process([sys.executable, *command], log) as process:
        try:
            status = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            status = None
    return Ended(folder, status, log.read_text(errors="replace"))


# ------------------------------------------------------------------------------- servers
@pytest.fixture(scope="session")
def serve() -> Callable[..., Any]:
    """A context in which a command line serves, once its ``/health`` answers."""
    return _serve


@contextmanager
def _serve(command: str, folder: Path, port: int, timeout_s: float = 600) -> Iterator[Path]:
    """``command`` may begin with variables, as in a shell; gives the path of the log."""
    words = shlex.split(command)
    start = next(n for n, word in enumerate(words) if "=" not in word)
    variables = dict(word.split("=", 1) for word in words[:start])
    program = [sys.executable, str(Path(sys.executable).with_name(words[start]))]
    log = folder / "server.txt"
    with _process([*program, *words[start + 1 :]], log, variables) as process:
        _wait_for_health(process, port, log, time.monotonic() + timeout_s)
        yield log


def _wait_for_health(process: psutil.Popen, port: int, log: Path, until: float) -> None:
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(1)
    pytest.fail(f"No server on port {port}:\n{log.read_text(errors='replace')[-6000:]}")


@pytest.fixture(scope="session")
def free_port() -> Callable[[], int]:
    """A port of this machine that nothing listens on."""

    def find() -> int:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return int(probe.getsockname()[1])

    return find


# ------------------------------------------------------------------------------- processes
@contextmanager
def _process(
    command: Sequence[str], log: Path, variables: dict[str, str] | None = None
) -> Iterator[psutil.Popen]:
    """A process in a group of its own; it and all its children end with this context."""
    environment = {**os.environ, **ENVIRONMENT, **(variables or {})}
    with log.open("w") as file:
        process = psutil.Popen(
            command, stdout=file, stderr=file, env=environment, start_new_session=True
        )
    try:
        yield process
    finally:
        _end(process)


def _end(process: psutil.Popen) -> None:
    """SIGTERM, and SIGKILL for what is left: engines that wait for each other ignore the first."""
    family = _family(process)
    _signal_group(process.pid, signal.SIGTERM)
    psutil.wait_procs(family, timeout=10)
    _signal_group(process.pid, signal.SIGKILL)
    for member in family:
        if member.is_running():
            member.kill()
    psutil.wait_procs(family, timeout=10)


def _family(process: psutil.Popen) -> list[psutil.Process]:
    try:
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return [process]


def _signal_group(group: int, what: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, what)
