"""The hooks of rods. A plugin implements any of them with ``@rods.hookimpl``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pluggy

from rods.interfaces import Buffer, Environment, Selector, Synthesizer, Trainer
from rods.types import StepReport

if TYPE_CHECKING:
    from rods.pool import PoolStats

hookspec = pluggy.HookspecMarker("rods")
hookimpl = pluggy.HookimplMarker("rods")


@hookspec
def rods_register_environments() -> Iterable[type[Environment]]:  # type: ignore[empty-body]
    """Worlds with tasks."""


@hookspec
def rods_register_synthesizers() -> Iterable[type[Synthesizer]]:  # type: ignore[empty-body]
    """Makers of variants."""


@hookspec
def rods_register_selectors() -> Iterable[type[Selector]]:  # type: ignore[empty-body]
    """Finders of seeds."""


@hookspec
def rods_register_buffers() -> Iterable[type[Buffer]]:  # type: ignore[empty-body]
    """Policies of the pool."""


@hookspec
def rods_register_trainers() -> Iterable[type[Trainer]]:  # type: ignore[empty-body]
    """Owners of the policy."""


@hookspec
def rods_run_started(folder: Path, config: dict[str, Any], epochs: int, notes: list[str]) -> None:
    """A run begins or resumes; ``config`` is resolved, ``notes`` are for readers of the result."""


@hookspec
def rods_run_resumed(step: int) -> None:
    """A resumed run goes on after optimizer step ``step``; 0 where there was no checkpoint yet."""


@hookspec
def rods_step_finished(report: StepReport) -> None:
    """An optimizer step is done."""


@hookspec
def rods_epoch_started(epoch: int, injected: int, retired: int, pool: PoolStats) -> None:
    """The pool has crossed an epoch boundary."""


@hookspec
def rods_progress(what: str, done: int, total: int) -> None:
    """A long part outside the steps (warm start, evaluation) is at ``done`` of ``total``."""


@hookspec
def rods_run_finished(folder: Path, summary: dict[str, Any] | None, error: str | None) -> None:
    """A run has ended: with its summary, or with the error that ended it."""
