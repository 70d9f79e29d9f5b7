"""What a plugin's author tests with: a fake world, scripted agents, a fake trainer, the kit."""

from rods.testing.agents import Agent, idle, play, random_calls, reference, script, silent
from rods.testing.buffer_checks import check_buffer
from rods.testing.conformance import check_environment
from rods.testing.distribution import write_distribution
from rods.testing.part_checks import check_selector, check_trainer
from rods.testing.synthesizer import FakeSynthesizer
from rods.testing.trainer import FakeTrainer
from rods.testing.training import EveryTask, PlainFolder
from rods.testing.world import FakeEnvironment

__all__ = [
    "Agent",
    "EveryTask",
    "FakeEnvironment",
    "FakeSynthesizer",
    "FakeTrainer",
    "PlainFolder",
    "check_buffer",
    "check_environment",
    "check_selector",
    "check_trainer",
    "idle",
    "play",
    "random_calls",
    "reference",
    "script",
    "silent",
    "write_distribution",
]
