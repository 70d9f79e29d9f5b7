"""Language models behind OpenAI-compatible servers: the policy of an evaluation, or its user."""

from __future__ import annotations

from rods.served.config import SERVED, ServedConfig
from rods.served.policy import ServedPolicy

__all__ = ["SERVED", "ServedConfig", "ServedPolicy"]
