"""Kills the servers of a rods process that is gone. Run as a script; needs nothing of rods.

Its standard input is a pipe that the rods process holds: the end of it, however that came about, is
the end of every process group that left a ``pid`` file under the folder, and of the folder.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from contextlib import suppress
from pathlib import Path


def main(folder: str) -> None:
    """Wait for the end of standard input, then leave nothing behind."""
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(one, signal.SIG_IGN)  # Ctrl-C reaches the whole terminal, this too
    while os.read(0, 4096):
        pass
    for pid_file in Path(folder).glob("*/pid"):
        kill_group(pid_file)
    shutil.rmtree(folder, ignore_errors=True)


def kill_group(pid_file: Path) -> None:
    """The process group that the file names is killed, if it lives, and the file is gone."""
    with suppress(OSError, ValueError):  # it has ended, or was never started
        os.killpg(int(pid_file.read_text()), signal.SIGKILL)
    pid_file.unlink(missing_ok=True)


if __name__ == "__main__":
    main(sys.argv[1])
