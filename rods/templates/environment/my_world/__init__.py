"""The entry point: rods imports this module and asks its hooks what they bring."""

from __future__ import annotations

import rods

from my_world.environment import MyWorldEnvironment


@rods.hookimpl
def rods_register_environments() -> list[type[rods.Environment]]:
    """The greenhouse."""
    return [MyWorldEnvironment]
