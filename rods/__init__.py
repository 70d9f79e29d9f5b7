"""RODS: training tasks that follow the capability boundary of a tool-use agent."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from rods.hookspecs import hookimpl as hookimpl
    from rods.interfaces import Buffer as Buffer
    from rods.interfaces import Environment as Environment
    from rods.interfaces import Selector as Selector
    from rods.interfaces import Session as Session
    from rods.interfaces import Synthesizer as Synthesizer
    from rods.interfaces import Trainer as Trainer

_EXPORTS = {
    "hookimpl": "rods.hookspecs",
    "Buffer": "rods.interfaces",
    "Environment": "rods.interfaces",
    "Selector": "rods.interfaces",
    "Session": "rods.interfaces",
    "Synthesizer": "rods.interfaces",
    "Trainer": "rods.interfaces",
}

__all__ = ["__version__", *_EXPORTS]


def __getattr__(name: str) -> Any:
    """Load the public classes when they are first used: ``import rods`` stays cheap."""
    if name not in _EXPORTS:
        raise AttributeError(f"module 'rods' has no attribute {name!r}")
    return getattr(import_module(_EXPORTS[name]), name)
