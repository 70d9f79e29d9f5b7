"""Prompts tuned against verification: searched for, kept in a file of our own, applied by name."""

from rods.synthesis.tuning.tuned import apply_program

__all__ = ["apply_program"]
