"""What a plugin's author tests with: a fake world, scripted agents, a fake trainer, the kit."""

from rods.testing.agents import Agent, idle, play, random_calls, reference, script, silent
from rods.testing.conformance import check_environment
from rods.testing.distribution import write_distribution
from rods.testing.synthesizer import FakeSynthesizer
from rods.testing.trainer import FakeTrainer
from rods.testing.world import FakeEnvironment

__all__ = [
    "Agent",
    "FakeEnvironment",
    "FakeSynthesizer",
    "FakeTrainer",
    "check_environment",
    "idle",
    "play",
    "random_calls",
    "reference",
    "script",
    "silent",
    "write_distribution",
]
