"""GRPO with TRL for rods: ``rods run --plugins WORLD,grpo-trl``."""

from __future__ import annotations

from collections.abc import Iterable

import rods
from rods.interfaces import Trainer


@rods.hookimpl
def rods_register_trainers() -> Iterable[type[Trainer]]:
    """The trainer; its module is imported when the hook is called, torch when it is used."""
    from rods_grpo_trl.trainer import GrpoTrainer  # noqa: PLC0415 - see the docstring

    return [GrpoTrainer]
