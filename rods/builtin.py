"""What rods itself registers, through the same hooks as any plugin."""

from __future__ import annotations

from collections.abc import Iterable

from rods.hookspecs import hookimpl
from rods.interfaces import Buffer, Selector, Synthesizer

# The classes are imported when a hook asks for them: they bring the database with them.


@hookimpl
def rods_register_selectors() -> Iterable[type[Selector]]:
    """``boundary`` is the paper's; ``uniform`` and ``random`` are there to compare with."""
    from rods.selectors import BoundarySelector, RandomSelector, UniformSelector  # noqa: PLC0415

    return [BoundarySelector, UniformSelector, RandomSelector]


@hookimpl
def rods_register_buffers() -> Iterable[type[Buffer]]:
    """``dual-control`` is the paper's; ``static`` never changes."""
    from rods.buffers import DualControlBuffer, StaticBuffer  # noqa: PLC0415

    return [DualControlBuffer, StaticBuffer]


@hookimpl
def rods_register_synthesizers() -> Iterable[type[Synthesizer]]:
    """``skill-aligned`` keeps a seed's structure and changes the rest."""
    from rods.synthesis.skill_aligned import SkillAlignedSynthesizer  # noqa: PLC0415

    return [SkillAlignedSynthesizer]
