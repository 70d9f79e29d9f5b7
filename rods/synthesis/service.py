"""Synthesis beside training: requests wait in the pool, a worker leases them one at a time."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rods.interfaces import ComponentConfig, Synthesizer
from rods.pool import Pool


class SynthesisConfig(ComponentConfig):
    """How variants are made."""

    mode: Literal["background", "sync"] = Field(
        "background", description="'sync' makes variants inside observe(): exact repeats."
    )
    variants_per_seed: int = Field(1, ge=1, description="Variants asked for at each selection.")


class SynthesisService:
    """Turns requests into candidates."""

    def __init__(
        self, config: SynthesisConfig, *, pool: Pool, synthesizer: Synthesizer, seed: int = 0
    ) -> None: ...

    def start(self) -> None:
        """Begin to serve requests, those left from a killed run first."""

    def request(self, entry_id: str, step: int) -> None:
        """Ask for variants of a pool entry; returns at once in background mode."""

    def drain(self) -> None:
        """Wait until no request is being worked on; the worker stays."""

    def close(self) -> None:
        """Stop the worker; requests left stay in the pool."""
