"""Entry point of the plugin; its classes are imported when a hook asks for them."""

from __future__ import annotations

from collections.abc import Iterable

from rods.hookspecs import hookimpl
from rods.interfaces import Environment


@hookimpl
def rods_register_environments() -> Iterable[type[Environment]]:
    """The ACEBench Agent world."""
    from rods_acebench.environment import AcebenchEnvironment  # noqa: PLC0415 - when asked for

    return [AcebenchEnvironment]
