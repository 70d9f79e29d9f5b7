"""The entry point: rods imports this module and asks its hooks what they bring."""

from __future__ import annotations

import rods

from my_trainer.trainer import MyTrainer


@rods.hookimpl
def rods_register_trainers() -> list[type[rods.Trainer]]:
    """The trainer."""
    return [MyTrainer]
