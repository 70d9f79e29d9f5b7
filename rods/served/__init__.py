"""A language model behind an OpenAI-compatible server as the policy of an evaluation."""

from __future__ import annotations

from rods.served.config import SERVED, ServedConfig
from rods.served.policy import ServedPolicy

__all__ = ["SERVED", "ServedConfig", "ServedPolicy"]
