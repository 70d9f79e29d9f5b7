"""Which stages kept what their model answered: told by the stage, heard by whoever makes a task."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from rods.types import Stage

_kept: ContextVar[set[Stage] | None] = ContextVar("rods_kept", default=None)


def keep(stage: Stage) -> None:
    """The attempt that runs holds an answer of the stage's model."""
    kept = _kept.get()
    if kept is not None:
        kept.add(stage)


@contextmanager
def keeping() -> Iterator[set[Stage]]:
    """The stages that keep an answer inside."""
    kept: set[Stage] = set()
    token = _kept.set(kept)
    try:
        yield kept
    finally:
        _kept.reset(token)
