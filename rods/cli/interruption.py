"""Ctrl-C that is never lost: raised at once, and again where the run passes next."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from rods.hookspecs import hookimpl


class Interruption:
    """Whether somebody pressed Ctrl-C; an observer of runs that says so wherever they report.

    A KeyboardInterrupt is now and then swallowed where it is raised: by pydantic's serializer, by a
    finalizer, by a C library that calls back.
    """

    def __init__(self) -> None:
        self.asked = False

    def check(self) -> None:
        """Raise what was swallowed."""
        if self.asked:
            raise KeyboardInterrupt

    @hookimpl
    def rods_run_started(self) -> None:
        """The preflight is over."""
        self.check()

    @hookimpl
    def rods_epoch_started(self) -> None:
        """The pool has crossed a boundary; a resumed run gets the same plan."""
        self.check()

    @hookimpl
    def rods_step_finished(self) -> None:
        """The step is not yet in a checkpoint; a resumed run does it again."""
        self.check()

    @hookimpl
    def rods_progress(self) -> None:
        """Nothing of a part outside the steps is kept before it is whole."""
        self.check()


@contextmanager
def interruptible() -> Iterator[Interruption]:
    """Inside, Ctrl-C ends in a KeyboardInterrupt even if what it hits makes another error of it.

    Where the shell has made this process deaf to it (a job in the background), it stays so.
    """
    interruption = Interruption()

    def stop(number: int, frame: object) -> None:
        interruption.asked = True
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, stop)
    try:
        yield interruption
    except Exception as error:
        if interruption.asked:
            raise KeyboardInterrupt from error
        raise
    finally:
        signal.signal(signal.SIGINT, before)
