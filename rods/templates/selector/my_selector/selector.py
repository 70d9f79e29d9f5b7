"""Which tasks of a step are worth a variant."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field
from rods.selectors.evidence import Evidence
from rods.selectors.quotas import QuotaSelector
from rods.types import Kind


class MySelector(QuotaSelector):
    """The tasks whose rollouts disagree most.

    The base class groups the rollouts, keeps the quotas of each kind and lets an entry rest after
    it was chosen. Derive from ``rods.Selector`` and write ``select`` to do all of it yourself.
    """

    name = "my-selector"

    class Config(QuotaSelector.Config):
        """What users may set: -o selector.least_variance=0.1; quotas and pause are inherited."""

        least_variance: float = Field(0.01, gt=0, le=0.25, description="Below it nothing differs.")

    config: Config

    def rank(self, step: int, evidence: Sequence[Evidence]) -> list[tuple[str, Kind]]:
        """Entries with their kinds, best first; equals in a seeded order, so that runs repeat."""
        seeds = [one for one in evidence if one.variance >= self.config.least_variance]
        seeds.sort(key=lambda one: (-one.variance, self.tie(step, one.entry_id)))
        return [(one.entry_id, one.kind) for one in seeds]
