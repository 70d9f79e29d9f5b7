"""The seeds that the policy solves about half the time (arXiv:2606.19047, section on seeds)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from pydantic import Field, model_validator

from rods.selectors.evidence import Evidence
from rods.selectors.quotas import QuotaSelector
from rods.types import Kind


class BoundarySelector(QuotaSelector):
    """Entries with alpha_low <= r <= alpha_high, by phi = 4 r (1 - r) within each kind.

    Two deviations from the paper, both options: with partial rewards a mean inside the zone may
    come from K equal rewards, which give no gradient, so the variance within the group must be
    above zero; and an entry whose rollouts fail for their form is left out.
    """

    name = "boundary"
    presets = {  # noqa: RUF012 - the interface declares it as a class variable
        "paper": {"selector:boundary": {"require_variance": False, "max_format_share": 1.0}}
    }

    class Config(QuotaSelector.Config):
        """The zone, and what else a seed needs."""

        alpha_low: float = Field(0.20, ge=0, le=1, description="Below it a task is too hard.")
        alpha_high: float = Field(0.85, ge=0, le=1, description="Above it a task is mastered.")
        require_variance: bool = Field(
            True, description="Only groups whose rewards differ (paper: false)."
        )
        max_format_share: float = Field(
            0.5,
            ge=0,
            le=1,
            description="Largest share of malformed calls among the failed rollouts (1: any).",
        )

        @model_validator(mode="after")
        def _zone(self) -> Self:
            if self.alpha_low > self.alpha_high:
                raise ValueError(
                    f"alpha_low {self.alpha_low} is above alpha_high {self.alpha_high}"
                )
            return self

    config: Config

    @property
    def zone(self) -> tuple[float, float]:
        """The lowest and the highest mean reward of a seed."""
        return self.config.alpha_low, self.config.alpha_high

    def rank(self, step: int, evidence: Sequence[Evidence]) -> list[tuple[str, Kind]]:
        """Boundary entries by phi; equals in a seeded order."""
        seeds = [e for e in evidence if self._is_boundary(e)]
        seeds.sort(key=lambda e: (-e.phi, self.tie(step, e.entry_id)))
        return [(e.entry_id, e.kind) for e in seeds]

    def _is_boundary(self, evidence: Evidence) -> bool:
        config = self.config
        return (
            config.alpha_low <= evidence.mean <= config.alpha_high
            and (evidence.variance > 0 or not config.require_variance)
            and evidence.format_share <= config.max_format_share
        )
