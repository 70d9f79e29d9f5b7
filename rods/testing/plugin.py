"""Fake world, synthesizer and trainer as a plugin: an entry point of group ``rods`` names it."""

from __future__ import annotations

from collections.abc import Iterable

import rods
from rods.testing.synthesizer import FakeSynthesizer
from rods.testing.trainer import FakeTrainer
from rods.testing.world import FakeEnvironment


@rods.hookimpl
def rods_register_environments() -> Iterable[type[rods.Environment]]:
    """The stockroom."""
    return [FakeEnvironment]


@rods.hookimpl
def rods_register_synthesizers() -> Iterable[type[rods.Synthesizer]]:
    """New stories for the stockroom."""
    return [FakeSynthesizer]


@rods.hookimpl
def rods_register_trainers() -> Iterable[type[rods.Trainer]]:
    """The trainer without a model."""
    return [FakeTrainer]
