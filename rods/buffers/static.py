"""A pool that never changes: the baseline of training on fixed data."""

from __future__ import annotations

from pydantic import Field

from rods.buffers.planning import PlanningBuffer


class StaticBuffer(PlanningBuffer):
    """Nothing enters and nothing leaves; an epoch draws its tasks uniformly."""

    name = "static"

    class Config(PlanningBuffer.Config):
        """How an epoch is filled when the pool is larger."""

        explore: float = Field(
            1.0, ge=0, le=1, description="Share of an epoch's tasks drawn uniformly (1: all)."
        )

    config: Config

    def retire(self, epoch: int) -> int:
        """Nothing leaves."""
        return 0

    def inject(self, epoch: int) -> int:
        """Nothing enters."""
        return 0
