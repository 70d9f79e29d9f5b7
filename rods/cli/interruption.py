"""Ctrl-C that is never lost: a training run ends after a checkpoint, all else at once."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rods.hookspecs import hookimpl

_WAITING = (
    "Interrupted: the run ends with a checkpoint after this step. Ctrl-C again ends it at once."
)


class Interruption:
    """Whether somebody pressed Ctrl-C; an observer of runs that says so wherever they report.

    A KeyboardInterrupt is now and then swallowed where it is raised: by pydantic's serializer, by a
    finalizer, by a C library that calls back.
    """

    def __init__(self) -> None:
        self.asked = False
        self.displayed = False  # whether a display shows the notice
        self.patient = False  # whether the first Ctrl-C in a training waits for a checkpoint
        self._training = False
        self._waiting = False  # for the step that the training is in

    def press(self) -> None:
        """Take note; raise at once unless a checkpoint can come first, which is said."""
        wait = self.patient and self._training and not self.asked
        self.asked = True
        if not wait:
            raise KeyboardInterrupt
        self._waiting = True
        if not self.displayed:  # a print could meet one that it interrupted
            os.write(sys.stderr.fileno(), f"\n{_WAITING}\n".encode())

    def notice(self) -> str:
        """What somebody who has pressed Ctrl-C must know while nothing seems to happen."""
        return _WAITING if self.asked and self._training else ""

    def stopping(self) -> bool:
        """A trainer that sees this writes a checkpoint and ends the run."""
        return self.asked

    def check(self) -> None:
        """Raise what was swallowed."""
        if self.asked and not self._waiting:
            raise KeyboardInterrupt

    @hookimpl
    def rods_run_started(self) -> None:
        """The preflight is over."""
        self.check()

    @hookimpl
    def rods_epoch_started(self) -> None:
        """The pool has crossed a boundary; a resumed run gets the same plan."""
        self._training = True
        self.check()

    @hookimpl
    def rods_step_finished(self) -> None:
        """The trainer may now write a checkpoint; one that does not is interrupted later."""
        self.check()
        self._waiting = False

    @hookimpl
    def rods_progress(self) -> None:
        """Nothing of a part outside the steps is kept before it is whole."""
        self._training = self._waiting = False
        self.check()


@contextmanager
def interruptible() -> Iterator[Interruption]:
    """Inside, Ctrl-C ends in a KeyboardInterrupt even if what it hits makes another error of it.

    Where the interruption is made patient, the first one in a training waits for a checkpoint.

    Where the shell has made this process deaf to it (a job in the background), it stays so.
    """
    interruption = Interruption()

    def stop(number: int, frame: object) -> None:
        interruption.press()

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
